//! Progress: whether an operation can stay open for ever on a fair cycle.
//!
//! The edges that make progress are taken out of the graph. What is left of an infinite run that
//! never makes progress again is a strongly connected part of it; `fair` says in which parts a
//! fair run can stay. A run that ends is no cycle: `deadlock-free` judges those.

use crate::graph::{Edge, Graph, Hop, Shape};
use crate::replay::Step;
use crate::verdict::{Trace, Verdict};
use mm_model::env::Operation;
use mm_model::ids::ActorId;
use mm_model::scenario::Scenario;
use std::fmt;
use strum::VariantArray;

pub(crate) mod confirm;
pub(crate) mod fair;
pub(crate) mod lasso;
#[cfg(test)]
mod tests;
mod yielding;

use lasso::Lasso;
use yielding::Yielding;

/// What is assumed about who gets to step, from the weakest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, VariantArray)]
pub enum Fairness {
    /// Nothing.
    None,
    /// Every actor that stays enabled eventually steps.
    Weak,
    /// Every actor that is enabled again and again eventually steps.
    Strong,
    /// One CPU, no preemption: an actor runs until it blocks or ends, until an operation of it
    /// ends, or until it sleeps; of those that can run then, none is passed over for ever.
    RunToYield,
}

impl Fairness {
    /// Its name in a spec.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Weak => "weak",
            Self::Strong => "strong",
            Self::RunToYield => "run-to-yield",
        }
    }

    /// What it means, in English.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::None => "nothing is assumed: any actor may never step again",
            Self::Weak => "every actor that stays enabled eventually steps",
            Self::Strong => "every actor that is enabled again and again eventually steps",
            Self::RunToYield => {
                "one CPU without preemption: an actor runs until it blocks or ends, until an \
                 operation of it ends, or until it sleeps; of those that can run then, none is \
                 passed over for ever"
            }
        }
    }

    /// The one of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::VARIANTS.iter().copied().find(|fairness| fairness.name() == name)
    }
}

impl fmt::Display for Fairness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The answer to a question about progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether an operation of that kind, and of that actor, is ever open.
    pub applied: bool,
    /// A fair cycle without progress, with a shortest way to it. For an operation that is not
    /// wait-free this can also be a way to where it waits, without a cycle.
    pub lasso: Option<Trace>,
}

impl Answer {
    /// Nothing is known to be wrong, because nothing was asked.
    pub const NONE: Self = Self { applied: false, lasso: None };

    /// What it says. A graph is complete, so that it is never unknown.
    pub const fn verdict(&self) -> Verdict {
        match (&self.lasso, self.applied) {
            (Some(_), _) => Verdict::Violated,
            (None, true) => Verdict::Holds,
            (None, false) => Verdict::Vacuous,
        }
    }

    /// What holds only if both do.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let lasso = match (self.lasso, other.lasso) {
            (Some(one), Some(other)) if other.choices.len() < one.choices.len() => Some(other),
            (one, other) => one.or(other),
        };
        Self { applied: self.applied || other.applied, lasso }
    }
}

/// Whose operation must not stay open for ever.
#[derive(Clone, Copy)]
pub(crate) struct Question {
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

/// Looks for a run in which the actor's operation never ends although the actor itself steps
/// again and again, whatever the others do, or in which it waits for somebody: then it is not
/// wait-free.
pub fn waiting(graph: &Graph, scenario: &Scenario, operation: Operation, actor: ActorId) -> Answer {
    let question = Question { operation, actor: Some(actor) };
    let shape = graph.shape();
    let applied = question.applies(shape);
    let waits = question.open(shape);
    let waits = (0..shape.len()).find(|node| waits[*node as usize] && !shape.enabled(*node, actor));
    let lasso = if let Some(node) = waits {
        let choices = graph.choices(scenario, &shape.stem(node));
        Some(Trace { choices, cycle_from: None })
    } else {
        let own = |_: u32, edge: &Edge| shape.actor(edge) == actor;
        let found = question.find(shape, Fairness::None, own);
        let path = found.map(|lasso| Path::to(shape, lasso));
        path.map(|path| confirm::lasso(graph, scenario, &path, Fairness::None, Some(question)))
    };
    Answer { applied, lasso }
}

/// Whether the steps from there on end where they begin; or why not.
pub fn closes(scenario: &Scenario, steps: &[Step], from: usize) -> Result<(), String> {
    confirm::closes(scenario, steps, from)
}

/// Whether steps that were taken show that an operation, of that actor or of anybody, stays open
/// for ever on a fair cycle, which begins at `from`; or why not.
pub fn stays_open(
    scenario: &Scenario,
    steps: &[Step],
    from: usize,
    (operation, actor): (Operation, Option<ActorId>),
    fairness: Fairness,
) -> Result<(), String> {
    confirm::closes(scenario, steps, from)?;
    confirm::stays_open(&steps[from..], Question { operation, actor }, scenario)?;
    confirm::fair(scenario, &steps[from..], fairness)?;
    confirm::uninterrupted(scenario, steps, fairness)
}

/// The length of a fair cycle on which such an operation is open and none ends, in a graph of
/// whatever system.
pub fn livelocked(shape: &Shape, operation: Operation, fairness: Fairness) -> Option<usize> {
    let question = Question { operation, actor: None };
    question.find(shape, fairness, |_, _| true).map(|lasso| lasso.cycle.len())
}

fn answer(graph: &Graph, scenario: &Scenario, question: Question, fairness: Fairness) -> Answer {
    let shape = graph.shape();
    let any = |_: u32, _: &Edge| true;
    let found = if fairness == Fairness::RunToYield {
        let one_cpu = Yielding::of(shape);
        let found = question.find(&one_cpu.shape, fairness, any);
        let path = found.map(|lasso| Path::to(&one_cpu.shape, lasso));
        path.map(|path| path.map(|hop| one_cpu.whole(shape, hop)))
    } else {
        question.find(shape, fairness, any).map(|lasso| Path::to(shape, lasso))
    };
    let lasso =
        found.map(|found| confirm::lasso(graph, scenario, &found, fairness, Some(question)));
    Answer { applied: question.applies(shape), lasso }
}

/// A way to a cycle, and the cycle.
pub(crate) struct Path {
    pub(crate) stem: Vec<Hop>,
    pub(crate) cycle: Vec<Hop>,
}

impl Path {
    /// The shortest way to a cycle, and the cycle.
    pub(crate) fn to(shape: &Shape, lasso: Lasso) -> Self {
        Self { stem: shape.stem(lasso.entry), cycle: lasso.cycle }
    }

    fn map(&self, place: impl Fn(&Hop) -> Hop) -> Self {
        let Self { stem, cycle } = self;
        let place = |hops: &[Hop]| hops.iter().map(&place).collect();
        Self { stem: place(stem), cycle: place(cycle) }
    }
}

impl Question {
    /// Where such an operation is open.
    fn open(self, shape: &Shape) -> Vec<bool> {
        shape.nodes(|open| match self.actor {
            Some(actor) => open[actor.index()].contains(self.operation),
            None => open.iter().any(|open| open.contains(self.operation)),
        })
    }

    /// Whether such an operation ever begins.
    fn applies(self, shape: &Shape) -> bool {
        let mine = |actor| self.actor.is_none_or(|asked| asked == actor);
        let begins = shape.labels(|label| mine(label.actor) && label.begins(self.operation));
        begins.contains(&true)
    }

    /// The subgraph in which it stays open, and a fair cycle of it with an edge as it `must` be.
    fn find(
        self,
        shape: &Shape,
        fairness: Fairness,
        must: impl Fn(u32, &Edge) -> bool,
    ) -> Option<Lasso> {
        let open = self.open(shape);
        let mine = |actor| self.actor.is_none_or(|asked| asked == actor);
        let ends = shape.labels(|label| mine(label.actor) && label.ends(self.operation));
        let keep = |from: u32, edge: &Edge| {
            open[from as usize] && open[edge.to as usize] && !Shape::of_label(&ends, edge)
        };
        lasso::lasso(shape, keep, fairness, must)
    }
}

/// The cycle on which one actor's operation stays open on one CPU, in the whole graph, for the
/// oracle.
#[cfg(test)]
pub(crate) fn one_cpu(shape: &Shape, operation: Operation, actor: ActorId) -> Option<Vec<Hop>> {
    let restricted = Yielding::of(shape);
    let question = Question { operation, actor: Some(actor) };
    let lasso = question.find(&restricted.shape, Fairness::RunToYield, |_, _| true)?;
    Some(lasso.cycle.iter().map(|hop| restricted.whole(shape, hop)).collect())
}
