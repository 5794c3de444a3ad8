use super::follow::Follower;
use super::*;
use crate::check::{Checked, Options, check};
use crate::cli::Engine;
use crate::engine::{Budget, Quiet};
use crate::spec::Spec;
use crate::spec::library::EMBEDDED;
use crate::spec::parse;
use mm_model::env::{FileCall, Operation};
use mm_model::gfp::Gfp;
use mm_model::units::Pages;

fn spec(file: &str) -> Spec {
    let (_, text) = EMBEDDED.iter().find(|(name, _)| *name == file).expect("a spec");
    parse(file, text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// What the spec finds under each of its designs. That no counterexample is refused is part of it.
fn checked(spec: &Spec) -> Vec<Checked> {
    let options = Options {
        fuse: Fuse::OwnLocal,
        budget: Budget::default(),
        engine: Engine::Native,
        threads: 1,
        asked: None,
    };
    let designs = spec.designs.iter().flat_map(|design| {
        let points = spec.points.iter().map(move |point| (design, point));
        points.map(|(design, point)| check(spec, design, point, &options, &mut Quiet))
    });
    designs.collect::<Result<_, _>>().expect("every counterexample is confirmed")
}

fn paths(checked: &Checked) -> impl Iterator<Item = &Counterexample> {
    checked.judged.iter().filter_map(|judged| judged.counterexample.as_ref())
}

#[test]
fn every_counterexample_of_two_tasks_at_random_is_one_of_large_files() {
    // Reads that end with the next access, any order, two memcgs, and one fault alone.
    for name in ["any-order", "mapped-last", "siblings", "two-at-random-one-fault"] {
        for checked in checked(&spec(&format!("specs/faults/{name}.toml"))) {
            assert!(paths(&checked).count() > 5, "{name}");
            let taken = |path: &Counterexample| path.identity == Some(Identity::Taken);
            assert!(paths(&checked).all(taken), "{name}");
        }
    }
}

const LIMIT: &str = r#"
title = "two tasks"
[kernel]
swap_cluster_max    = 1
memcg_charge_batch  = 1
max_reclaim_retries = 1
mmap_lotsamiss      = 0
[world]
io     = "IO"
evicts = "EVICTS"
[[memcg]]
name = "job"
max  = MAX
[[file]]
name     = "a"
pages    = PAGES
pooled   = true
ra-pages = 2
[[file]]
name     = "b"
pages    = 8
pooled   = true
ra-pages = 2
[[actor]]
name   = "A"
memcg  = "job"
does   = ["access a WHERE"]
repeat = true
[[actor]]
name   = "B"
memcg  = "job"
does   = ["access b 1"]
repeat = true
[design.before]
base = "linux-7.3"
"#;

fn written(max: &str, io: &str, evicts: &str, (pages, place): (&str, &str)) -> Spec {
    let values = [("MAX", max), ("IO", io), ("EVICTS", evicts), ("PAGES", pages), ("WHERE", place)];
    let text = values.iter().fold(LIMIT.to_owned(), |text, (key, value)| text.replace(key, value));
    parse("two.toml", &text).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn whatever_the_order_and_wherever_in_the_file_pages_can_have_their_identity() {
    for (max, io, evicts, place) in [
        ("3", "file", "lru", ("8", "1")),
        ("2", "file", "lru", ("8", "0..1")),
        ("2", "batch", "any", ("8", "1")),
        ("2", "page", "fifo", ("8", "1")),
        ("2", "file", "any", ("64", "next")),
    ] {
        for checked in checked(&written(max, io, evicts, place)) {
            let taken = |path: &Counterexample| path.identity == Some(Identity::Taken);
            assert!(paths(&checked).count() > 5, "{io} {evicts}");
            assert!(paths(&checked).all(taken), "{io} {evicts}");
        }
    }
}

/// The atomic steps of a path.
fn atomics(scenario: &Scenario, path: &Counterexample) -> Vec<Step> {
    let mut before = scenario.initial();
    let mut steps = Vec::new();
    for step in &path.steps {
        steps.extend(atomic(scenario, Fuse::OwnLocal, &before, step));
        before = step.state.clone();
    }
    steps
}

/// A scenario, and the atomic steps of its longest counterexample.
fn taken(file: &str) -> (Scenario, Vec<Step>) {
    let checked = checked(&spec(file)).swap_remove(0);
    let longest = paths(&checked).max_by_key(|path| path.steps.len()).expect("it has one");
    let steps = atomics(&checked.scenario, longest);
    (checked.scenario, steps)
}

/// The step at which a run is refused.
fn refused(scenario: &Scenario, steps: &[Step]) -> Option<usize> {
    let mut follower = Follower::new(scenario);
    let mut before = scenario.initial();
    steps.iter().position(|step| {
        let from = std::mem::replace(&mut before, step.state.clone());
        !follower.step(&from, step)
    })
}

const MAPPED_LAST: &str = "specs/faults/mapped-last.toml";

#[test]
fn an_access_whose_page_was_evicted_does_not_retire() {
    let (scenario, mut steps) = taken(MAPPED_LAST);
    assert_eq!(refused(&scenario, &steps), None);
    let faults_again = |(at, step): (usize, &Step)| {
        let actor = step.actor.index();
        let before = &steps[at.checked_sub(1)?].state.actors[actor];
        let retires = before.stack().last().is_some_and(|(_, point)| *point == "Retire");
        let again = step.events == [Event::Begin(Operation::Fault, Gfp::KERNEL)];
        (retires && again).then_some(at)
    };
    let at = steps.iter().enumerate().find_map(faults_again).expect("a page is evicted");
    steps[at].events = vec![Event::End(Operation::Access, Gfp::KERNEL, 0)];
    assert_eq!(refused(&scenario, &steps), Some(at));
}

#[test]
fn a_page_that_nobody_frees_is_not_free() {
    let (scenario, steps) = taken(MAPPED_LAST);
    let frees = |step: &Step| step.events.iter().any(|it| matches!(it, Event::Reclaimed(..)));
    let at = steps.iter().position(frees).expect("a pass frees something");
    // The same pass, but it is said to free more, or less to be given back.
    let mut more = steps.clone();
    let freed = more[at].events.iter().find(|it| matches!(it, Event::Reclaimed(..))).copied();
    more[at].events.extend(freed);
    assert_eq!(refused(&scenario, &more), Some(at));
    let mut less = steps;
    less[at].state.world.memcgs[0].memory.usage += Pages(1);
    assert_eq!(refused(&scenario, &less), Some(at));
}

#[test]
fn a_run_is_not_one_of_another_place_in_the_file() {
    let (scenario, mut steps) = taken(MAPPED_LAST);
    let around = |event: &mut Event| {
        let Event::Returned(Call::File(FileCall::MmapReadAround { start, .. }), _) = event else {
            return false;
        };
        start.0 += 1;
        true
    };
    let at = steps.iter_mut().position(|step| step.events.iter_mut().any(around));
    assert_eq!(refused(&scenario, &steps), at);
    assert!(at.is_some());
}

#[test]
fn a_run_under_one_limit_is_not_one_under_another() {
    let spec = written("2", "file", "unmapped-first", ("8", "1"));
    let checked = checked(&spec).swap_remove(0);
    let mut larger = checked.scenario.clone();
    larger.memcgs[0].max += Pages(1);
    for path in paths(&checked).filter(|path| path.cycle_from.is_some()) {
        let steps = atomics(&checked.scenario, path);
        assert_eq!(refused(&checked.scenario, &steps), None);
        assert!(refused(&larger, &steps).is_some());
    }
}

#[test]
fn a_run_that_is_too_long_is_left_alone() {
    let checked = checked(&written("2", "file", "any", ("8", "1"))).swap_remove(0);
    let path = paths(&checked).next().expect("it has one");
    let steps = std::iter::repeat_n(path.steps[0].clone(), STEPS_MOST + 1).collect();
    let long = Counterexample { steps, cycle_from: None, stuck: Vec::new(), identity: None };
    let found = identify(&checked.scenario, Fuse::OwnLocal, &long);
    assert_eq!(found, Ok(Some(Identity::TooLong)));
    assert!(Identity::TooLong.objection().is_some_and(|why| why.contains("too long")));
}
