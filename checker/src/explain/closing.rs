//! Why it happens: the last words of a story.

use super::{Story, world};
use crate::claim::Claim;
use crate::identity::Identity;
use crate::liveness::Fairness;
use crate::render;
use crate::replay::Step;
use crate::value::Value;
use indexmap::IndexMap;
use mm_model::env::{Event, Operation, Returns};
use mm_model::ids::{ActorId, MemcgId};
use mm_model::state::State;
use mm_model::units::Pages;
use std::fmt::{self, Write as _};

/// Paragraphs.
pub fn closing(story: &Story<'_>) -> Vec<String> {
    let mut paragraphs = match (story.path.cycle_from, story.value) {
        (Some(_), _) => lasso(story, story.claim.operation()),
        (None, Some(value)) => vec![comes_to(story, value)],
        (None, None) => vec![broken(story)],
    };
    let objection = story.path.identity.and_then(Identity::objection);
    paragraphs.extend(objection.map(|objection| format!("The path was {objection}.")));
    paragraphs
}

/// What a run without a cycle says of a value.
fn comes_to(story: &Story<'_>, value: Value) -> String {
    let name = story.claim.name(story.scenario);
    match story.claim {
        Claim::Ladder(_) => format!("This is why {name} is no higher than {value}."),
        Claim::Cost(..) | Claim::Peak(_) | Claim::Ratio(..) => {
            format!("In this run {name} is {value}. In no other is it more.")
        }
        Claim::Safety(_)
        | Claim::LivelockFree(..)
        | Claim::StarvationFree(..)
        | Claim::WaitFree(..) => unreachable!("{name} has no value"),
    }
}

/// What a step broke, and where everybody is then.
fn broken(story: &Story<'_>) -> String {
    let steps = &story.path.steps;
    let mut text = match steps.last() {
        Some(last) => format!("Step {}, by {}, breaks", steps.len(), story.name(last.actor)),
        None => "The state at the start breaks".to_owned(),
    };
    let _ = write!(text, " {}: {}.", story.claim.name(story.scenario), story.claim.claim());
    let state = story.before(steps.len());
    for actor in story.scenario.actor_ids() {
        let name = story.name(actor);
        match story.scenario.blocked(state, actor) {
            Some(guard) => {
                let _ = write!(text, " {name} waits until {}.", guard.describe(story.scenario));
            }
            None if state.actors[actor.index()].may_rest() => {}
            None => {
                let place = world::place(story.scenario, state, actor);
                let _ = write!(text, " {name} is {place}.");
            }
        }
    }
    text
}

/// Who is stuck and why, who goes on, and why that is a fair schedule.
fn lasso(story: &Story<'_>, operation: Option<Operation>) -> Vec<String> {
    let mut paragraphs = Vec::new();
    let mut others = Vec::new();
    for actor in story.scenario.actor_ids() {
        match operation.filter(|operation| is_stuck(story, *operation, actor)) {
            Some(operation) => paragraphs.push(stuck_actor(story, operation, actor)),
            None => others.push(actor),
        }
    }
    let others: Vec<String> = others.iter().map(|actor| other_actor(story, *actor)).collect();
    if !others.is_empty() {
        paragraphs.push(others.join(" "));
    }
    paragraphs.push(fairness(story));
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

/// Whether the operation is open all along the cycle and never ends.
pub fn is_stuck(story: &Story<'_>, operation: Operation, actor: ActorId) -> bool {
    if story.claim.actor().is_some_and(|asked| asked != actor) {
        return false;
    }
    let open = |state: &State| {
        state.actors[actor.index()].open().iter().any(|(open, _)| *open == operation)
    };
    let ends = |event: &Event| matches!(event, Event::End(ended, ..) if *ended == operation);
    story
        .cycle()
        .iter()
        .all(|step| open(&step.state) && !(step.actor == actor && step.events.iter().any(ends)))
}

fn stuck_actor(story: &Story<'_>, operation: Operation, actor: ActorId) -> String {
    let name = story.name(actor);
    let entry = story.before(story.path.stem());
    let mut text = format!("{name} is stuck in its {operation}.");
    if let Some(guard) = never_steps(story, actor) {
        let _ = write!(text, " It waits until {guard}, which never holds on the cycle.");
        return text;
    }
    let (refused, others): (Vec<_>, Vec<_>) = outcomes(story, actor)
        .into_iter()
        .partition(|(_, outcome)| outcome.refused_at.is_some() && !outcome.passed);
    for (call, outcome) in &refused {
        let _ = write!(text, " It never gets past {call}: that {}.", outcome.told());
        let takes = outcome.refused_at.and_then(|at| taken(story, actor, at));
        text.push_str(&takes.unwrap_or_default());
    }
    if refused.is_empty() {
        text.push_str(&refilled(story, actor).unwrap_or_default());
    }
    let place = world::place(story.scenario, entry, actor);
    let _ = write!(text, " Each round begins {place}");
    text.push_str(" and comes back there with every local as it was: no retry is used up.");
    for (call, outcome) in &others {
        let _ = write!(text, " {call} {}.", outcome.told());
    }
    text
}

/// Who was the last to raise the usage of the level before it refused.
fn taken(story: &Story<'_>, actor: ActorId, (at, level): (usize, MemcgId)) -> Option<String> {
    let (from, end) = (story.path.stem(), story.path.steps.len());
    // Backwards from the refusal, round the cycle.
    let before = (from..at).rev().chain((at..end).rev());
    let raise = before.into_iter().find_map(|at| raises(story, actor, level, at))?;
    Some(format!(" {} is faster: {raise}.", raise.who))
}

/// Who takes what the actor's own passes free.
fn refilled(story: &Story<'_>, actor: ActorId) -> Option<String> {
    let cycle = || story.path.stem()..story.path.steps.len();
    let frees = |at: usize, level: MemcgId| {
        let Step { actor: who, state, .. } = &story.path.steps[at];
        *who == actor && usage(state, level) < usage(story.before(at), level)
    };
    let mut freed = story.scenario.memcg_ids().filter(|level| cycle().any(|at| frees(at, *level)));
    let raise = freed.find_map(|level| cycle().find_map(|at| raises(story, actor, level, at)))?;
    Some(format!(" {} takes what it frees: {raise}.", raise.who))
}

/// A step of somebody else that raises the usage of a level.
struct Raise<'a> {
    who: &'a str,
    step: usize,
    level: &'a str,
    was: Pages,
    is: Pages,
}

impl fmt::Display for Raise<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, level, was, is, .. } = self;
        write!(f, "step {step} raises the usage of {level} from {was} to {is}")
    }
}

fn raises<'a>(
    story: &'a Story<'_>,
    actor: ActorId,
    level: MemcgId,
    at: usize,
) -> Option<Raise<'a>> {
    let Step { actor: who, state, .. } = &story.path.steps[at];
    let (was, is) = (usage(story.before(at), level), usage(state, level));
    (*who != actor && was < is).then(|| Raise {
        who: story.name(*who),
        step: at + 1,
        level: story.scenario.memcg_name(level),
        was,
        is,
    })
}

fn usage(state: &State, level: MemcgId) -> Pages {
    state.world.memcgs[level.index()].memory.usage
}

/// What an actor waits for, if it can step nowhere on the cycle.
fn never_steps(story: &Story<'_>, actor: ActorId) -> Option<String> {
    let cycle = story.cycle();
    let guard = |state| story.scenario.blocked(state, actor);
    let first = guard(&cycle.first()?.state)?;
    let always = cycle.iter().all(|step| guard(&step.state).is_some());
    always.then(|| first.describe(story.scenario))
}

/// What came of a call on the cycle.
#[derive(Default)]
struct Outcome {
    /// In words, each time.
    each: Vec<String>,
    /// The step at which a level refused it last, and the level.
    refused_at: Option<(usize, MemcgId)>,
    /// Whether no level refused it at another time.
    passed: bool,
}

impl Outcome {
    fn told(&self) -> String {
        let mut distinct = self.each.clone();
        distinct.dedup();
        let each = match (self.each.len(), distinct.len()) {
            (1, _) => "",
            (2, 1) => " both times",
            (_, 1) => " every time",
            (..) => " in turn",
        };
        format!("{}{each}", distinct.join(", then "))
    }
}

/// What came of the calls of an actor that return something, on the cycle.
fn outcomes(story: &Story<'_>, actor: ActorId) -> IndexMap<String, Outcome> {
    let mut calls: IndexMap<String, Outcome> = IndexMap::new();
    for at in story.path.stem()..story.path.steps.len() {
        let Step { actor: who, events, .. } = &story.path.steps[at];
        for event in events.iter().filter(|_| *who == actor) {
            let Event::Returned(call, value) = event else { continue };
            let text = render::call(story.scenario, call, *value);
            let Some((call_text, value_text)) = text.rsplit_once(" = ") else { continue };
            let outcome = calls.entry(call_text.to_owned()).or_default();
            let refused = call.returns() == Returns::RefusingLevel;
            let level = usize::try_from(*value).ok().filter(|_| refused).map(MemcgId::from);
            outcome.refused_at = level.map(|level| (at, level)).or(outcome.refused_at);
            outcome.passed |= level.is_none();
            outcome.each.push(match level {
                Some(level) => {
                    let memory = story.before(at).world.memcgs[level.index()].memory;
                    format!("is {value_text}, whose usage is {} of {}", memory.usage, memory.max)
                }
                None if refused => format!("is {value_text}"),
                None => format!("returns {value_text}"),
            });
        }
    }
    calls
}

fn other_actor(story: &Story<'_>, actor: ActorId) -> String {
    let name = story.name(actor);
    if let Some(guard) = never_steps(story, actor) {
        return format!("{name} has nothing to do unless {guard}.");
    }
    let mine = || story.cycle().iter().filter(|step| step.actor == actor);
    let count = mine().count();
    if count == 0 {
        let place = world::place(story.scenario, story.before(story.path.stem()), actor);
        return format!("{name} stays {place}.");
    }
    let mut ended: IndexMap<String, usize> = IndexMap::new();
    for event in mine().flat_map(|step| &step.events) {
        if let Event::End(operation, _, value) = event {
            let how = if *value == 0 { "succeeds" } else { "fails" };
            *ended.entry(format!("its {operation} {how}")).or_default() += 1;
        }
    }
    let times = |count: usize| match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    };
    let ended: Vec<String> =
        ended.iter().map(|(what, count)| format!("{what} {}", times(*count))).collect();
    let steps = super::steps(count);
    if ended.is_empty() {
        return format!("{name} takes {steps} in each round and ends nothing.");
    }
    format!("{name} goes on: in each round {}, in {steps}.", ended.join(" and "))
}

/// Why no scheduler that meets the assumption can be blamed.
fn fairness(story: &Story<'_>) -> String {
    let Some(fairness) = story.fairness else { return String::new() };
    let idle = match fairness {
        Fairness::None => "never steps again",
        Fairness::Weak => "is somewhere unable to step",
        Fairness::Strong => "is nowhere able to step",
        Fairness::RunToYield => "can't run where the CPU is given up",
    };
    let mut dues = Vec::new();
    for actor in story.scenario.actor_ids() {
        let steps = story.cycle().iter().any(|step| step.actor == actor);
        dues.push(format!("{} {}", story.name(actor), if steps { "steps" } else { idle }));
    }
    format!(
        "Fairness: {fairness} ({}). The cycle meets it: {}. So a scheduler may go round for ever.",
        fairness.meaning(),
        dues.join(", ")
    )
}
