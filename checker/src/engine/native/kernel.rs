//! The model as a system that the fast engine can search.

use super::{Space, System, search};
use crate::engine::{Budget, Explored, Progress};
use crate::graph::Graph;
use crate::label::{Label, OperationSet};
use crate::node::{Node, PropertySet, initial, pack, successors};
use crate::verdict::Trace;
use mm_model::actor::OpenOperations;
use mm_model::ids::ActorId;
use mm_model::machine::Fuse;
use mm_model::property::PROPERTIES;
use mm_model::scenario::Scenario;
use std::ops::ControlFlow;

struct Kernel<'a> {
    scenario: &'a Scenario,
    fuse: Fuse,
    applied: PropertySet,
    /// The first state that breaks each property.
    first: Vec<Option<u32>>,
    // Buffers, kept from one state to the next.
    packed: Vec<u8>,
    label: Label,
    open: Vec<OpenOperations>,
    kinds: Vec<OperationSet>,
}

impl Kernel<'_> {
    /// Remembers the first state that breaks a property.
    fn note(first: &mut [Option<u32>], at: u32, violated: PropertySet) {
        for property in violated.positions() {
            first[property].get_or_insert(at);
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
        Self::note(&mut self.first, 0, node.violated);
        node.pack(packed);
    }

    fn expand(&mut self, packed: &[u8], into: &mut Space) {
        let from = Node::unpack(packed).state();
        self.open.clear();
        self.open.extend(from.actors.iter().map(mm_model::actor::Actor::open));
        self.kinds.clear();
        let kinds = |open: &OpenOperations| -> OperationSet {
            open.iter().map(|(operation, _)| *operation).collect()
        };
        self.kinds.extend(self.open.iter().map(kinds));
        into.begin(&self.kinds);
        let Self { scenario, fuse, applied, first, packed, label, open, .. } = self;
        // What is left out of a stopped search is known by its being stopped.
        let _ = successors(scenario, *fuse, &from, |edge, violated, to| {
            *applied = applied.union(edge.applied);
            label.read(edge.actor, &open[edge.actor.index()], edge.answers);
            pack(to, violated, packed);
            if let Some(at) = into.found(label, packed) {
                Self::note(first, at, violated);
            }
            if into.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }
}

/// Visits every reachable state. If nothing stopped it, also returns the graph.
pub fn explore(
    scenario: &Scenario,
    fuse: Fuse,
    budget: &Budget,
    progress: &mut dyn Progress,
) -> (Explored, Option<Graph>) {
    let mut kernel = Kernel {
        scenario,
        fuse,
        applied: PropertySet::default(),
        first: vec![None; PROPERTIES.len()],
        packed: Vec::new(),
        label: Label::quiet(ActorId(0)),
        open: Vec::new(),
        kinds: Vec::new(),
    };
    let (space, depth, stopped) = search(&mut kernel, budget, progress);
    let Kernel { applied, first, .. } = kernel;
    let states = space.nodes.len() as u64;
    let transitions = space.shape.count_edges();
    let graph = Graph::new(space.shape, space.nodes, fuse);
    let trace = |at: &u32| {
        let stem = graph.shape().stem(*at);
        Trace { choices: graph.choices(scenario, &stem), cycle_from: None }
    };
    let traces: Vec<Option<Trace>> = first.iter().map(|at| at.as_ref().map(trace)).collect();
    let violated = PropertySet::select(|at| first[at].is_some());
    let explored = Explored { states, transitions, depth, stopped, applied, violated, traces };
    (explored, stopped.is_none().then_some(graph))
}
