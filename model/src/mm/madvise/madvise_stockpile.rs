//! `madvise_stockpile()`, proposed by "mm/madvise: implement MADV_STOCKPILE (kswapd from user
//! space)": makes room in the task's memcgs, then frees pages of the machine.

use crate::env::Errno;
use crate::ids::MemcgId;
use crate::mm::KernelFn;
use crate::mm::memcontrol::mem_cgroup_stockpile::MemCgroupStockpile;
use crate::mm::vmscan::try_to_free_pages::TryToFreePages;
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "madvise_stockpile",
    file: "mm/madvise.c",
    versions: "the proposal of May 2019",
    left_out: "the memory policy of the address, the error of the per-CPU free counters",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MadviseStockpile {
    goal_pages: Pages,
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
    /// Tests the arguments.
    Enter { start: u64 },
    /// In mem_cgroup_stockpile().
    MemCgroupStockpile(MemCgroupStockpile),
    /// Compares the free pages of the machine with the goal; then looks for a signal.
    ReadFreePages,
    /// In try_to_free_pages().
    TryToFreePages(TryToFreePages),
}

type ToNext = Next<MadviseStockpile, Result<(), Errno>>;

impl MadviseStockpile {
    /// The call for an address and a number of pages.
    pub const fn enter(start: u64, goal_pages: Pages) -> Self {
        Self { goal_pages, at: At::Enter { start } }
    }

    /// How many pages are to be free.
    pub const fn goal_pages(&self) -> Pages {
        self.goal_pages
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    fn entered(self, kernel: &Ctx<'_>, start: u64) -> ToNext {
        if start != 0 {
            return Next::Return(Err(Errno::EINVAL));
        }
        // The kernel's unsigned difference wraps if the reserve is the larger.
        let ram = kernel.scenario.ram;
        if ram.is_some_and(|ram| self.goal_pages.0 > ram.total.0.wrapping_sub(ram.reserve.0)) {
            return Next::Return(Err(Errno::ENOMEM));
        }
        let memcg = kernel.task.memcg;
        let callee = MemCgroupStockpile::enter(kernel.scenario, memcg, self.goal_pages);
        self.goto(At::MemCgroupStockpile(callee))
    }

    fn read_free_pages(self, kernel: &mut Ctx<'_>) -> ToNext {
        let (Some(ram), Some(free)) = (kernel.scenario.ram, kernel.world.free_pages) else {
            return Next::Return(Ok(()));
        };
        if free >= self.goal_pages + ram.reserve {
            return Next::Return(Ok(()));
        }
        if kernel.signal_pending() {
            return Next::Return(Err(Errno::EINTR));
        }
        self.goto(At::TryToFreePages(TryToFreePages::enter()))
    }
}

impl Frame for MadviseStockpile {
    type Output = Result<(), Errno>;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let inside = |at| Self { at, ..self };
        match self.at {
            At::Enter { start } => self.entered(kernel, start),
            At::MemCgroupStockpile(callee) => callee.step(kernel).within(
                |callee| inside(At::MemCgroupStockpile(callee)),
                |result| match result {
                    Ok(()) => self.goto(At::ReadFreePages),
                    Err(errno) => Next::Return(Err(errno)),
                },
            ),
            At::ReadFreePages => self.read_free_pages(kernel),
            At::TryToFreePages(callee) => callee.step(kernel).within(
                |callee| inside(At::TryToFreePages(callee)),
                |freed| {
                    // No retry here; but progress costs nothing, so this loop has no bound.
                    if freed == Pages::ZERO {
                        return Next::Return(Err(Errno::EAGAIN));
                    }
                    self.goto(At::ReadFreePages)
                },
            ),
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Enter { .. } => Locality::Local,
            At::MemCgroupStockpile(callee) => callee.locality(scenario, task),
            At::ReadFreePages if scenario.ram.is_none() => Locality::Local,
            At::ReadFreePages => Locality::Shared,
            At::TryToFreePages(callee) => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::MemCgroupStockpile(callee) => callee.in_flight(scenario, level),
            At::TryToFreePages(callee) => callee.in_flight(scenario, level),
            At::Enter { .. } | At::ReadFreePages => Pages::ZERO,
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::MemCgroupStockpile(callee) => callee.stack(into),
            At::TryToFreePages(callee) => callee.stack(into),
            At::Enter { .. } | At::ReadFreePages => {}
        }
    }
}
