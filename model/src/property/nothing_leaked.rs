//! `nothing-leaked`.

use super::Property;
use crate::env::Event;

/// A failing operation gives back what it took.
pub(super) const PROPERTY: Property = Property {
    name: "nothing-leaked",
    claim: "an operation that fails leaves no page charged that nobody has",
    when: "an operation ends with an error",
    applies: |step| {
        step.events.iter().any(|event| matches!(event, Event::End(_, _, result) if *result < 0))
    },
    holds: |step| step.conserved(),
};
