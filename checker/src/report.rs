//! Results as text. Pure: values in, text out.

pub mod human;
pub mod json;
pub mod markdown;
pub mod progress;
mod table;
pub mod totals;

use crate::check::{Checked, Judged, Swept};
use crate::status::Outcome;
use crate::verdict::Verdict;

/// What the results of a spec mean for the exit status.
pub fn outcome(swept: &Swept) -> Outcome {
    let points = swept.points.iter().map(outcome_of);
    points.chain(swept.thresholds.iter().map(decided)).fold(Outcome::AsExpected, Outcome::max)
}

/// What the result of one point means.
pub(crate) fn outcome_of(checked: &Checked) -> Outcome {
    let drifted = checked.pinned.as_ref().is_some_and(|pinned| !pinned.ok);
    let drift = if drifted { Outcome::Drift } else { Outcome::AsExpected };
    checked.judged.iter().map(decided).fold(drift, Outcome::max)
}

fn decided(judged: &Judged) -> Outcome {
    match judged.ok() {
        _ if judged.verdict == Verdict::Unknown => Outcome::Unknown,
        Some(false) => Outcome::Differs,
        Some(true) | None => Outcome::AsExpected,
    }
}

/// A verdict in one word.
pub const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        Verdict::Vacuous => "vacuous",
        Verdict::Unknown => "unknown",
    }
}
