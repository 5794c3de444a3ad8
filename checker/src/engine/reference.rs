//! The reference engine: breadth-first over whole nodes, one thread, exact.
//!
//! It is the oracle for every faster engine, so it has nothing that could go wrong quietly: no
//! fingerprints, no reduction, no concurrency. The position of a node in its set is its place in
//! breadth-first order, so the first node that breaks a property is at the end of a shortest way
//! to one.

use super::native::Nodes;
use super::{Budget, Explored, Meter, Progress, Stopped};
use crate::graph::{Graph, Shape, position};
use crate::label::{Label, OperationSet};
use crate::node::{Node, PropertySet, Reduction, expand, initial, transition};
use crate::verdict::{Choice, Trace};
use indexmap::IndexSet;
use mm_model::actor::{Actor, OpenOperations};
use mm_model::property::PROPERTIES;
use mm_model::scenario::Scenario;
use rustc_hash::FxBuildHasher;
use std::ops::ControlFlow;

/// How many nodes are expanded between two updates of the progress.
const UPDATE_EVERY: usize = 4096;

/// How many transitions of one node are followed between two looks at the budget.
const LOOK_EVERY: u32 = 1024;

/// An allocation's own overhead, as this engine estimates it.
const ALLOCATION: u64 = 16;

struct Search<'a> {
    scenario: &'a Scenario,
    reduction: Reduction,
    nodes: IndexSet<Node, FxBuildHasher>,
    /// How each node was first reached: from which node, by which of its edges.
    parents: Vec<Option<(u32, u32)>>,
    shape: Shape,
    keep_graph: bool,
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
    reduction: impl Into<Reduction>,
    budget: &Budget,
    progress: &mut dyn Progress,
    keep_graph: bool,
) -> (Explored, Option<Graph>) {
    let mut search = Search {
        scenario,
        reduction: reduction.into(),
        nodes: IndexSet::default(),
        shape: Shape::new(scenario.actors.len()),
        keep_graph,
        first: vec![None; PROPERTIES.len()],
        parents: Vec::new(),
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
            if let Some(stopped) = self.expand(at, &meter) {
                return Some(stopped);
            }
            at += 1;
        }
        None
    }

    /// Adds the transitions of a node; what ended it early, if anything did.
    fn expand(&mut self, at: usize, meter: &Meter) -> Option<Stopped> {
        let node = self.nodes[at].clone();
        let open: Vec<_> = node.state().actors.iter().map(Actor::open).collect();
        if self.keep_graph {
            let kinds = |open: &OpenOperations| open.iter().map(|(kind, _)| *kind).collect();
            self.shape.begin(&open.iter().map(kinds).collect::<Vec<OperationSet>>());
        }
        let mut ordinal = 0;
        let mut stopped = None;
        let (scenario, reduction) = (self.scenario, self.reduction.clone());
        let _ = expand(scenario, &reduction, &node, |edge, to| {
            self.transitions += 1;
            self.applied = self.applied.union(edge.applied);
            let to = self.find(to, Some((position(at), ordinal)));
            if self.keep_graph {
                let mut label = Label::quiet(edge.actor);
                label.read(edge.actor, &open[edge.actor.index()], edge.answers);
                self.shape.push_edge(to, &label);
            }
            ordinal += 1;
            if ordinal.is_multiple_of(LOOK_EVERY) {
                stopped = meter.spent(self.nodes.len() as u64, self.bytes());
            }
            stopped.map_or(ControlFlow::Continue(()), |_| ControlFlow::Break(()))
        });
        stopped
    }

    /// The position of a node, which is stored if it is new.
    fn find(&mut self, node: Node, parent: Option<(u32, u32)>) -> u32 {
        let (bytes, violated) = (node.bytes() as u64, node.violated);
        let (at, new) = self.nodes.insert_full(node);
        let at = position(at);
        if new {
            self.node_bytes += bytes + ALLOCATION;
            self.parents.push(parent);
            self.shape.push_parent(parent.map(|(from, _)| from));
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
        let parents = size_of_val(&*self.parents) as u64;
        self.node_bytes + (self.nodes.len() * entry) as u64 + parents + self.shape.bytes()
    }

    fn finish(self, stopped: Option<Stopped>) -> (Explored, Option<Graph>) {
        let Self { nodes, first, transitions, depth, applied, .. } = &self;
        let states = nodes.len() as u64;
        let violated = nodes.iter().fold(PropertySet::default(), |set, n| set.union(n.violated));
        let trace = |at: &u32| Trace { choices: self.choices(*at), cycle_from: None };
        let traces = first.iter().map(|at| at.as_ref().map(trace)).collect();
        let explored = Explored {
            states,
            transitions: *transitions,
            depth: *depth,
            stopped,
            applied: *applied,
            violated,
            traces,
        };
        if stopped.is_some() || !self.keep_graph {
            return (explored, None);
        }
        let mut packed = Nodes::default();
        let mut buffer = Vec::new();
        for node in nodes {
            buffer.clear();
            node.pack(&mut buffer);
            packed.push(&buffer);
        }
        (explored, Some(Graph::new(self.shape, packed, self.reduction)))
    }

    /// A shortest way from the start to a node.
    fn choices(&self, to: u32) -> Vec<Choice> {
        let Self { scenario, reduction, nodes, .. } = self;
        let parent = |node: u32| self.parents[node as usize];
        let hop = |to: u32| parent(to).map(|(from, ordinal)| (from, ordinal, to));
        let mut hops: Vec<_> = std::iter::successors(hop(to), |(from, ..)| hop(*from)).collect();
        hops.reverse();
        if let Some(symmetry) = &reduction.symmetry {
            let path: Vec<Node> =
                hops.iter().map(|(_, _, to)| nodes[*to as usize].clone()).collect();
            return symmetry.choices(scenario, reduction.fuse, &path);
        }
        let choice = |(from, ordinal, _): (u32, u32, u32)| {
            transition(scenario, reduction, &nodes[from as usize], ordinal).0
        };
        hops.into_iter().map(choice).collect()
    }
}
