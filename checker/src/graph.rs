//! The reachable graph, and its strongly connected components.
//!
//! The graph is kept by position: the edges out of a node lie together, in the order of
//! [`crate::node::expand`], so that an edge is known by its node and its ordinal, and its answers
//! need not be stored. Parallel edges of different actors stay apart, since fairness asks who
//! steps.

use crate::node::{Node, transition};
use crate::verdict::Choice;
use mm_model::env::{Event, Operation};
use mm_model::ids::ActorId;
use mm_model::machine::Fuse;
use mm_model::scenario::Scenario;
use mm_model::state::State;

/// A set of kinds of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationSet(u16);

impl OperationSet {
    /// No kind.
    pub const EMPTY: Self = Self(0);

    /// Whether that kind is in the set.
    pub const fn contains(self, operation: Operation) -> bool {
        self.0 & (1 << operation as u16) != 0
    }

    /// The set with that kind.
    #[must_use]
    pub const fn with(self, operation: Operation) -> Self {
        Self(self.0 | (1 << operation as u16))
    }
}

/// A transition of the graph.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The node it leads to.
    pub to: u32,
    /// Who steps.
    pub actor: ActorId,
    /// Kinds of operations that begin in it.
    pub begun: OperationSet,
    /// Kinds of operations that end in it.
    pub ended: OperationSet,
}

/// What a question about cycles needs to know: edges, and which operations are open where.
#[derive(Debug)]
pub struct Shape {
    actors: usize,
    /// Where the edges of each node begin.
    first: Vec<usize>,
    edges: Vec<Edge>,
    /// Operations each actor has open, node after node.
    open: Vec<OperationSet>,
}

/// How each node was first reached: from which node, by which of its edges.
#[derive(Debug, Default)]
pub(crate) struct Stem(Vec<(u32, u32)>);

/// Every reachable node and transition.
#[derive(Debug)]
pub struct Graph {
    pub(crate) shape: Shape,
    pub(crate) nodes: Vec<Node>,
    pub(crate) stem: Stem,
    pub(crate) fuse: Fuse,
}

impl Shape {
    /// A graph without nodes, of that many actors.
    pub fn new(actors: usize) -> Self {
        Self { actors, first: Vec::new(), edges: Vec::new(), open: Vec::new() }
    }

    /// Adds the next node; the edges added from now on are its own.
    pub fn begin_node(&mut self, state: &State) {
        self.begin(state.actors.iter().map(|actor| match actor.open() {
            Some((operation, _)) => OperationSet::EMPTY.with(operation),
            None => OperationSet::EMPTY,
        }));
    }

    pub(crate) fn begin(&mut self, open: impl IntoIterator<Item = OperationSet>) {
        self.first.push(self.edges.len());
        self.open.extend(open);
    }

    /// Adds an edge out of the node that was added last.
    pub fn push_edge(&mut self, to: u32, actor: ActorId, events: &[Event]) {
        let mut edge = Edge { to, actor, begun: OperationSet::EMPTY, ended: OperationSet::EMPTY };
        for event in events {
            match event {
                Event::Begin(operation, _) => edge.begun = edge.begun.with(*operation),
                Event::End(operation, ..) => edge.ended = edge.ended.with(*operation),
                Event::Returned(..) | Event::AboveMax(..) | Event::Wrapped(_) => {}
            }
        }
        self.edges.push(edge);
    }

    /// How many nodes there are.
    ///
    /// # Panics
    /// Never: positions of nodes fit.
    pub fn len(&self) -> u32 {
        u32::try_from(self.first.len()).expect("2^32 nodes don't fit in memory")
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// How many actors there are.
    pub const fn actors(&self) -> usize {
        self.actors
    }

    /// The edges out of a node.
    pub fn edges(&self, node: u32) -> &[Edge] {
        let node = node as usize;
        let end = self.first.get(node + 1).copied().unwrap_or(self.edges.len());
        &self.edges[self.first[node]..end]
    }

    /// The operations an actor has open at a node.
    pub fn open(&self, node: u32, actor: ActorId) -> OperationSet {
        self.open[node as usize * self.actors + actor.index()]
    }

    /// Whether an actor can step: exactly then it has an edge.
    pub fn enabled(&self, node: u32, actor: ActorId) -> bool {
        self.edges(node).iter().any(|edge| edge.actor == actor)
    }

    /// Bytes it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let Self { first, edges, open, .. } = self;
        (size_of_val(&**first) + size_of_val(&**edges) + size_of_val(&**open)) as u64
    }

    /// The strongly connected component of each node in the subgraph of the edges that `keep`
    /// admits. Components are numbered from 0, each after those it leads to.
    ///
    /// Tarjan's algorithm with a stack of its own: graphs are deeper than a thread's stack.
    pub fn components(&self, keep: impl Fn(u32, &Edge) -> bool) -> Components {
        const UNSEEN: u32 = u32::MAX;
        let len = self.first.len();
        // Before a node's component is known, `low` is the least number it reaches on the stack.
        let (mut number, mut low) = (vec![UNSEEN; len], vec![0_u32; len]);
        let mut component = vec![UNSEEN; len];
        let (mut seen, mut count) = (0, 0);
        let mut stack: Vec<u32> = Vec::new();
        let mut calls: Vec<(u32, usize)> = Vec::new();
        for root in 0..self.len() {
            if number[root as usize] == UNSEEN {
                calls.push((root, 0));
            }
            while let Some((node, next)) = calls.pop() {
                let at = node as usize;
                if next == 0 && number[at] == UNSEEN {
                    (number[at], low[at]) = (seen, seen);
                    seen += 1;
                    stack.push(node);
                }
                let edges = self.edges(node);
                let mut unseen = None;
                for (ordinal, edge) in edges.iter().enumerate().skip(next) {
                    let to = edge.to as usize;
                    if !keep(node, edge) || component[to] != UNSEEN {
                        continue;
                    }
                    if number[to] == UNSEEN {
                        unseen = Some((ordinal, edge.to));
                        break;
                    }
                    // A finished callee that is still on the stack has its final `low`.
                    low[at] = low[at].min(low[to]);
                }
                if let Some((ordinal, to)) = unseen {
                    // Looks at this edge again when the callee is done.
                    calls.push((node, ordinal));
                    calls.push((to, 0));
                } else if low[at] == number[at] {
                    while let Some(member) = stack.pop() {
                        component[member as usize] = count;
                        if member == node {
                            break;
                        }
                    }
                    count += 1;
                }
            }
        }
        Components { of: component, count: count as usize }
    }
}

/// The strongly connected components of a graph.
#[derive(Debug)]
pub struct Components {
    /// The component of each node.
    pub of: Vec<u32>,
    /// How many there are.
    pub count: usize,
}

impl Stem {
    pub(crate) fn push(&mut self, parent: Option<(u32, u32)>) {
        self.0.push(parent.unwrap_or((u32::MAX, 0)));
    }

    pub(crate) fn bytes(&self) -> u64 {
        size_of_val(&*self.0) as u64
    }

    /// A shortest way from the start to a node.
    pub(crate) fn choices(
        &self,
        scenario: &Scenario,
        fuse: Fuse,
        nodes: &[Node],
        to: u32,
    ) -> Vec<Choice> {
        let parent =
            |node: &u32| Some(self.0[*node as usize]).filter(|(from, _)| *from != u32::MAX);
        let mut choices: Vec<Choice> = std::iter::successors(parent(&to), |(from, _)| parent(from))
            .map(|(from, ordinal)| transition(scenario, fuse, &nodes[from as usize], ordinal).0)
            .collect();
        choices.reverse();
        choices
    }
}

impl Graph {
    /// Its edges.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// A node.
    pub fn node(&self, at: u32) -> &Node {
        &self.nodes[at as usize]
    }

    /// Whether its edges are fused.
    pub const fn fuse(&self) -> Fuse {
        self.fuse
    }

    /// A shortest way from the start to a node.
    pub fn stem(&self, scenario: &Scenario, to: u32) -> Vec<Choice> {
        self.stem.choices(scenario, self.fuse, &self.nodes, to)
    }

    /// One of a node's edges, to be taken again.
    pub fn choice(&self, scenario: &Scenario, from: u32, ordinal: u32) -> Choice {
        transition(scenario, self.fuse, self.node(from), ordinal).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petgraph::algo::kosaraju_scc;
    use petgraph::graph::{DiGraph, NodeIndex};

    /// A sequence of numbers that look random and are the same in every run.
    fn numbers(seed: u64) -> impl Iterator<Item = u32> {
        let next = |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        std::iter::successors(Some(seed), next).skip(5).map(|x| (x >> 33) as u32)
    }

    #[test]
    fn components_are_those_that_petgraph_finds() {
        let mut larger = 0;
        for seed in 0..300 {
            let mut random = numbers(seed);
            let mut draw = |below: u32| random.next().expect("it is endless") % below;
            let (nodes, degree) = (1 + draw(40), 1 + draw(6));
            let mut shape = Shape::new(2);
            let mut oracle = DiGraph::<(), ()>::new();
            (0..nodes).for_each(|_| {
                oracle.add_node(());
            });
            for from in 0..nodes {
                shape.begin([OperationSet::EMPTY; 2]);
                for _ in 0..draw(degree + 2) {
                    let (to, actor) = (draw(nodes), draw(2));
                    shape.push_edge(to, ActorId::from(actor as usize), &[]);
                    if actor == 0 {
                        oracle.add_edge(NodeIndex::from(from), NodeIndex::from(to), ());
                    }
                }
            }
            let found = shape.components(|_, edge| edge.actor == ActorId(0));
            let expected = kosaraju_scc(&oracle);
            assert_eq!(found.count, expected.len());
            for component in &expected {
                let first = found.of[component[0].index()];
                assert!(component.iter().all(|node| found.of[node.index()] == first));
                larger += usize::from(component.len() > 1);
            }
        }
        assert!(larger > 100, "the random graphs have cycles");
    }

    #[test]
    fn a_path_deeper_than_any_stack_has_components() {
        let mut shape = Shape::new(1);
        let len = 1_000_000;
        for node in 0..len {
            shape.begin([OperationSet::EMPTY]);
            shape.push_edge((node + 1) % len, ActorId(0), &[]);
        }
        assert_eq!(shape.components(|_, _| true).count, 1);
        assert_eq!(shape.components(|from, _| from != 0).count, len as usize);
    }
}
