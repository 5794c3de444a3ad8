//! Takes a lasso again through the model and makes sure that it is one, without the graph.

use super::{Fairness, Path, Question};
use crate::graph::Graph;
use crate::replay::{Step, replay};
use crate::verdict::Trace;
use mm_model::env::{Call, Event};
use mm_model::ids::ActorId;
use mm_model::scenario::Scenario;
use mm_model::state::State;

/// Turns a path into a trace that can be shown: it closes, what was asked about stays open, every
/// actor gets its due, and on one CPU nobody is interrupted.
pub(crate) fn lasso(
    graph: &Graph,
    scenario: &Scenario,
    path: &Path,
    fairness: Fairness,
    question: Option<Question>,
) -> Trace {
    let mut choices = graph.choices(scenario, &path.stem);
    let from = choices.len();
    choices.extend(graph.choices(scenario, &path.cycle));
    let steps = replay(scenario, graph.fuse(), &choices).expect("a lasso is a path");
    closes(scenario, &steps, from).expect("the cycle of a lasso closes");
    if let Some(question) = question {
        stays_open(&steps[from..], question, scenario).expect("it stays open");
    }
    fair(scenario, &steps[from..], fairness).expect("every actor gets its due");
    uninterrupted(scenario, &steps, fairness).expect("nobody is interrupted");
    Trace { choices, cycle_from: Some(from) }
}

/// Whether the steps from there on end where they begin.
pub(super) fn closes(scenario: &Scenario, steps: &[Step], from: usize) -> Result<(), String> {
    let Some((stem, cycle)) = steps.split_at_checked(from) else {
        return Err("its cycle begins behind its end".to_owned());
    };
    let start = scenario.initial();
    let entry = stem.last().map_or(&start, |step| &step.state);
    let closed = cycle.last().is_some_and(|last| last.state == *entry);
    closed.then_some(()).ok_or_else(|| "its cycle does not close".to_owned())
}

/// Whether a cycle gives every actor its due.
pub(super) fn fair(scenario: &Scenario, cycle: &[Step], fairness: Fairness) -> Result<(), String> {
    let enabled = |state: &State, actor: ActorId| scenario.enabled(state, actor);
    for actor in scenario.actor_ids() {
        let steps = cycle.iter().any(|step| step.actor == actor);
        let fair = match fairness {
            Fairness::None => true,
            Fairness::Weak => cycle.iter().any(|step| !enabled(&step.state, actor)),
            Fairness::Strong => !cycle.iter().any(|step| enabled(&step.state, actor)),
            // Only where somebody new may run.
            Fairness::RunToYield => {
                !cycle.iter().any(|step| !goes_on(scenario, step) && enabled(&step.state, actor))
            }
        };
        if !steps && !fair {
            return Err(format!("its cycle is unfair to {}", scenario.actors[actor.index()].name));
        }
    }
    Ok(())
}

/// Whether nobody is interrupted, where nobody may be.
pub(super) fn uninterrupted(
    scenario: &Scenario,
    steps: &[Step],
    fairness: Fairness,
) -> Result<(), String> {
    let interrupts = |pair: &[Step]| goes_on(scenario, &pair[0]) && pair[0].actor != pair[1].actor;
    if fairness == Fairness::RunToYield && steps.windows(2).any(interrupts) {
        return Err("an actor is interrupted".to_owned());
    }
    Ok(())
}

/// Whether what was asked about is open all along a cycle and never ends.
pub(super) fn stays_open(
    cycle: &[Step],
    question: Question,
    scenario: &Scenario,
) -> Result<(), String> {
    let Question { operation, actor: asked } = question;
    for Step { actor, events, state, .. } in cycle {
        let open = |actor: ActorId| {
            state.actors[actor.index()].open().iter().any(|(open, _)| *open == operation)
        };
        if !asked.map_or_else(|| scenario.actor_ids().any(open), open) {
            return Err("the operation is not open all along its cycle".to_owned());
        }
        let mine = asked.is_none_or(|asked| asked == *actor);
        let end = |event: &Event| matches!(event, Event::End(ended, ..) if *ended == operation);
        if mine && events.iter().any(end) {
            return Err("the operation ends on its cycle".to_owned());
        }
    }
    Ok(())
}

/// Whether on one CPU whoever stepped still runs.
fn goes_on(scenario: &Scenario, step: &Step) -> bool {
    let yields = |event: &Event| match event {
        Event::End(..) | Event::Returned(Call::ScheduleTimeoutKillable { .. }, _) => true,
        Event::Returned(..)
        | Event::Begin(..)
        | Event::AboveMax(..)
        | Event::Requested(_)
        | Event::Fulfilled(..)
        | Event::Reclaimed(..)
        | Event::Unused(..)
        | Event::Restarted(_)
        | Event::Signalled(_)
        | Event::Turned(..)
        | Event::Wrapped(_)
        | Event::ReadAhead(_) => false,
    };
    scenario.enabled(&step.state, step.actor) && !step.events.iter().any(yields)
}
