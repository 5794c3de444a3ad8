//! `memory_high_write()`: sets memory.high, then reclaims down to it.

use crate::design::{DyingCgroup, HighWrite, HighWriteProgress};
use crate::env::Ask;
use crate::ids::MemcgId;
use crate::mm::memcontrol::drain_all_stock::DrainAllStock;
use crate::mm::vmscan::try_to_free_mem_cgroup_pages::TryToFreeMemCgroupPages;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "memory_high_write",
    file: "mm/memcontrol.c",
    versions: ALL_VERSIONS,
    left_out: "O_NONBLOCK (7.3), with which nothing is reclaimed; writeback domains",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemoryHighWrite {
    memcg: MemcgId,
    high: Pages,
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
    /// Decides whether to set the limit first: charges see it at once.
    Set,
    /// Compares usage with the limit, and looks for whatever else ends the loop.
    Loop { nr_retries: u8, drained: bool },
    /// In drain_all_stock(), once.
    DrainAllStock { nr_retries: u8, callee: DrainAllStock },
    /// In try_to_free_mem_cgroup_pages() for what is above the limit.
    Reclaim { nr_retries: u8, callee: TryToFreeMemCgroupPages },
    /// Sets the limit after all, where a design does it last.
    SetLast,
}

impl MemoryHighWrite {
    /// The write.
    pub const fn enter(memcg: MemcgId, high: Pages) -> Self {
        Self { memcg, high, at: At::Set }
    }

    /// Whose limit is written, and what it shall be.
    pub const fn limit(&self) -> (MemcgId, Pages) {
        (self.memcg, self.high)
    }

    /// Leaves the loop.
    fn done(self, scenario: &Scenario) -> Next<Self, ()> {
        match scenario.design.high_write {
            HighWrite::SetsFirst => Next::Return(()),
            HighWrite::ReclaimsFirst => self.goto(At::SetLast),
        }
    }

    fn goto(self, at: At) -> Next<Self, ()> {
        Next::Goto(Self { at, ..self })
    }

    fn at_loop(self, kernel: &mut Ctx<'_>, nr_retries: u8, drained: bool) -> Next<Self, ()> {
        let memcg = kernel.world.memcg(self.memcg);
        let usage = memcg.memory.usage;
        // Another writer's limit is that writer's business.
        let set = kernel.scenario.design.high_write == HighWrite::SetsFirst;
        let overwritten = set && memcg.high != self.high;
        if overwritten || usage <= self.high || kernel.signal_pending() {
            return self.done(kernel.scenario);
        }
        let may_die = u64::from(kernel.scenario.policy.reclaim.cgroup_may_die);
        if kernel.scenario.design.dying_cgroup == DyingCgroup::Stops
            && kernel.ask(Ask::CgroupDying(self.memcg), may_die) == 1
        {
            return self.done(kernel.scenario);
        }
        if !drained {
            let callee = DrainAllStock::enter(self.memcg);
            return self.goto(At::DrainAllStock { nr_retries, callee });
        }
        let callee = TryToFreeMemCgroupPages::enter(self.memcg, usage - self.high, true);
        self.goto(At::Reclaim { nr_retries, callee })
    }
}

impl Frame for MemoryHighWrite {
    type Output = ();

    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        let inside = |at| Self { at, ..self };
        let scenario = kernel.scenario;
        let counts = scenario.design.high_write_progress == HighWriteProgress::Counted;
        match self.at {
            At::SetLast => {
                kernel.world.memcg(self.memcg).high = self.high;
                Next::Return(())
            }
            At::Set => {
                if scenario.design.high_write == HighWrite::SetsFirst {
                    kernel.world.memcg(self.memcg).high = self.high;
                }
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
                |freed| match nr_retries.checked_sub(1) {
                    // Progress costs nothing: this loop has no bound.
                    _ if freed > Pages::ZERO && !counts => {
                        self.goto(At::Loop { nr_retries, drained: true })
                    }
                    Some(left) => self.goto(At::Loop { nr_retries: left, drained: true }),
                    None => self.done(scenario),
                },
            ),
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Set | At::Loop { .. } | At::SetLast => Locality::Shared,
            At::DrainAllStock { callee, .. } => callee.locality(scenario, task),
            At::Reclaim { callee, .. } => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Set | At::Loop { .. } | At::SetLast => Pages::ZERO,
            At::DrainAllStock { callee, .. } => callee.in_flight(scenario, level),
            At::Reclaim { callee, .. } => callee.in_flight(scenario, level),
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Set | At::Loop { .. } | At::SetLast => {}
            At::DrainAllStock { callee, .. } => callee.stack(into),
            At::Reclaim { callee, .. } => callee.stack(into),
        }
    }
}
