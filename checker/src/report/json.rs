//! Results as JSON, in the order and under the names that scripts rely on.

use super::word;
use crate::check::{Checked, Counterexample, Judged, Swept};
use crate::identity::Identity;
use crate::value::{Expected, Value};
use mm_model::scenario::Scenario;
use serde::Serialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;

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
    /// The values of the parameters; only in a sweep.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    point: BTreeMap<&'a str, u64>,
    /// Files of whose pages most are only counted: what holds, holds of large files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    large_files: Vec<&'a str>,
    /// Files whose last page lies before the first: none has a start or an end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rings: Vec<&'a str>,
    /// Tasks that stand for one another: safety alone is judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    interchangeable: Vec<Vec<&'a str>>,
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
    value: Option<Json>,
    expected: Option<Json>,
    ok: Option<bool>,
    stem: usize,
    cycle: usize,
    /// Whether the path was taken with the identity of its pages, where most are only counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    page_identity: Option<&'static str>,
}

/// Every result as one object.
///
/// # Panics
/// Never: the values are plain.
pub fn results(swept: &[Swept]) -> String {
    let report = Report {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        results: swept.iter().flat_map(results_of).collect(),
    };
    let mut text = serde_json::to_string_pretty(&report).expect("plain values can be written");
    text.push('\n');
    text
}

/// The points of a sweep, then the sweep as a whole if it was asked for thresholds.
fn results_of(swept: &Swept) -> Vec<Result<'_>> {
    let mut results: Vec<Result<'_>> = swept.points.iter().map(result).collect();
    if let (Some(first), false) = (swept.points.first(), swept.thresholds.is_empty()) {
        let sum = |of: fn(&Checked) -> u64| swept.points.iter().map(of).sum();
        let thresholds = swept.thresholds.iter();
        results.push(Result {
            point: BTreeMap::new(),
            complete: swept.points.iter().all(|point| point.stopped.is_none()),
            states: sum(|point| point.states),
            transitions: sum(|point| point.transitions),
            depth: swept.points.iter().map(|point| point.depth).max().unwrap_or_default(),
            seconds: rounded(swept.points.iter().map(|point| point.seconds).sum()),
            engines: Vec::new(),
            pinned: None,
            properties: thresholds.map(|judged| property(&first.scenario, judged)).collect(),
            ..result(first)
        });
    }
    results
}

/// To the millisecond.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
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
        point: checked.point.values.iter().map(|(name, value)| (name.as_str(), *value)).collect(),
        large_files: checked.pooled().collect(),
        rings: checked.rings().collect(),
        interchangeable: checked.interchangeable().collect(),
        complete: checked.stopped.is_none(),
        states: checked.states,
        transitions: checked.transitions,
        depth: checked.depth,
        seconds: rounded(checked.seconds),
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
    let Judged { claim, verdict, value, expected, fairness, counterexample, threshold } = judged;
    let actor = claim.actor().map(|actor| scenario.actors[actor.index()].name.clone());
    Property {
        name: judged.name(scenario),
        kind: if *threshold { "threshold" } else { claim.kind() },
        operation: claim.operation().map(|operation| operation.to_string()),
        actor,
        fairness: fairness.map(|fairness| fairness.to_string()),
        verdict: word(*verdict),
        value: value.map(Value::json),
        expected: expected.map(Expected::json),
        ok: judged.ok(),
        stem: counterexample.as_ref().map_or(0, Counterexample::stem),
        cycle: counterexample.as_ref().map_or(0, Counterexample::cycle),
        page_identity: counterexample.as_ref().and_then(|path| path.identity).map(Identity::word),
    }
}
