//! `mem_cgroup_stockpile()`, proposed by "mm/madvise: implement MADV_STOCKPILE (kswapd from user
//! space)": makes room for a goal in the task's memcg and each of its ancestors, one after another.

use crate::design::StockpileProgress;
use crate::env::Errno;
use crate::ids::MemcgId;
use crate::mm::KernelFn;
use crate::mm::vmscan::try_to_free_mem_cgroup_pages::TryToFreeMemCgroupPages;
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "mem_cgroup_stockpile",
    file: "mm/memcontrol.c",
    versions: "the proposal of May 2019",
    left_out: "the root, which always has room",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemCgroupStockpile {
    goal_pages: Pages,
    level: MemcgId,
    nr_retries: u8,
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
    /// `retry:` looks for a signal.
    Retry,
    /// Reads a level's memory.max.
    ReadMax,
    /// Reads its memory.high, and compares the goal with the lower of the two.
    ReadHigh { max: Pages },
    /// Reads its usage, and compares what is free below the limit with the goal.
    ReadUsage { limit: Pages },
    /// In try_to_free_mem_cgroup_pages() of the level.
    Reclaim(TryToFreeMemCgroupPages),
}

type ToNext = Next<MemCgroupStockpile, Result<(), Errno>>;

impl MemCgroupStockpile {
    /// The call.
    pub const fn enter(scenario: &Scenario, memcg: MemcgId, goal_pages: Pages) -> Self {
        let nr_retries = scenario.kernel.mem_cgroup_reclaim_retries;
        Self { goal_pages, level: memcg, nr_retries, at: At::Retry }
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    fn read_usage(self, kernel: &mut Ctx<'_>, limit: Pages) -> ToNext {
        let usage = kernel.world.memcg(self.level).memory.usage;
        // The kernel's signed comparison of limit - usage with the goal.
        if usage + self.goal_pages > limit {
            let short = usage + self.goal_pages - limit;
            let callee = TryToFreeMemCgroupPages::enter(self.level, short, true);
            return self.goto(At::Reclaim(callee));
        }
        // A level that has room is not looked at again.
        match kernel.scenario.memcgs[self.level.index()].parent {
            Some(parent) => Next::Goto(Self::enter(kernel.scenario, parent, self.goal_pages)),
            None => Next::Return(Ok(())),
        }
    }

    fn reclaimed(self, scenario: &Scenario, freed: Pages) -> ToNext {
        let counts = scenario.design.stockpile_progress == StockpileProgress::Counted;
        match self.nr_retries.checked_sub(1) {
            // Progress costs nothing: this loop has no bound.
            _ if freed > Pages::ZERO && !counts => self.goto(At::Retry),
            Some(nr_retries) => Next::Goto(Self { nr_retries, at: At::Retry, ..self }),
            None => Next::Return(Err(Errno::EAGAIN)),
        }
    }
}

impl Frame for MemCgroupStockpile {
    type Output = Result<(), Errno>;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let scenario = kernel.scenario;
        match self.at {
            At::Retry if kernel.signal_pending() => Next::Return(Err(Errno::EINTR)),
            At::Retry => self.goto(At::ReadMax),
            At::ReadMax => {
                let max = kernel.world.memcg(self.level).memory.max;
                self.goto(At::ReadHigh { max })
            }
            At::ReadHigh { max } => {
                let limit = max.min(kernel.world.memcg(self.level).high);
                if self.goal_pages > limit {
                    return Next::Return(Err(Errno::ENOMEM));
                }
                self.goto(At::ReadUsage { limit })
            }
            At::ReadUsage { limit } => self.read_usage(kernel, limit),
            At::Reclaim(callee) => callee.step(kernel).within(
                |callee| Self { at: At::Reclaim(callee), ..self },
                |freed| self.reclaimed(scenario, freed),
            ),
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        let local = match &self.at {
            At::Retry => !scenario.signals_are_sent(),
            At::ReadMax => !scenario.max_is_written(),
            At::ReadHigh { .. } => !scenario.high_is_written(),
            At::ReadUsage { .. } => false,
            At::Reclaim(callee) => return callee.locality(scenario, task),
        };
        if local { Locality::Local } else { Locality::Shared }
    }

    fn in_flight(&self, _: &Scenario, _: MemcgId) -> Pages {
        Pages::ZERO
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Reclaim(callee) => callee.stack(into),
            At::Retry | At::ReadMax | At::ReadHigh { .. } | At::ReadUsage { .. } => {}
        }
    }
}
