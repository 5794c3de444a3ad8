//! Costs of the model itself, as numbers that follow from the kernel's code.

use crate::scenarios::{Small, charge, explored, lru_add, two_at_the_limit, uncharge};
use mm_checker::cost::{Bound, Rational, peak, ratio, worst};
use mm_checker::liveness::Fairness;
use mm_checker::replay::replay;
use mm_model::design::{Changes, MarginRetry, ProgressRetry};
use mm_model::env::{Call, Event, Operation};
use mm_model::machine::Fuse;
use mm_model::measure::MEASURES;
use mm_model::scenario::Scenario;

fn measure(name: &str) -> usize {
    MEASURES.iter().position(|measure| measure.name == name).expect("there is such a measure")
}

fn per_charge(scenario: &Scenario, name: &str) -> (Option<Bound<u64>>, Option<Fairness>) {
    let (_, graph) = explored(scenario, Fuse::OwnLocal);
    let cost = worst(&graph, scenario, measure(name), Operation::Charge);
    (cost.bound, cost.fairness)
}

#[test]
fn a_charge_that_gives_up_at_once_makes_two_passes_with_a_drain_between_them() {
    // NORETRY gives up only once it has drained, and the drain is after the first pass.
    let nothing = Small::job(0).once("A", &[charge(1, "readahead")]).build();
    assert_eq!(per_charge(&nothing, "reclaim-passes"), (Some(Bound::Most(2)), None));
    assert_eq!(per_charge(&nothing, "speculative-passes"), (Some(Bound::Most(2)), None));
    assert_eq!(per_charge(&nothing, "productive-passes"), (Some(Bound::Most(0)), None));
}

#[test]
fn a_charge_that_retries_makes_a_pass_for_each_retry_and_two_more() {
    // The first pass is followed by the drain, which retries without a count.
    let nothing = Small::job(0).once("A", &[charge(1, "kernel")]).build();
    assert_eq!(per_charge(&nothing, "reclaim-passes"), (Some(Bound::Most(3)), None));
    assert_eq!(per_charge(&nothing, "oom-invocations"), (Some(Bound::Most(1)), None));
}

#[test]
fn the_uncounted_retry_is_unbounded_and_a_fair_run_shows_it() {
    let uncounted = two_at_the_limit(&Changes::NONE);
    let (bound, fairness) = per_charge(&uncounted, "speculative-passes");
    assert_eq!((bound, fairness), (Some(Bound::Unbounded), Some(Fairness::Strong)));
    let counted = two_at_the_limit(&Changes {
        margin_retry: Some(MarginRetry::Counted),
        progress_retry: Some(ProgressRetry::Counted),
        ..Changes::NONE
    });
    assert!(matches!(per_charge(&counted, "speculative-passes").0, Some(Bound::Most(1..=4))));
}

#[test]
fn the_worst_path_has_the_cost_that_is_claimed() {
    let nothing = Small::job(0).once("A", &[charge(1, "kernel")]).build();
    let (_, graph) = explored(&nothing, Fuse::OwnLocal);
    let cost = worst(&graph, &nothing, measure("reclaim-passes"), Operation::Charge);
    let trace = cost.trace.expect("it is shown how");
    let steps = replay(&nothing, graph.fuse(), &trace.choices).expect("it is a path");
    let pass =
        |event: &&Event| matches!(event, Event::Returned(Call::TryToFreeMemCgroupPages { .. }, _));
    let passes = steps.iter().flat_map(|step| &step.events).filter(pass).count() as u64;
    assert_eq!(cost.bound, Some(Bound::Most(passes)));
}

#[test]
fn in_the_long_run_a_task_alone_reclaims_a_page_for_each_it_charges() {
    let cached = [charge(1, "readahead"), lru_add(1)];
    let alone = Small::job(1).lru(1).forever("A", &cached).build();
    let (_, graph) = explored(&alone, Fuse::OwnLocal);
    let cost = ratio(&graph, &alone, measure("speculative-passes"), Operation::Charge);
    assert_eq!(cost.bound, Rational::new(1, 1).map(Bound::Most));
    // A batch of two saves every other one.
    let batch = Small::job(2).lru(2).batch(2).forever("A", &cached).build();
    let (_, graph) = explored(&batch, Fuse::OwnLocal);
    let cost = ratio(&graph, &batch, measure("speculative-passes"), Operation::Charge);
    let half_to_one = Rational::new(1, 2).map(Bound::Most)..=Rational::new(1, 1).map(Bound::Most);
    assert!(half_to_one.contains(&cost.bound), "{:?}", cost.bound);
}

#[test]
fn what_nobody_measures_has_no_cost() {
    let held = [charge(1, "kernel"), uncharge(1)];
    let scenario = Small::job(2).forever("A", &held).build();
    let (_, graph) = explored(&scenario, Fuse::OwnLocal);
    let none = peak(&graph, &scenario, measure("excess-over-high"));
    assert_eq!(none.bound, Some(Bound::Most(0)), "memory.high is not in use");
    let cached = Small::job(1).lru(1).once("A", &[lru_add(1)]).build();
    let (_, graph) = explored(&cached, Fuse::OwnLocal);
    assert_eq!(worst(&graph, &cached, 0, Operation::Charge).bound, None);
}
