//! What can be asked of a design: a safety property, or a line of the progress ladder.

use mm_model::env::Operation;
use mm_model::ids::ActorId;
use mm_model::property::PROPERTIES;
use mm_model::scenario::{ActorKind, Op, Scenario};
use strum::VariantArray;

/// Something a verdict is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// A safety property, by position.
    Safety(usize),
    /// No fair cycle on which such an operation is open and none ends.
    LivelockFree(Operation),
    /// No fair cycle on which that actor's operation stays open; of any actor, if none is named.
    StarvationFree(Operation, Option<ActorId>),
}

/// A line of the progress ladder, for listings.
pub struct Ladder {
    /// Its name in a spec, before the operation.
    pub name: &'static str,
    /// What it claims.
    pub claim: &'static str,
}

/// `livelock-free`.
pub const LIVELOCK_FREE: Ladder = Ladder {
    name: "livelock-free",
    claim: "no fair cycle on which such an operation is open and none ends",
};

/// `starvation-free`.
pub const STARVATION_FREE: Ladder = Ladder {
    name: "starvation-free",
    claim: "no fair cycle on which one actor's operation stays open for ever",
};

impl Claim {
    /// Its name in a spec.
    pub fn name(self, scenario: &Scenario) -> String {
        match self {
            Self::Safety(at) => PROPERTIES[at].name.to_owned(),
            Self::LivelockFree(operation) => format!("{} {operation}", LIVELOCK_FREE.name),
            Self::StarvationFree(operation, None) => {
                format!("{} {operation}", STARVATION_FREE.name)
            }
            Self::StarvationFree(operation, Some(actor)) => {
                let actor = &scenario.actors[actor.index()].name;
                format!("{} {operation} of {actor}", STARVATION_FREE.name)
            }
        }
    }

    /// What is claimed, in English.
    pub fn claim(self) -> &'static str {
        match self {
            Self::Safety(at) => PROPERTIES[at].claim,
            Self::LivelockFree(_) => LIVELOCK_FREE.claim,
            Self::StarvationFree(..) => STARVATION_FREE.claim,
        }
    }

    /// Its kind in the JSON output.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Safety(_) => "safety",
            Self::LivelockFree(_) | Self::StarvationFree(..) => "progress",
        }
    }

    /// The operation it is about.
    pub const fn operation(self) -> Option<Operation> {
        match self {
            Self::Safety(_) => None,
            Self::LivelockFree(operation) | Self::StarvationFree(operation, _) => Some(operation),
        }
    }

    /// The actor it is about.
    pub const fn actor(self) -> Option<ActorId> {
        match self {
            Self::Safety(_) | Self::LivelockFree(_) => None,
            Self::StarvationFree(_, actor) => actor,
        }
    }

    /// The claim of that name; nothing if there is none.
    pub fn parse(name: &str, actor: impl Fn(&str) -> Option<ActorId>) -> Option<Self> {
        if let Some(at) = PROPERTIES.iter().position(|property| property.name == name) {
            return Some(Self::Safety(at));
        }
        let words: Vec<&str> = name.split(' ').collect();
        match words[..] {
            [ladder, op] if ladder == LIVELOCK_FREE.name => {
                Some(Self::LivelockFree(operation(op)?))
            }
            [ladder, op] if ladder == STARVATION_FREE.name => {
                Some(Self::StarvationFree(operation(op)?, None))
            }
            [ladder, op, "of", who] if ladder == STARVATION_FREE.name => {
                Some(Self::StarvationFree(operation(op)?, Some(actor(who)?)))
            }
            _ => None,
        }
    }

    /// What is asked of every scenario: each safety property, and the ladder of each operation that
    /// some task does.
    pub fn of_every(scenario: &Scenario) -> Vec<Self> {
        let safety =
            (0..PROPERTIES.len()).filter(|at| PROPERTIES[*at].concerns(scenario)).map(Self::Safety);
        let done = Operation::VARIANTS.iter().copied().filter(|operation| {
            scenario.actor_ids().any(|actor| does(scenario, actor, *operation))
        });
        let ladder =
            done.flat_map(|done| [Self::LivelockFree(done), Self::StarvationFree(done, None)]);
        safety.chain(ladder).collect()
    }
}

fn operation(name: &str) -> Option<Operation> {
    Operation::VARIANTS.iter().copied().find(|operation| operation.to_string() == name)
}

/// Whether an actor's program has such an operation.
pub fn does(scenario: &Scenario, actor: ActorId, operation: Operation) -> bool {
    let begins = |op: &Op| match op {
        Op::Charge { .. } => operation == Operation::Charge,
        Op::Uncharge { .. } => operation == Operation::Uncharge,
        Op::LruAdd { .. } => false,
        Op::Read { .. } => operation == Operation::Read,
        Op::Fault { .. } => operation == Operation::Fault,
        Op::WillNeed { .. } => operation == Operation::Readahead,
    };
    match &scenario.actors[actor.index()].kind {
        ActorKind::Task { program, .. } => program.iter().any(begins),
        ActorKind::DrainWorker => false,
    }
}

/// Every name a claim can have, where an actor stands as `ACTOR`.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> =
        PROPERTIES.iter().map(|property| property.name.to_owned()).collect();
    for operation in Operation::VARIANTS {
        names.push(format!("{} {operation}", LIVELOCK_FREE.name));
        names.push(format!("{} {operation}", STARVATION_FREE.name));
        names.push(format!("{} {operation} of ACTOR", STARVATION_FREE.name));
    }
    names
}
