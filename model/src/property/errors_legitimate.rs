//! `errors-legitimate`.

use super::Property;
use crate::env::{Errno, Event, Operation};
use crate::gfp::Gfp;

/// Only who may fail does.
pub(super) const PROPERTY: Property = Property {
    name: "errors-legitimate",
    claim: "an operation returns 0 or an error of its own: a charge -ENOMEM unless it must not fail \
            or may use reserves (NOFAIL, HIGH), memory.reclaim -EAGAIN or -EINTR, MADV_STOCKPILE \
            also -ENOMEM and -EINVAL, a read -ENOMEM, a fault -ENOMEM or -EFAULT, all \
            others none",
    when: "an operation ends",
    applies: |step| step.events.iter().any(|event| matches!(event, Event::End(..))),
    holds: |step| {
        step.events.iter().all(|event| match event {
            Event::End(operation, gfp, result) => {
                *result == 0
                    || may_return(*operation, *gfp).iter().any(|errno| *errno as i64 == *result)
            }
            Event::Begin(..)
            | Event::AboveMax(..)
            | Event::Returned(..)
            | Event::Requested(_)
            | Event::Fulfilled(..)
            | Event::Reclaimed(..)
            | Event::Unused(..)
            | Event::Restarted(_)
            | Event::Signalled(_)
            | Event::Turned(..)
            | Event::Wrapped(_)
            | Event::ReadAhead(_) => true,
        })
    },
};

/// The errors an operation may end with.
fn may_return(operation: Operation, gfp: Gfp) -> &'static [Errno] {
    match operation {
        Operation::Charge if gfp.intersects(Gfp::NOFAIL | Gfp::HIGH) => &[],
        Operation::Charge | Operation::Read => &[Errno::ENOMEM],
        Operation::ReclaimWrite => &[Errno::EAGAIN, Errno::EINTR],
        Operation::Stockpile => &[Errno::EINVAL, Errno::ENOMEM, Errno::EINTR, Errno::EAGAIN],
        Operation::Fault => &[Errno::ENOMEM, Errno::EFAULT],
        Operation::Access => &[Errno::EFAULT],
        Operation::Uncharge
        | Operation::HighWrite
        | Operation::MaxWrite
        | Operation::Readahead
        | Operation::ReturnToUser => &[],
    }
}
