//! Results as a table in Markdown: only what depends on nothing but the specs and the model.

use super::human::name;
use crate::check::{Checked, Counterexample, Judged, Swept};
use std::fmt::Write as _;

/// A row for every verdict that is expected, and two for the numbers of each search.
pub fn results(swept: &[Swept]) -> String {
    let mut text = String::from(
        "| spec | design | property | verdict | counterexample |\n|---|---|---|---|---|\n",
    );
    for swept in swept {
        for checked in &swept.points {
            text.push_str(&rows(checked, &checked.judged));
            let least = if checked.stopped.is_some() { "at least " } else { "" };
            row(&mut text, checked, "states", &format!("{least}{}", checked.states), "");
            row(&mut text, checked, "transitions", &format!("{least}{}", checked.transitions), "");
        }
        if let Some(last) = swept.points.last() {
            text.push_str(&rows(last, &swept.thresholds));
        }
    }
    text
}

fn rows(checked: &Checked, judged: &[Judged]) -> String {
    let mut text = String::new();
    for judged in judged.iter().filter(|judged| judged.expected.is_some()) {
        let path = judged.counterexample.as_ref().map(path).unwrap_or_default();
        let mut name = name(&checked.scenario, judged);
        for (parameter, value) in checked.point.values.iter().filter(|_| !judged.threshold) {
            let _ = write!(name, ", {parameter} = {value}");
        }
        row(&mut text, checked, &name, &verdict(judged), &path);
    }
    text
}

fn row(text: &mut String, checked: &Checked, property: &str, verdict: &str, path: &str) {
    let (spec, design) = (&checked.spec, &checked.design.name);
    let _ = writeln!(text, "| {spec} | {design} | {property} | {verdict} | {path} |");
}

fn verdict(judged: &Judged) -> String {
    let found = judged.word();
    match judged.expected {
        Some(expected) if judged.ok() == Some(false) => {
            format!("**{found}**, expected {expected}")
        }
        Some(_) | None => found,
    }
}

fn path(path: &Counterexample) -> String {
    match path.cycle_from {
        None => format!("{} steps", path.stem()),
        Some(_) => format!("{} steps, then {} for ever", path.stem(), path.cycle()),
    }
}
