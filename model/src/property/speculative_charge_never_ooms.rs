//! `speculative-charge-never-ooms`.

use super::{Property, Transition};
use crate::env::{Call, Event};

/// Readahead kills nobody.
pub(super) const PROPERTY: Property = Property {
    name: "speculative-charge-never-ooms",
    claim: "a charge with NORETRY never invokes the OOM killer",
    when: "a charge with NORETRY runs a reclaim pass, or invokes the killer",
    applies: |step| {
        // The killer is a step of its own: a pass alone would leave the violation unjudged.
        speculative_call(step, |call| {
            matches!(call, Call::TryToFreeMemCgroupPages { .. } | Call::MemCgroupOom { .. })
        })
    },
    holds: |step| !speculative_call(step, |call| matches!(call, Call::MemCgroupOom { .. })),
};

/// Whether an actor whose open charge is speculative makes such a call in this step.
fn speculative_call(step: &Transition<'_>, call: impl Fn(&Call) -> bool) -> bool {
    let Some((from, actor)) = step.from else { return false };
    let charging = from.actors[actor.index()].charging();
    let speculative = charging.is_some_and(|charge| charge.gfp().speculative());
    speculative
        && step.events.iter().any(|event| match event {
            Event::Returned(made, _) => call(made),
            Event::Begin(..)
            | Event::AboveMax(..)
            | Event::End(..)
            | Event::Requested(_)
            | Event::Fulfilled(..)
            | Event::Reclaimed(..)
            | Event::Unused(..)
            | Event::Restarted(_)
            | Event::Signalled(_)
            | Event::Turned(..)
            | Event::Wrapped(_)
            | Event::ReadAhead(_) => false,
        })
}
