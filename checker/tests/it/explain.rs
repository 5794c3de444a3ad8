//! `mmcheck explain`: what people read, and every form of every violation that is expected.

use crate::support::{mmcheck, mmcheck_on, options};
use insta::assert_snapshot;
use mm_checker::check::check;
use mm_checker::engine::Quiet;
use mm_checker::engine::stateright::deep_link;
use mm_checker::explain::timeline::{MAIL, TERMINAL, timeline};
use mm_checker::explain::trace::{Again, open};
use mm_checker::explain::{Story, Walk, dot, html, itf, svg, trace};
use mm_checker::replay::Step;
use mm_checker::spec::{NamedDesign, Spec, Tier, library};
use mm_checker::value::Expected;
use mm_checker::verdict::{Choice, Verdict};
use mm_model::machine::Fuse;
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};

const STARVES: &str = "specs/charge/small-charge-starves.toml";
const REFUSED: &str = "specs/controls/nofail-refused.toml";

#[test]
fn a_speculative_charge_that_starves_is_told_for_a_terminal() {
    assert_snapshot!(mmcheck(&["explain", "specs/charge/readahead-charge-starves.toml"]).all());
}

#[test]
fn a_starving_charge_is_told_for_a_terminal() {
    assert_snapshot!(mmcheck(&["explain", STARVES, "--design", "before"]).all());
}

#[test]
fn a_refusal_without_need_is_told_for_a_terminal() {
    let spec = "specs/charge/two-chargers-at-limit-kernel-steps.toml";
    assert_snapshot!(mmcheck(&["explain", spec]).all());
}

#[test]
fn the_worst_run_of_a_cost_is_told_for_a_terminal() {
    let property = ["--property", "reclaim-passes per charge"];
    let args = [&["explain", STARVES, "--design", "both-counted"][..], &property].concat();
    assert_snapshot!(mmcheck(&args).all());
}

#[test]
fn a_starving_charge_is_told_for_a_mail() {
    let args = ["explain", STARVES, "--design", "margin-counted", "--format", "mail"];
    assert_snapshot!(mmcheck(&args).all());
}

#[test]
fn a_broken_promise_is_told_for_a_mail() {
    assert_snapshot!(mmcheck(&["explain", REFUSED, "--format", "mail"]).all());
}

#[test]
fn drain_workers_are_told_for_a_terminal() {
    let spec = "specs/charge/isolated-cpu-keeps-its-stock.toml";
    let args = ["explain", spec, "--design", "waits-for-the-drain", "--property", "deadlock-free"];
    assert_snapshot!(mmcheck(&args).all());
}

#[test]
fn a_reader_is_told_with_the_page_cache_and_the_window() {
    let spec = include_bytes!("../reader.toml");
    let args = ["explain", "@reader.toml", "--property", "own-steps per read"];
    assert_snapshot!(mmcheck_on(&[("reader.toml", spec)], &args).all());
}

#[test]
fn the_state_graph_is_drawn_for_graphviz() {
    let property = ["--property", "errors-legitimate"];
    let args = [&["explain", REFUSED, "--format", "dot"][..], &property].concat();
    assert_snapshot!(mmcheck(&args).all());
}

#[test]
fn every_expected_violation_can_be_told_in_every_form_and_taken_again() {
    let found = library::load(&[]).expect("the specs are right");
    let specs: Vec<Spec> =
        found.into_iter().map(|it| it.spec).filter(|spec| spec.tier == Tier::Pr).collect();
    let next = AtomicUsize::new(0);
    // Each worker takes the next spec until none is left.
    let work = || {
        let own = || specs.get(next.fetch_add(1, Ordering::Relaxed));
        std::iter::from_fn(own).map(tell_all_of).sum::<usize>()
    };
    let told: usize = std::thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        workers.into_iter().map(|worker| worker.join().expect("it is told")).sum()
    });
    assert!(told > 40, "only {told} violations are told");
}

/// Tells every violation of a spec in every form, and every value beside one as text; returns how
/// many violations there are.
fn tell_all_of(spec: &Spec) -> usize {
    let mut told = 0;
    let violates = |design: &&NamedDesign| {
        let violated = Expected::Verdict(Verdict::Violated);
        let expected = spec.expectations.get(&design.name);
        // Larger ones are told no other way, and take long to search here.
        let small = |states: Option<u64>| states.is_none_or(|states| states < 40_000);
        expected.is_some_and(|it| {
            small(it.states) && it.answers.values().any(|answer| *answer == violated)
        })
    };
    for (design, point) in spec
        .designs
        .iter()
        .filter(violates)
        .flat_map(|design| spec.points.iter().map(move |at| (design, at)))
    {
        let options = options(None);
        let checked = check(spec, design, point, &options, &mut Quiet).expect("it is searched");
        for judged in &checked.judged {
            let violated = judged.verdict == Verdict::Violated;
            // The way to a value is told as well; not every value has one.
            let Some(path) = &judged.counterexample else {
                assert!(!violated, "{}: no counterexample", spec.file);
                continue;
            };
            let story = Story {
                walk: Walk::new(&checked.scenario, path),
                spec,
                design,
                fuse: Fuse::OwnLocal,
                point,
                claim: judged.claim,
                value: judged.value,
                fairness: judged.fairness,
            };
            every_text(&story);
            if violated {
                every_form(&story);
                told += 1;
            }
        }
    }
    told
}

fn every_text(story: &Story<'_>) {
    let place = format!("{} {} {}", story.spec.file, story.design.name, story.headline());
    let widest = |text: &str| {
        let text = anstream::adapter::strip_str(text).to_string();
        text.lines().map(|line| line.chars().count()).max().unwrap_or_default()
    };
    let human = timeline(story, &TERMINAL);
    assert!(widest(&human) <= 100, "{place}:\n{human}");
    let mail = timeline(story, &MAIL);
    assert!(widest(&mail) <= 72, "{place}:\n{mail}");
    assert!(mail.is_ascii() && !mail.contains('?'), "{place}:\n{mail}");
}

fn every_form(story: &Story<'_>) {
    let place = format!("{} {} {}", story.spec.file, story.design.name, story.headline());
    let page = html::html(story);
    assert!(page.ends_with("</html>\n") && !page.contains("{{"), "{place}");
    assert!(!page.contains("src=") && !page.contains("@import"), "{place}");
    let drawing = svg::svg(story, "title", svg::Theme::Readers);
    let boxes = drawing.matches("data-step=").count();
    assert_eq!(boxes, story.path.steps.len(), "{place}");
    let states: Value = serde_json::from_str(&itf::itf(story)).expect("it is JSON");
    let count = states["states"].as_array().map_or(0, Vec::len);
    match story.path.cycle_from {
        Some(from) => {
            assert_eq!(states["loop"], from, "{place}");
            assert_eq!(count, story.path.steps.len(), "{place}");
        }
        None => assert_eq!(count, story.path.steps.len() + 1, "{place}"),
    }
    assert!(dot::dot(story).starts_with("digraph"), "{place}");
    let choices: Vec<Choice> = story.path.steps.iter().map(Step::choice).collect();
    let link = deep_link(story.scenario, story.fuse, &choices).expect("it is a path");
    assert_eq!(link.matches('/').count(), choices.len() + 2, "{place}");
    let text = library::text(&story.spec.file).expect("it is there");
    let stored = open("trace.json", &trace::json(story, &text)).expect("it is readable");
    assert_eq!(stored.again(), Again::Holds, "{place}");
}

#[test]
fn one_violation_of_several_can_be_asked_for_by_name() {
    for (actor, other) in [("A", "B"), ("B", "A")] {
        let property = format!("starvation-free charge of {actor}");
        let args = ["explain", STARVES, "--design", "before", "--property", &property];
        let ran = mmcheck(&args);
        assert!(ran.out.contains(&format!("{actor} is stuck in its charge.")), "{}", ran.all());
        assert!(ran.out.contains(&format!("{other} goes on: ")), "{}", ran.all());
        assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    }
}

#[test]
fn what_holds_has_no_story() {
    let args =
        ["explain", STARVES, "--design", "both-counted", "--property", "starvation-free charge"];
    assert_snapshot!(mmcheck(&args).all(), @"
    status 4
    -- stdout
    -- stderr
    specs/charge/small-charge-starves.toml: starvation-free charge is not violated under both-counted
    ");
}

#[test]
fn an_unknown_property_is_a_usage_error() {
    let args = ["explain", STARVES, "--property", "starvation-free charg"];
    assert_snapshot!(mmcheck(&args).all(), @"
    status 2
    -- stdout
    -- stderr
    mmcheck: no property is named `starvation-free charg`

    hint: did you mean `starvation-free charge`?
    ");
}

#[test]
fn a_search_that_was_cut_short_leaves_it_open() {
    let args = ["explain", REFUSED, "--design", "refuses", "--max-states", "1"];
    let ran = mmcheck(&args);
    assert_eq!(ran.status, 5, "{}", ran.all());
}

#[test]
fn single_steps_make_a_longer_story() {
    let args = ["explain", REFUSED, "--design", "refuses", "--no-fuse", "--format", "mail"];
    let ran = mmcheck(&args);
    assert!(ran.out.contains("--no-fuse\n"), "{}", ran.all());
}

#[test]
fn text_of_a_spec_can_not_break_out_of_the_page() {
    let spec = r#"title = "</script><script>alert(1)</script> {{DATA}}"
[kernel]
memcg_charge_batch = 1
max_reclaim_retries = 0
[[memcg]]
name = "job"
max = 0
[[actor]]
name = "A"
memcg = "job"
does = ["charge 1 nofail"]
[design.refused]
base = "linux-7.3"
nofail = "refused"
"#;
    let args = ["explain", "@one.toml", "--format", "html"];
    let page = mmcheck_on(&[("one.toml", spec.as_bytes())], &args).out;
    assert!(!page.contains("alert(1)</script>"), "{page}");
    assert_eq!(page.matches("<script").count(), 2);
}

#[test]
fn what_never_applies_has_no_story() {
    let args =
        ["explain", STARVES, "--design", "both-counted", "--property", "readahead-reclaim-cap"];
    let ran = mmcheck(&args);
    assert_eq!(ran.status, 4, "{}", ran.all());
    assert!(ran.err.contains("readahead-reclaim-cap never applies under"), "{}", ran.err);
}
