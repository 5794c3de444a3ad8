//! Each classic mistake of a search for cycles, on a toy.

use super::*;
use crate::label::{Label, Mark, OperationSet};

const CHARGE: Operation = Operation::Charge;
const A: Question = Question { operation: CHARGE, actor: Some(ActorId(0)) };
const ANYBODY: Question = Question { operation: CHARGE, actor: None };
const OPEN: OperationSet = OperationSet::EMPTY.with(CHARGE);
const CLOSED: OperationSet = OperationSet::EMPTY;
const QUIET: &[Mark] = &[];
const END: &[Mark] = &[Mark::End(CHARGE)];

/// A node: what each actor has open, and its edges as (target, actor, events).
type Toy<'a> = (&'a [OperationSet], &'a [(u32, u8, &'a [Mark])]);

fn shape(nodes: &[Toy<'_>]) -> Shape {
    let mut shape = Shape::new(nodes[0].0.len());
    for (open, edges) in nodes {
        shape.begin(open);
        for (to, actor, marks) in *edges {
            shape.push_edge(*to, &Label::new(ActorId(*actor), marks));
        }
    }
    shape
}

fn find(shape: &Shape, question: Question, fairness: Fairness) -> Option<Lasso> {
    question.find(shape, fairness, |_, _| true)
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

#[test]
fn an_actor_that_can_do_nothing_does_not_step() {
    // Implicit stuttering would turn every node into a cycle: here nothing goes round.
    let ends = shape(&[(&[OPEN], &[(1, 0, QUIET)]), (&[OPEN], &[])]);
    for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
        assert_eq!(find(&ends, A, fairness), None);
    }
}

#[test]
fn what_is_shown_is_a_cycle_and_not_a_component() {
    // A component in which every walk that visits all of it repeats a node.
    let star = shape(&[
        (&[OPEN, CLOSED, CLOSED], &[(1, 0, QUIET), (2, 1, QUIET), (3, 2, QUIET)]),
        (&[OPEN, CLOSED, CLOSED], &[(0, 0, QUIET), (1, 1, QUIET), (1, 2, QUIET)]),
        (&[OPEN, CLOSED, CLOSED], &[(0, 0, QUIET)]),
        (&[OPEN, CLOSED, CLOSED], &[(0, 0, QUIET)]),
    ]);
    let Lasso { entry, cycle } = find(&star, A, Fairness::Weak).expect("there is one");
    assert!(cycle.windows(2).all(|pair| pair[0].to == pair[1].from));
    assert_eq!(cycle.first().map(|hop| hop.from), Some(entry));
    assert_eq!(cycle.last().map(|hop| hop.to), Some(entry));
    let real = |hop: &Hop| star.edge(*hop).to == hop.to;
    assert!(cycle.iter().all(real));
}

#[test]
fn two_ways_that_join_do_not_hide_what_one_of_them_left_open() {
    // On one way A's operation has ended, on the other it has not; both lead on to like nodes.
    let joins = shape(&[
        (&[CLOSED], &[(1, 0, &[Mark::Begin(CHARGE)]), (2, 0, QUIET)]),
        (&[OPEN], &[(3, 0, QUIET)]),
        (&[CLOSED], &[(4, 0, QUIET)]),
        (&[OPEN], &[(3, 0, QUIET)]),
        (&[CLOSED], &[(4, 0, QUIET)]),
    ]);
    assert_eq!(find(&joins, A, Fairness::Weak).map(|lasso| lasso.entry), Some(3));
}

#[test]
fn merging_two_tasks_would_invent_a_fair_cycle() {
    // Two tasks alike: in node 1 the first, in node 2 the second can go round alone, and whoever
    // does shuts the other out. Were the two nodes one, both would seem to step on one cycle.
    let both = [OPEN, OPEN];
    let apart = shape(&[
        (&both, &[(1, 0, QUIET), (2, 1, QUIET)]),
        (&both, &[(1, 0, QUIET), (3, 1, END)]),
        (&both, &[(2, 1, QUIET), (3, 0, END)]),
        (&[CLOSED, CLOSED], &[(3, 0, QUIET)]),
    ]);
    let merged = shape(&[
        (&both, &[(1, 0, QUIET), (1, 1, QUIET)]),
        (&both, &[(1, 0, QUIET), (1, 1, QUIET), (2, 1, END)]),
        (&[CLOSED, CLOSED], &[(2, 0, QUIET)]),
    ]);
    assert_eq!(find(&apart, ANYBODY, Fairness::Weak), None);
    assert!(find(&merged, ANYBODY, Fairness::Weak).is_some());
}

#[test]
fn a_fair_run_may_need_the_union_of_several_cycles() {
    // B is enabled all along. A's own cycle is unfair to B, and B's is unfair to A.
    let both = [OPEN, CLOSED];
    let union = shape(&[
        (&both, &[(1, 0, QUIET), (2, 1, QUIET)]),
        (&both, &[(0, 0, QUIET), (3, 1, END)]),
        (&both, &[(0, 1, QUIET), (3, 0, END)]),
        (&[CLOSED, CLOSED], &[(3, 0, QUIET)]),
    ]);
    for fairness in [Fairness::Weak, Fairness::Strong] {
        let Lasso { cycle, .. } = find(&union, A, fairness).expect("round one and the other");
        assert_eq!(cycle.len(), 4);
    }
}

#[test]
fn strong_fairness_takes_out_what_enables_an_actor_that_never_steps() {
    // At node 0 B could end it; at node 1 it can't. Under weak fairness going round is enough of
    // an excuse, under strong fairness it is not, but staying at node 1 is.
    let blinks = shape(&[
        (&[OPEN, CLOSED], &[(1, 0, QUIET), (2, 1, END)]),
        (&[OPEN, CLOSED], &[(0, 0, QUIET)]),
        (&[CLOSED, CLOSED], &[(2, 0, QUIET), (2, 1, QUIET)]),
    ]);
    let by_b = Question { operation: CHARGE, actor: None };
    assert!(find(&blinks, by_b, Fairness::Weak).is_some());
    assert_eq!(find(&blinks, by_b, Fairness::Strong), None);
    let stays = shape(&[
        (&[OPEN, CLOSED], &[(1, 0, QUIET), (2, 1, END)]),
        (&[OPEN, CLOSED], &[(0, 0, QUIET), (1, 0, QUIET)]),
        (&[CLOSED, CLOSED], &[(2, 0, QUIET), (2, 1, QUIET)]),
    ]);
    let lasso = find(&stays, by_b, Fairness::Strong).expect("at node 1");
    assert_eq!((lasso.entry, lasso.cycle.len()), (1, 1));
}

#[test]
fn on_one_cpu_whoever_spins_without_yielding_keeps_everybody_out() {
    // B would let A go on, once it runs; A spins. Between the spins B runs on many CPUs only.
    let spins = |marks: &'static [Mark]| {
        shape(&[
            (&[CLOSED, CLOSED], &[(1, 0, &[Mark::Begin(CHARGE)])]),
            (&[OPEN, CLOSED], &[(1, 0, marks), (2, 1, QUIET)]),
            (&[OPEN, CLOSED], &[(0, 0, END)]),
        ])
    };
    let ask = |shape: &Shape| {
        let one_cpu = Yielding::of(shape);
        find(&one_cpu.shape, A, Fairness::RunToYield)
    };
    let busy = spins(QUIET);
    assert_eq!(find(&busy, A, Fairness::Weak), None);
    assert!(ask(&busy).is_some());
    // An operation of A that ends at each turn lets B run.
    let yields = spins(&[Mark::End(Operation::Uncharge)]);
    assert_eq!(ask(&yields), None);
}
