//! Progress: whether an operation can stay open for ever on a fair cycle.
//!
//! The edges that make progress are taken out of the graph. What is left of an infinite run that
//! never makes progress again is a strongly connected component; under weak fairness one exists
//! exactly if some component gives every actor its due: it steps inside, or is disabled somewhere
//! inside. An actor that has ended is disabled. A run that ends is no cycle: `deadlock-free`
//! judges those.

use crate::graph::{Edge, Graph, Shape};
use crate::replay::{Step, replay};
use crate::verdict::{Trace, Verdict};
use indexmap::IndexMap;
use mm_model::env::{Event, Operation};
use mm_model::ids::ActorId;
use mm_model::scenario::Scenario;
use mm_model::state::State;
use rustc_hash::FxBuildHasher;
use std::fmt;

/// What is assumed about who gets to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fairness {
    /// Nothing.
    None,
    /// Every actor that stays enabled eventually steps.
    Weak,
}

impl fmt::Display for Fairness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Weak => "weak",
        })
    }
}

/// The answer to a question about progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether an operation of that kind, and of that actor, is ever open.
    pub applied: bool,
    /// A fair cycle without progress, with a shortest way to it.
    pub lasso: Option<Trace>,
}

impl Answer {
    /// What it says. A graph is complete, so that it is never unknown.
    pub const fn verdict(&self) -> Verdict {
        match (&self.lasso, self.applied) {
            (Some(_), _) => Verdict::Violated,
            (None, true) => Verdict::Holds,
            (None, false) => Verdict::Vacuous,
        }
    }
}

/// Whose operation must not stay open for ever.
#[derive(Clone, Copy)]
struct Question {
    operation: Operation,
    /// One actor's; without one, it is enough that anybody's operation ends.
    actor: Option<ActorId>,
}

/// Looks for a fair cycle along which the actor's operation stays open.
pub fn starvation(
    graph: &Graph,
    scenario: &Scenario,
    operation: Operation,
    actor: ActorId,
    fairness: Fairness,
) -> Answer {
    answer(graph, scenario, Question { operation, actor: Some(actor) }, fairness)
}

/// Looks for a fair cycle on which some operation of that kind is open and none of that kind
/// ends.
pub fn livelock(
    graph: &Graph,
    scenario: &Scenario,
    operation: Operation,
    fairness: Fairness,
) -> Answer {
    answer(graph, scenario, Question { operation, actor: None }, fairness)
}

fn answer(graph: &Graph, scenario: &Scenario, question: Question, fairness: Fairness) -> Answer {
    let shape = graph.shape();
    let lasso = find(shape, question, fairness).map(|Lasso { entry, cycle }| {
        let mut choices = graph.stem(scenario, entry);
        let cycle_from = choices.len();
        choices.extend(cycle.iter().map(|hop| graph.choice(scenario, hop.from, hop.ordinal)));
        let trace = Trace { choices, cycle_from: Some(cycle_from) };
        confirm(scenario, graph, &trace, question, fairness);
        trace
    });
    let began = |edge: &Edge| {
        edge.begun.contains(question.operation) && question.actor.is_none_or(|a| a == edge.actor)
    };
    let applied = (0..shape.len())
        .any(|node| question.open(shape, node) || shape.edges(node).iter().any(began));
    Answer { applied, lasso }
}

impl Question {
    /// Whether such an operation is open at a node.
    fn open(self, shape: &Shape, node: u32) -> bool {
        let open = |actor| shape.open(node, actor).contains(self.operation);
        match self.actor {
            Some(actor) => open(actor),
            None => (0..shape.actors()).map(ActorId::from).any(open),
        }
    }

    /// Whether an edge ends such an operation.
    fn ends(self, edge: &Edge) -> bool {
        edge.ended.contains(self.operation) && self.actor.is_none_or(|a| a == edge.actor)
    }
}

/// An edge of the cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hop {
    from: u32,
    ordinal: u32,
    to: u32,
}

#[derive(Debug, PartialEq, Eq)]
struct Lasso {
    entry: u32,
    cycle: Vec<Hop>,
}

fn find(shape: &Shape, question: Question, fairness: Fairness) -> Option<Lasso> {
    let open: Vec<bool> = (0..shape.len()).map(|node| question.open(shape, node)).collect();
    let keep = |from: u32, edge: &Edge| {
        open[from as usize] && open[edge.to as usize] && !question.ends(edge)
    };
    let components = shape.components(keep);
    let inner = |from: u32, edge: &Edge| {
        keep(from, edge) && components.of[from as usize] == components.of[edge.to as usize]
    };
    let actors = shape.actors();
    let mut cyclic = vec![false; components.count];
    let mut due = vec![false; components.count * actors];
    for node in 0..shape.len() {
        let component = components.of[node as usize] as usize;
        let due = &mut due[component * actors..][..actors];
        for (actor, due) in due.iter_mut().enumerate() {
            *due |= !shape.enabled(node, ActorId::from(actor));
        }
        for edge in shape.edges(node).iter().filter(|edge| inner(node, edge)) {
            cyclic[component] = true;
            due[edge.actor.index()] = true;
        }
    }
    let fair = |component: usize| match fairness {
        Fairness::None => true,
        Fairness::Weak => due[component * actors..][..actors].iter().all(|due| *due),
    };
    // Nodes are in breadth-first order: the first one has the shortest stem.
    let entry = (0..shape.len()).find(|node| {
        let component = components.of[*node as usize] as usize;
        cyclic[component] && fair(component)
    })?;
    let cycle = close(shape, entry, inner, fairness);
    Some(Lasso { entry, cycle })
}

/// A cycle through `entry` inside its component that gives every actor its due: always on to the
/// nearest place that gives some actor its due, and in the end back.
fn close(
    shape: &Shape,
    entry: u32,
    inner: impl Fn(u32, &Edge) -> bool,
    fairness: Fairness,
) -> Vec<Hop> {
    let disabled = |node, actor| !shape.enabled(node, ActorId::from(actor));
    let mut missing: Vec<bool> = (0..shape.actors())
        .map(|actor| fairness == Fairness::Weak && !disabled(entry, actor))
        .collect();
    let gives = |hop: &Hop, actor: usize| {
        let edge = shape.edges(hop.from)[hop.ordinal as usize];
        edge.actor.index() == actor || disabled(hop.to, actor)
    };
    let mut cycle: Vec<Hop> = Vec::new();
    let mut at = entry;
    while missing.contains(&true) {
        let gives_any =
            |hop: &Hop| (0..missing.len()).any(|actor| missing[actor] && gives(hop, actor));
        let path = shortest(shape, at, &inner, gives_any);
        at = path.last().map_or(at, |hop| hop.to);
        for (actor, missing) in missing.iter_mut().enumerate() {
            *missing &= !path.iter().any(|hop| gives(hop, actor));
        }
        cycle.extend(path);
    }
    if at != entry || cycle.is_empty() {
        cycle.extend(shortest(shape, at, &inner, |hop| hop.to == entry));
    }
    cycle
}

/// A shortest path of inner edges, at least one, whose last edge is as wanted.
fn shortest(
    shape: &Shape,
    start: u32,
    inner: impl Fn(u32, &Edge) -> bool,
    wanted: impl Fn(&Hop) -> bool,
) -> Vec<Hop> {
    // In the order found, which is breadth-first: each node with the hop that first reached it.
    let mut reached: IndexMap<u32, Option<Hop>, FxBuildHasher> = IndexMap::default();
    reached.insert(start, None);
    let mut at = 0;
    loop {
        let (&from, _) = reached.get_index(at).expect("a component reaches all of itself");
        for (ordinal, edge) in (0..).zip(shape.edges(from)) {
            if !inner(from, edge) {
                continue;
            }
            let hop = Hop { from, ordinal, to: edge.to };
            if wanted(&hop) {
                let back = |hop: &Hop| reached[&hop.from];
                let mut path: Vec<Hop> = std::iter::successors(Some(hop), back).collect();
                path.reverse();
                return path;
            }
            reached.entry(edge.to).or_insert(Some(hop));
        }
        at += 1;
    }
}

/// Takes a lasso again through the model and makes sure that it is one, without the graph: it
/// closes, the operation stays open, and every actor gets its due.
fn confirm(
    scenario: &Scenario,
    graph: &Graph,
    trace: &Trace,
    question: Question,
    fairness: Fairness,
) {
    let steps = replay(scenario, graph.fuse(), &trace.choices).expect("a lasso is a path");
    let from = trace.cycle_from.expect("a lasso has a cycle");
    let (stem, cycle) = steps.split_at(from);
    let start = scenario.initial();
    let entry = stem.last().map_or(&start, |step| &step.state);
    let last = cycle.last().expect("a cycle has a step");
    assert_eq!(last.state, *entry, "the cycle of a lasso closes");
    for Step { actor, events, state } in cycle {
        let open = |actor: ActorId| {
            let open = state.actors[actor.index()].open();
            open.is_some_and(|(operation, _)| operation == question.operation)
        };
        let mut actors = scenario.actor_ids();
        assert!(question.actor.map_or_else(|| actors.any(open), open), "it stays open");
        let mine = question.actor.is_none_or(|asked| asked == *actor);
        assert!(!(mine && ends(events, question.operation)), "the cycle makes no progress");
    }
    if fairness == Fairness::Weak {
        let due = |actor: ActorId| {
            let disabled = |state: &State| !scenario.enabled(state, actor);
            cycle.iter().any(|step| step.actor == actor || disabled(&step.state))
        };
        assert!(scenario.actor_ids().all(due), "the cycle is fair");
    }
}

fn ends(events: &[Event], operation: Operation) -> bool {
    events.iter().any(|event| matches!(event, Event::End(ended, ..) if *ended == operation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::OperationSet;
    use mm_model::gfp::Gfp;

    const CHARGE: Operation = Operation::Charge;
    const A: Question = Question { operation: CHARGE, actor: Some(ActorId(0)) };
    const ANYBODY: Question = Question { operation: CHARGE, actor: None };
    const OPEN: OperationSet = OperationSet::EMPTY.with(CHARGE);
    const CLOSED: OperationSet = OperationSet::EMPTY;
    const QUIET: &[Event] = &[];
    const END: &[Event] = &[Event::End(CHARGE, Gfp::KERNEL, 0)];

    /// A node: what each actor has open, and its edges as (target, actor, events).
    type Toy<'a> = (&'a [OperationSet], &'a [(u32, u8, &'a [Event])]);

    fn shape(nodes: &[Toy<'_>]) -> Shape {
        let mut shape = Shape::new(nodes[0].0.len());
        for (open, edges) in nodes {
            shape.begin(open.iter().copied());
            for (to, actor, events) in *edges {
                shape.push_edge(*to, ActorId(*actor), events);
            }
        }
        shape
    }

    #[test]
    fn a_cycle_that_leaves_out_an_enabled_actor_is_unfair() {
        // A alone goes round; B could always end it.
        let alone = shape(&[
            (&[OPEN, CLOSED], &[(0, 0, QUIET), (1, 1, QUIET)]),
            (&[CLOSED, CLOSED], &[(1, 1, QUIET)]),
        ]);
        assert_eq!(find(&alone, A, Fairness::Weak), None);
        assert!(find(&alone, A, Fairness::None).is_some());
    }

    #[test]
    fn fairness_met_outside_the_violating_cycle_does_not_count() {
        // B steps only on the edge that ends A's charge, in one component with A's own cycle;
        // without the edges that make progress, that component falls apart.
        let apart = shape(&[
            (&[OPEN, CLOSED], &[(0, 0, QUIET), (1, 1, QUIET)]),
            (&[OPEN, CLOSED], &[(0, 0, END)]),
        ]);
        assert_eq!(apart.components(|_, _| true).count, 1);
        assert_eq!(find(&apart, A, Fairness::Weak), None);
    }

    #[test]
    fn progress_inside_a_component_does_not_hide_a_cycle_without_it() {
        let both = shape(&[
            (&[OPEN, CLOSED], &[(1, 0, QUIET), (0, 0, END)]),
            (&[OPEN, CLOSED], &[(0, 1, QUIET), (0, 0, END)]),
        ]);
        let lasso = find(&both, A, Fairness::Weak).expect("there is one");
        let hops: Vec<_> = lasso.cycle.iter().map(|hop| (hop.from, hop.ordinal)).collect();
        assert_eq!((lasso.entry, hops), (0, vec![(0, 0), (1, 0)]));
    }

    #[test]
    fn an_actor_disabled_somewhere_on_the_cycle_gets_its_due() {
        let waits = shape(&[
            (&[OPEN, CLOSED], &[(1, 0, QUIET), (2, 1, QUIET)]),
            (&[OPEN, CLOSED], &[(0, 0, QUIET)]),
            (&[CLOSED, CLOSED], &[(2, 0, QUIET)]),
        ]);
        assert!(find(&waits, A, Fairness::Weak).is_some());
    }

    #[test]
    fn starving_one_actor_while_others_progress_is_no_livelock() {
        let starves = shape(&[(&[OPEN, OPEN], &[(1, 0, QUIET)]), (&[OPEN, OPEN], &[(0, 1, END)])]);
        assert!(find(&starves, A, Fairness::Weak).is_some());
        assert_eq!(find(&starves, ANYBODY, Fairness::Weak), None);
    }

    #[test]
    fn an_operation_that_ends_and_begins_again_in_one_transition_has_ended() {
        let again = shape(&[(&[OPEN], &[(0, 0, END)])]);
        assert_eq!(find(&again, A, Fairness::None), None);
    }

    #[test]
    fn the_cycle_visits_every_constraint_and_closes() {
        // A ring of three actors, each of which steps on one edge of it.
        let all = [OPEN, CLOSED, CLOSED];
        let ring = shape(&[
            (&all, &[(0, 0, QUIET), (1, 1, QUIET)]),
            (&all, &[(1, 0, QUIET), (2, 2, QUIET)]),
            (&all, &[(0, 0, QUIET), (2, 1, QUIET)]),
        ]);
        let Lasso { cycle, .. } = find(&ring, A, Fairness::None).expect("A goes round");
        assert_eq!(cycle.len(), 1);
        let Lasso { entry, cycle } = find(&ring, A, Fairness::Weak).expect("all go round");
        assert!(cycle.windows(2).all(|pair| pair[0].to == pair[1].from));
        assert_eq!(cycle.first().map(|hop| hop.from), Some(entry));
        assert_eq!(cycle.last().map(|hop| hop.to), Some(entry));
    }
}
