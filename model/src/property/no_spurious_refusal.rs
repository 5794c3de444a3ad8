//! `no-spurious-refusal`.

use super::Property;
use crate::env::Event;

/// A refusal is deserved. The kernel's counters do not promise this either: an attempt that is
/// about to be taken back can make another one fail.
pub(super) const PROPERTY: Property = Property {
    name: "no-spurious-refusal",
    claim: "a level refuses an attempt only if what is settled leaves no room for it",
    when: "an attempt finds a level above its max",
    applies: |step| step.events.iter().any(|event| matches!(event, Event::AboveMax(..))),
    holds: |step| {
        let Some((from, _)) = step.from else { return true };
        step.events.iter().all(|event| match event {
            Event::AboveMax(level, nr_pages) => {
                let max = from.world.memcgs[level.index()].memory.max;
                step.settled(from, *level) + *nr_pages > max
            }
            Event::Begin(..)
            | Event::End(..)
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
