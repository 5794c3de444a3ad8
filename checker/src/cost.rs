//! Exact costs: the most a measure can come to within one operation, the most it can be at one
//! instant, and the most it can come to for each operation that ends, in the long run.

use crate::graph::{Graph, Shape};
use crate::liveness::lasso::{Lasso, lasso};
use crate::liveness::{Fairness, Path, confirm};
use crate::verdict::Trace;
use mm_model::env::Operation;
use mm_model::measure::{Amount, MEASURES};
use mm_model::scenario::Scenario;
use std::fmt;

mod ratio;
#[cfg(test)]
mod tests;
mod worst;

pub use ratio::Rational;

/// How large a number can become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound<T> {
    /// That large and no larger.
    Most(T),
    /// As large as one likes: there is a cycle that adds to it.
    Unbounded,
}

impl<T: fmt::Display> fmt::Display for Bound<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Most(most) => most.fmt(f),
            Self::Unbounded => f.write_str("unbounded"),
        }
    }
}

/// The answer to a question about a cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost<T> {
    /// How large it can become; nothing if there is nothing to measure.
    pub bound: Option<Bound<T>>,
    /// For an unbounded one: the strongest assumption under which a run drives it up for ever. A
    /// run that needs `none` starves somebody.
    pub fairness: Option<Fairness>,
    /// How it becomes that large.
    pub trace: Option<Trace>,
}

impl<T> Cost<T> {
    const NONE: Self = Self { bound: None, fairness: None, trace: None };
}

/// The assumptions about many CPUs, from the strongest on.
const STRONGEST_FIRST: [Fairness; 3] = [Fairness::Strong, Fairness::Weak, Fairness::None];

/// The most that a measure comes to within one operation, over all schedules.
///
/// # Panics
/// If the path that shows it is none, which is a bug.
pub fn worst(
    graph: &Graph,
    scenario: &Scenario,
    measure: usize,
    operation: Operation,
) -> Cost<u64> {
    let shape = graph.shape();
    let mut worst: Cost<u64> = Cost::NONE;
    for actor in scenario.actor_ids() {
        let question = worst::Question::new(shape, actor, operation, position(measure));
        let Some(found) = question.most() else { continue };
        let better = worst.bound.is_none_or(|bound| found.bound > bound)
            || (found.bound == Bound::Unbounded && found.fairness > worst.fairness);
        if better {
            let path = Path { stem: found.stem, cycle: found.cycle };
            let trace = trace(graph, scenario, &path, found.fairness);
            let bound = Some(found.bound);
            worst = Cost { bound, fairness: found.fairness, trace: Some(trace) };
        }
    }
    worst
}

/// The most that a measure comes to for each such operation that ends, over all endless runs.
pub fn ratio(
    graph: &Graph,
    scenario: &Scenario,
    measure: usize,
    operation: Operation,
) -> Cost<Rational> {
    let shape = graph.shape();
    let costs = shape.labels(|label| label.total(position(measure)));
    let ends = shape.labels(|label| label.count_ended(operation));
    let Some(found) = ratio::most(shape, &costs, &ends) else { return Cost::NONE };
    let path = Path::to(shape, found.lasso);
    let trace = trace(graph, scenario, &path, found.fairness);
    Cost { bound: Some(found.bound), fairness: found.fairness, trace: Some(trace) }
}

/// The most that a measure is in a state.
///
/// # Panics
/// If the measure adds up instead.
pub fn peak(graph: &Graph, scenario: &Scenario, measure: usize) -> Cost<u64> {
    let Amount::Level(of) = MEASURES[measure].amount else {
        unreachable!("{} is nothing that a state has", MEASURES[measure].name)
    };
    let mut most = None;
    for node in 0..graph.shape().len() {
        let here = of(scenario, &graph.node(node).state());
        if most.is_none_or(|(most, _)| here > most) {
            most = Some((here, node));
        }
    }
    let Some((most, node)) = most else { return Cost::NONE };
    let choices = graph.choices(scenario, &graph.shape().stem(node));
    let trace = Trace { choices, cycle_from: None };
    Cost { bound: Some(Bound::Most(most)), fairness: None, trace: Some(trace) }
}

fn position(measure: usize) -> u8 {
    u8::try_from(measure).expect("there are few measures")
}

/// Takes a path again; one with a cycle must close and be as fair as it is said to be.
fn trace(graph: &Graph, scenario: &Scenario, path: &Path, fairness: Option<Fairness>) -> Trace {
    if path.cycle.is_empty() {
        return Trace { choices: graph.choices(scenario, &path.stem), cycle_from: None };
    }
    confirm::lasso(graph, scenario, path, fairness.unwrap_or(Fairness::None), None)
}

/// A cycle with an edge as it `must` be, under the strongest fairness there is one for.
fn strongest(
    shape: &Shape,
    keep: impl Fn(u32, &crate::graph::Edge) -> bool,
    must: impl Fn(u32, &crate::graph::Edge) -> bool,
) -> Option<(Fairness, Lasso)> {
    // Without any assumption it is cheapest to see that there is none.
    let weakest = lasso(shape, &keep, Fairness::None, &must)?;
    let find = |fairness| lasso(shape, &keep, fairness, &must).map(|lasso| (fairness, lasso));
    let stronger = STRONGEST_FIRST.into_iter().filter(|fairness| *fairness != Fairness::None);
    stronger.map(find).find_map(|found| found).or(Some((Fairness::None, weakest)))
}

/// The answers alone, for the oracle.
#[cfg(test)]
pub(crate) mod for_tests {
    use super::{Bound, Rational};
    use crate::graph::{Hop, Shape};
    use crate::liveness::Fairness;
    use mm_model::env::Operation;
    use mm_model::ids::ActorId;

    pub(crate) fn worst(
        shape: &Shape,
        actor: ActorId,
        operation: Operation,
    ) -> Option<(Bound<u64>, Option<Fairness>, Vec<Hop>)> {
        let found = super::worst::Question::new(shape, actor, operation, 0).most()?;
        Some((found.bound, found.fairness, [found.stem, found.cycle].concat()))
    }

    pub(crate) fn ratio(shape: &Shape, operation: Operation) -> Option<Bound<Rational>> {
        let costs = shape.labels(|label| label.total(0));
        let ends = shape.labels(|label| label.count_ended(operation));
        super::ratio::most(shape, &costs, &ends).map(|found| found.bound)
    }
}
