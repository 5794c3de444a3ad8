//! Takes a path of a scenario with pooled files again, in one where every page has its identity.
//!
//! Of a pooled file, pages that no running access can come back to are only counted. That no step
//! can tell them apart is an argument about the model, and a counterexample is only as good as it.
//! So before one is shown it is followed in the same scenario with large files: each access goes to
//! a place of its own, and what the pooled run counts are folios there.

mod alike;
mod follow;
mod guided;
mod named;
mod scene;
#[cfg(test)]
mod tests;

use crate::check::Counterexample;
use crate::replay::Step;
use follow::Follower;
use mm_model::env::{Call, Env, Event, Question};
use mm_model::machine::Fuse;
use mm_model::scenario::{InodeConfig, Scenario};
use mm_model::state::State;
use mm_model::world::World;

/// The longest path that is followed.
const STEPS_MOST: usize = 4_000;

/// How often the cycle of a lasso is gone round, if that is short enough: the second time begins
/// with what the first has left behind.
const ROUNDS: usize = 2;

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The path can be taken with the identity of its pages.
    Taken,
    /// It is too long to look.
    TooLong,
}

impl Identity {
    /// What came of it in one word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::TooLong => "too-long",
        }
    }

    /// Why it was not taken.
    pub const fn objection(self) -> Option<&'static str> {
        match self {
            Self::Taken => None,
            Self::TooLong => Some("not taken with the identity of its pages, as it is too long"),
        }
    }
}

/// Follows a path, the cycle of a lasso more than once. Nothing if no file is pooled. An error is
/// the number of the step that can't be taken.
pub fn identify(
    scenario: &Scenario,
    fuse: Fuse,
    path: &Counterexample,
) -> Result<Option<Identity>, usize> {
    if !scenario.inodes.iter().any(InodeConfig::is_pooled) {
        return Ok(None);
    }
    if path.steps.len() > STEPS_MOST {
        return Ok(Some(Identity::TooLong));
    }
    let cycle = &path.steps[path.stem()..];
    let twice = path.steps.len() + (ROUNDS - 1) * cycle.len() <= STEPS_MOST;
    let again = if twice { ROUNDS - 1 } else { 0 };
    let rounds = std::iter::repeat_n(cycle, again).flatten();
    let mut follower = Follower::new(scenario);
    let mut before = scenario.initial();
    for (at, step) in path.steps.iter().chain(rounds).enumerate() {
        for step in atomic(scenario, fuse, &before, step) {
            if !follower.step(&before, &step) {
                return Err(at + 1);
            }
            before = step.state;
        }
    }
    Ok(Some(Identity::Taken))
}

/// The atomic steps of a transition. With the identity of pages fewer steps may be local, so that
/// transitions would not end at the same places.
fn atomic(scenario: &Scenario, fuse: Fuse, from: &State, step: &Step) -> Vec<Step> {
    let mut again = Again::new(&step.asked);
    scenario.transition(&mut from.clone(), step.actor, fuse, &mut again);
    let count = again.steps;
    let mut again = Again::new(&step.asked);
    let mut state = from.clone();
    let one = |_| {
        scenario.step(&mut state, step.actor, &mut again);
        let (asked, events) = (again.asked.split_off(0), again.events.split_off(0));
        Step { actor: step.actor, asked, events, state: state.clone() }
    };
    (0..count).map(one).collect()
}

/// Gives the answers of a transition once more.
struct Again<'a> {
    answers: std::slice::Iter<'a, (Question, u64)>,
    asked: Vec<(Question, u64)>,
    events: Vec<Event>,
    steps: usize,
}

impl<'a> Again<'a> {
    fn new(answers: &'a [(Question, u64)]) -> Self {
        Self { answers: answers.iter(), asked: Vec::new(), events: Vec::new(), steps: 0 }
    }
}

impl Env for Again<'_> {
    fn answer(&mut self, question: Question) -> u64 {
        let (_, answer) = self.answers.next().expect("it was taken before");
        self.asked.push((question, *answer));
        *answer
    }

    fn note(&mut self, event: Event) {
        self.events.push(event);
    }

    fn stepped(&mut self) {
        self.steps += 1;
    }

    fn stub(&mut self, _: &mut World, _: Call) -> Option<i64> {
        None
    }
}
