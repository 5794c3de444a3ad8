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
    let (stem, cycle) = steps.split_at(from);
    let start = scenario.initial();
    let entry = stem.last().map_or(&start, |step| &step.state);
    let last = cycle.last().expect("a cycle has a step");
    assert_eq!(last.state, *entry, "the cycle of a lasso closes");
    if let Some(question) = question {
        stays_open(scenario, cycle, question);
    }
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
        assert!(steps || fair, "the cycle is fair to {actor:?}");
    }
    if fairness == Fairness::RunToYield {
        let interrupts =
            |pair: &[Step]| goes_on(scenario, &pair[0]) && pair[0].actor != pair[1].actor;
        assert!(!steps.windows(2).any(interrupts), "nobody is interrupted");
    }
    Trace { choices, cycle_from: Some(from) }
}

fn stays_open(scenario: &Scenario, cycle: &[Step], question: Question) {
    let Question { operation, actor: asked } = question;
    for Step { actor, events, state } in cycle {
        let open = |actor: ActorId| {
            state.actors[actor.index()].open().iter().any(|(open, _)| *open == operation)
        };
        let mut actors = scenario.actor_ids();
        assert!(asked.map_or_else(|| actors.any(open), open), "it stays open");
        let mine = asked.is_none_or(|asked| asked == *actor);
        let end = |event: &Event| matches!(event, Event::End(ended, ..) if *ended == operation);
        assert!(!(mine && events.iter().any(end)), "the cycle makes no progress");
    }
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
        | Event::Wrapped(_)
        | Event::ReadAhead(_) => false,
    };
    scenario.enabled(&step.state, step.actor) && !step.events.iter().any(yields)
}
