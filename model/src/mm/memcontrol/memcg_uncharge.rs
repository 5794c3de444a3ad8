//! `memcg_uncharge()`: gives pages back to all the counters a memcg has.

use crate::env::Counter;
use crate::ids::MemcgId;
use crate::mm::page_counter::page_counter_uncharge::PageCounterUncharge;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function; in 6.1 and 6.12 its two calls stand in the callers.
pub const KERNEL: KernelFn = KernelFn {
    name: "memcg_uncharge",
    file: "mm/memcontrol.c",
    versions: ALL_VERSIONS,
    left_out: "statistics",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemcgUncharge {
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
    /// In page_counter_uncharge() of the memory counter.
    Memory(PageCounterUncharge),
    /// In page_counter_uncharge() of the memory+swap counter.
    Memsw(PageCounterUncharge),
}

impl MemcgUncharge {
    /// The call.
    pub const fn enter(memcg: MemcgId, nr_pages: Pages) -> Self {
        Self { at: At::Memory(PageCounterUncharge::enter(Counter::Memory, memcg, nr_pages)) }
    }
}

impl Frame for MemcgUncharge {
    type Output = ();

    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        match self.at {
            At::Memory(callee) => {
                let (memcg, nr_pages) = (callee.memcg(), callee.nr_pages());
                let do_memsw = kernel.scenario.memcgs[memcg.index()].memsw_max.is_some();
                callee.step(kernel).within(
                    |callee| Self { at: At::Memory(callee) },
                    |()| {
                        if do_memsw {
                            let memsw = PageCounterUncharge::enter(Counter::Memsw, memcg, nr_pages);
                            Next::Goto(Self { at: At::Memsw(memsw) })
                        } else {
                            Next::Return(())
                        }
                    },
                )
            }
            At::Memsw(callee) => {
                callee.step(kernel).within(|callee| Self { at: At::Memsw(callee) }, Next::Return)
            }
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Memory(callee) | At::Memsw(callee) => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Memory(callee) | At::Memsw(callee) => callee.in_flight(scenario, level),
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Memory(callee) | At::Memsw(callee) => callee.stack(into),
        }
    }
}
