//! Takes a path again through the model, without any engine.

use crate::verdict::Choice;
use mm_model::env::{Call, Env, Event, Question};
use mm_model::ids::ActorId;
use mm_model::machine::Fuse;
use mm_model::scenario::Scenario;
use mm_model::state::State;
use mm_model::world::World;
use std::fmt;

/// A transition that was taken again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Who stepped.
    pub actor: ActorId,
    /// What was asked, with the answers.
    pub asked: Vec<(Question, u64)>,
    /// What happened.
    pub events: Vec<Event>,
    /// The state after it.
    pub state: State,
}

impl Step {
    /// The choice that was made.
    pub fn choice(&self) -> Choice {
        Choice {
            actor: self.actor,
            answers: self.asked.iter().map(|(_, answer)| *answer).collect(),
        }
    }
}

/// A path that is not one of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diverged {
    /// The position of the choice that can't be made.
    pub at: usize,
    /// Why not.
    pub why: Why,
}

/// Why a choice can't be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// There is no such actor.
    NoSuchActor,
    /// The actor waits or has ended.
    NotEnabled,
    /// More is asked than the choice answers.
    TooFewAnswers,
    /// Less is asked than the choice answers.
    TooManyAnswers,
    /// An answer is larger than what the question allows.
    AnswerTooLarge,
}

impl fmt::Display for Diverged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: {}", self.at + 1, self.why)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSuchActor => "there is no such actor",
            Self::NotEnabled => "the actor can't step",
            Self::TooFewAnswers => "the step asks for more answers",
            Self::TooManyAnswers => "the step asks for fewer answers",
            Self::AnswerTooLarge => "an answer is larger than the question allows",
        })
    }
}

impl std::error::Error for Diverged {}

/// Gives the answers of a choice. What does not fit is answered with 0 and remembered.
struct Script<'a> {
    answers: std::slice::Iter<'a, u64>,
    asked: Vec<(Question, u64)>,
    events: Vec<Event>,
    wrong: Option<Why>,
}

impl Env for Script<'_> {
    fn answer(&mut self, question: Question) -> u64 {
        let (answer, wrong) = match self.answers.next() {
            Some(answer) if *answer <= question.last => {
                self.asked.push((question, *answer));
                return *answer;
            }
            Some(_) => (0, Why::AnswerTooLarge),
            None => (0, Why::TooFewAnswers),
        };
        self.wrong.get_or_insert(wrong);
        answer
    }

    fn note(&mut self, event: Event) {
        self.events.push(event);
    }

    fn stub(&mut self, _: &mut World, _: Call) -> Option<i64> {
        None
    }
}

/// Makes one choice.
pub fn step(scenario: &Scenario, fuse: Fuse, from: &State, choice: &Choice) -> Result<Step, Why> {
    let Choice { actor, answers } = choice;
    if actor.index() >= scenario.actors.len() {
        return Err(Why::NoSuchActor);
    }
    if !scenario.enabled(from, *actor) {
        return Err(Why::NotEnabled);
    }
    let mut state = from.clone();
    let mut script =
        Script { answers: answers.iter(), asked: Vec::new(), events: Vec::new(), wrong: None };
    scenario.transition(&mut state, *actor, fuse, &mut script);
    let Script { answers, asked, events, wrong } = script;
    match wrong.or((answers.len() > 0).then_some(Why::TooManyAnswers)) {
        Some(why) => Err(why),
        None => Ok(Step { actor: *actor, asked, events, state }),
    }
}

/// Makes all choices from the start, and returns what each of them did.
pub fn replay(scenario: &Scenario, fuse: Fuse, choices: &[Choice]) -> Result<Vec<Step>, Diverged> {
    let mut state = scenario.initial();
    let made = choices.iter().enumerate().map(|(at, choice)| {
        let step = step(scenario, fuse, &state, choice).map_err(|why| Diverged { at, why })?;
        state = step.state.clone();
        Ok(step)
    });
    made.collect()
}
