//! Results as text. Pure: values in, text out.

pub mod human;
pub mod json;
pub mod markdown;
pub mod progress;

use crate::check::Checked;
use crate::status::Outcome;
use crate::verdict::Verdict;

/// What a result means for the exit status.
pub fn outcome(checked: &Checked) -> Outcome {
    let open = |verdict| verdict == Verdict::Unknown;
    let verdicts = checked.judged.iter().map(|judged| match judged.ok() {
        _ if open(judged.verdict) => Outcome::Unknown,
        Some(false) => Outcome::Differs,
        Some(true) | None => Outcome::AsExpected,
    });
    let drifted = checked.pinned.as_ref().is_some_and(|pinned| !pinned.ok);
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
