//! `window-not-overrun`.

use super::Property;
use super::one_mark_per_window::ended;

/// A failed add makes a window shorter, never longer.
pub(super) const PROPERTY: Property = Property {
    name: "window-not-overrun",
    claim: "a window that goes on with base pages where a folio failed asks for none past its end",
    when: "a request that has gone on so ends",
    applies: |step| ended(step.events).any(|request| request.fell_back),
    holds: |step| !ended(step.events).any(|request| request.overran),
};
