//! `eagain-tells-the-truth`.

use super::{Property, Transition};
use crate::env::{Call, Errno, Event};
use crate::ids::MemcgId;
use crate::lru::{FolioFlags, Run};
use crate::mm::vmscan::answered_pass::free_folios;
use crate::scenario::Scenario;
use crate::state::State;
use crate::units::Pages;

/// Who gives up had nothing to take.
pub(super) const PROPERTY: Property = Property {
    name: "eagain-tells-the-truth",
    claim: "-EAGAIN comes only when nothing below the target can be freed: no folio is on a list, \
            collected by a CPU or in the hands of another reclaimer that is clean, unlocked and \
            unreferenced",
    when: "an operation ends with -EAGAIN after a pass that freed nothing",
    applies: |step| gave_up(step).is_some(),
    holds: |step| {
        gave_up(step).is_none_or(|target| {
            let below = |memcg: &MemcgId| match target {
                Target::Memcg(root) => step.scenario.in_subtree(*memcg, root),
                Target::Machine => true,
            };
            let mut subtree = step.scenario.memcg_ids().filter(below);
            !subtree.any(|memcg| reclaimable(step.scenario, step.to, memcg, target))
        })
    },
};

/// What a pass reclaims from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// A memcg and everything below it.
    Memcg(MemcgId),
    /// All there is.
    Machine,
}

/// The target of the last pass of an operation that ends with -EAGAIN.
fn gave_up(step: &Transition<'_>) -> Option<Target> {
    let mut last = None;
    let mut gave_up = None;
    for event in step.events {
        match event {
            Event::Returned(Call::TryToFreeMemCgroupPages { memcg, .. }, 0) => {
                last = Some(Target::Memcg(*memcg));
            }
            Event::Returned(Call::TryToFreePages, 0) => last = Some(Target::Machine),
            Event::End(_, _, result) if *result == Errno::EAGAIN as i64 => gave_up = last,
            Event::Returned(..)
            | Event::Begin(..)
            | Event::AboveMax(..)
            | Event::Requested(_)
            | Event::Fulfilled(..)
            | Event::Reclaimed(..)
            | Event::Unused(..)
            | Event::Restarted(_)
            | Event::Signalled(_)
            | Event::Turned(..)
            | Event::Wrapped(_)
            | Event::ReadAhead(_)
            | Event::End(..) => {}
        }
    }
    gave_up
}

fn reclaimable(scenario: &Scenario, state: &State, memcg: MemcgId, target: Target) -> bool {
    let world = &state.world;
    let config = &scenario.memcgs[memcg.index()].reclaim;
    let memcg_now = &world.memcgs[memcg.index()];
    if target != Target::Memcg(memcg)
        && config.min > Pages::ZERO
        && memcg_now.memory.usage <= config.min
    {
        return false;
    }
    let swap = scenario.policy.reclaim.swap;
    let free = |file: bool, run: &Run| {
        let held =
            FolioFlags::LOCKED | FolioFlags::DIRTY | FolioFlags::WRITEBACK | FolioFlags::PINNED;
        run.nr_folios > 0 && !run.flags.intersects(held) && (file || swap)
    };
    let listed = memcg_now.lruvecs.iter().any(|lruvec| {
        let on = |list: &crate::lru::LruList| {
            lruvec.list(*list).runs().iter().any(|run| free(list.file(), run))
        };
        crate::lru::LruList::ALL.iter().any(on)
            || lruvec.isolated.iter().any(|isolated| free(isolated.from.file(), &isolated.run))
    });
    let collected = world.cpus.iter().flat_map(|cpu| &cpu.lru_add);
    memcg_now.lru > Pages::ZERO
        || free_folios(scenario, world, &state.actors, memcg).next().is_some()
        || listed
        || collected.filter(|add| add.memcg == memcg).any(|add| free(add.list.file(), &add.run))
}
