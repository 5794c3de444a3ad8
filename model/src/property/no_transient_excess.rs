//! `no-transient-excess`.

use super::Property;
use crate::env::Event;

/// What others read is what is settled. The kernel's counters do not promise this; with the
/// counters as one step it holds.
pub(super) const PROPERTY: Property = Property {
    name: "no-transient-excess",
    claim: "nobody can read a usage above max that is only an attempt about to be taken back",
    when: "an attempt finds a level above its max",
    applies: |step| step.events.iter().any(|event| matches!(event, Event::AboveMax(..))),
    holds: |step| {
        step.scenario.memcg_ids().all(|level| {
            let memory = step.to.world.memcgs[level.index()].memory;
            memory.usage <= memory.max || step.settled(step.to, level) > memory.max
        })
    },
};
