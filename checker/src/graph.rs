//! The reachable graph, and its strongly connected components.
//!
//! The graph is kept by position: the edges out of a node lie together, in the order of
//! [`crate::node::expand`], so that an edge is known by its node and its ordinal, and its answers
//! need not be stored. Parallel edges of different actors stay apart, since fairness asks who
//! steps.

use crate::engine::native::Nodes;
use crate::label::{Label, OperationSet};
use crate::node::{Node, Reduction, transition};
use crate::verdict::Choice;
use indexmap::IndexSet;
use mm_model::ids::ActorId;
use mm_model::machine::Fuse;
use mm_model::scenario::Scenario;
use rustc_hash::FxBuildHasher;

/// A transition of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The node it leads to.
    pub to: u32,
    label: u32,
}

/// What a question about cycles needs to know: edges, and which operations are open where. Eight
/// bytes an edge, and sixteen a node.
#[derive(Debug, Default)]
pub struct Shape {
    actors: usize,
    /// Where the edges of each node begin.
    first: Vec<usize>,
    edges: Vec<Edge>,
    labels: IndexSet<Label, FxBuildHasher>,
    /// The position of each actor's last label.
    last: Vec<usize>,
    /// For each node, the position of what is open there.
    at: Vec<u32>,
    /// Operations each actor has open.
    open: IndexSet<Box<[OperationSet]>, FxBuildHasher>,
    /// The node from which each node was first reached.
    parent: Vec<u32>,
}

/// The node to start from has no other before it.
const NO_PARENT: u32 = u32::MAX;

/// An edge by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The node it leaves.
    pub from: u32,
    /// Its position among that node's edges.
    pub ordinal: u32,
    /// The node it leads to.
    pub to: u32,
}

/// Every reachable node and transition.
#[derive(Debug)]
pub struct Graph {
    shape: Shape,
    nodes: Nodes,
    reduction: Reduction,
}

impl Shape {
    /// A graph without nodes, of that many actors.
    pub fn new(actors: usize) -> Self {
        Self { actors, ..Self::default() }
    }

    /// Says how a node was first reached, in the order of the nodes.
    pub(crate) fn push_parent(&mut self, parent: Option<u32>) {
        self.parent.push(parent.unwrap_or(NO_PARENT));
    }

    /// Adds the next node, where those operations are open for each actor; the edges added from
    /// now on are its own.
    pub fn begin(&mut self, open: &[OperationSet]) {
        self.first.push(self.edges.len());
        let at = self.open.get_index_of(open);
        let at = at.unwrap_or_else(|| self.open.insert_full(open.into()).0);
        self.at.push(position(at));
    }

    /// Adds an edge out of the node that was added last.
    pub fn push_edge(&mut self, to: u32, label: &Label) {
        // Most transitions are like the last one of their actor.
        let last = self.last.get(label.actor.index()).copied().unwrap_or_default();
        let at = if self.labels.get_index(last) == Some(label) {
            last
        } else {
            let at = self.labels.get_index_of(label);
            at.unwrap_or_else(|| self.labels.insert_full(label.clone()).0)
        };
        self.last.resize(self.actors, 0);
        self.last[label.actor.index()] = at;
        self.edges.push(Edge { to, label: position(at) });
    }

    /// What is known of an edge.
    pub fn label(&self, edge: &Edge) -> &Label {
        &self.labels[edge.label as usize]
    }

    /// Something of every label, to be looked up by [`Shape::of_label`].
    pub fn labels<T>(&self, of: impl Fn(&Label) -> T) -> Vec<T> {
        self.labels.iter().map(of).collect()
    }

    /// What [`Shape::labels`] found for the label of an edge.
    pub fn of_label<T: Copy>(labels: &[T], edge: &Edge) -> T {
        labels[edge.label as usize]
    }

    /// Who steps on an edge.
    pub fn actor(&self, edge: &Edge) -> ActorId {
        self.label(edge).actor
    }

    /// Something of every set of open operations, to be looked up by node.
    pub fn nodes<T: Copy>(&self, of: impl Fn(&[OperationSet]) -> T) -> Vec<T> {
        let of: Vec<T> = self.open.iter().map(|open| of(open)).collect();
        self.at.iter().map(|at| of[*at as usize]).collect()
    }

    /// A shortest way from the start to a node.
    ///
    /// # Panics
    /// Never: the parent of a node has an edge to it.
    pub fn stem(&self, to: u32) -> Vec<Hop> {
        let parent = |node: &u32| Some(self.parent[*node as usize]).filter(|at| *at != NO_PARENT);
        let mut hops: Vec<Hop> = std::iter::successors(Some(to), parent)
            .filter_map(|to| {
                let from = parent(&to)?;
                let ordinal = self.edges(from).iter().position(|edge| edge.to == to);
                Some(Hop { from, ordinal: position(ordinal.expect("a parent leads here")), to })
            })
            .collect();
        hops.reverse();
        hops
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

    /// The edge of a hop.
    pub fn edge(&self, hop: Hop) -> &Edge {
        &self.edges(hop.from)[hop.ordinal as usize]
    }

    /// The edges out of a node, each with its place.
    pub fn hops(&self, from: u32) -> impl Iterator<Item = (Hop, &Edge)> {
        (0..).zip(self.edges(from)).map(move |(ordinal, edge)| (hop(from, ordinal, *edge), edge))
    }

    /// The operations an actor has open at a node.
    pub fn open(&self, node: u32, actor: ActorId) -> OperationSet {
        self.open[self.at[node as usize] as usize][actor.index()]
    }

    /// Whether an actor can step: exactly then it has an edge.
    pub fn enabled(&self, node: u32, actor: ActorId) -> bool {
        self.edges(node).iter().any(|edge| self.actor(edge) == actor)
    }

    /// How many edges there are.
    pub fn count_edges(&self) -> u64 {
        self.edges.len() as u64
    }

    /// Bytes it takes.
    pub fn bytes(&self) -> u64 {
        let Self { first, edges, at, parent, .. } = self;
        (size_of_val(&**first)
            + size_of_val(&**edges)
            + size_of_val(&**at)
            + size_of_val(&**parent)) as u64
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

/// A position as nodes, edges of a node and labels have it.
pub(crate) fn position(at: usize) -> u32 {
    u32::try_from(at).expect("2^32 of them don't fit in memory")
}

const fn hop(from: u32, ordinal: u32, edge: Edge) -> Hop {
    Hop { from, ordinal, to: edge.to }
}

impl Graph {
    pub(crate) const fn new(shape: Shape, nodes: Nodes, reduction: Reduction) -> Self {
        Self { shape, nodes, reduction }
    }

    /// Its edges.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// A node.
    pub fn node(&self, at: u32) -> Node {
        Node::unpack(self.nodes.get(at))
    }

    /// Whether its edges are fused.
    pub const fn fuse(&self) -> Fuse {
        self.reduction.fuse
    }

    /// Bytes it takes.
    pub fn bytes(&self) -> u64 {
        self.nodes.bytes() + self.shape.bytes()
    }

    /// A path, to be taken again.
    ///
    /// # Panics
    /// Never: its hops are those of the graph.
    pub fn choices(&self, scenario: &Scenario, hops: &[Hop]) -> Vec<Choice> {
        let Self { reduction, .. } = self;
        if let Some(symmetry) = &reduction.symmetry {
            let path: Vec<Node> = hops.iter().map(|hop| self.node(hop.to)).collect();
            return symmetry.choices(scenario, reduction.fuse, &path);
        }
        let choice =
            |hop: &Hop| transition(scenario, reduction, &self.node(hop.from), hop.ordinal).0;
        hops.iter().map(choice).collect()
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
                shape.begin(&[OperationSet::EMPTY; 2]);
                for _ in 0..draw(degree + 2) {
                    let (to, actor) = (draw(nodes), draw(2));
                    shape.push_edge(to, &Label::quiet(ActorId::from(actor as usize)));
                    if actor == 0 {
                        oracle.add_edge(NodeIndex::from(from), NodeIndex::from(to), ());
                    }
                }
            }
            let found = shape.components(|_, edge| shape.actor(edge) == ActorId(0));
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
            shape.begin(&[OperationSet::EMPTY]);
            shape.push_edge((node + 1) % len, &Label::quiet(ActorId(0)));
        }
        assert_eq!(shape.components(|_, _| true).count, 1);
        assert_eq!(shape.components(|from, _| from != 0).count, len as usize);
    }
}
