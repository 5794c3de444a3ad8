//! Results as a table in Markdown: only what depends on nothing but the specs and the model.

use crate::check::{Checked, Counterexample, Judged, Swept};
use crate::explain::steps;
use crate::verdict::Verdict;
use std::fmt::Write as _;

/// A row for each search: what is violated by name, with the length of its counterexample, values,
/// and the rest in numbers.
pub fn results(swept: &[Swept]) -> String {
    let mut text = String::from(
        "| spec | design | violated | values | holds | vacuous | states | transitions |\n\
         |---|---|---|---|---:|---:|---:|---:|\n",
    );
    for swept in swept {
        for checked in &swept.points {
            text.push_str(&row(checked));
        }
        if let Some(last) = swept.points.last().filter(|_| !swept.thresholds.is_empty()) {
            let thresholds = list(last, &swept.thresholds, |_| true);
            let (spec, design) = (named_spec(last), &last.design.name);
            let _ = writeln!(text, "| {spec} | {design} | | {thresholds} | | | | |");
        }
    }
    text
}

fn row(checked: &Checked) -> String {
    let Checked { design, stopped, states, transitions, judged, .. } = checked;
    let least = if stopped.is_some() { "at least " } else { "" };
    let spec = named_spec(checked);
    let mut design = design.name.clone();
    for (parameter, value) in &checked.point.values {
        let _ = write!(design, ", {parameter} = {value}");
    }
    // What is violated, open, or not as expected has to be read by name.
    let broken = |it: &Judged| {
        it.value.is_none()
            && (matches!(it.verdict, Verdict::Violated | Verdict::Unknown)
                || it.ok() == Some(false))
    };
    let count =
        |verdict| judged.iter().filter(|it| it.value.is_none() && it.verdict == verdict).count();
    format!(
        "| {spec} | {design} | {} | {} | {} | {} | {least}{states} | {least}{transitions} |\n",
        list(checked, judged, broken),
        list(checked, judged, |it| it.value.is_some()),
        count(Verdict::Holds),
        count(Verdict::Vacuous),
    )
}

/// The file of the spec; what holds is said of large files where a file is pooled, of rings where
/// one has no start and no end, and safety alone is judged where tasks stand for one another.
fn named_spec(checked: &Checked) -> String {
    let large = if checked.pooled().next().is_some() { " (of large files)" } else { "" };
    let ring = if checked.rings().next().is_some() { " (of rings)" } else { "" };
    let safety = if checked.symmetry.is_some() { " (safety)" } else { "" };
    format!("{}{large}{ring}{safety}", checked.spec)
}

fn list(checked: &Checked, judged: &[Judged], wanted: impl Fn(&Judged) -> bool) -> String {
    let named: Vec<String> =
        judged.iter().filter(|it| wanted(it)).map(|it| named(checked, it)).collect();
    named.join("; ")
}

fn named(checked: &Checked, judged: &Judged) -> String {
    let mut text = judged.name(&checked.scenario);
    if judged.value.is_some() || judged.verdict != Verdict::Violated {
        let _ = write!(text, ": {}", judged.word());
    }
    if let Some(path) = judged.counterexample.as_ref().filter(|_| judged.value.is_none()) {
        let _ = write!(text, " ({})", length(path));
    }
    if let Some(expected) = judged.expected.filter(|_| judged.ok() == Some(false)) {
        let _ = write!(text, ", **expected {expected}**");
    }
    text
}

fn length(path: &Counterexample) -> String {
    match path.cycle_from {
        None => steps(path.stem()),
        Some(_) => format!("{}, then {} for ever", steps(path.stem()), path.cycle()),
    }
}
