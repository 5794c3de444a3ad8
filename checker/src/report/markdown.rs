//! Results as a table in Markdown: only what depends on nothing but the specs and the model.

use super::word;
use crate::check::{Checked, Counterexample, Judged};
use std::fmt::Write as _;

/// A row for every verdict that is expected, and two for the numbers of each search.
pub fn results(checked: &[Checked]) -> String {
    let mut text = String::from(
        "| spec | design | property | verdict | counterexample |\n|---|---|---|---|---|\n",
    );
    for checked in checked {
        let mut row = |property: &str, verdict: &str, path: &str| {
            let (spec, design) = (&checked.spec, &checked.design.name);
            let _ = writeln!(text, "| {spec} | {design} | {property} | {verdict} | {path} |");
        };
        for judged in checked.judged.iter().filter(|judged| judged.expected.is_some()) {
            let path = judged.counterexample.as_ref().map(path).unwrap_or_default();
            row(&name(checked, judged), &verdict(judged), &path);
        }
        let least = if checked.stopped.is_some() { "at least " } else { "" };
        row("states", &format!("{least}{}", checked.states), "");
        row("transitions", &format!("{least}{}", checked.transitions), "");
    }
    text
}

fn name(checked: &Checked, judged: &Judged) -> String {
    let name = judged.claim.name(&checked.scenario);
    match judged.fairness {
        Some(fairness) => format!("{name} ({fairness} fairness)"),
        None => name,
    }
}

fn verdict(judged: &Judged) -> String {
    let found = word(judged.verdict);
    match judged.expected {
        Some(expected) if expected != judged.verdict => {
            format!("**{found}**, expected {}", word(expected))
        }
        Some(_) | None => found.to_owned(),
    }
}

fn path(path: &Counterexample) -> String {
    match path.cycle_from {
        None => format!("{} steps", path.stem()),
        Some(_) => format!("{} steps, then {} for ever", path.stem(), path.cycle()),
    }
}
