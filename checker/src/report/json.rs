//! Results as JSON, in the order and under the names that scripts rely on.

use super::word;
use crate::check::{Checked, Counterexample, Judged};
use mm_model::scenario::Scenario;
use serde::Serialize;

/// The version of the form; it changes when a field changes its meaning.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    version: &'static str,
    results: Vec<Result<'a>>,
}

#[derive(Serialize)]
struct Result<'a> {
    spec: &'a str,
    design: &'a str,
    base: &'a str,
    complete: bool,
    states: u64,
    transitions: u64,
    depth: u64,
    seconds: f64,
    engines: Vec<Engine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned: Option<Pinned>,
    properties: Vec<Property>,
}

#[derive(Serialize)]
struct Engine {
    name: &'static str,
    states: u64,
    agrees: Option<bool>,
}

#[derive(Serialize)]
struct Pinned {
    states: Option<u64>,
    transitions: Option<u64>,
    ok: bool,
}

#[derive(Serialize)]
struct Property {
    name: String,
    kind: &'static str,
    operation: Option<String>,
    actor: Option<String>,
    fairness: Option<String>,
    verdict: &'static str,
    /// Only costs and the like have one.
    value: Option<u64>,
    expected: Option<&'static str>,
    ok: Option<bool>,
    stem: usize,
    cycle: usize,
}

/// Every result as one object.
///
/// # Panics
/// Never: the values are plain.
pub fn results(checked: &[Checked]) -> String {
    let report = Report {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        results: checked.iter().map(result).collect(),
    };
    let mut text = serde_json::to_string_pretty(&report).expect("plain values can be written");
    text.push('\n');
    text
}

fn result(checked: &Checked) -> Result<'_> {
    let engines = checked.engines.iter().map(|engine| Engine {
        name: engine.name,
        states: engine.states,
        agrees: engine.agrees,
    });
    Result {
        spec: &checked.spec,
        design: &checked.design.name,
        base: &checked.design.base,
        complete: checked.stopped.is_none(),
        states: checked.states,
        transitions: checked.transitions,
        depth: checked.depth,
        seconds: (checked.seconds * 1000.0).round() / 1000.0,
        engines: engines.collect(),
        pinned: checked.pinned.as_ref().map(|pinned| Pinned {
            states: pinned.states,
            transitions: pinned.transitions,
            ok: pinned.ok,
        }),
        properties: checked
            .judged
            .iter()
            .map(|judged| property(&checked.scenario, judged))
            .collect(),
    }
}

fn property(scenario: &Scenario, judged: &Judged) -> Property {
    let Judged { claim, verdict, expected, fairness, counterexample } = judged;
    let actor = claim.actor().map(|actor| scenario.actors[actor.index()].name.clone());
    Property {
        name: claim.name(scenario),
        kind: claim.kind(),
        operation: claim.operation().map(|operation| operation.to_string()),
        actor,
        fairness: fairness.map(|fairness| fairness.to_string()),
        verdict: word(*verdict),
        value: None,
        expected: expected.map(word),
        ok: judged.ok(),
        stem: counterexample.as_ref().map_or(0, Counterexample::stem),
        cycle: counterexample.as_ref().map_or(0, Counterexample::cycle),
    }
}
