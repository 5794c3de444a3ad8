//! A counterexample as a file, that can be taken again without a search.

use super::Story;
use crate::claim::Claim;
use crate::liveness::{Fairness, closes, stays_open};
use crate::node::judge;
use crate::render;
use crate::replay::{Step, replay};
use crate::spec::{Problems, Spec, parse, place};
use crate::verdict::{Choice, Trace};
use mm_model::design::Design;
use mm_model::env::Operation;
use mm_model::ids::ActorId;
use mm_model::machine::Fuse;
use mm_model::property::Transition;
use mm_model::scenario::Scenario;
use mm_model::state::State;
use serde::{Deserialize, Serialize};

/// The version of the form; it changes when a field changes its meaning.
const SCHEMA: u32 = 1;

/// A stored counterexample.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    schema: u32,
    version: String,
    spec: String,
    title: String,
    design: String,
    base: String,
    /// Every decision of the design, so that it need not be found again.
    decisions: Design,
    property: String,
    claim: String,
    fairness: Option<String>,
    /// The value of what has one.
    value: Option<String>,
    /// The point of the spec's sweep.
    point: Vec<(String, u64)>,
    /// Whether a step includes the local ones after it.
    fused: bool,
    /// Steps before the cycle; null if there is no cycle.
    cycle_from: Option<usize>,
    initial: State,
    steps: Vec<StoredStep>,
    /// The whole spec, so that the counterexample stays one when the file changes.
    spec_text: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredStep {
    actor: String,
    answers: Vec<u64>,
    place: String,
    events: Vec<String>,
    state: State,
}

/// The story as such a file.
///
/// # Panics
/// Never: the values are plain.
pub fn json(story: &Story<'_>, spec_text: &str) -> String {
    let step = |(at, step): (usize, &Step)| {
        let told = story.tell(at);
        StoredStep {
            actor: story.name(step.actor).to_owned(),
            answers: step.choice().answers,
            place: told.place,
            events: told.happened,
            state: step.state.clone(),
        }
    };
    let stored = Stored {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        spec: story.spec.file.clone(),
        title: story.spec.title.clone(),
        design: story.design.name.clone(),
        base: story.design.base.clone(),
        decisions: story.design.design.clone(),
        property: story.claim.name(story.scenario),
        claim: story.claim.claim().to_owned(),
        fairness: story.fairness.map(|fairness| fairness.to_string()),
        value: story.value.map(|value| value.to_string()),
        point: story.point.values.clone(),
        fused: story.fuse == Fuse::OwnLocal,
        cycle_from: story.path.cycle_from,
        initial: story.before(0).clone(),
        steps: story.path.steps.iter().enumerate().map(step).collect(),
        spec_text: spec_text.to_owned(),
    };
    serde_json::to_string_pretty(&stored).expect("plain values can be written") + "\n"
}

/// What came of taking a stored counterexample again.
#[derive(Debug, PartialEq, Eq)]
pub enum Again {
    /// It is one still.
    Holds,
    /// A step can't be taken, or does something else: where, and what.
    Diverged(usize, String),
    /// Every step is as it was, and yet it is none.
    Refuted(String),
}

/// A stored counterexample that fits the model, as far as names go.
pub struct Opened {
    stored: Stored,
    scenario: Scenario,
    claim: Claim,
    trace: Trace,
}

/// Reads a stored counterexample.
pub fn open(file: &str, text: &str) -> Result<Opened, Problems> {
    let stored: Stored = serde_json::from_str(text).map_err(|error| {
        let full = error.to_string();
        let what = full.split(" at line ").next().unwrap_or(&full);
        let place = format!("{file}:{}:{}", error.line().max(1), error.column().max(1));
        let hint = "such a file is what `mmcheck explain --format json` writes".to_owned();
        Problems::of_file(&place, format!("not a stored counterexample: {what}"), Some(hint))
    })?;
    let wrong = |key: &str, message: String| {
        let at = text.find(&format!("\"{key}\"")).unwrap_or_default();
        Problems::of_file(&place(file, text, at), message, None)
    };
    if stored.schema != SCHEMA {
        let message = format!("`schema` is {}, and only {SCHEMA} is known", stored.schema);
        return Err(wrong("schema", message));
    }
    let spec: Spec = parse(&stored.spec, &stored.spec_text).map_err(|problems| {
        let first = problems.to_string();
        let first = first.lines().next().unwrap_or_default().to_owned();
        wrong("spec_text", format!("the spec in it is none: {first}"))
    })?;
    let point = spec.points.iter().find(|point| point.values == stored.point);
    let point = point.ok_or_else(|| wrong("point", "the spec has no such point".to_owned()))?;
    let scenario = point.scenario(&stored.decisions);
    let actor = |name: &str| scenario.actors.iter().position(|actor| actor.name == name);
    let claim = Claim::parse(&stored.property, |name| actor(name).map(ActorId::from))
        .ok_or_else(|| wrong("property", format!("no property is named `{}`", stored.property)))?;
    let mut choices = Vec::new();
    for step in &stored.steps {
        let Some(actor) = actor(&step.actor) else {
            let message = format!("no actor is named `{}`", step.actor);
            let key = format!("actor\": \"{}", step.actor);
            return Err(wrong(&key, message));
        };
        choices.push(Choice { actor: ActorId::from(actor), answers: step.answers.clone() });
    }
    let trace = Trace { choices, cycle_from: stored.cycle_from };
    Ok(Opened { stored, scenario, claim, trace })
}

impl Opened {
    /// `SPEC under DESIGN: PROPERTY`.
    pub fn name(&self) -> String {
        let Stored { spec, design, property, .. } = &self.stored;
        format!("{spec} under {design}: {property}")
    }

    /// How many steps it has.
    pub fn len(&self) -> usize {
        self.stored.steps.len()
    }

    /// Whether it has no step: the state at the start is enough.
    pub fn is_empty(&self) -> bool {
        self.stored.steps.is_empty()
    }

    /// Takes it again.
    pub fn again(&self) -> Again {
        let Self { stored, scenario, claim, trace } = self;
        let fuse = if stored.fused { Fuse::OwnLocal } else { Fuse::No };
        let initial = scenario.initial();
        if initial != stored.initial {
            return Again::Diverged(0, difference(scenario, &stored.initial, &initial));
        }
        // What can be taken is compared even where the rest can't.
        let taken = match replay(scenario, fuse, &trace.choices) {
            Ok(steps) => steps,
            Err(diverged) => {
                let head = &trace.choices[..diverged.at];
                let steps = replay(scenario, fuse, head).unwrap_or_default();
                return self
                    .compare(&steps)
                    .unwrap_or_else(|| Again::Diverged(diverged.at + 1, diverged.why.to_string()));
            }
        };
        if let Some(diverged) = self.compare(&taken) {
            return diverged;
        }
        match violates(scenario, *claim, &taken, trace.cycle_from) {
            Ok(()) => Again::Holds,
            Err(why) => Again::Refuted(why),
        }
    }

    /// The first step that led to another state.
    fn compare(&self, taken: &[Step]) -> Option<Again> {
        let (at, (was, is)) = (1..)
            .zip(self.stored.steps.iter().zip(taken))
            .find(|(_, (was, is))| was.state != is.state)?;
        Some(Again::Diverged(at, difference(&self.scenario, &was.state, &is.state)))
    }
}

/// The first line that differs, as it was and as it is.
fn difference(scenario: &Scenario, was: &State, is: &State) -> String {
    if was.world.memcgs.len() != is.world.memcgs.len() || was.actors.len() != is.actors.len() {
        return "the world has other parts".to_owned();
    }
    let [was, is] = [was, is].map(|state| render::state(scenario, state));
    let differs = was.lines().zip(is.lines()).find(|(was, is)| was != is);
    differs.map_or_else(
        || "a local is different".to_owned(),
        |(was, is)| format!("it led to `{was}`, and now to `{is}`"),
    )
}

/// Whether a path violates a claim; or why not.
fn violates(
    scenario: &Scenario,
    claim: Claim,
    steps: &[Step],
    cycle_from: Option<usize>,
) -> Result<(), String> {
    let asked = match claim {
        Claim::Safety(property) => {
            let initial = scenario.initial();
            let before = steps.len().checked_sub(2).map_or(&initial, |at| &steps[at].state);
            let none = Transition { scenario, from: None, to: &initial, events: &[] };
            let last = steps.last().map_or(none, |Step { actor, events, state, .. }| Transition {
                scenario,
                from: Some((before, *actor)),
                to: state,
                events,
            });
            let broken = judge(&last).1.contains(property);
            return broken.then_some(()).ok_or_else(|| "its last step breaks nothing".to_owned());
        }
        Claim::LivelockFree(operation, _) => vec![(operation, None)],
        Claim::StarvationFree(operation, Some(actor), _)
        | Claim::WaitFree(operation, Some(actor)) => vec![(operation, Some(actor))],
        Claim::StarvationFree(operation, None, _) | Claim::WaitFree(operation, None) => {
            scenario.actor_ids().map(|actor| (operation, Some(actor))).collect()
        }
        // A value is not computed again; that the run is still one says enough.
        Claim::Ladder(_) | Claim::Cost(..) | Claim::Peak(_) | Claim::Ratio(..) => {
            return cycle_from.map_or(Ok(()), |from| closes(scenario, steps, from));
        }
    };
    let Some(from) = cycle_from else {
        return waits(scenario, claim, steps, &asked);
    };
    let fairness = claim.fairness().unwrap_or(Fairness::Weak);
    let mut why = String::new();
    for asked in asked {
        match stays_open(scenario, steps, from, asked, fairness) {
            Ok(()) => return Ok(()),
            Err(reason) => why = reason,
        }
    }
    Err(why)
}

/// Whether a path ends where an operation waits for somebody, which then is not wait-free.
fn waits(
    scenario: &Scenario,
    claim: Claim,
    steps: &[Step],
    asked: &[(Operation, Option<ActorId>)],
) -> Result<(), String> {
    let initial = scenario.initial();
    let last = steps.last().map_or(&initial, |step| &step.state);
    let waits = |(operation, actor): &(Operation, Option<ActorId>)| {
        let open = |actor: ActorId| {
            last.actors[actor.index()].open().iter().any(|(open, _)| open == operation)
        };
        actor.is_some_and(|actor| open(actor) && !scenario.enabled(last, actor))
    };
    if matches!(claim, Claim::WaitFree(..)) && asked.iter().any(waits) {
        return Ok(());
    }
    Err("it has no cycle".to_owned())
}
