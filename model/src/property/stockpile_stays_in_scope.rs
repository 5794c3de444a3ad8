//! `stockpile-stays-in-scope`.

use super::{Property, Transition};
use crate::env::{Event, Operation};
use crate::ids::MemcgId;

/// Nobody outside the caller's memcg pays. The proposal does not keep this: above it, each level is
/// reclaimed as a whole.
pub(super) const PROPERTY: Property = Property {
    name: "stockpile-stays-in-scope",
    claim: "MADV_STOCKPILE frees no page of a memcg outside the task's own",
    when: "MADV_STOCKPILE frees a page",
    applies: |step| freed(step).next().is_some(),
    holds: |step| freed(step).all(|(own, memcg)| step.scenario.in_subtree(memcg, own)),
};

/// The task's memcg and the one that loses pages, for each time the call frees some.
fn freed<'a>(step: &'a Transition<'_>) -> impl Iterator<Item = (MemcgId, MemcgId)> + 'a {
    let mut open = step.from.is_some_and(|(from, actor)| {
        let open = from.actors[actor.index()].open();
        open.iter().any(|(operation, _)| *operation == Operation::Stockpile)
    });
    let own = step.from.map(|(_, actor)| step.scenario.actors[actor.index()].task.memcg);
    step.events.iter().filter_map(move |event| {
        if let Event::Begin(Operation::Stockpile, ..) = event {
            open = true;
        } else if let Event::End(Operation::Stockpile, ..) = event {
            open = false;
        } else if let (Event::Reclaimed(memcg, _), true) = (event, open) {
            return Some((own?, *memcg));
        }
        None
    })
}
