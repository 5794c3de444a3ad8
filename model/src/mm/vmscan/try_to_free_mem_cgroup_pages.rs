//! `try_to_free_mem_cgroup_pages()`: one reclaim pass over a memcg and everything below it.

use crate::env::{Ask, Call};
use crate::ids::MemcgId;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{PassFrees, Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "try_to_free_mem_cgroup_pages",
    file: "mm/vmscan.c",
    versions: ALL_VERSIONS,
    left_out: "everything inside: the world answers how much the pass frees, within the bound of a \
               classic pass over one node",
    points: &[],
};

/// One activation. The pass is one atomic step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TryToFreeMemCgroupPages {
    memcg: MemcgId,
    nr_pages: Pages,
    may_swap: bool,
}

impl TryToFreeMemCgroupPages {
    /// The call.
    pub const fn enter(memcg: MemcgId, nr_pages: Pages, may_swap: bool) -> Self {
        Self { memcg, nr_pages, may_swap }
    }
}

/// The most a pass for `nr_pages` may free under the scenario's policy.
fn frees_at_most(scenario: &Scenario, nr_pages: Pages) -> Pages {
    let cluster = scenario.kernel.swap_cluster_max;
    let goal = nr_pages.max(cluster);
    match scenario.policy.pass_frees {
        PassFrees::Goal => goal,
        // One page short of the goal before a last visit, which then crosses it once more and
        // takes a cluster of either type and of the one nudge round: 2 * goal + 94 as shipped.
        PassFrees::Bound => Pages(2 * goal.0 + 3 * cluster.0 - 2),
    }
}

/// Frees pages of the subtree as the world answers, and returns how many.
fn pass(kernel: &mut Ctx<'_>, root: MemcgId, nr_pages: Pages) -> Pages {
    let scenario = kernel.scenario;
    let most = frees_at_most(scenario, nr_pages);
    let subtree = || scenario.memcg_ids().filter(|memcg| scenario.in_subtree(*memcg, root));
    let mut left: Pages = subtree().map(|memcg| kernel.world.memcg(memcg).lru).sum();
    let least = if scenario.policy.pass_may_fail { Pages::ZERO } else { left.min(Pages(1)) };
    let mut freed = Pages::ZERO;
    for memcg in subtree() {
        let lru = kernel.world.memcg(memcg).lru;
        left -= lru;
        let at_least = least.saturating_sub(freed + left);
        let at_most = lru.min(most - freed);
        let more = kernel.ask(Ask::PassFrees(memcg), (at_most - at_least).0);
        let pages = at_least + Pages(more);
        kernel.world.memcg(memcg).lru -= pages;
        uncharge_freed(kernel, memcg, pages);
        freed += pages;
    }
    freed
}

/// Takes freed pages of `memcg` from all its counters.
pub(crate) fn uncharge_freed(kernel: &mut Ctx<'_>, memcg: MemcgId, pages: Pages) {
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
        let Self { memcg, nr_pages, may_swap } = self;
        let call = Call::TryToFreeMemCgroupPages { memcg, nr_pages, may_swap };
        let freed = kernel.call(call, |kernel| pass(kernel, memcg, nr_pages).raw());
        Next::Return(Pages(u64::try_from(freed).expect("a pass frees no negative number")))
    }

    fn locality(&self, _: &Scenario, _: &TaskContext) -> Locality {
        Locality::Shared
    }

    fn in_flight(&self, _: &Scenario, _: MemcgId) -> Pages {
        Pages::ZERO
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, "Pass"));
    }
}
