//! Results as a table in Markdown: only what depends on nothing but the specs and the model.

use super::word;
use crate::check::{Checked, Counterexample, Judged};
use crate::verdict::Verdict;
use std::fmt::Write as _;

/// A row for each search: what is violated by name, with the length of its counterexample, and the
/// rest in numbers.
pub fn results(checked: &[Checked]) -> String {
    let mut text = String::from(
        "| spec | design | violated | holds | vacuous | states | transitions |\n\
         |---|---|---|---:|---:|---:|---:|\n",
    );
    for checked in checked {
        let Checked { spec, design, stopped, states, transitions, judged, .. } = checked;
        let least = if stopped.is_some() { "at least " } else { "" };
        let named: Vec<String> =
            judged.iter().filter(|it| is_named(it)).map(|it| named(checked, it)).collect();
        let count = |verdict| judged.iter().filter(|it| it.verdict == verdict).count();
        let _ = writeln!(
            text,
            "| {spec} | {} | {} | {} | {} | {least}{states} | {least}{transitions} |",
            design.name,
            named.join("; "),
            count(Verdict::Holds),
            count(Verdict::Vacuous),
        );
    }
    text
}

/// What is violated, open, or not as expected has to be read by name.
fn is_named(judged: &Judged) -> bool {
    matches!(judged.verdict, Verdict::Violated | Verdict::Unknown) || judged.ok() == Some(false)
}

fn named(checked: &Checked, judged: &Judged) -> String {
    let mut text = judged.claim.name(&checked.scenario);
    if judged.verdict != Verdict::Violated {
        let _ = write!(text, ": {}", word(judged.verdict));
    }
    if let Some(path) = &judged.counterexample {
        let _ = write!(text, " ({})", length(path));
    }
    if let Some(expected) = judged.expected.filter(|_| judged.ok() == Some(false)) {
        let _ = write!(text, ", **expected {}**", word(expected));
    }
    text
}

fn length(path: &Counterexample) -> String {
    let steps = |count| if count == 1 { "1 step".to_owned() } else { format!("{count} steps") };
    match path.cycle_from {
        None => steps(path.stem()),
        Some(_) => format!("{}, then {} for ever", steps(path.stem()), path.cycle()),
    }
}
