//! A cycle in a fair part that gives every actor its due, and a shortest way to it.

use super::Fairness;
use super::fair::{Parts, parts};
use crate::graph::{Edge, Hop, Shape};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// A cycle, and where it is entered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lasso {
    /// The node at which the cycle begins and ends.
    pub(crate) entry: u32,
    /// Its edges.
    pub(crate) cycle: Vec<Hop>,
}

/// Finds a cycle of edges that `keep` admits, fair in itself, with an edge that is as it `must` be.
pub(crate) fn lasso(
    shape: &Shape,
    keep: impl Fn(u32, &Edge) -> bool,
    fairness: Fairness,
    must: impl Fn(u32, &Edge) -> bool,
) -> Option<Lasso> {
    let parts = parts(shape, &keep, fairness);
    let inner = |from: u32, edge: &Edge| parts.inner(from, *edge) && keep(from, edge);
    let entry = entry(shape, &parts, |from, edge| inner(from, edge) && must(from, edge))?;
    let cycle = Closing { shape, inner: &inner, fairness }.close(entry, &must);
    Some(Lasso { entry, cycle })
}

/// The first node of a part with an edge that is as wanted. Nodes are in breadth-first order: the
/// first one has the shortest stem.
fn entry(shape: &Shape, parts: &Parts, wanted: impl Fn(u32, &Edge) -> bool) -> Option<u32> {
    let mut having: Vec<u32> = (0..shape.len())
        .filter(|node| shape.edges(*node).iter().any(|edge| wanted(*node, edge)))
        .filter_map(|node| parts.of(node))
        .collect();
    having.sort_unstable();
    (0..shape.len())
        .find(|node| parts.of(*node).is_some_and(|part| having.binary_search(&part).is_ok()))
}

struct Closing<'a, F> {
    shape: &'a Shape,
    inner: &'a F,
    fairness: Fairness,
}

impl<F: Fn(u32, &Edge) -> bool> Closing<'_, F> {
    /// On to the nearest edge that must be there, then, as long as the cycle so far is unfair to
    /// somebody, on to the nearest place that gives one of them its due, and back each time.
    fn close(&self, entry: u32, must: impl Fn(u32, &Edge) -> bool) -> Vec<Hop> {
        let mut way = self.shortest(entry, |hop, edge| must(hop.from, edge));
        loop {
            let at = way.last().map_or(entry, |hop| hop.to);
            let mut cycle = way.clone();
            if at != entry {
                cycle.extend(self.shortest(at, |hop, _| hop.to == entry));
            }
            let missing = self.missing(&cycle);
            if missing.is_empty() {
                return cycle;
            }
            way.extend(self.shortest(at, |hop, edge| {
                let mut missing = missing.iter();
                missing.any(|actor| self.gives(hop, *edge, *actor))
            }));
        }
    }

    /// Actors to which a cycle is unfair.
    fn missing(&self, cycle: &[Hop]) -> Vec<usize> {
        let shape = self.shape;
        let unfair = |actor: &usize| {
            let steps = cycle.iter().any(|hop| shape.actor(shape.edge(*hop)).index() == *actor);
            let mut enabled = cycle.iter().map(|hop| shape.enabled(hop.from, (*actor).into()));
            !steps
                && match self.fairness {
                    Fairness::None => false,
                    Fairness::Weak => enabled.all(|enabled| enabled),
                    Fairness::Strong | Fairness::RunToYield => enabled.any(|enabled| enabled),
                }
        };
        (0..shape.actors()).filter(unfair).collect()
    }

    /// Whether an edge gives an actor its due.
    fn gives(&self, hop: Hop, edge: Edge, actor: usize) -> bool {
        self.shape.actor(&edge).index() == actor
            || (self.fairness == Fairness::Weak && !self.shape.enabled(hop.to, actor.into()))
    }

    /// A shortest path of inner edges, at least one, whose last edge is as wanted.
    fn shortest(&self, start: u32, wanted: impl Fn(Hop, &Edge) -> bool) -> Vec<Hop> {
        let wanted = |hop: Hop, edge: &Edge| (self.inner)(hop.from, edge) && wanted(hop, edge);
        shortest(self.shape, start, self.inner, wanted).expect("a part reaches all of itself")
    }
}

/// A shortest path, at least one edge, whose last edge is as wanted and the others as `keep`
/// admits.
pub(crate) fn shortest(
    shape: &Shape,
    start: u32,
    keep: impl Fn(u32, &Edge) -> bool,
    wanted: impl Fn(Hop, &Edge) -> bool,
) -> Option<Vec<Hop>> {
    // In the order found, which is breadth-first: each node with the hop that first reached it.
    let mut reached: IndexMap<u32, Option<Hop>, FxBuildHasher> = IndexMap::default();
    reached.insert(start, None);
    let mut at = 0;
    while let Some((&from, _)) = reached.get_index(at) {
        for (hop, edge) in shape.hops(from) {
            if wanted(hop, edge) {
                let back = |hop: &Hop| reached[&hop.from];
                let mut path: Vec<Hop> = std::iter::successors(Some(hop), back).collect();
                path.reverse();
                return Some(path);
            }
            if keep(from, edge) {
                reached.entry(edge.to).or_insert(Some(hop));
            }
        }
        at += 1;
    }
    None
}
