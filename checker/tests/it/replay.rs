//! `mmcheck replay`: stored counterexamples, whole and broken.

use crate::support::{Ran, mmcheck, mmcheck_on};
use insta::assert_snapshot;
use serde_json::{Value, json};

fn stored(args: &[&str]) -> Value {
    let ran = mmcheck(&[&["explain"], args, &["--format", "json"]].concat());
    assert_eq!(ran.status, 0, "{}", ran.all());
    serde_json::from_str(&ran.out).expect("it is JSON")
}

fn lasso() -> Value {
    stored(&["specs/charge/small-charge-starves.toml", "--design", "before"])
}

fn refused() -> Value {
    stored(&["specs/controls/nofail-refused.toml", "--design", "refuses"])
}

fn replay(trace: &str) -> Ran {
    mmcheck_on(&[("trace.json", trace.as_bytes())], &["replay", "@trace.json"])
}

fn replay_json(trace: &Value) -> Ran {
    replay(&format!("{trace:#}\n"))
}

#[test]
fn a_stored_counterexample_is_one_still() {
    assert_snapshot!(replay_json(&lasso()).all(), @"
    status 0
    -- stdout
    specs/charge/small-charge-starves.toml under before: starvation-free charge: violated still, in the same 10 steps
    -- stderr
    ");
    assert_snapshot!(replay_json(&refused()).all(), @"
    status 0
    -- stdout
    specs/controls/nofail-refused.toml under refuses: errors-legitimate: violated still, in the same 11 steps
    -- stderr
    ");
}

#[test]
fn a_model_that_does_something_else_is_caught_at_that_step() {
    let mut trace = lasso();
    trace["steps"][3]["state"]["world"]["memcgs"][0]["lru"] = json!(7);
    assert_snapshot!(replay_json(&trace).all(), @"
    status 1
    -- stdout
    specs/charge/small-charge-starves.toml under before: starvation-free charge: the model diverges at step 4: it led to `job: usage 1 of 3, 7 reclaimable, 0 anonymous`, and now to `job: usage 1 of 3, 1 reclaimable, 0 anonymous`
    -- stderr
    ");
}

#[test]
fn a_step_that_can_not_be_taken_any_more_is_named() {
    let mut trace = lasso();
    trace["steps"][4]["answers"] = json!([5]);
    assert_snapshot!(replay_json(&trace).all(), @"
    status 1
    -- stdout
    specs/charge/small-charge-starves.toml under before: starvation-free charge: the model diverges at step 5: the step asks for fewer answers
    -- stderr
    ");
}

#[test]
fn another_design_diverges() {
    let mut trace = refused();
    trace["decisions"]["nofail"] = json!("forced");
    let ran = replay_json(&trace);
    assert_eq!(ran.status, 1, "{}", ran.all());
    assert!(ran.out.contains("diverges at step"), "{}", ran.all());
}

#[test]
fn a_path_that_breaks_nothing_is_refuted() {
    let mut trace = refused();
    let steps = trace["steps"].as_array_mut().expect("it has steps");
    steps.pop();
    assert_snapshot!(replay_json(&trace).all(), @"
    status 1
    -- stdout
    specs/controls/nofail-refused.toml under refuses: errors-legitimate: every step is as it was, but its last step breaks nothing
    -- stderr
    ");
    let mut trace = lasso();
    trace["cycle_from"] = json!(4);
    assert_snapshot!(replay_json(&trace).all(), @"
    status 1
    -- stdout
    specs/charge/small-charge-starves.toml under before: starvation-free charge: every step is as it was, but its cycle does not close
    -- stderr
    ");
}

#[test]
fn a_file_that_is_no_trace_is_an_error_with_its_place() {
    assert_snapshot!(replay("{\n  \"schema\": 1,\n  oops\n}").all(), @"
    status 2
    -- stdout
    -- stderr
    trace.json:3:3: not a stored counterexample: key must be a string

    hint: such a file is what `mmcheck explain --format json` writes
    ");
    assert_snapshot!(replay("").all(), @"
    status 2
    -- stdout
    -- stderr
    trace.json:1:1: not a stored counterexample: EOF while parsing a value

    hint: such a file is what `mmcheck explain --format json` writes
    ");
    let mut trace = lasso();
    trace["schema"] = json!(2);
    assert_eq!(replay_json(&trace).status, 2);
}

#[test]
fn names_that_nobody_has_are_errors_with_their_place() {
    let mut trace = lasso();
    trace["steps"][1]["actor"] = json!("Z");
    let ran = replay_json(&trace);
    assert_eq!(ran.status, 2, "{}", ran.all());
    assert!(ran.err.contains(": no actor is named `Z`"), "{}", ran.all());
    let mut trace = lasso();
    trace["property"] = json!("starvation-free lunch");
    let ran = replay_json(&trace);
    assert_eq!(ran.status, 2, "{}", ran.all());
    assert!(ran.err.contains("no property is named `starvation-free lunch`"), "{}", ran.all());
    let mut trace = lasso();
    trace["spec_text"] = json!("title = 3");
    assert_eq!(replay_json(&trace).status, 2);
}

#[test]
fn a_trace_that_is_not_there_is_an_error() {
    assert_eq!(mmcheck(&["replay", "/nowhere/trace.json"]).status, 2);
}
