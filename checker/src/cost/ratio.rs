//! The largest ratio, over all cycles, of what a cycle costs to how many operations end on it.
//!
//! A cycle that costs something and on which none ends makes the ratio unbounded. Without one, the
//! method is Newton's with whole numbers: for a ratio p/q that some cycle has, a cycle has a larger
//! one exactly if it is positive when each edge weighs q * cost - p * ended. Values of nodes are
//! raised until no edge can raise one (then no cycle is positive, and p/q is the largest) or until
//! the edges that raised them close a cycle, which then is positive and has a larger ratio.

use super::{Bound, strongest};
use crate::graph::{Edge, Hop, Shape};
use crate::liveness::Fairness;
use crate::liveness::lasso::Lasso;
use std::cmp::Ordering;
use std::fmt;

/// A fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rational {
    numerator: u64,
    denominator: u64,
}

impl Rational {
    /// Zero.
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };

    /// That fraction; nothing if it would divide by zero.
    pub fn new(numerator: u64, denominator: u64) -> Option<Self> {
        let (mut divisor, mut rest) = (numerator, denominator);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        let [numerator, denominator] =
            [numerator, denominator].map(|part| part.checked_div(divisor).unwrap_or(0));
        (denominator > 0).then_some(Self { numerator, denominator })
    }

    /// The fraction that is written `p/q`, in any terms, or `p`.
    pub fn parse(text: &str) -> Option<Self> {
        let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
        Self::new(numerator.parse().ok()?, denominator.parse().ok()?)
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        let cross =
            |one: &Self, other: &Self| u128::from(one.numerator) * u128::from(other.denominator);
        cross(self, other).cmp(&cross(other, self))
    }
}

pub(super) struct Found {
    pub(super) bound: Bound<Rational>,
    pub(super) fairness: Option<Fairness>,
    pub(super) lasso: Lasso,
}

/// Finds it, with a cycle that has it. Costs and ends are by label. Nothing if no operation ends
/// on any cycle and no cycle costs anything.
pub(super) fn most(shape: &Shape, costs: &[u64], ends: &[u64]) -> Option<Found> {
    let keep = |_: u32, edge: &Edge| Shape::of_label(ends, edge) == 0;
    let adds = |_: u32, edge: &Edge| Shape::of_label(costs, edge) > 0;
    if let Some((fairness, lasso)) = strongest(shape, keep, adds) {
        return Some(Found { bound: Bound::Unbounded, fairness: Some(fairness), lasso });
    }
    let components = shape.components(|_, _| true).of;
    let mut search = Search { shape, costs, ends, components, best: None };
    while search.improve() {}
    let (ratio, cycle) = search.best?;
    let start = cycle.iter().min_by_key(|hop| hop.from)?.from;
    let at = cycle.iter().position(|hop| hop.from == start)?;
    let cycle = [&cycle[at..], &cycle[..at]].concat();
    let lasso = Lasso { entry: start, cycle };
    Some(Found { bound: Bound::Most(ratio), fairness: None, lasso })
}

struct Search<'a> {
    shape: &'a Shape,
    costs: &'a [u64],
    ends: &'a [u64],
    components: Vec<u32>,
    best: Option<(Rational, Vec<Hop>)>,
}

const NO_POLICY: u32 = u32::MAX;

impl Search<'_> {
    /// What an edge weighs at the best ratio so far. Before there is one, ends alone count: any
    /// cycle on which an operation ends is better than none.
    fn weight(&self, edge: Edge) -> i128 {
        let [cost, ends] = [self.costs, self.ends].map(|of| i128::from(Shape::of_label(of, &edge)));
        match &self.best {
            Some((ratio, _)) => {
                i128::from(ratio.denominator) * cost - i128::from(ratio.numerator) * ends
            }
            None => ends,
        }
    }

    /// Looks for a cycle with a larger ratio than the best so far, and takes it.
    fn improve(&mut self) -> bool {
        let len = self.shape.len();
        let mut value = vec![0_i128; len as usize];
        let mut policy = vec![NO_POLICY; len as usize];
        loop {
            let mut raised = false;
            // Edges lead mostly to later nodes, so that values spread fast from the last one on.
            for node in (0..len).rev() {
                for (hop, edge) in self.shape.hops(node) {
                    if self.components[node as usize] != self.components[edge.to as usize] {
                        continue;
                    }
                    let raise = self.weight(*edge) + value[edge.to as usize];
                    if raise > value[node as usize] {
                        (value[node as usize], policy[node as usize]) = (raise, hop.ordinal);
                        raised = true;
                    }
                }
            }
            if !raised {
                return false;
            }
            if let Some(found) = self.closed(&policy) {
                self.best = Some(found);
                return true;
            }
        }
    }

    /// The best of the cycles that a choice of one edge at each node closes, if there is one.
    fn closed(&self, policy: &[u32]) -> Option<(Rational, Vec<Hop>)> {
        const UNSEEN: u32 = u32::MAX;
        let mut walk = vec![UNSEEN; policy.len()];
        let mut best: Option<(Rational, Vec<Hop>)> = None;
        for start in 0..self.shape.len() {
            let mut at = start;
            while walk[at as usize] == UNSEEN && policy[at as usize] != NO_POLICY {
                walk[at as usize] = start;
                at = self.next(policy, at).to;
            }
            let closed = walk[at as usize] == start && policy[at as usize] != NO_POLICY;
            if !closed {
                continue;
            }
            let mut cycle = vec![self.next(policy, at)];
            while let Some(last) = cycle.last().filter(|hop| hop.to != at) {
                cycle.push(self.next(policy, last.to));
            }
            let Some(ratio) = self.ratio(&cycle) else { continue };
            if best.as_ref().is_none_or(|(best, _)| ratio > *best) {
                best = Some((ratio, cycle));
            }
        }
        best
    }

    fn next(&self, policy: &[u32], from: u32) -> Hop {
        let ordinal = policy[from as usize];
        Hop { from, ordinal, to: self.shape.edges(from)[ordinal as usize].to }
    }

    fn ratio(&self, cycle: &[Hop]) -> Option<Rational> {
        let sum =
            |of: &[u64]| cycle.iter().map(|hop| Shape::of_label(of, self.shape.edge(*hop))).sum();
        Rational::new(sum(self.costs), sum(self.ends))
    }
}
