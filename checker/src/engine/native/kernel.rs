//! The model as a system that the fast engine can search.

use super::{Nodes, Sink, System, search};
use crate::engine::{Budget, Explored, Progress};
use crate::graph::{Graph, position};
use crate::label::{Label, OperationSet};
use crate::node::{PropertySet, Reduction, initial, pack, successors, unpack, violated_in};
use crate::verdict::Trace;
use mm_model::actor::OpenOperations;
use mm_model::ids::ActorId;
use mm_model::property::PROPERTIES;
use mm_model::scenario::Scenario;
use std::ops::ControlFlow;

struct Kernel<'a> {
    scenario: &'a Scenario,
    reduction: Reduction,
    applied: PropertySet,
    // Buffers, kept from one state to the next.
    packed: Vec<u8>,
    label: Label,
    open: Vec<OpenOperations>,
    kinds: Vec<OperationSet>,
}

impl<'a> Kernel<'a> {
    fn new(scenario: &'a Scenario, reduction: &Reduction) -> Self {
        Self {
            scenario,
            reduction: reduction.clone(),
            applied: PropertySet::default(),
            packed: Vec::new(),
            label: Label::quiet(ActorId(0)),
            open: Vec::new(),
            kinds: Vec::new(),
        }
    }
}

impl System for Kernel<'_> {
    fn actors(&self) -> usize {
        self.scenario.actors.len()
    }

    fn initial(&mut self, packed: &mut Vec<u8>) {
        let (node, applied) = initial(self.scenario);
        self.applied = applied;
        node.pack(packed);
    }

    fn expand(&mut self, packed: &[u8], into: &mut impl Sink) {
        let from = unpack(packed);
        self.open.clear();
        self.open.extend(from.actors.iter().map(mm_model::actor::Actor::open));
        self.kinds.clear();
        let kinds = |open: &OpenOperations| -> OperationSet {
            open.iter().map(|(operation, _)| *operation).collect()
        };
        self.kinds.extend(self.open.iter().map(kinds));
        into.begin(&self.kinds);
        let Self { scenario, reduction, applied, packed, label, open, .. } = self;
        // What is left out of a stopped search is known by its being stopped.
        let _ = successors(scenario, reduction, &from, |edge, violated, to| {
            *applied = applied.union(edge.applied);
            label.read(edge.actor, &open[edge.actor.index()], edge.answers);
            pack(to, violated, packed);
            into.found(label, packed);
            if into.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }
}

/// The first state that breaks each property.
fn first_violations(nodes: &Nodes) -> Vec<Option<u32>> {
    let mut first = vec![None; PROPERTIES.len()];
    for at in 0..position(nodes.len()) {
        for property in violated_in(nodes.get(at)).positions() {
            first[property].get_or_insert(at);
        }
    }
    first
}

/// Visits every reachable state, with that many threads. If nothing stopped it, also returns the
/// graph.
pub fn explore(
    scenario: &Scenario,
    reduction: impl Into<Reduction>,
    threads: usize,
    budget: &Budget,
    progress: &mut dyn Progress,
) -> (Explored, Option<Graph>) {
    let reduction = reduction.into();
    let mut kernel = Kernel::new(scenario, &reduction);
    let workers = if threads > 1 { threads } else { 0 };
    let worker = |_| Kernel::new(scenario, &reduction);
    let mut workers: Vec<Kernel<'_>> = (0..workers).map(worker).collect();
    let (space, depth, stopped) = search(&mut kernel, &mut workers, budget, progress);
    let all = std::iter::once(&kernel).chain(&workers);
    let applied = all.fold(PropertySet::default(), |all, kernel| all.union(kernel.applied));
    let states = space.nodes.len() as u64;
    let transitions = space.shape.count_edges();
    let first = first_violations(&space.nodes);
    let graph = Graph::new(space.shape, space.nodes, reduction);
    let trace = |at: &u32| {
        let stem = graph.shape().stem(*at);
        Trace { choices: graph.choices(scenario, &stem), cycle_from: None }
    };
    let traces: Vec<Option<Trace>> = first.iter().map(|at| at.as_ref().map(trace)).collect();
    let violated = PropertySet::select(|at| first[at].is_some());
    let explored = Explored { states, transitions, depth, stopped, applied, violated, traces };
    (explored, stopped.is_none().then_some(graph))
}
