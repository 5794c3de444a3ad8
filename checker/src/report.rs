//! Results as text. Pure: values in, text out.

pub mod human;
pub mod json;
pub mod progress;
mod table;

use crate::check::Swept;
use crate::status::Outcome;
use crate::verdict::Verdict;

/// What a result means for the exit status.
pub fn outcome(swept: &Swept) -> Outcome {
    let all = swept.points.iter().flat_map(|point| &point.judged).chain(&swept.thresholds);
    let verdicts = all.map(|judged| match judged.ok() {
        _ if judged.verdict == Verdict::Unknown => Outcome::Unknown,
        Some(false) => Outcome::Differs,
        Some(true) | None => Outcome::AsExpected,
    });
    let pinned = swept.points.iter().filter_map(|point| point.pinned.as_ref());
    let drifted = pinned.into_iter().any(|pinned| !pinned.ok);
    let drift = if drifted { Outcome::Drift } else { Outcome::AsExpected };
    verdicts.fold(drift, Outcome::max)
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
