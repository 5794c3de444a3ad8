//! The most a measure comes to within one operation of one actor: the longest path through the
//! part of the graph in which it is open.
//!
//! Costs are never negative. So a cycle that adds nothing doesn't matter, a cycle that adds
//! something makes the cost unbounded, and without one the longest path is that over the strongly
//! connected components, each of which leads only to others.

use super::{Bound, strongest};
use crate::graph::{Components, Edge, Hop, Shape};
use crate::label::Share;
use crate::liveness::Fairness;
use crate::liveness::lasso::shortest;
use mm_model::env::Operation;
use mm_model::ids::ActorId;

/// Whose operation, and what of it.
pub(super) struct Question<'a> {
    shape: &'a Shape,
    /// Where the operation is open.
    open: Vec<bool>,
    /// What the transitions of the actor mean to it, if it is open before or not.
    while_open: Vec<Share>,
    otherwise: Vec<Share>,
}

/// How large it can become, and how.
pub(super) struct Found {
    pub(super) bound: Bound<u64>,
    pub(super) fairness: Option<Fairness>,
    pub(super) stem: Vec<Hop>,
    pub(super) cycle: Vec<Hop>,
}

/// The longest way on from each component, and out of which of its nodes it goes.
struct Longest {
    components: Components,
    most: Vec<u64>,
}

impl<'a> Question<'a> {
    pub(super) fn new(shape: &'a Shape, actor: ActorId, operation: Operation, measure: u8) -> Self {
        let share = |open| {
            shape.labels(|label| {
                let mine = label.actor == actor;
                if mine { label.share(operation, measure, open) } else { Share::default() }
            })
        };
        Self {
            shape,
            open: shape.nodes(|open| open[actor.index()].contains(operation)),
            while_open: share(true),
            otherwise: share(false),
        }
    }

    fn is_open(&self, node: u32) -> bool {
        self.open[node as usize]
    }

    fn share(&self, from: u32, edge: Edge) -> Share {
        let shares = if self.is_open(from) { &self.while_open } else { &self.otherwise };
        Shape::of_label(shares, &edge)
    }

    /// Whether the operation is open before and after.
    fn keep(&self, from: u32, edge: Edge) -> bool {
        self.is_open(from) && !self.share(from, edge).ends
    }

    /// Nothing if there is no such operation.
    pub(super) fn most(&self) -> Option<Found> {
        let keep = |from: u32, edge: &Edge| self.keep(from, *edge);
        let adds = |from: u32, edge: &Edge| self.share(from, *edge).head > 0;
        if let Some((fairness, lasso)) = strongest(self.shape, keep, adds) {
            return Some(Found {
                bound: Bound::Unbounded,
                fairness: Some(fairness),
                stem: self.shape.stem(lasso.entry),
                cycle: lasso.cycle,
            });
        }
        let longest = self.longest();
        let begins = |from: u32| self.shape.hops(from).map(move |(hop, edge)| (hop, from, edge));
        let mut most: Option<(u64, Hop)> = None;
        for (hop, from, edge) in (0..self.shape.len()).flat_map(begins) {
            let share = self.share(from, *edge);
            let goes_on = share.tail.map(|tail| tail + longest.from(edge.to));
            let Some(here) = share.inner.max(goes_on) else { continue };
            if most.is_none_or(|(most, _)| here > most) {
                most = Some((here, hop));
            }
        }
        let (most, begins) = most?;
        let stem = self.path(&longest, begins);
        Some(Found { bound: Bound::Most(most), fairness: None, stem, cycle: Vec::new() })
    }

    fn longest(&self) -> Longest {
        let shape = self.shape;
        let components = shape.components(|from, edge| self.keep(from, *edge));
        let mut most = vec![0; components.count];
        let mut order: Vec<u32> = (0..shape.len()).filter(|node| self.is_open(*node)).collect();
        // A component leads only to those numbered before it.
        order.sort_by_key(|node| components.of[*node as usize]);
        for node in order {
            let component = components.of[node as usize] as usize;
            for edge in shape.edges(node) {
                let share = self.share(node, *edge);
                let on =
                    if share.ends { 0 } else { most[components.of[edge.to as usize] as usize] };
                most[component] = most[component].max(share.head + on);
            }
        }
        Longest { components, most }
    }

    /// A way of that cost: to where the operation begins, and on until nothing more is added.
    fn path(&self, longest: &Longest, begins: Hop) -> Vec<Hop> {
        let shape = self.shape;
        let mut path = shape.stem(begins.from);
        path.push(begins);
        let share = self.share(begins.from, *shape.edge(begins));
        let goes_on = share.tail.map(|tail| tail + longest.from(begins.to));
        let mut at = begins.to;
        if goes_on < share.inner {
            return path;
        }
        while longest.from(at) > 0 {
            let left = longest.from(at);
            let component = |node: u32| longest.components.of[node as usize];
            let inner = |from: u32, edge: &Edge| {
                self.keep(from, *edge) && component(from) == component(edge.to)
            };
            let leaves = |hop: Hop, edge: &Edge| {
                let share = self.share(hop.from, *edge);
                let on = if share.ends { 0 } else { longest.from(hop.to) };
                (share.ends || component(hop.from) != component(hop.to)) && share.head + on == left
            };
            let way = shortest(shape, at, inner, leaves);
            let way = way.expect("what is the longest way goes on somewhere");
            let last = *way.last().expect("it has a step");
            let ended = self.share(last.from, *shape.edge(last)).ends;
            at = last.to;
            path.extend(way);
            if ended {
                break;
            }
        }
        path
    }
}

impl Longest {
    fn from(&self, node: u32) -> u64 {
        self.most[self.components.of[node as usize] as usize]
    }
}
