//! A search that stopped early never says that anything holds.

use crate::scenarios::{Small, all, charge, explored, two_at_the_limit};
use mm_checker::engine::{
    Budget, Explored, Progress, Quiet, Stopped, native, reference, stateright,
};
use mm_checker::replay::replay;
use mm_checker::verdict::Verdict;
use mm_model::design::Changes;
use mm_model::ids::MemcgId;
use mm_model::machine::Fuse;
use mm_model::property::PROPERTIES;
use mm_model::scenario::{MemcgConfig, Scenario};
use mm_model::units::Pages;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn each(budget: &Budget) -> [Explored; 3] {
    let scenario = two_at_the_limit(&Changes::NONE);
    let (exact, graph) = reference::explore(&scenario, Fuse::No, budget, &mut Quiet, true);
    assert_eq!(graph.is_some(), exact.stopped.is_none(), "no graph without all of it");
    let (fast, graph) = native::explore(&scenario, Fuse::No, 1, budget, &mut Quiet);
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

/// A pass in which eight memcgs share 32 pages in any way: some ten million transitions of one
/// state.
fn one_wide_state() -> Scenario {
    let mut scenario = Small::job(800).once("A", &[charge(1, "kernel")]).build();
    scenario.kernel.swap_cluster_max = Pages(32);
    let child = |at: usize| MemcgConfig {
        name: format!("child {at}"),
        parent: Some(MemcgId(0)),
        lru: Pages(100),
        ..scenario.memcgs[0].clone()
    };
    let children: Vec<MemcgConfig> = (0..8).map(child).collect();
    scenario.memcgs.extend(children);
    scenario
}

#[test]
fn a_budget_that_runs_out_within_one_state_stops_both_engines() {
    let budgets = [
        (Budget { max_states: Some(5000), ..Budget::default() }, Stopped::States),
        (Budget { max_memory: Some(4 << 20), ..Budget::default() }, Stopped::Memory),
        (
            Budget { timeout: Some(Duration::from_millis(100)), ..Budget::default() },
            Stopped::Timeout,
        ),
    ];
    let scenario = one_wide_state();
    for (budget, reason) in budgets {
        let (exact, _) = reference::explore(&scenario, Fuse::OwnLocal, &budget, &mut Quiet, true);
        let found = stateright::explore(&scenario, Fuse::OwnLocal, &budget, 1, &mut Quiet);
        assert_eq!([exact.stopped, found.stopped], [Some(reason); 2]);
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
            let (fast, _) = native::explore(&scenario, Fuse::OwnLocal, 1, &budget, &mut Quiet);
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
