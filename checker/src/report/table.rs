//! A sweep as a table: a line for each point, a column for each claim that is asked about.

use super::human::name;
use crate::check::{Checked, Judged, Swept};
use crate::claim::Claim;
use std::fmt::Write as _;

/// The claims of which something is expected, or a threshold asked; without any, the ladder.
fn columns(swept: &Swept) -> Vec<Claim> {
    let Some(first) = swept.points.first() else { return Vec::new() };
    let claims = |wanted: &dyn Fn(&Judged) -> bool| {
        first.judged.iter().filter(|it| wanted(it)).map(|it| it.claim).collect::<Vec<_>>()
    };
    let asked = |judged: &Judged| {
        judged.expected.is_some() || swept.thresholds.iter().any(|it| it.claim == judged.claim)
    };
    let found = claims(&asked);
    if found.is_empty() {
        claims(&|judged| matches!(judged.claim, Claim::Ladder(_)))
    } else {
        found
    }
}

/// The table, without colour.
pub(super) fn table(swept: &Swept) -> String {
    let Some(first) = swept.points.first() else { return String::new() };
    let claims = columns(swept);
    let judged = |point: &Checked, claim: Claim| -> Option<usize> {
        point.judged.iter().position(|judged| judged.claim == claim)
    };
    let mut head: Vec<String> = first.point.values.iter().map(|(name, _)| name.clone()).collect();
    for claim in &claims {
        let at = judged(first, *claim);
        head.extend(at.map(|at| name(&first.scenario, &first.judged[at])));
    }
    let line = |point: &Checked| {
        let mut cells: Vec<String> =
            point.point.values.iter().map(|(_, value)| value.to_string()).collect();
        for claim in &claims {
            let at = judged(point, *claim);
            cells.push(at.map_or_else(String::new, |at| point.judged[at].word()));
        }
        cells
    };
    let lines: Vec<Vec<String>> =
        std::iter::once(head).chain(swept.points.iter().map(line)).collect();
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(String::len).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let cells = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(text, "    {}", cells.trim_end());
    }
    text
}
