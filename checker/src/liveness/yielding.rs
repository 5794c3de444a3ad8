//! One CPU without preemption: whoever runs goes on until it blocks or ends, until an operation of
//! it ends, or until it goes to sleep. Only then may another actor run.
//!
//! The graph of what can still happen is smaller in runs and larger in nodes: a node now also says
//! who is running.

use crate::graph::{Hop, Shape};
use mm_model::ids::ActorId;

/// The graph of one CPU, and where it lies in the graph of many.
pub(crate) struct Yielding {
    /// It.
    pub(crate) shape: Shape,
    /// For each node, the node of the whole graph, and who is running.
    places: Vec<(u32, Option<ActorId>)>,
}

impl Yielding {
    pub(crate) fn of(whole: &Shape) -> Self {
        const UNSEEN: u32 = u32::MAX;
        let kinds = whole.actors() + 1;
        let mut seen = vec![UNSEEN; whole.len() as usize * kinds];
        let mut shape = Shape::new(whole.actors());
        let mut places = vec![(0, None)];
        shape.push_parent(None);
        seen[0] = 0;
        let mut at = 0;
        while let Some((node, running)) = places.get(at as usize).copied() {
            let open: Vec<_> =
                (0..whole.actors()).map(|actor| whole.open(node, actor.into())).collect();
            shape.begin(&open);
            for edge in whole.edges(node) {
                let label = whole.label(edge);
                if running.is_some_and(|running| running != label.actor) {
                    continue;
                }
                let goes_on = !label.yields() && whole.enabled(edge.to, label.actor);
                let running = goes_on.then_some(label.actor);
                let kind = running.map_or(0, |actor| actor.index() + 1);
                let place = &mut seen[edge.to as usize * kinds + kind];
                if *place == UNSEEN {
                    *place = crate::graph::position(places.len());
                    places.push((edge.to, running));
                    shape.push_parent(Some(at));
                }
                shape.push_edge(*place, label);
            }
            at += 1;
        }
        Self { shape, places }
    }

    /// A hop in the whole graph.
    pub(crate) fn whole(&self, whole: &Shape, hop: &Hop) -> Hop {
        let (from, running) = self.places[hop.from as usize];
        let admitted = whole
            .hops(from)
            .filter(|(_, edge)| running.is_none_or(|running| running == whole.actor(edge)));
        let found = admitted.map(|(hop, _)| hop).nth(hop.ordinal as usize);
        found.expect("every edge of one CPU is one of the whole graph")
    }
}
