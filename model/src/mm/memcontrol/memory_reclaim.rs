//! `memory_reclaim()`: a write to memory.reclaim. In 7.3 the loop is in
//! `user_proactive_reclaim()` of mm/vmscan.c.

use crate::design::{DyingCgroup, ReclaimBatch, ReclaimRetries, ReclaimSignal};
use crate::env::{Ask, Errno, Event};
use crate::ids::MemcgId;
use crate::mm::swap::lru_add_drain::lru_add_drain_all;
use crate::mm::vmscan::try_to_free_mem_cgroup_pages::TryToFreeMemCgroupPages;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "memory_reclaim",
    file: "mm/memcontrol.c",
    versions: ALL_VERSIONS,
    left_out: "what is written beside the number of bytes (swappiness=), the file of a node",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemoryReclaim {
    memcg: MemcgId,
    nr_to_reclaim: Pages,
    at: At,
}

/// The locals that live from one pass to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Tries {
    nr_reclaimed: Pages,
    nr_retries: u8,
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
    /// Compares with the request, and looks for a signal and for the end of the cgroup.
    Loop(Tries),
    /// lru_add_drain_all(), before every pass once the retries are used up.
    DrainAll(Tries),
    /// In try_to_free_mem_cgroup_pages().
    Reclaim(Tries, TryToFreeMemCgroupPages),
}

type ToNext = Next<MemoryReclaim, Result<(), Errno>>;

impl MemoryReclaim {
    /// The write of a request of that many pages.
    pub const fn enter(scenario: &Scenario, memcg: MemcgId, nr_to_reclaim: Pages) -> Self {
        let nr_retries = scenario.kernel.max_reclaim_retries;
        let tries = Tries { nr_reclaimed: Pages::ZERO, nr_retries };
        Self { memcg, nr_to_reclaim, at: At::Loop(tries) }
    }

    /// Whose file is written.
    pub const fn memcg(&self) -> MemcgId {
        self.memcg
    }

    /// How many pages are asked for.
    pub const fn nr_to_reclaim(&self) -> Pages {
        self.nr_to_reclaim
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    fn at_loop(self, kernel: &mut Ctx<'_>, tries: Tries) -> ToNext {
        if tries.nr_reclaimed >= self.nr_to_reclaim {
            kernel.note(Event::Fulfilled(self.memcg, self.nr_to_reclaim, tries.nr_reclaimed));
            return Next::Return(Ok(()));
        }
        let design = &kernel.scenario.design;
        if kernel.signal_pending() {
            // What has been reclaimed is forgotten either way.
            return Next::Return(Err(match design.reclaim_signal {
                ReclaimSignal::Interrupts => Errno::EINTR,
                ReclaimSignal::Restarts => Errno::ERESTARTSYS,
            }));
        }
        let may_die = u64::from(kernel.scenario.policy.reclaim.cgroup_may_die);
        if design.dying_cgroup == DyingCgroup::Stops
            && kernel.ask(Ask::CgroupDying(self.memcg), may_die) == 1
        {
            return Next::Return(Err(Errno::EAGAIN));
        }
        if tries.nr_retries == 0 {
            return self.goto(At::DrainAll(tries));
        }
        self.reclaim(kernel, tries)
    }

    fn reclaim(self, kernel: &Ctx<'_>, tries: Tries) -> ToNext {
        let batch = batch(kernel.scenario, self.nr_to_reclaim - tries.nr_reclaimed);
        self.goto(At::Reclaim(tries, TryToFreeMemCgroupPages::proactive(self.memcg, batch)))
    }

    fn reclaimed(self, scenario: &Scenario, mut tries: Tries, freed: Pages) -> ToNext {
        if freed == Pages::ZERO {
            match tries.nr_retries.checked_sub(1) {
                Some(left) => tries.nr_retries = left,
                None => return Next::Return(Err(Errno::EAGAIN)),
            }
        }
        match scenario.design.reclaim_retries {
            ReclaimRetries::InARow if freed > Pages::ZERO => {
                tries.nr_retries = scenario.kernel.max_reclaim_retries;
            }
            // Progress never gives a retry back.
            ReclaimRetries::InTotal | ReclaimRetries::InARow => {}
        }
        tries.nr_reclaimed += freed;
        self.goto(At::Loop(tries))
    }
}

/// How much one pass is asked for when that many pages are left.
pub(crate) fn batch(scenario: &Scenario, rest: Pages) -> Pages {
    let design = &scenario.design;
    match design.reclaim_batch {
        ReclaimBatch::Whole => rest,
        ReclaimBatch::Clipped => rest.min(scenario.kernel.swap_cluster_max),
        // It converges on zero, and the floor of the pass does the rest.
        ReclaimBatch::Fraction => Pages(rest.0 / u64::from(design.reclaim_batch_divisor)),
    }
}

impl Frame for MemoryReclaim {
    type Output = Result<(), Errno>;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let scenario = kernel.scenario;
        match self.at {
            At::Loop(tries) => self.at_loop(kernel, tries),
            At::DrainAll(tries) => {
                lru_add_drain_all(kernel);
                self.reclaim(kernel, tries)
            }
            At::Reclaim(tries, callee) => callee.step(kernel).within(
                |callee| Self { at: At::Reclaim(tries, callee), ..self },
                |freed| self.reclaimed(scenario, tries, freed),
            ),
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Loop(_) if scenario.signals_are_sent() => Locality::Shared,
            At::Loop(_) => Locality::Local,
            At::DrainAll(_) => Locality::Shared,
            At::Reclaim(_, callee) => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Loop(_) | At::DrainAll(_) => Pages::ZERO,
            At::Reclaim(_, callee) => callee.in_flight(scenario, level),
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Loop(_) | At::DrainAll(_) => {}
            At::Reclaim(_, callee) => callee.stack(into),
        }
    }
}
