//! `one-mark-per-window`.

use super::Property;
use crate::env::{Event, RequestSummary};

/// Whoever reads through a window finds one folio that starts the next.
pub(super) const PROPERTY: Property = Property {
    name: "one-mark-per-window",
    claim: "a request sets one mark if it adds the folio that holds the page its mark belongs to, \
            and none otherwise",
    when: "a request that has set a mark, or should have, ends",
    applies: |step| ended(step.events).any(|request| request.mark_due || request.marks > 0),
    holds: |step| ended(step.events).all(|request| request.marks == u8::from(request.mark_due)),
};

/// The requests to read ahead that end.
pub(super) fn ended(events: &[Event]) -> impl Iterator<Item = &RequestSummary> {
    events.iter().filter_map(|event| match event {
        Event::ReadAhead(request) => Some(request),
        Event::Returned(..)
        | Event::AboveMax(..)
        | Event::Begin(..)
        | Event::Requested(_)
        | Event::Fulfilled(..)
        | Event::Reclaimed(..)
        | Event::Unused(..)
        | Event::Restarted(_)
        | Event::Signalled(_)
        | Event::Turned(..)
        | Event::End(..)
        | Event::Wrapped(_) => None,
    })
}
