//! The names of claims in a spec.
//!
//! ```text
//! PROPERTY
//! livelock-free OPERATION [under FAIRNESS]
//! starvation-free OPERATION [of ACTOR] [under FAIRNESS]
//! wait-free OPERATION [of ACTOR]
//! ladder OPERATION
//! MEASURE per OPERATION
//! MEASURE per-each OPERATION
//! peak MEASURE
//! ```

use super::{Claim, LADDER, LIVELOCK_FREE, STARVATION_FREE, WAIT_FREE, measures};
use crate::liveness::Fairness;
use mm_model::env::Operation;
use mm_model::ids::ActorId;
use mm_model::measure::MEASURES;
use mm_model::property::PROPERTIES;
use mm_model::scenario::Scenario;
use strum::VariantArray;

impl Claim {
    /// Its name in a spec.
    pub fn name(self, scenario: &Scenario) -> String {
        let of = |actor: Option<ActorId>| match actor {
            Some(actor) => format!(" of {}", scenario.actors[actor.index()].name),
            None => String::new(),
        };
        match self {
            Self::Safety(at) => PROPERTIES[at].name.to_owned(),
            Self::LivelockFree(operation, fairness) => {
                format!("{} {operation}{}", LIVELOCK_FREE.name, under(fairness))
            }
            Self::StarvationFree(operation, actor, fairness) => {
                let (of, under) = (of(actor), under(fairness));
                format!("{} {operation}{of}{under}", STARVATION_FREE.name)
            }
            Self::WaitFree(operation, actor) => {
                format!("{} {operation}{}", WAIT_FREE.name, of(actor))
            }
            Self::Ladder(operation) => format!("{} {operation}", LADDER.name),
            Self::Cost(at, operation) => format!("{} per {operation}", MEASURES[at].name),
            Self::Peak(at) => format!("peak {}", MEASURES[at].name),
            Self::Ratio(at, operation) => format!("{} per-each {operation}", MEASURES[at].name),
        }
    }

    /// The claim of that name; nothing if there is none.
    pub fn parse(name: &str, actor: impl Fn(&str) -> Option<ActorId>) -> Option<Self> {
        if let Some(at) = PROPERTIES.iter().position(|property| property.name == name) {
            return Some(Self::Safety(at));
        }
        let (words, fairness) = match name.split_once(" under ") {
            Some((rest, fairness)) => (rest, Some(Fairness::parse(fairness)?)),
            None => (name, None),
        };
        let words: Vec<&str> = words.split(' ').collect();
        let assumed = fairness.unwrap_or(Fairness::Weak);
        let claim = match words[..] {
            [line, op] if line == LIVELOCK_FREE.name => {
                return Some(Self::LivelockFree(operation(op)?, assumed));
            }
            [line, op] if line == STARVATION_FREE.name => {
                return Some(Self::StarvationFree(operation(op)?, None, assumed));
            }
            [line, op, "of", who] if line == STARVATION_FREE.name => {
                return Some(Self::StarvationFree(operation(op)?, Some(actor(who)?), assumed));
            }
            [line, op] if line == WAIT_FREE.name => Self::WaitFree(operation(op)?, None),
            [line, op, "of", who] if line == WAIT_FREE.name => {
                Self::WaitFree(operation(op)?, Some(actor(who)?))
            }
            [line, op] if line == LADDER.name => Self::Ladder(operation(op)?),
            ["peak", of] => Self::Peak(measure(of, false)?),
            [of, "per", op] => Self::Cost(measure(of, true)?, operation(op)?),
            [of, "per-each", op] => Self::Ratio(measure(of, true)?, operation(op)?),
            _ => return None,
        };
        // The others assume nothing.
        fairness.is_none().then_some(claim)
    }
}

/// Weak fairness goes without saying.
fn under(fairness: Fairness) -> String {
    match fairness {
        Fairness::Weak => String::new(),
        Fairness::None | Fairness::Strong | Fairness::RunToYield => format!(" under {fairness}"),
    }
}

fn operation(name: &str) -> Option<Operation> {
    Operation::VARIANTS.iter().copied().find(|operation| operation.to_string() == name)
}

fn measure(name: &str, adds_up: bool) -> Option<usize> {
    measures(adds_up).find(|(_, measure)| *measure == name).map(|(at, _)| at)
}

/// What of a name that looks like a claim is unknown, and of what kind: what it says there, the
/// kind, and what it can be.
pub fn not_a_claim(name: &str) -> Option<(&str, &'static str, Vec<String>)> {
    let (rest, fairness) = match name.split_once(" under ") {
        Some((rest, fairness)) => (rest, Some(fairness)),
        None => (name, None),
    };
    let operations = || Operation::VARIANTS.iter().map(Operation::to_string).collect();
    let of_measures =
        |adds_up| measures(adds_up).map(|(_, measure)| measure.to_owned()).collect::<Vec<_>>();
    let words: Vec<&str> = rest.split(' ').collect();
    let lines = [LIVELOCK_FREE.name, STARVATION_FREE.name, WAIT_FREE.name, LADDER.name];
    let (of, op) = match words[..] {
        ["peak", of] => {
            return measure(of, false).is_none().then(|| (of, "levels", of_measures(false)));
        }
        [line, op] | [line, op, "of", _] if lines.contains(&line) => (None, op),
        [of, "per" | "per-each", op] => (Some(of), op),
        _ => return None,
    };
    if let Some(of) = of.filter(|of| measure(of, true).is_none()) {
        return Some((of, "measures", of_measures(true)));
    }
    if operation(op).is_none() {
        return Some((op, "operations", operations()));
    }
    let fairness = fairness.filter(|name| Fairness::parse(name).is_none())?;
    let names = Fairness::VARIANTS.iter().map(|it| it.name().to_owned()).collect();
    Some((fairness, "kinds of fairness", names))
}

/// Every name a claim can have, where an actor stands as `ACTOR`. Of costs, which are many, none.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> =
        PROPERTIES.iter().map(|property| property.name.to_owned()).collect();
    for operation in Operation::VARIANTS {
        for line in [LIVELOCK_FREE, STARVATION_FREE, WAIT_FREE, LADDER] {
            names.push(format!("{} {operation}", line.name));
            if line.name == STARVATION_FREE.name || line.name == WAIT_FREE.name {
                names.push(format!("{} {operation} of ACTOR", line.name));
            }
        }
    }
    names
}
