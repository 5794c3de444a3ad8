//! Results for people: a table for each spec and design, and how what is unexpected comes about.

use super::table::table;
use crate::check::{Checked, Counterexample, Judged, Stuck, Swept};
use crate::claim::Claim;
use crate::engine::Stopped;
use crate::explain::steps;
use crate::identity::Identity;
use crate::liveness::Fairness;
use crate::render;
use crate::status::Outcome;
use crate::verdict::Verdict;
use mm_model::scenario::Scenario;
use std::fmt::Write as _;

const GOOD: &str = "\x1b[32m";
pub(super) const BAD: &str = "\x1b[1;31m";
pub(super) const OPEN: &str = "\x1b[33m";
const HEAD: &str = "\x1b[1m";
pub(super) const PLAIN: &str = "\x1b[0m";

/// Stands in the place of a step's number where a cycle begins and ends.
const LOOP: &str = "loop";

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
    summary(checked) + &qualified(checked) + &details(checked, verbose)
}

/// What a verdict is about: of large files where a file is pooled, and safety alone where tasks
/// stand for one another.
fn qualified(checked: &Checked) -> String {
    let mut text = String::new();
    let pooled: Vec<&str> = checked.pooled().collect();
    if !pooled.is_empty() {
        let pooled = pooled.join(", ");
        let _ = writeln!(
            text,
            "    pages of {pooled} are only counted: what holds, holds of large files"
        );
    }
    let rings: Vec<&str> = checked.rings().collect();
    if !rings.is_empty() {
        let rings = rings.join(", ");
        let _ = writeln!(text, "    pages of {rings} lie in a ring, which has no start and no end");
    }
    for group in checked.interchangeable() {
        let tasks = group.join(", ");
        let _ = writeln!(text, "    {tasks} stand for one another: safety alone is judged");
    }
    text
}

/// The verdicts that are shown.
fn details(checked: &Checked, verbose: bool) -> String {
    let mut text = String::new();
    let shown = |judged: &&Judged| verbose || is_surprising(checked, judged);
    let rows: Vec<(&Judged, String)> = checked
        .judged
        .iter()
        .filter(shown)
        .map(|judged| (judged, name(&checked.scenario, judged)))
        .collect();
    let width = rows.iter().map(|(_, name)| name.len()).max().unwrap_or_default();
    for (judged, name) in &rows {
        text.push_str(&row(judged, name, width));
    }
    text.push_str(&drift(checked));
    if verbose {
        for (judged, name) in &rows {
            text.push_str(&comes_about(checked, judged, name));
        }
    }
    text
}

/// How a verdict or a value comes about.
fn comes_about(checked: &Checked, judged: &Judged, name: &str) -> String {
    let Some(path) = &judged.counterexample else { return String::new() };
    let how = match judged.value {
        None => format!("how {name} is violated"),
        Some(_) if matches!(judged.claim, Claim::Ladder(_)) => {
            format!("why {name} is no higher than {}", judged.word())
        }
        Some(_) => format!("how {name} comes to {}", judged.word()),
    };
    let mut text = format!("\n    {HEAD}{how}{PLAIN}\n");
    let _ = writeln!(text, "    (claim: {})", judged.claim.claim());
    text.push_str(&counterexample(&checked.scenario, path));
    text
}

/// A sweep: what is asked about at each point, thresholds, and points that are not as expected.
pub fn swept(swept: &Swept, verbose: bool) -> String {
    let [first, .., last] = &swept.points[..] else {
        return swept.points.iter().map(|point| result(point, verbose)).collect();
    };
    let (points, seconds) =
        (swept.points.len(), swept.points.iter().map(|it| it.seconds).sum::<f64>());
    let largest = swept.points.iter().map(|point| point.states).max().unwrap_or_default();
    let mut text = format!("  {HEAD}{}{PLAIN}", first.design.name);
    if first.design.base != first.design.name {
        let _ = write!(text, " (a change of {})", first.design.base);
    }
    let largest = thousands(largest);
    let _ = writeln!(text, ": {points} points, at most {largest} states, {seconds:.1}s");
    text.push_str(&qualified(first));
    text.push_str(&table(swept));
    let names: Vec<String> =
        swept.thresholds.iter().map(|judged| name(&last.scenario, judged)).collect();
    let width = names.iter().map(String::len).max().unwrap_or_default();
    for (judged, name) in swept.thresholds.iter().zip(&names) {
        text.push_str(&row(judged, name, width));
    }
    for point in &swept.points {
        let wrong = point.judged.iter().any(|judged| judged.ok() == Some(false));
        if wrong || point.stopped.is_some() || verbose {
            let values = point.point.values.iter();
            let at = values.map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>();
            let _ = writeln!(text, "  at {}", at.join(", "));
            text.push_str(&(summary(point) + &details(point, verbose)));
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
    let (color, marker) = match super::outcome_of(checked) {
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

/// The name of a claim with what it assumes, where the name doesn't say so.
pub fn name(scenario: &Scenario, judged: &Judged) -> String {
    let name = judged.name(scenario);
    match judged.claim.fairness() {
        Some(fairness @ Fairness::Weak) => format!("{name} ({fairness} fairness)"),
        Some(Fairness::None | Fairness::Strong | Fairness::RunToYield) | None => name,
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
    let answer = judged.word();
    let row = format!("    {color}{marker:<10}{PLAIN}  {name:<width$}  {answer:<8}");
    let row = format!("{row}  {}", notes(judged).join("; "));
    format!("{}\n", row.trim_end())
}

fn notes(judged: &Judged) -> Vec<String> {
    let mut notes = Vec::new();
    if let (Claim::Ladder(_), Some(fairness)) = (judged.claim, judged.fairness) {
        notes.push(match fairness {
            Fairness::None => "without any assumption".to_owned(),
            Fairness::Weak | Fairness::Strong | Fairness::RunToYield => {
                format!("under {fairness} fairness")
            }
        });
    }
    let cost = matches!(judged.claim, Claim::Cost(..) | Claim::Ratio(..));
    match judged.fairness {
        Some(Fairness::None) if cost => notes.push("only while somebody is starved".to_owned()),
        Some(fairness) if cost => notes.push(format!("in a run of {fairness} fairness")),
        Some(_) | None => {}
    }
    if let Some(path) = judged.counterexample.as_ref().filter(|_| judged.claim.is_verdict() || cost)
    {
        notes.push(length(path));
        let objection = path.identity.and_then(Identity::objection);
        notes.extend(objection.map(str::to_owned));
    }
    match judged.expected {
        Some(expected) if judged.ok() == Some(false) => notes.push(format!("expected {expected}")),
        None if judged.verdict == Verdict::Vacuous => {
            notes.push("it never applied, so this says nothing".to_owned());
        }
        Some(_) | None => {}
    }
    notes
}

/// How long a counterexample is.
pub fn length(path: &Counterexample) -> String {
    match path.cycle_from {
        None => format!("in {}", steps(path.stem())),
        Some(_) => format!("after {}, a cycle of {}", steps(path.stem()), path.cycle()),
    }
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
    for stuck in &path.stuck {
        let _ = writeln!(text, "      {:>width$}  {}", "", stands_still(scenario, stuck));
    }
    text
}

/// What keeps an actor from stepping on a cycle.
fn stands_still(scenario: &Scenario, stuck: &Stuck) -> String {
    let name = &scenario.actors[stuck.actor.index()].name;
    if stuck.guards.is_empty() {
        return format!("{name} never steps, although it could");
    }
    let guards = stuck.guards.iter().map(|guard| guard.describe(scenario));
    let guards = guards.collect::<Vec<_>>().join(", or until ");
    format!("{name} never steps: it waits until {guards}")
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
