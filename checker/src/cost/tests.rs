//! Costs on toys whose answer is plain.

use super::*;
use crate::label::{Label, Mark, OperationSet};
use Mark::{Begin, Cost as Costs, End};
use mm_model::ids::ActorId;

const CHARGE: Operation = Operation::Charge;
const OPEN: &[OperationSet] = &[OperationSet::EMPTY.with(Operation::Charge), OperationSet::EMPTY];
const CLOSED: &[OperationSet] = &[OperationSet::EMPTY; 2];

/// A node: what is open, and its edges as (target, actor, marks).
type Toy<'a> = (&'a [OperationSet], &'a [(u32, u8, &'a [Mark])]);

fn shape(nodes: &[Toy<'_>]) -> Shape {
    let mut shape = Shape::new(2);
    let mut parents = vec![None; nodes.len()];
    for (from, (_, edges)) in (0..).zip(nodes) {
        for (to, ..) in *edges {
            if *to > from {
                parents[*to as usize].get_or_insert(from);
            }
        }
    }
    for ((open, edges), parent) in nodes.iter().zip(parents) {
        shape.begin(open);
        shape.push_parent(parent);
        for (to, actor, marks) in *edges {
            shape.push_edge(*to, &Label::new(ActorId(*actor), marks));
        }
    }
    shape
}

fn most(shape: &Shape) -> Option<(Bound<u64>, Option<Fairness>, usize)> {
    let found = worst::Question::new(shape, ActorId(0), CHARGE, 0).most()?;
    Some((found.bound, found.fairness, found.stem.len() + found.cycle.len()))
}

fn most_each(shape: &Shape) -> Option<(Bound<Rational>, usize)> {
    let (costs, ends) = (shape.labels(|l| l.total(0)), shape.labels(|l| l.count_ended(CHARGE)));
    let found = ratio::most(shape, &costs, &ends)?;
    Some((found.bound, found.lasso.cycle.len()))
}

#[test]
fn the_longest_way_counts_and_not_the_shortest() {
    let ways = shape(&[
        (CLOSED, &[(1, 0, &[Begin(CHARGE), Costs(0, 1)])]),
        (OPEN, &[(2, 0, &[Costs(0, 2)]), (3, 0, &[Costs(0, 1)])]),
        (OPEN, &[(3, 0, &[Costs(0, 2)])]),
        (OPEN, &[(0, 0, &[Costs(0, 1), End(CHARGE)])]),
    ]);
    assert_eq!(most(&ways), Some((Bound::Most(6), None, 4)));
}

#[test]
fn a_cycle_that_adds_nothing_does_not_matter_and_one_that_adds_something_does() {
    let waits = |marks: &'static [Mark]| {
        shape(&[
            (CLOSED, &[(1, 0, &[Begin(CHARGE)])]),
            (OPEN, &[(1, 0, marks), (0, 0, &[Costs(0, 3), End(CHARGE)])]),
        ])
    };
    assert_eq!(most(&waits(&[])), Some((Bound::Most(3), None, 2)));
    let (bound, fairness, _) = most(&waits(&[Costs(0, 1)])).expect("there is a charge");
    assert_eq!((bound, fairness), (Bound::Unbounded, Some(Fairness::Strong)));
}

#[test]
fn a_cost_that_only_starving_somebody_drives_up_is_told_apart() {
    let starves = shape(&[
        (CLOSED, &[(1, 0, &[Begin(CHARGE)])]),
        (OPEN, &[(1, 0, &[Costs(0, 1)]), (2, 1, &[])]),
        (OPEN, &[(0, 0, &[End(CHARGE)])]),
    ]);
    let (bound, fairness, _) = most(&starves).expect("there is a charge");
    assert_eq!((bound, fairness), (Bound::Unbounded, Some(Fairness::None)));
}

#[test]
fn what_another_actor_does_costs_the_operation_nothing() {
    let other = shape(&[
        (CLOSED, &[(1, 0, &[Begin(CHARGE)])]),
        (OPEN, &[(1, 1, &[Costs(0, 1)]), (0, 0, &[End(CHARGE)])]),
    ]);
    assert_eq!(most(&other), Some((Bound::Most(0), None, 1)));
    assert_eq!(most_each(&other).map(|(bound, _)| bound), Some(Bound::Unbounded));
}

#[test]
fn a_cost_after_the_operation_is_not_its_own() {
    let again = shape(&[
        (CLOSED, &[(1, 0, &[Costs(0, 9), Begin(CHARGE)])]),
        (OPEN, &[(1, 0, &[Costs(0, 1), End(CHARGE), Costs(0, 5), Begin(CHARGE), Costs(0, 1)])]),
    ]);
    assert_eq!(most(&again), Some((Bound::Most(2), None, 3)));
}

#[test]
fn the_best_cycle_counts_and_not_the_average_of_all() {
    let two = shape(&[
        (CLOSED, &[(1, 0, &[Costs(0, 1)]), (0, 0, &[Costs(0, 1), Begin(CHARGE), End(CHARGE)])]),
        (CLOSED, &[(2, 0, &[Costs(0, 3), Begin(CHARGE), End(CHARGE)])]),
        (CLOSED, &[(0, 0, &[Costs(0, 1), Begin(CHARGE), End(CHARGE)])]),
    ]);
    let ratio = Rational::new(5, 2).map(Bound::Most);
    assert_eq!(most_each(&two), ratio.map(|ratio| (ratio, 3)));
}

#[test]
fn a_run_that_costs_nothing_has_the_ratio_zero_and_one_without_an_end_has_none() {
    let free = shape(&[(CLOSED, &[(0, 0, &[Begin(CHARGE), End(CHARGE)])])]);
    assert_eq!(most_each(&free), Some((Bound::Most(Rational::ZERO), 1)));
    let never = shape(&[(CLOSED, &[(0, 0, &[])])]);
    assert_eq!(most_each(&never), None);
}

#[test]
fn fractions_are_exact_and_in_lowest_terms() {
    assert_eq!(Rational::new(6, 4), Rational::new(3, 2));
    assert_eq!(Rational::new(0, 7), Some(Rational::ZERO));
    assert_eq!((Rational::new(1, 0), Rational::new(0, 0)), (None, None));
    let third = Rational::new(333_333_333_333_333_333, 1_000_000_000_000_000_000);
    assert!(third < Rational::new(1, 3));
    assert_eq!(Rational::parse("6/4").map(|it| it.to_string()), Some("3/2".to_owned()));
    assert_eq!((Rational::parse("2"), Rational::parse("x/2")), (Rational::new(2, 1), None));
}
