//! `no-wrap`.

use super::Property;
use crate::env::{Event, Operation};

/// Unsigned arithmetic of the kernel stays what it was meant to be.
pub(super) const PROPERTY: Property = Property {
    name: "no-wrap",
    claim: "no unsigned arithmetic of readahead wraps, except where the code relies on it",
    when: "a readahead ends, or arithmetic has wrapped",
    applies: |step| step.events.iter().any(wrapped_or_ended),
    holds: |step| !step.events.iter().any(|event| matches!(event, Event::Wrapped(_))),
};

fn wrapped_or_ended(event: &Event) -> bool {
    matches!(event, Event::Wrapped(_) | Event::End(Operation::Readahead, ..))
}
