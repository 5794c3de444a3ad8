//! Every point of a spec's sweep, and from which on a claim holds.

use super::{Checked, Judged, Options, check};
use crate::claim::Claim;
use crate::cost::Bound;
use crate::engine::Progress;
use crate::spec::{NamedDesign, Spec};
use crate::value::{Expected, Threshold, Value};
use crate::verdict::Verdict;
use std::collections::BTreeSet;

/// A spec under one design, at every point of its sweep. A spec without a sweep has one point.
pub struct Swept {
    /// The points, in the order of the sweep: its first parameter moves slowest.
    pub points: Vec<Checked>,
    /// From which value of the first parameter on a claim holds.
    pub thresholds: Vec<Judged>,
}

/// Searches them. An error is one of mmcheck itself.
pub fn sweep(
    spec: &Spec,
    design: &NamedDesign,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Swept, String> {
    let check = |point| check(spec, design, point, options, progress);
    let points = spec.points.iter().map(check).collect::<Result<Vec<_>, _>>()?;
    let all = spec.expectations.values().flat_map(|expected| expected.thresholds.keys().copied());
    let claims: BTreeSet<Claim> = all.collect();
    let expected = spec.expectations.get(&design.name);
    let thresholds = claims.into_iter().map(|claim| {
        let expected = expected.and_then(|expected| expected.thresholds.get(&claim)).copied();
        threshold(&points, claim, expected)
    });
    let thresholds = thresholds.collect();
    Ok(Swept { points, thresholds })
}

/// The smallest value of the first parameter from which on the claim holds, whatever the other
/// parameters are.
fn threshold(points: &[Checked], claim: Claim, expected: Option<Threshold>) -> Judged {
    let mut from = Threshold::Never;
    let mut known = true;
    // From the largest value down, until one of its points does not hold.
    let mut sorted: Vec<(u64, Option<bool>)> = points
        .iter()
        .filter_map(|point| Some((point.point.first()?, holds(point, claim))))
        .collect();
    sorted.sort_by(|one, other| other.cmp(one));
    for group in sorted.chunk_by(|one, other| one.0 == other.0) {
        if group.iter().any(|(_, holds)| *holds == Some(false)) {
            break;
        }
        if group.iter().any(|(_, holds)| holds.is_none()) {
            known = false;
            break;
        }
        from = Threshold::At(group[0].0);
    }
    let value = known.then_some(Value::From(from));
    let expected = expected.map(|from| Expected::Value(Value::From(from)));
    let verdict = match (value, expected) {
        (None, _) => Verdict::Unknown,
        (Some(found), Some(Expected::Value(wanted))) if found != wanted => Verdict::Violated,
        (Some(_), _) => Verdict::Holds,
    };
    Judged {
        claim,
        threshold: true,
        verdict,
        value,
        expected,
        fairness: claim.fairness(),
        counterexample: None,
    }
}

/// Whether a claim holds at a point: a verdict, or a value that has a bound. What never applied is
/// not violated.
fn holds(point: &Checked, claim: Claim) -> Option<bool> {
    let judged = point.judged.iter().find(|judged| judged.claim == claim)?;
    match (judged.verdict, judged.value) {
        (Verdict::Unknown, _) => None,
        (_, Some(Value::Number(bound))) => Some(bound != Bound::Unbounded),
        (_, Some(Value::Ratio(bound))) => Some(bound != Bound::Unbounded),
        (verdict, Some(Value::Rung(_) | Value::From(_)) | None) => {
            Some(verdict != Verdict::Violated)
        }
    }
}
