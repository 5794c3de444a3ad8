//! A search that stopped early never says that anything holds.

use crate::scenarios::{all, explored, two_at_the_limit};
use mm_checker::engine::{
    Budget, Explored, Progress, Quiet, Stopped, native, reference, stateright,
};
use mm_checker::replay::replay;
use mm_checker::verdict::Verdict;
use mm_model::design::Changes;
use mm_model::machine::Fuse;
use mm_model::property::PROPERTIES;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn each(budget: &Budget) -> [Explored; 3] {
    let scenario = two_at_the_limit(&Changes::NONE);
    let (exact, graph) = reference::explore(&scenario, Fuse::No, budget, &mut Quiet, true);
    assert_eq!(graph.is_some(), exact.stopped.is_none(), "no graph without all of it");
    let (fast, graph) = native::explore(&scenario, Fuse::No, budget, &mut Quiet);
    assert_eq!(graph.is_some(), fast.stopped.is_none(), "no graph without all of it");
    [exact, fast, stateright::explore(&scenario, Fuse::No, budget, 1, &mut Quiet)]
}

#[test]
fn each_budget_stops_every_engine_and_leaves_what_is_open_unknown() {
    let interrupted = Arc::new(AtomicBool::new(true));
    let budgets = [
        (Budget { max_states: Some(20), ..Budget::default() }, Stopped::States),
        (Budget { max_memory: Some(1), ..Budget::default() }, Stopped::Memory),
        (Budget { timeout: Some(Duration::ZERO), ..Budget::default() }, Stopped::Timeout),
        (Budget { interrupted, ..Budget::default() }, Stopped::Interrupted),
    ];
    for (budget, reason) in budgets {
        for explored in each(&budget) {
            assert_eq!(explored.stopped, Some(reason));
            let verdicts = (0..PROPERTIES.len()).map(|at| explored.verdict(at));
            assert!(verdicts.into_iter().all(|verdict| verdict == Verdict::Unknown));
        }
    }
}

#[test]
fn a_budget_of_exactly_the_states_there_are_is_enough_and_one_less_is_not() {
    let (whole, _) = explored(&two_at_the_limit(&Changes::NONE), Fuse::No);
    for (most, stopped) in [(whole.states, None), (whole.states - 1, Some(Stopped::States))] {
        for explored in each(&Budget { max_states: Some(most), ..Budget::default() }) {
            assert_eq!(explored.stopped, stopped);
        }
    }
}

/// Interrupts a search when it first hears of it.
struct Impatient(Arc<AtomicBool>);

impl Progress for Impatient {
    fn update(&mut self, _: u64, _: u64, _: u64, _: u64) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn an_interrupt_during_the_search_stops_it() {
    let budget = Budget::default();
    let mut progress = Impatient(Arc::clone(&budget.interrupted));
    let scenario = two_at_the_limit(&Changes::NONE);
    let (exact, _) = reference::explore(&scenario, Fuse::No, &budget, &mut progress, false);
    assert_eq!(exact.stopped, Some(Stopped::Interrupted));
}

#[test]
fn a_search_that_was_interrupted_too_late_is_complete_and_any_other_is_not() {
    let scenario = two_at_the_limit(&Changes::NONE);
    let (whole, _) = explored(&scenario, Fuse::No);
    for _ in 0..20 {
        let budget = Budget::default();
        let mut progress = Impatient(Arc::clone(&budget.interrupted));
        let found = stateright::explore(&scenario, Fuse::No, &budget, 1, &mut progress);
        // Every node of this scenario has successors, so that one left out shows.
        assert_eq!(found.stopped.is_none(), found.transitions == whole.transitions);
    }
}

#[test]
fn a_violation_found_before_the_budget_ran_out_counts_and_has_its_trace() {
    let (mut counted, mut open) = (0, 0);
    for (name, scenario) in all() {
        let (whole, _) = explored(&scenario, Fuse::OwnLocal);
        for most in [1, whole.states / 2, whole.states * 3 / 4, whole.states - 1] {
            let budget = Budget { max_states: Some(most), ..Budget::default() };
            let (exact, _) =
                reference::explore(&scenario, Fuse::OwnLocal, &budget, &mut Quiet, false);
            let found = stateright::explore(&scenario, Fuse::OwnLocal, &budget, 1, &mut Quiet);
            let (fast, _) = native::explore(&scenario, Fuse::OwnLocal, &budget, &mut Quiet);
            for explored in [exact, fast, found] {
                assert_eq!(explored.stopped, Some(Stopped::States), "{name}");
                for at in 0..PROPERTIES.len() {
                    match explored.verdict(at) {
                        Verdict::Violated => {
                            assert!(whole.violated.contains(at));
                            let trace = explored.traces[at].as_ref().expect("it has a trace");
                            replay(&scenario, Fuse::OwnLocal, &trace.choices)
                                .expect("it is a path");
                            counted += 1;
                        }
                        Verdict::Unknown => open += 1,
                        Verdict::Holds | Verdict::Vacuous => panic!("{name}: nothing is certain"),
                    }
                }
            }
        }
    }
    assert!(counted > 0 && open > 0, "both happen");
}
