//! Counterexamples for people: one story, told in several forms.
//!
//! A [`Story`] is a path into a violation as it went when it was taken again. Each form is a
//! function of it in a module of its own. What the world looks like is asked of [`world`] only, so
//! that a new part of the world needs one function there and nothing in any form.

pub mod answer;
pub mod closing;
pub mod dot;
pub mod html;
pub mod itf;
pub mod svg;
pub mod timeline;
pub mod trace;
pub mod world;

use crate::check::Counterexample;
use crate::claim::Claim;
use crate::liveness::Fairness;
use crate::render;
use crate::replay::Step;
use crate::spec::{NamedDesign, Point, Spec};
use crate::value::Value;
use mm_model::ids::ActorId;
use mm_model::machine::Fuse;
use mm_model::scenario::{ActorKind, Scenario};
use mm_model::state::State;
use std::fmt::Write as _;
use std::ops::Deref;

/// A path through a scenario.
pub struct Walk<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The path.
    pub path: &'a Counterexample,
    /// The state before the first step.
    initial: State,
}

/// A counterexample, and all it is one of.
pub struct Story<'a> {
    /// The path.
    pub walk: Walk<'a>,
    /// The spec.
    pub spec: &'a Spec,
    /// The design.
    pub design: &'a NamedDesign,
    /// Whether a step includes the local ones after it.
    pub fuse: Fuse,
    /// The point of the spec's sweep.
    pub point: &'a Point,
    /// What is violated, or has a value.
    pub claim: Claim,
    /// The value, where a verdict is not all.
    pub value: Option<Value>,
    /// Under which fairness.
    pub fairness: Option<Fairness>,
}

/// A story is told along its path.
impl<'a> Deref for Story<'a> {
    type Target = Walk<'a>;

    fn deref(&self) -> &Walk<'a> {
        &self.walk
    }
}

/// A step in words.
pub struct Told {
    /// Who.
    pub actor: ActorId,
    /// The kernel function and the program point it was taken at, or where else it began.
    pub place: String,
    /// What happened.
    pub happened: Vec<String>,
    /// What the outside world decided.
    pub answers: Vec<String>,
    /// What is different afterwards.
    pub changes: Vec<world::Change>,
}

impl<'a> Walk<'a> {
    /// A path through a scenario.
    pub fn new(scenario: &'a Scenario, path: &'a Counterexample) -> Self {
        Self { scenario, path, initial: scenario.initial() }
    }

    /// The state before a step, or after the last one.
    pub fn before(&self, at: usize) -> &State {
        at.checked_sub(1).map_or(&self.initial, |before| &self.path.steps[before].state)
    }

    /// The name of an actor.
    pub fn name(&self, actor: ActorId) -> &str {
        &self.scenario.actors[actor.index()].name
    }

    /// Those who step at all, in the scenario's order.
    pub fn cast(&self) -> Vec<ActorId> {
        let steps = |actor: &ActorId| self.path.steps.iter().any(|step| step.actor == *actor);
        self.scenario.actor_ids().filter(steps).collect()
    }

    /// The steps of the cycle; none if there is none.
    pub fn cycle(&self) -> &[Step] {
        &self.path.steps[self.path.stem()..]
    }

    /// A step in words.
    pub fn tell(&self, at: usize) -> Told {
        let Step { actor, asked, events, state } = &self.path.steps[at];
        let before = self.before(at);
        let answer =
            |(question, answer): &(_, u64)| answer::answer(self.scenario, question, *answer);
        let [old, new] = [before, state].map(|state| world::items(self.scenario, state));
        Told {
            actor: *actor,
            place: self.place(before, *actor),
            happened: render::happened(self.scenario, events),
            answers: asked.iter().map(answer).collect(),
            changes: world::changes(&old, &new),
        }
    }

    fn place(&self, state: &State, actor: ActorId) -> String {
        match state.actors[actor.index()].stack().last() {
            Some((function, point)) => format!("{function}: {point}"),
            None => match self.scenario.actors[actor.index()].kind {
                ActorKind::Task { .. } => "in user space".to_owned(),
                ActorKind::Device(_) => "ends a read".to_owned(),
                ActorKind::DrainWorker | ActorKind::Kswapd { .. } => "begins its work".to_owned(),
            },
        }
    }
}

impl Story<'_> {
    /// `starvation-free charge is violated`, and how long that takes.
    pub fn headline(&self) -> String {
        let name = self.claim.name(self.scenario);
        let mut text = match self.value {
            Some(value) => format!("{name} is {value}"),
            None => format!("{name} is violated"),
        };
        let (stem, cycle) = (self.path.stem(), self.path.cycle());
        let _ = match self.path.cycle_from {
            None => write!(text, " in {}", steps(stem)),
            Some(_) => write!(text, ": after {}, {} repeat for ever", steps(stem), steps(cycle)),
        };
        text
    }

    /// What was claimed, or what was asked where the answer is a value.
    pub fn question(&self) -> String {
        let what = if self.claim.is_verdict() { "claim" } else { "question" };
        format!("The {what} was: {}.", self.claim.claim())
    }

    /// The name of the design, with that of the one it changes.
    pub fn design_name(&self) -> String {
        let NamedDesign { name, base, .. } = self.design;
        let mut text =
            if name == base { name.clone() } else { format!("{name} (a change of {base})") };
        for (name, value) in &self.point.values {
            let _ = write!(text, ", {name} = {value}");
        }
        text
    }

    /// The command that tells this story again.
    pub fn command(&self) -> String {
        self.command_parts().join(" ")
    }

    /// Its parts; a line may end between two of them.
    pub fn command_parts(&self) -> Vec<String> {
        let claim = self.claim.name(self.scenario);
        let mut parts = command_parts(&self.spec.file, &self.design.name, &claim);
        parts.extend((self.fuse == Fuse::No).then(|| "--no-fuse".to_owned()));
        parts
    }
}

/// The parts of the command that tells of a claim about a spec under a design.
pub fn command_parts(spec: &str, design: &str, claim: &str) -> Vec<String> {
    vec![
        "mmcheck explain".to_owned(),
        quoted(spec),
        format!("--design {}", quoted(design)),
        format!("--property {}", quoted(claim)),
    ]
}

/// A number of steps.
pub fn steps(count: usize) -> String {
    if count == 1 { "1 step".to_owned() } else { format!("{count} steps") }
}

/// A word of a command line.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{word}'") }
}

/// Breaks text into lines of at most that many characters; a longer word stays whole.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let room = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && room > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{quoted, wrap};

    #[test]
    fn lines_break_between_words_and_never_inside_one() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("unbreakable word", 4), ["unbreakable", "word"]);
        assert!(wrap("", 4).is_empty());
    }

    #[test]
    fn only_what_a_shell_would_split_is_quoted() {
        assert_eq!(quoted("specs/a-b.toml"), "specs/a-b.toml");
        assert_eq!(quoted("livelock-free charge"), "'livelock-free charge'");
    }
}
