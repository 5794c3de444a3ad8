//! What can be asked of a design: a safety property, a line of the progress ladder, a cost.

use crate::liveness::Fairness;
use mm_model::env::Operation;
use mm_model::ids::ActorId;
use mm_model::measure::{Amount, MEASURES};
use mm_model::property::PROPERTIES;
use mm_model::scenario::{ActorKind, Op, Scenario};
use std::fmt;
use strum::VariantArray;

mod name;
pub use name::{names, not_a_claim};

/// Something a verdict is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// A safety property, by position.
    Safety(usize),
    /// No fair cycle on which such an operation is open and none ends.
    LivelockFree(Operation, Fairness),
    /// No fair cycle on which that actor's operation stays open; of any actor, if none is named.
    StarvationFree(Operation, Option<ActorId>, Fairness),
    /// That actor's operation ends within a bounded number of its own steps; of any actor, if none
    /// is named.
    WaitFree(Operation, Option<ActorId>),
    /// How high an operation stands.
    Ladder(Operation),
    /// The most a measure comes to within one operation.
    Cost(usize, Operation),
    /// The most a measure is at one instant.
    Peak(usize),
    /// The most a measure comes to for each operation that ends, in the long run.
    Ratio(usize, Operation),
}

/// How high an operation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, VariantArray)]
pub enum Rung {
    /// It can be that nobody's ends.
    None,
    /// Somebody's ends.
    LivelockFree,
    /// Everybody's ends.
    StarvationFree,
    /// Everybody's ends, whatever the others do.
    WaitFree,
}

/// A line of the progress ladder, for listings.
pub struct Line {
    /// Its name in a spec, before the operation.
    pub name: &'static str,
    /// What it claims.
    pub claim: &'static str,
}

/// `livelock-free`.
pub const LIVELOCK_FREE: Line = Line {
    name: "livelock-free",
    claim: "no fair cycle on which such an operation is open and none ends",
};

/// `starvation-free`.
pub const STARVATION_FREE: Line = Line {
    name: "starvation-free",
    claim: "no fair cycle on which one actor's operation stays open for ever",
};

/// `wait-free`.
pub const WAIT_FREE: Line = Line {
    name: "wait-free",
    claim: "the operation never waits and ends within a bounded number of its actor's own steps, \
            whatever the others do",
};

/// `ladder`.
pub const LADDER: Line = Line {
    name: "ladder",
    claim: "how high the operation stands: wait-free, starvation-free, livelock-free or none, each \
            under the weakest fairness that suffices, up to strong",
};

impl Rung {
    /// Its name in a spec.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::LivelockFree => LIVELOCK_FREE.name,
            Self::StarvationFree => STARVATION_FREE.name,
            Self::WaitFree => WAIT_FREE.name,
        }
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Claim {
    /// What is claimed, in English.
    pub fn claim(self) -> &'static str {
        match self {
            Self::Safety(at) => PROPERTIES[at].claim,
            Self::LivelockFree(..) => LIVELOCK_FREE.claim,
            Self::StarvationFree(..) => STARVATION_FREE.claim,
            Self::WaitFree(..) => WAIT_FREE.claim,
            Self::Ladder(_) => LADDER.claim,
            Self::Cost(at, _) | Self::Peak(at) | Self::Ratio(at, _) => MEASURES[at].summary,
        }
    }

    /// Its kind in the JSON output.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Safety(_) => "safety",
            Self::LivelockFree(..) | Self::StarvationFree(..) | Self::WaitFree(..) => "progress",
            Self::Ladder(_) => "ladder",
            Self::Cost(..) | Self::Peak(_) => "cost",
            Self::Ratio(..) => "ratio",
        }
    }

    /// Whether it is about single transitions.
    pub const fn is_safety(self) -> bool {
        matches!(self, Self::Safety(_))
    }

    /// Whether its answer needs to know of each page whether somebody has used it, while it is
    /// cached. What is counted in the long run can be counted when a page is forgotten instead.
    pub fn tells_pages_apart(self) -> bool {
        match self {
            Self::Peak(measure) => MEASURES[measure].name == "speculative-pages",
            Self::Cost(measure, _) => MEASURES[measure].name == "pages-evicted-unused",
            Self::Safety(_)
            | Self::LivelockFree(..)
            | Self::StarvationFree(..)
            | Self::WaitFree(..)
            | Self::Ladder(_)
            | Self::Ratio(..) => false,
        }
    }

    /// Whether the answer is a verdict, and not a value.
    pub const fn is_verdict(self) -> bool {
        match self {
            Self::Safety(_)
            | Self::LivelockFree(..)
            | Self::StarvationFree(..)
            | Self::WaitFree(..) => true,
            Self::Ladder(_) | Self::Cost(..) | Self::Peak(_) | Self::Ratio(..) => false,
        }
    }

    /// What a verdict about progress assumes.
    pub const fn fairness(self) -> Option<Fairness> {
        match self {
            Self::LivelockFree(_, fairness) | Self::StarvationFree(_, _, fairness) => {
                Some(fairness)
            }
            Self::WaitFree(..) => Some(Fairness::None),
            Self::Safety(_)
            | Self::Ladder(_)
            | Self::Cost(..)
            | Self::Peak(_)
            | Self::Ratio(..) => None,
        }
    }

    /// The operation it is about.
    pub const fn operation(self) -> Option<Operation> {
        match self {
            Self::Safety(_) | Self::Peak(_) => None,
            Self::LivelockFree(operation, _)
            | Self::StarvationFree(operation, ..)
            | Self::WaitFree(operation, _)
            | Self::Ladder(operation)
            | Self::Cost(_, operation)
            | Self::Ratio(_, operation) => Some(operation),
        }
    }

    /// The actor it is about.
    pub const fn actor(self) -> Option<ActorId> {
        match self {
            Self::StarvationFree(_, actor, _) | Self::WaitFree(_, actor) => actor,
            Self::Safety(_)
            | Self::LivelockFree(..)
            | Self::Ladder(_)
            | Self::Cost(..)
            | Self::Peak(_)
            | Self::Ratio(..) => None,
        }
    }

    /// What is asked of every scenario: each safety property, and of each operation that some task
    /// does, how high it stands, and its lines under weak fairness.
    pub fn of_every(scenario: &Scenario) -> Vec<Self> {
        let safety =
            (0..PROPERTIES.len()).filter(|at| PROPERTIES[*at].concerns(scenario)).map(Self::Safety);
        let done = Operation::VARIANTS.iter().copied().filter(|operation| {
            scenario.actor_ids().any(|actor| does(scenario, actor, *operation))
        });
        let ladder = done.flat_map(|done| {
            [
                Self::LivelockFree(done, Fairness::Weak),
                Self::StarvationFree(done, None, Fairness::Weak),
                Self::Ladder(done),
            ]
        });
        safety.chain(ladder).collect()
    }
}

/// The measures that add up, or those that a state has, by position.
pub fn measures(adds_up: bool) -> impl Iterator<Item = (usize, &'static str)> {
    let wanted = move |amount| match amount {
        Amount::Sum(_) => adds_up,
        Amount::Level(_) => !adds_up,
    };
    let all = MEASURES.iter().enumerate();
    all.filter(move |(_, it)| wanted(it.amount)).map(|(at, it)| (at, it.name))
}

/// Whether an actor's program has such an operation.
pub fn does(scenario: &Scenario, actor: ActorId, operation: Operation) -> bool {
    // Whoever charges may have to answer for it before it is back in user space.
    let answers = operation == Operation::ReturnToUser
        && scenario.high_in_use(scenario.actors[actor.index()].task.memcg);
    let reads_ahead = operation == Operation::Readahead;
    let begins = |op: &Op| match op {
        Op::Charge { .. } => operation == Operation::Charge || answers,
        Op::Uncharge { .. } => operation == Operation::Uncharge,
        Op::WriteReclaim { .. } => operation == Operation::ReclaimWrite,
        Op::WriteHigh { .. } => operation == Operation::HighWrite,
        Op::WriteMax { .. } => operation == Operation::MaxWrite,
        Op::Stockpile { .. } => operation == Operation::Stockpile,
        Op::Read { .. } => operation == Operation::Read || reads_ahead || answers,
        Op::Fault { .. } => operation == Operation::Fault || reads_ahead || answers,
        Op::Access { .. } => {
            matches!(operation, Operation::Access | Operation::Fault) || reads_ahead || answers
        }
        Op::WillNeed { .. } | Op::Window { .. } => reads_ahead || answers,
        Op::LruAdd { .. } | Op::Signal { .. } | Op::Mark { .. } => false,
    };
    match &scenario.actors[actor.index()].kind {
        ActorKind::Task { program, .. } => program.iter().any(begins),
        ActorKind::DrainWorker | ActorKind::Device(_) | ActorKind::Kswapd { .. } => false,
    }
}
