//! `errors-legitimate`.

use super::Property;
use crate::env::{Errno, Event, Operation};
use crate::gfp::Gfp;

/// Only who may fail does.
pub(super) const PROPERTY: Property = Property {
    name: "errors-legitimate",
    claim: "a charge returns 0 or -ENOMEM, and never an error if it must not fail or may use \
            reserves (NOFAIL, HIGH)",
    when: "a charge ends",
    applies: |step| {
        step.events.iter().any(|event| matches!(event, Event::End(Operation::Charge, _, _)))
    },
    holds: |step| {
        step.events.iter().all(|event| match event {
            Event::End(Operation::Charge, gfp, result) => {
                let may_fail = !gfp.intersects(Gfp::NOFAIL | Gfp::HIGH);
                *result == 0 || (*result == Errno::ENOMEM as i64 && may_fail)
            }
            Event::End(
                Operation::Uncharge | Operation::Readahead | Operation::Read | Operation::Fault,
                _,
                _,
            )
            | Event::Begin(..)
            | Event::AboveMax(..)
            | Event::Returned(..)
            | Event::Wrapped(_) => true,
        })
    },
};
