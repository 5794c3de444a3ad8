//! What waits for a queued drain, and for what of it.

use crate::scenarios::{Small, charge, explored};
use mm_model::design::{Changes, DrainWait};
use mm_model::machine::Fuse;

#[test]
fn a_flush_waits_until_the_drain_is_over_and_not_only_until_it_begins() {
    let flush = Changes { drain_wait: Some(DrainWait::Flush), ..Changes::NONE };
    let one = [charge(1, "kernel")];
    // B's stock is on its own CPU: A queues its drain there.
    let small = Small::job(2).batch(2).kernel_steps().design(&flush);
    let scenario = small.once("A", &one).once("B", &one).drain_workers().build();
    let (_, graph) = explored(&scenario, Fuse::No);
    let (mut waits, mut goes_on) = (0, 0);
    for node in 0..graph.shape().len() {
        let state = graph.node(node).state();
        for actor in scenario.actor_ids() {
            if state.actors[actor.index()].stack().last() != Some(&("drain_all_stock", "Flush")) {
                continue;
            }
            let drains = |actor: &mm_model::actor::Actor| {
                actor.stack().first().is_some_and(|(function, _)| *function == "drain_local_stock")
            };
            if state.actors.iter().any(drains) {
                assert!(!scenario.enabled(&state, actor), "{state:?}");
                waits += 1;
            } else {
                goes_on += usize::from(scenario.enabled(&state, actor));
            }
        }
    }
    assert!(waits > 0 && goes_on > 0, "both happen");
}
