//! `try_to_free_mem_cgroup_pages()`: one reclaim pass over a memcg and everything below it.

use crate::env::Call;
use crate::ids::MemcgId;
use crate::mm::vmscan::answered_pass::pass;
use crate::mm::vmscan::do_try_to_free_pages::DoTryToFreePages;
use crate::mm::vmscan::scan_control::{ScanControl, ScanFlags};
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Pass, PassFrees, Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "try_to_free_mem_cgroup_pages",
    file: "mm/vmscan.c",
    versions: ALL_VERSIONS,
    left_out: "where the scenario has passes answered, everything inside: the world says how much \
               the pass frees, within the bound of a classic pass over one node",
    points: &["Pass", "Walk"],
};

/// One activation. A pass that the world answers for is one atomic step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TryToFreeMemCgroupPages {
    memcg: MemcgId,
    nr_pages: Pages,
    flags: ScanFlags,
    /// Where a pass that walks is; none before it begins.
    walk: Option<DoTryToFreePages>,
}

impl TryToFreeMemCgroupPages {
    /// The call.
    pub const fn enter(memcg: MemcgId, nr_pages: Pages, may_swap: bool) -> Self {
        let flags = if may_swap { ScanFlags::MAY_SWAP } else { ScanFlags::empty() };
        Self { memcg, nr_pages, flags, walk: None }
    }

    /// The call for memory.reclaim.
    pub const fn proactive(memcg: MemcgId, nr_pages: Pages) -> Self {
        let flags = ScanFlags::MAY_SWAP.union(ScanFlags::PROACTIVE);
        Self { memcg, nr_pages, flags, walk: None }
    }

    /// Where a pass that walks is.
    pub const fn walk(&self) -> Option<&DoTryToFreePages> {
        self.walk.as_ref()
    }

    const fn call(self) -> Call {
        let may_swap = self.flags.contains(ScanFlags::MAY_SWAP);
        Call::TryToFreeMemCgroupPages { memcg: self.memcg, nr_pages: self.nr_pages, may_swap }
    }

    fn returned(self, kernel: &mut Ctx<'_>, freed: Pages) -> Next<Self, Pages> {
        kernel.returned(self.call(), freed.raw());
        Next::Return(freed)
    }
}

/// The goal of a pass for `nr_pages`: no less than the floor.
pub(crate) fn goal(scenario: &Scenario, nr_pages: Pages) -> Pages {
    let cluster = scenario.kernel.swap_cluster_max;
    nr_pages.max(Pages(cluster.0 * u64::from(scenario.design.reclaim_floor)))
}

/// The most a pass for `nr_pages` may free under the scenario's policy.
pub(crate) fn frees_at_most(scenario: &Scenario, nr_pages: Pages) -> Pages {
    let cluster = scenario.kernel.swap_cluster_max;
    let goal = goal(scenario, nr_pages);
    match scenario.policy.pass_frees {
        PassFrees::Goal => goal,
        // One page short of the goal before a last visit, which then crosses it once more and
        // takes a cluster of either type and of the one nudge round: 2 * goal + 94 as shipped.
        PassFrees::Bound => Pages(2 * goal.0.saturating_sub(1) + 3 * cluster.0),
    }
}

/// Takes freed pages of `memcg` from all its counters.
pub(crate) fn uncharge_freed(kernel: &mut Ctx<'_>, memcg: MemcgId, pages: Pages) {
    kernel.world.free(pages);
    for level in kernel.scenario.lineage(memcg) {
        let level = kernel.world.memcg(level);
        level.memory.usage -= pages;
        if let Some(memsw) = &mut level.memsw {
            memsw.usage -= pages;
        }
    }
}

impl Frame for TryToFreeMemCgroupPages {
    /// Pages freed.
    type Output = Pages;

    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, Pages> {
        let scenario = kernel.scenario;
        let walk = if let Some(walk) = self.walk {
            walk
        } else {
            if let Some(freed) = kernel.stub(self.call()) {
                let freed = u64::try_from(freed).expect("a pass frees no negative number");
                return Next::Return(Pages(freed));
            }
            if scenario.granularity.reclaim.pass == Pass::Answered {
                let freed = pass(kernel, Some(self.memcg), self.nr_pages);
                return self.returned(kernel, freed);
            }
            let goal = goal(scenario, self.nr_pages);
            let sc = ScanControl::new(scenario, Some(self.memcg), goal, self.flags);
            DoTryToFreePages::enter(sc)
        };
        match walk.step(kernel) {
            Next::Goto(walk) => Next::Goto(Self { walk: Some(walk), ..self }),
            Next::Return(freed) => self.returned(kernel, freed),
        }
    }

    fn locality(&self, _: &Scenario, _: &TaskContext) -> Locality {
        Locality::Shared
    }

    fn in_flight(&self, _: &Scenario, _: MemcgId) -> Pages {
        Pages::ZERO
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, KERNEL.points[usize::from(self.walk.is_some())]));
        if let Some(walk) = &self.walk {
            walk.stack(into);
        }
    }
}
