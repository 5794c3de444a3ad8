//! The reference engine: breadth-first over whole nodes, one thread, exact.
//!
//! It is the oracle for every faster engine, so it has nothing that could go wrong quietly: no
//! fingerprints, no reduction, no concurrency. The position of a node in its set is its place in
//! breadth-first order, so the first node that breaks a property is at the end of a shortest way
//! to one.

use super::{Budget, Explored, Meter, Progress, Stopped};
use crate::graph::{Graph, Shape, Stem};
use crate::node::{Node, PropertySet, expand, initial};
use crate::verdict::Trace;
use indexmap::IndexSet;
use mm_model::machine::Fuse;
use mm_model::property::PROPERTIES;
use mm_model::scenario::Scenario;
use rustc_hash::FxBuildHasher;

/// How many nodes are expanded between two updates of the progress.
const UPDATE_EVERY: usize = 4096;

/// An allocation's own overhead, as this engine estimates it.
const ALLOCATION: u64 = 16;

struct Search<'a> {
    scenario: &'a Scenario,
    fuse: Fuse,
    nodes: IndexSet<Node, FxBuildHasher>,
    stem: Stem,
    shape: Option<Shape>,
    /// The first node that breaks each property.
    first: Vec<Option<u32>>,
    transitions: u64,
    depth: u64,
    node_bytes: u64,
    applied: PropertySet,
}

/// Visits every reachable node. With `keep_graph`, and if nothing stopped it, also returns the
/// graph.
pub fn explore(
    scenario: &Scenario,
    fuse: Fuse,
    budget: &Budget,
    progress: &mut dyn Progress,
    keep_graph: bool,
) -> (Explored, Option<Graph>) {
    let mut search = Search {
        scenario,
        fuse,
        nodes: IndexSet::default(),
        stem: Stem::default(),
        shape: keep_graph.then(|| Shape::new(scenario.actors.len())),
        first: vec![None; PROPERTIES.len()],
        transitions: 0,
        depth: 0,
        node_bytes: 0,
        applied: PropertySet::default(),
    };
    let stopped = search.run(budget, progress);
    search.finish(stopped)
}

impl Search<'_> {
    fn run(&mut self, budget: &Budget, progress: &mut dyn Progress) -> Option<Stopped> {
        let meter = Meter::start(budget);
        let (start, applied) = initial(self.scenario);
        self.applied = applied;
        self.find(start, None);
        let mut level_ends = self.nodes.len();
        let mut at = 0;
        while at < self.nodes.len() {
            if at == level_ends {
                self.depth += 1;
                level_ends = self.nodes.len();
            }
            let states = self.nodes.len() as u64;
            if let Some(stopped) = meter.spent(states, self.bytes()) {
                return Some(stopped);
            }
            if at.is_multiple_of(UPDATE_EVERY) {
                progress.update(states, self.transitions, self.depth, states - at as u64);
            }
            self.expand(at);
            at += 1;
        }
        None
    }

    fn expand(&mut self, at: usize) {
        let node = self.nodes[at].clone();
        if let Some(shape) = &mut self.shape {
            shape.begin_node(&node.state());
        }
        let mut ordinal = 0;
        let (scenario, fuse) = (self.scenario, self.fuse);
        expand(scenario, fuse, &node, |edge, to| {
            self.transitions += 1;
            self.applied = self.applied.union(edge.applied);
            let to = self.find(to, Some((position(at), ordinal)));
            if let Some(shape) = &mut self.shape {
                shape.push_edge(to, edge.actor, edge.events);
            }
            ordinal += 1;
        });
    }

    /// The position of a node, which is stored if it is new.
    fn find(&mut self, node: Node, parent: Option<(u32, u32)>) -> u32 {
        let (bytes, violated) = (node.bytes() as u64, node.violated);
        let (at, new) = self.nodes.insert_full(node);
        let at = position(at);
        if new {
            self.node_bytes += bytes + ALLOCATION;
            self.stem.push(parent);
            for property in violated.positions() {
                self.first[property].get_or_insert(at);
            }
        }
        at
    }

    /// What the search holds: nodes, with their hash and their place in the table; parents; the
    /// graph.
    fn bytes(&self) -> u64 {
        let entry = size_of::<Node>() + 2 * size_of::<u64>() + size_of::<usize>();
        let shape = self.shape.as_ref().map_or(0, Shape::bytes);
        self.node_bytes + (self.nodes.len() * entry) as u64 + self.stem.bytes() + shape
    }

    fn finish(self, stopped: Option<Stopped>) -> (Explored, Option<Graph>) {
        let Self { scenario, fuse, nodes, stem, shape, first, transitions, depth, applied, .. } =
            self;
        let states = nodes.len() as u64;
        let nodes: Vec<Node> = nodes.into_iter().collect();
        let violated = nodes.iter().fold(PropertySet::default(), |set, n| set.union(n.violated));
        let trace = |at: &u32| Trace {
            choices: stem.choices(scenario, fuse, &nodes, *at),
            cycle_from: None,
        };
        let traces = first.iter().map(|at| at.as_ref().map(trace)).collect();
        let explored = Explored { states, transitions, depth, stopped, applied, violated, traces };
        let complete = stopped.is_none();
        let graph = shape.filter(|_| complete).map(|shape| Graph { shape, nodes, stem, fuse });
        (explored, graph)
    }
}

fn position(at: usize) -> u32 {
    u32::try_from(at).expect("2^32 nodes don't fit in memory")
}
