//! Verdicts, and the paths that prove a violation.

use mm_model::ids::ActorId;

/// What a search says about a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds in every reachable state, and applied somewhere.
    Holds,
    /// Some reachable transition breaks it.
    Violated,
    /// It never applied.
    Vacuous,
    /// The search stopped before it could say.
    Unknown,
}

/// One transition: who stepped and what the world answered. Enough to take it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Who stepped.
    pub actor: ActorId,
    /// The answers, in the order asked.
    pub answers: Vec<u64>,
}

/// A path from the start, and for a lasso where its cycle begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The transitions.
    pub choices: Vec<Choice>,
    /// The number of transitions before the cycle, which the rest of them closes.
    pub cycle_from: Option<usize>,
}
