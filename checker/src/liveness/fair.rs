//! Where a fair run can stay for ever.
//!
//! What an infinite run visits again and again is strongly connected. Whether such a part is fair
//! is a matter of the part alone: what an actor does elsewhere gives it nothing here. Under weak
//! fairness an actor has its due if it steps inside, or is disabled somewhere inside; adding nodes
//! to a part can only help, so whole components decide. Under strong fairness an actor that is
//! enabled somewhere inside must step inside, so a smaller part can be fair where the whole is
//! not: the nodes that enable whoever does not step are taken out, and what is left is looked at
//! again.

use super::Fairness;
use crate::graph::{Edge, Shape};

/// The strongly connected parts of a graph in which a fair run can stay.
pub(crate) struct Parts {
    /// The part of each node.
    of: Vec<u32>,
    /// Whether a fair run can stay in it.
    fair: Vec<bool>,
}

impl Parts {
    /// The fair part a node lies in.
    pub(crate) fn of(&self, node: u32) -> Option<u32> {
        let part = self.of[node as usize];
        self.fair[part as usize].then_some(part)
    }

    /// Whether an edge that the question admits lies in a fair part.
    pub(crate) fn inner(&self, from: u32, edge: Edge) -> bool {
        self.of[from as usize] == self.of[edge.to as usize] && self.of(from).is_some()
    }
}

const STEPS: u8 = 1;
const ENABLED: u8 = 2;
const DISABLED: u8 = 4;

/// Whether an actor about which all that is known has its due.
const fn due(fairness: Fairness, known: u8) -> bool {
    match fairness {
        Fairness::None => true,
        Fairness::Weak => known & (STEPS | DISABLED) != 0,
        Fairness::Strong | Fairness::RunToYield => known & STEPS != 0 || known & ENABLED == 0,
    }
}

/// Finds them in the subgraph of the edges that `keep` admits.
pub(crate) fn parts(shape: &Shape, keep: impl Fn(u32, &Edge) -> bool, fairness: Fairness) -> Parts {
    let actors = shape.labels(|label| label.actor.index());
    let mut alive = vec![true; shape.len() as usize];
    loop {
        let found = shape.components(|from, edge| {
            alive[from as usize] && alive[edge.to as usize] && keep(from, edge)
        });
        let mut parts = Parts { of: found.of, fair: vec![false; found.count] };
        for from in (0..shape.len()).filter(|from| alive[*from as usize]) {
            let part = parts.of[from as usize];
            let inner = |edge: &Edge| {
                parts.of[edge.to as usize] == part && alive[edge.to as usize] && keep(from, edge)
            };
            if !parts.fair[part as usize] && shape.edges(from).iter().any(inner) {
                parts.fair[part as usize] = true;
            }
        }
        if fairness == Fairness::None {
            return parts;
        }
        let known = Known::of(shape, &parts, &actors, &keep);
        let mut again = false;
        for node in 0..shape.len() {
            let Some(part) = parts.of(node) else { continue };
            if fairness == Fairness::Weak || !known.lacks(part, fairness) {
                continue;
            }
            let lacks = |edge: &Edge| !known.due(part, Shape::of_label(&actors, edge), fairness);
            if shape.edges(node).iter().any(lacks) {
                alive[node as usize] = false;
                again = true;
            }
        }
        if !again {
            for (part, fair) in (0..).zip(&mut parts.fair) {
                *fair &= !known.lacks(part, fairness);
            }
            return parts;
        }
    }
}

/// What is known of each actor in each part that has a cycle.
struct Known {
    actors: usize,
    /// The place of a part in `bits`.
    place: Vec<u32>,
    bits: Vec<u8>,
}

impl Known {
    fn of(
        shape: &Shape,
        parts: &Parts,
        actors: &[usize],
        keep: &impl Fn(u32, &Edge) -> bool,
    ) -> Self {
        let mut count = 0;
        let place = |fair: &bool| {
            count += u32::from(*fair);
            count.saturating_sub(1)
        };
        let place: Vec<u32> = parts.fair.iter().map(place).collect();
        let mut bits = vec![0; count as usize * shape.actors()];
        let mut enabled = vec![false; shape.actors()];
        for node in 0..shape.len() {
            let Some(part) = parts.of(node) else { continue };
            let here = place[part as usize] as usize * shape.actors();
            let known = &mut bits[here..][..shape.actors()];
            enabled.fill(false);
            for edge in shape.edges(node) {
                let actor = Shape::of_label(actors, edge);
                enabled[actor] = true;
                if parts.inner(node, *edge) && keep(node, edge) {
                    known[actor] |= STEPS;
                }
            }
            for (known, enabled) in known.iter_mut().zip(&enabled) {
                *known |= if *enabled { ENABLED } else { DISABLED };
            }
        }
        Self { actors: shape.actors(), place, bits }
    }

    fn due(&self, part: u32, actor: usize, fairness: Fairness) -> bool {
        due(fairness, self.bits[self.place[part as usize] as usize * self.actors + actor])
    }

    fn lacks(&self, part: u32, fairness: Fairness) -> bool {
        self.place.len() > part as usize
            && !self.bits.is_empty()
            && (0..self.actors).any(|actor| !self.due(part, actor, fairness))
    }
}
