//! `memory_max_write()`: sets memory.max, then reclaims, then kills, down to it.

use crate::design::DyingCgroup;
use crate::env::{Ask, Call};
use crate::ids::MemcgId;
use crate::mm::memcontrol::drain_all_stock::DrainAllStock;
use crate::mm::memcontrol::mem_cgroup_oom::mem_cgroup_oom;
use crate::mm::vmscan::try_to_free_mem_cgroup_pages::TryToFreeMemCgroupPages;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "memory_max_write",
    file: "mm/memcontrol.c",
    versions: ALL_VERSIONS,
    left_out: "O_NONBLOCK (7.3), with which nothing is reclaimed; writeback domains",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemoryMaxWrite {
    memcg: MemcgId,
    max: Pages,
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
    /// Sets the limit: charges see it at once.
    Set,
    /// Compares usage with the limit, and looks for whatever else ends the loop.
    Loop { nr_retries: u8, drained: bool },
    /// In drain_all_stock(), once.
    DrainAllStock { nr_retries: u8, callee: DrainAllStock },
    /// In try_to_free_mem_cgroup_pages() for what is above the limit.
    Reclaim { nr_retries: u8, callee: TryToFreeMemCgroupPages },
    /// Once all retries are used up: the OOM killer.
    Oom,
}

impl MemoryMaxWrite {
    /// The write.
    pub const fn enter(memcg: MemcgId, max: Pages) -> Self {
        Self { memcg, max, at: At::Set }
    }

    fn goto(self, at: At) -> Next<Self, ()> {
        Next::Goto(Self { at, ..self })
    }

    fn at_loop(self, kernel: &mut Ctx<'_>, nr_retries: u8, drained: bool) -> Next<Self, ()> {
        let memory = kernel.world.memcg(self.memcg).memory;
        let usage = memory.usage;
        // Another writer's limit is that writer's business.
        if memory.max != self.max || usage <= self.max || kernel.signal_pending() {
            return Next::Return(());
        }
        let may_die = u64::from(kernel.scenario.policy.reclaim.cgroup_may_die);
        if kernel.scenario.design.dying_cgroup == DyingCgroup::Stops
            && kernel.ask(Ask::CgroupDying(self.memcg), may_die) == 1
        {
            return Next::Return(());
        }
        if !drained {
            let callee = DrainAllStock::enter(self.memcg);
            return self.goto(At::DrainAllStock { nr_retries, callee });
        }
        if nr_retries == 0 {
            return self.goto(At::Oom);
        }
        let callee = TryToFreeMemCgroupPages::enter(self.memcg, usage - self.max, true);
        self.goto(At::Reclaim { nr_retries, callee })
    }
}

impl Frame for MemoryMaxWrite {
    type Output = ();

    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        let inside = |at| Self { at, ..self };
        match self.at {
            At::Set => {
                kernel.world.memcg(self.memcg).memory.max = self.max;
                let nr_retries = kernel.scenario.kernel.max_reclaim_retries;
                self.goto(At::Loop { nr_retries, drained: false })
            }
            At::Loop { nr_retries, drained } => self.at_loop(kernel, nr_retries, drained),
            At::DrainAllStock { nr_retries, callee } => callee.step(kernel).within(
                |callee| inside(At::DrainAllStock { nr_retries, callee }),
                |()| self.goto(At::Loop { nr_retries, drained: true }),
            ),
            At::Reclaim { nr_retries, callee } => callee.step(kernel).within(
                |callee| inside(At::Reclaim { nr_retries, callee }),
                |freed| {
                    // Progress costs nothing: this loop has no bound.
                    let nr_retries = nr_retries - u8::from(freed == Pages::ZERO);
                    self.goto(At::Loop { nr_retries, drained: true })
                },
            ),
            At::Oom => {
                kernel.returned(Call::MemcgMemoryEventOom { memcg: self.memcg }, 0);
                // Nor has this one, while the killer claims success.
                if !mem_cgroup_oom(kernel, self.memcg, 0) {
                    return Next::Return(());
                }
                self.goto(At::Loop { nr_retries: 0, drained: true })
            }
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Set | At::Loop { .. } | At::Oom => Locality::Shared,
            At::DrainAllStock { callee, .. } => callee.locality(scenario, task),
            At::Reclaim { callee, .. } => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Set | At::Loop { .. } | At::Oom => Pages::ZERO,
            At::DrainAllStock { callee, .. } => callee.in_flight(scenario, level),
            At::Reclaim { callee, .. } => callee.in_flight(scenario, level),
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Set | At::Loop { .. } | At::Oom => {}
            At::DrainAllStock { callee, .. } => callee.stack(into),
            At::Reclaim { callee, .. } => callee.stack(into),
        }
    }
}
