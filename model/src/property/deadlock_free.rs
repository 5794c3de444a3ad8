//! `deadlock-free`.

use super::Property;

/// Somebody can always step, unless all have done what they had to.
pub(super) const PROPERTY: Property = Property {
    name: "deadlock-free",
    claim: "while some actor has not come to its end, some actor can step",
    when: "an actor waits in the middle of something",
    applies: |step| {
        let mut actors = step.scenario.actor_ids();
        actors.any(|actor| {
            !step.to.actors[actor.index()].may_rest()
                && step.scenario.blocked(step.to, actor).is_some()
        })
    },
    holds: |step| step.scenario.actor_ids().any(|actor| step.scenario.enabled(step.to, actor)),
};
