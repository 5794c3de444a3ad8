//! What a whole search goes through: program points of the kernel's functions, and answers.
//!
//! The search is the fast engine's, with nothing judged on its way. A point also counts where it is
//! passed in the middle of a larger atomic step.

use crate::engine::native::{Sink, System, search};
use crate::engine::{Budget, Quiet};
use crate::label::{Label, OperationSet};
use crate::node::{PropertySet, initial, pack, unpack};
use indexmap::IndexSet;
use mm_model::choose::Choose;
use mm_model::env::{Env, Event, Question, Stack};
use mm_model::ids::ActorId;
use mm_model::machine::Fuse;
use mm_model::scenario::Scenario;
use mm_model::state::State;
use mm_model::world::World;
use rustc_hash::FxBuildHasher;
use std::collections::BTreeSet;

mod answers;
pub use answers::{ANSWERS, Answer, By};

/// What a search went through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// (function, program point) at which the search was.
    pub points: BTreeSet<(&'static str, &'static str)>,
    /// The functions of which a call returned.
    pub called: BTreeSet<&'static str>,
    /// The answers that were given.
    pub given: BTreeSet<Answer>,
    /// Those among them that made a difference: to the same question there was another answer that
    /// could not lead to the same state. What a function returns is taken to make one.
    pub mattered: BTreeSet<Answer>,
}

impl Reach {
    /// Whether some step is one of the function's, or calls it.
    pub fn takes_part(&self, function: &str) -> bool {
        self.called.contains(function) || self.points.iter().any(|(of, _)| *of == function)
    }
}

/// Searches everything, with that many threads, and says what it went through.
pub fn reach(scenario: &Scenario, threads: usize) -> Reach {
    let mut system = Walk::new(scenario);
    let workers = if threads > 1 { threads } else { 0 };
    let mut workers: Vec<Walk<'_>> = (0..workers).map(|_| Walk::new(scenario)).collect();
    search(&mut system, &mut workers, &Budget::default(), &mut Quiet);
    let mut reach = Reach::default();
    for Walk { heard, .. } in std::iter::once(system).chain(workers) {
        reach.points.extend(heard.points);
        reach.called.extend(heard.called);
        reach.given.extend(heard.given);
        reach.mattered.extend(heard.mattered);
    }
    reach
}

/// What was heard so far.
#[derive(Default)]
struct Heard {
    points: IndexSet<(&'static str, &'static str), FxBuildHasher>,
    called: IndexSet<&'static str, FxBuildHasher>,
    given: BTreeSet<Answer>,
    mattered: BTreeSet<Answer>,
    stack: Stack,
}

/// A question's answer, as a number and as it is told apart.
type Answered = (u64, Option<Answer>);

/// A transition in which something was asked: the answers, and the state it leads to.
struct Run {
    answers: Vec<Answered>,
    to: Vec<u8>,
}

/// The model, searched for what it goes through.
struct Walk<'a> {
    scenario: &'a Scenario,
    heard: Heard,
    packed: Vec<u8>,
}

impl<'a> Walk<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        Self { scenario, heard: Heard::default(), packed: Vec::new() }
    }

    /// Takes every transition of an actor.
    fn transitions(&mut self, from: &State, actor: ActorId, into: &mut impl Sink) {
        let mut choose = Choose::default();
        let mut runs = Vec::new();
        loop {
            let mut to = from.clone();
            let mut hearing = Hearing {
                scenario: self.scenario,
                choose: &mut choose,
                heard: &mut self.heard,
                answers: Vec::new(),
            };
            self.scenario.transition(&mut to, actor, Fuse::OwnLocal, &mut hearing);
            let answers = hearing.answers;
            pack(&to, PropertySet::default(), &mut self.packed);
            into.found(&Label::quiet(actor), &self.packed);
            if !answers.is_empty() {
                runs.push(Run { answers, to: self.packed.clone() });
            }
            if !choose.advance() {
                break;
            }
        }
        self.heard.compare(&runs);
    }
}

impl Heard {
    /// Finds the answers that make a difference.
    fn compare(&mut self, runs: &[Run]) {
        for run in runs {
            for (at, (number, answer)) in run.answers.iter().enumerate() {
                let Some(answer) = answer.filter(|answer| !self.mattered.contains(answer)) else {
                    continue;
                };
                let asked = runs.iter().filter(|other| {
                    other.answers.len() > at && other.answers[..at] == run.answers[..at]
                });
                let others: BTreeSet<u64> = asked
                    .clone()
                    .map(|other| other.answers[at].0)
                    .filter(|it| it != number)
                    .collect();
                let leads_there = |other: &u64| {
                    asked
                        .clone()
                        .any(|run_of| run_of.answers[at].0 == *other && run_of.to == run.to)
                };
                if !others.iter().all(leads_there) {
                    self.mattered.insert(answer);
                }
            }
        }
    }
}

impl System for Walk<'_> {
    fn actors(&self) -> usize {
        self.scenario.actors.len()
    }

    fn initial(&mut self, packed: &mut Vec<u8>) {
        let (node, _) = initial(self.scenario);
        pack(&node.state(), PropertySet::default(), packed);
    }

    fn expand(&mut self, packed: &[u8], into: &mut impl Sink) {
        let from = unpack(packed);
        into.begin(&vec![OperationSet::EMPTY; self.actors()]);
        let scenario = self.scenario;
        for actor in scenario.actor_ids().filter(|actor| scenario.enabled(&from, *actor)) {
            self.transitions(&from, actor, into);
        }
    }
}

/// Chooses, and hears what happens.
struct Hearing<'a> {
    scenario: &'a Scenario,
    choose: &'a mut Choose,
    heard: &'a mut Heard,
    answers: Vec<Answered>,
}

impl Env for Hearing<'_> {
    fn answer(&mut self, question: Question) -> u64 {
        let number = self.choose.answer(question);
        let answer = answers::of_question(self.scenario, question, number);
        self.heard.given.extend(answer);
        self.answers.push((number, answer));
        number
    }

    fn note(&mut self, event: Event) {
        if let Event::Returned(call, value) = event {
            self.heard.called.insert(call.name());
            for answer in answers::of_call(call, value) {
                self.heard.given.insert(answer);
                self.heard.mattered.insert(answer);
            }
        }
    }

    fn at(&mut self, stack: &dyn Fn(&mut Stack)) {
        let Heard { points, stack: found, .. } = &mut *self.heard;
        found.clear();
        stack(found);
        points.extend(found.iter().copied());
    }

    fn stub(&mut self, world: &mut World, call: mm_model::env::Call) -> Option<i64> {
        self.choose.stub(world, call)
    }
}
