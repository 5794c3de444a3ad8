//! How it went in all, and what to read next.

use super::human::{BAD, OPEN, PLAIN};
use crate::check::{Checked, Judged, Swept};
use crate::explain::command_parts;
use crate::verdict::Verdict;
use std::fmt::Write as _;

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
    told: Option<Told>,
}

/// A violation that `explain` can tell of.
#[derive(Debug)]
struct Told {
    unexpected: bool,
    command: String,
}

impl Totals {
    /// Counts a result in.
    pub fn add(&mut self, swept: &Swept) {
        for checked in &swept.points {
            self.searches += 1;
            self.drifted += usize::from(checked.pinned.as_ref().is_some_and(|pinned| !pinned.ok));
            for judged in checked.judged.iter().filter(|judged| judged.counterexample.is_some()) {
                self.tell_of(checked, judged);
            }
        }
        let all = swept.points.iter().flat_map(|point| &point.judged).chain(&swept.thresholds);
        for judged in all {
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

    /// The first unexpected violation is the one to be told of, or else the first of all.
    fn tell_of(&mut self, checked: &Checked, judged: &Judged) {
        let unexpected = judged.ok() == Some(false);
        let better = self.told.as_ref().is_none_or(|told| unexpected && !told.unexpected);
        if better && (unexpected || judged.verdict == Verdict::Violated) {
            let claim = judged.claim.name(&checked.scenario);
            let command = command_parts(&checked.spec, &checked.design.name, &claim).join(" ");
            self.told = Some(Told { unexpected, command });
        }
    }

    /// The command that shows how a violation comes about, if there is one.
    pub fn hint(&self) -> String {
        let hint = |told: &Told| format!("hint: `{}` shows how it comes about\n", told.command);
        self.told.as_ref().map(hint).unwrap_or_default()
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
