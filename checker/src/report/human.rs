//! Results for people: a table for each spec and design, and how what is unexpected comes about.

use super::word;
use crate::check::{Checked, Counterexample, Judged};
use crate::engine::Stopped;
use crate::render;
use crate::status::Outcome;
use crate::verdict::Verdict;
use mm_model::scenario::Scenario;
use std::fmt::Write as _;

const GOOD: &str = "\x1b[32m";
const BAD: &str = "\x1b[1;31m";
const OPEN: &str = "\x1b[33m";
const HEAD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// Stands in the place of a step's number where a cycle begins and ends.
const LOOP: &str = "loop";

/// Counts of verdicts over all results.
#[derive(Debug, Default)]
pub struct Totals {
    searches: usize,
    expected: usize,
    unexpected: usize,
    unknown: usize,
    without: usize,
    vacuous: usize,
    drifted: usize,
}

impl Totals {
    /// Counts a result in.
    pub fn add(&mut self, checked: &Checked) {
        self.searches += 1;
        self.drifted += usize::from(checked.pinned.as_ref().is_some_and(|pinned| !pinned.ok));
        for judged in &checked.judged {
            let counter = match (judged.verdict, judged.ok()) {
                (Verdict::Unknown, _) => &mut self.unknown,
                (_, Some(true)) => &mut self.expected,
                (_, Some(false)) => &mut self.unexpected,
                (Verdict::Vacuous, None) => &mut self.vacuous,
                (Verdict::Holds | Verdict::Violated, None) => &mut self.without,
            };
            *counter += 1;
        }
    }

    /// One line that says how it went.
    pub fn line(&self) -> String {
        let searches = if self.searches == 1 { "search" } else { "searches" };
        let mut line = format!("{} {searches}: {} as expected", self.searches, self.expected);
        let counts = [
            (self.unexpected, BAD, "unexpected"),
            (self.unknown, OPEN, "unknown"),
            (self.drifted, OPEN, "with other numbers than pinned"),
            (self.without, "", "without expectation"),
            (self.vacuous, "", "vacuous and without expectation"),
        ];
        for (count, color, what) in counts.into_iter().filter(|(count, ..)| *count > 0) {
            let _ = write!(line, ", {color}{count} {what}{PLAIN}");
        }
        line.push('\n');
        line
    }
}

/// A number, with its thousands apart.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The line that introduces the results of a spec.
pub fn spec(file: &str, title: &str) -> String {
    format!("{HEAD}{file}{PLAIN}: {title}\n")
}

/// A result in one line, and every verdict that is not as it should be; or, for those who want it
/// all, every verdict and counterexample.
pub fn result(checked: &Checked, verbose: bool) -> String {
    let mut text = summary(checked);
    let names: Vec<String> = checked.judged.iter().map(|judged| name(checked, judged)).collect();
    let shown = |judged: &Judged| verbose || is_surprising(checked, judged);
    let rows: Vec<_> =
        checked.judged.iter().zip(&names).filter(|(judged, _)| shown(judged)).collect();
    let width = rows.iter().map(|(_, name)| name.len()).max().unwrap_or_default();
    for (judged, name) in &rows {
        text.push_str(&row(judged, name, width));
    }
    text.push_str(&drift(checked));
    for (judged, name) in &rows {
        if let (true, Some(path)) = (verbose, &judged.counterexample) {
            let _ = writeln!(text, "\n    {HEAD}how {name} is violated{PLAIN}");
            let _ = writeln!(text, "    (claim: {})", judged.claim.claim());
            text.push_str(&counterexample(&checked.scenario, path));
        }
    }
    text
}

/// Whether a verdict is to be shown to those who want to see only what is not as it should be.
/// Where a search was stopped its own line says that the rest is unknown.
fn is_surprising(checked: &Checked, judged: &Judged) -> bool {
    match (judged.verdict, judged.ok()) {
        (Verdict::Unknown, _) => checked.stopped.is_none(),
        (_, Some(ok)) => !ok,
        (Verdict::Vacuous, None) => true,
        (Verdict::Holds | Verdict::Violated, None) => false,
    }
}

/// One line: as expected or not, how many verdicts of each kind, how large, how long.
fn summary(checked: &Checked) -> String {
    let Checked { design, states, seconds, judged, .. } = checked;
    let any = |ok| judged.iter().any(|judged| judged.ok() == Some(ok));
    let (color, marker) = match super::outcome(checked) {
        Outcome::Differs => (BAD, "UNEXPECTED"),
        Outcome::Unknown => (OPEN, "unknown"),
        Outcome::Drift => (OPEN, "DRIFT"),
        Outcome::AsExpected if any(true) || checked.pinned.is_some() => (GOOD, "ok"),
        Outcome::AsExpected | Outcome::NothingDecided | Outcome::Usage | Outcome::Internal => {
            ("", "-")
        }
    };
    let mut text = format!("  {color}{marker:<10}{PLAIN}  {HEAD}{}{PLAIN}", design.name);
    if design.base != design.name {
        let _ = write!(text, " (a change of {})", design.base);
    }
    let counts = [
        (Verdict::Holds, "hold"),
        (Verdict::Violated, "violated"),
        (Verdict::Vacuous, "vacuous"),
        (Verdict::Unknown, "unknown"),
    ];
    let mut separator = ": ";
    for (verdict, word) in counts {
        let count = judged.iter().filter(|judged| judged.verdict == verdict).count();
        if count > 0 {
            let _ = write!(text, "{separator}{count} {word}");
            separator = ", ";
        }
    }
    let _ = write!(text, "{separator}{} states, {seconds:.1}s", thousands(*states));
    if let Some(stopped) = checked.stopped {
        let _ = write!(text, ", {OPEN}stopped by {}{PLAIN}", reason(stopped));
    }
    text.push('\n');
    text
}

const fn reason(stopped: Stopped) -> &'static str {
    match stopped {
        Stopped::States => "--max-states",
        Stopped::Memory => "--max-memory",
        Stopped::Timeout => "--timeout",
        Stopped::Interrupted => "an interrupt",
    }
}

fn name(checked: &Checked, judged: &Judged) -> String {
    let name = judged.claim.name(&checked.scenario);
    match judged.fairness {
        Some(fairness) => format!("{name} ({fairness} fairness)"),
        None => name,
    }
}

fn row(judged: &Judged, name: &str, width: usize) -> String {
    let (color, marker) = match (judged.verdict, judged.ok()) {
        (Verdict::Unknown, _) => (OPEN, "?"),
        (_, Some(true)) => (GOOD, "ok"),
        (_, Some(false)) => (BAD, "UNEXPECTED"),
        (Verdict::Vacuous, None) => (OPEN, "!"),
        (Verdict::Holds | Verdict::Violated, None) => ("", "-"),
    };
    let verdict = word(judged.verdict);
    let row = format!("    {color}{marker:<10}{PLAIN}  {name:<width$}  {verdict:<8}");
    let mut notes = Vec::new();
    if let Some(path) = &judged.counterexample {
        notes.push(match path.cycle_from {
            None => format!("in {}", steps(path.stem())),
            Some(_) => format!("after {}, a cycle of {}", steps(path.stem()), path.cycle()),
        });
    }
    match judged.expected {
        Some(expected) if judged.ok() == Some(false) => {
            notes.push(format!("expected {}", word(expected)));
        }
        None if judged.verdict == Verdict::Vacuous => {
            notes.push("it never applied, so this says nothing".to_owned());
        }
        Some(_) | None => {}
    }
    let row = format!("{row}  {}", notes.join("; "));
    format!("{}\n", row.trim_end())
}

fn steps(count: usize) -> String {
    if count == 1 { "1 step".to_owned() } else { format!("{count} steps") }
}

fn drift(checked: &Checked) -> String {
    let Some(pinned) = checked.pinned.as_ref().filter(|pinned| !pinned.ok) else {
        return String::new();
    };
    let found = [
        ("states", pinned.states, checked.states),
        ("transitions", pinned.transitions, checked.transitions),
    ];
    let mut text = String::new();
    for (what, pinned, found) in found {
        if let Some(pinned) = pinned.filter(|pinned| *pinned != found) {
            let (pinned, found) = (thousands(pinned), thousands(found));
            let _ = writeln!(text, "    {OPEN}DRIFT{PLAIN}       {found} {what}, pinned {pinned}");
        }
    }
    text
}

/// The steps of a path in the kernel's terms, with the states at its ends.
fn counterexample(scenario: &Scenario, path: &Counterexample) -> String {
    let mut text = String::new();
    let initial = scenario.initial();
    let state = |text: &mut String, state| {
        for line in render::state(scenario, state).lines() {
            let _ = writeln!(text, "           {line}");
        }
    };
    state(&mut text, &initial);
    let width = path.steps.len().to_string().len().max(LOOP.len());
    let mut from = &initial;
    for (at, step) in path.steps.iter().enumerate() {
        if path.cycle_from == Some(at) {
            let _ = writeln!(text, "      {LOOP:>width$}  from here on, for ever:");
        }
        let step_text = render::step(scenario, from, step.actor, &step.events);
        let _ = writeln!(text, "      {:>width$}  {step_text}", at + 1);
        from = &step.state;
    }
    if path.cycle_from.is_some() {
        let _ = writeln!(text, "      {LOOP:>width$}  and round again, in the state:");
    }
    state(&mut text, from);
    text
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn thousands_are_apart() {
        let written = [0, 999, 1000, 12_345, 1_234_567].map(thousands);
        assert_eq!(written, ["0", "999", "1,000", "12,345", "1,234,567"]);
    }
}
