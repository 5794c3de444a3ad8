//! `reclaim_high()`: one pass on each level that is over its memory.high.

use crate::env::Call;
use crate::ids::MemcgId;
use crate::mm::vmscan::try_to_free_mem_cgroup_pages::TryToFreeMemCgroupPages;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "reclaim_high",
    file: "mm/memcontrol.c",
    versions: ALL_VERSIONS,
    left_out: "pressure stall accounting",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReclaimHigh {
    nr_pages: Pages,
    freed: Pages,
    at: At,
}

/// Program points.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    VariantNames,
)]
enum At {
    /// Compares a level's usage with its memory.high.
    Compare { level: MemcgId },
    /// In try_to_free_mem_cgroup_pages() of that level.
    Reclaim { level: MemcgId, callee: TryToFreeMemCgroupPages },
}

impl ReclaimHigh {
    /// The call.
    pub const fn enter(memcg: MemcgId, nr_pages: Pages) -> Self {
        Self { nr_pages, freed: Pages::ZERO, at: At::Compare { level: memcg } }
    }

    fn next_level(self, kernel: &Ctx<'_>, level: MemcgId, freed: Pages) -> Next<Self, Pages> {
        match kernel.scenario.memcgs[level.index()].parent {
            Some(level) => Next::Goto(Self { freed, at: At::Compare { level }, ..self }),
            None => Next::Return(freed),
        }
    }
}

impl Frame for ReclaimHigh {
    /// Pages freed on all levels together.
    type Output = Pages;

    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, Pages> {
        match self.at {
            At::Compare { level } => {
                let memcg = kernel.world.memcg(level);
                if memcg.memory.usage <= memcg.high {
                    return self.next_level(kernel, level, self.freed);
                }
                kernel.returned(Call::MemcgMemoryEventHigh { memcg: level }, 0);
                let callee = TryToFreeMemCgroupPages::enter(level, self.nr_pages, true);
                Next::Goto(Self { at: At::Reclaim { level, callee }, ..self })
            }
            At::Reclaim { level, callee } => match callee.step(kernel) {
                Next::Goto(callee) => {
                    Next::Goto(Self { at: At::Reclaim { level, callee }, ..self })
                }
                Next::Return(freed) => self.next_level(kernel, level, self.freed + freed),
            },
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Compare { .. } => Locality::Shared,
            At::Reclaim { callee, .. } => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Compare { .. } => Pages::ZERO,
            At::Reclaim { callee, .. } => callee.in_flight(scenario, level),
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Compare { .. } => {}
            At::Reclaim { callee, .. } => callee.stack(into),
        }
    }
}
