//! `high-write-reached`.

use super::{Property, Transition};
use crate::env::{Call, Event, Operation};
use crate::ids::MemcgId;
use crate::units::Pages;

/// Who has lowered memory.high has also got there. The kernel does not promise it: the writer gives
/// up when its retries are used up.
pub(super) const PROPERTY: Property = Property {
    name: "high-write-reached",
    claim: "a write to memory.high ends with the usage at or below what it wrote",
    when: "a write to memory.high ends, by no signal and with nobody else's limit in place",
    applies: |step| written(step).is_some(),
    holds: |step| {
        written(step)
            .is_none_or(|(memcg, high)| step.to.world.memcgs[memcg.index()].memory.usage <= high)
    },
};

/// The limit of a write that ends here and stands.
fn written(step: &Transition<'_>) -> Option<(MemcgId, Pages)> {
    let (from, actor) = step.from?;
    let (memcg, high) = from.actors[actor.index()].writing_high()?;
    let ends = |event: &Event| matches!(event, Event::End(Operation::HighWrite, ..));
    let signal = |event: &Event| matches!(event, Event::Returned(Call::SignalPending, _));
    let ended = step.events.iter().any(ends) && !step.events.iter().any(signal);
    let stands = step.to.world.memcgs[memcg.index()].high == high;
    (ended && stands).then_some((memcg, high))
}
