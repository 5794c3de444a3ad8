//! `overreclaim-within-bound`.

use super::Property;
use crate::design::{Lru, MemcgWalk};
use crate::env::Event;
use crate::ids::MemcgId;
use crate::mm::memcontrol::memory_reclaim::batch;
use crate::mm::vmscan::try_to_free_mem_cgroup_pages::{frees_at_most, goal};
use crate::scenario::{Pass, Scenario};
use crate::units::Pages;

/// A request frees no more than its batches explain.
pub(super) const PROPERTY: Property = Property {
    name: "overreclaim-within-bound",
    claim: "memory.reclaim gets no more beyond its request than one last pass of its batch rule \
            can, if every visit of a pass stops at the goal of the pass",
    when: "a write to memory.reclaim has got what it asked for",
    applies: |step| step.events.iter().any(|event| matches!(event, Event::Fulfilled(..))),
    holds: |step| {
        step.events.iter().all(|event| match event {
            Event::Fulfilled(memcg, asked, got) => {
                *got <= *asked + overreclaim_bound(step.scenario, *memcg, *asked)
            }
            Event::Returned(..)
            | Event::Begin(..)
            | Event::AboveMax(..)
            | Event::Requested(_)
            | Event::Reclaimed(..)
            | Event::Unused(..)
            | Event::Restarted(_)
            | Event::Signalled(_)
            | Event::Turned(..)
            | Event::Wrapped(_)
            | Event::ReadAhead(_)
            | Event::End(..) => true,
        })
    },
};

/// The most that a request to `memcg` can get beyond itself: the last pass is asked for a batch of
/// what is then left, and the worst rest counts.
pub fn overreclaim_bound(scenario: &Scenario, memcg: MemcgId, request: Pages) -> Pages {
    let most = |rest: u64| {
        let rest = Pages(rest);
        pass_bound(scenario, memcg, batch(scenario, rest)).saturating_sub(rest)
    };
    (1..=request.0).map(most).max().unwrap_or(Pages::ZERO)
}

/// The most that one pass for `nr_pages` can free: a page less than its goal, and then one visit of
/// each node, or of each memcg on each node where the walk does not stop at the goal.
pub fn pass_bound(scenario: &Scenario, memcg: MemcgId, nr_pages: Pages) -> Pages {
    if scenario.granularity.reclaim.pass == Pass::Answered {
        return frees_at_most(scenario, nr_pages);
    }
    let folios = scenario.memcgs.iter().flat_map(|memcg| memcg.reclaim.nodes.iter().flatten());
    let folio = folios.map(|(_, run)| 1 << run.order).max().unwrap_or(1);
    let goal = goal(scenario, nr_pages).0;
    let (short, visit) = match scenario.design.lru {
        // The round that crosses the goal takes a cluster of either type, the nudge round one more.
        Lru::Classic => {
            let cluster = scenario.kernel.swap_cluster_max.0 - 1 + folio;
            (goal.saturating_sub(1), goal.saturating_sub(1) + 3 * cluster)
        }
        // compact_gap() of order 0 is two pages.
        Lru::Mglru => (goal.max(2) - 1, scenario.kernel.min_lru_batch.0 - 1 + folio),
    };
    let memcgs = match scenario.design.memcg_walk {
        MemcgWalk::Full => {
            scenario.memcg_ids().filter(|below| scenario.in_subtree(*below, memcg)).count() as u64
        }
        MemcgWalk::Shared => 1,
    };
    Pages(short + scenario.nr_nodes() as u64 * memcgs * visit)
}
