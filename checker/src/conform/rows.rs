//! Files of rows: one case a line.

use super::{CaseOutcome, FORMATS, Failure, FileReport, Malformed, RowFormat, Skip, judge as run};
use serde_json::Value;

/// What is said of a row that no format recognises.
pub(super) const UNKNOWN_FORMAT: &str = "the fields of this row are those of no known format";

/// Runs the case of every row.
pub(super) fn judge(file: &str, text: &str) -> Result<FileReport, Vec<Malformed>> {
    let mut report = FileReport { file: file.to_owned(), ..FileReport::default() };
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match parse(line) {
            Ok((id, format, row)) => record(&mut report, id, run(format, &row)),
            Err((column, message)) => problems.push(Malformed { line: index + 1, column, message }),
        }
    }
    if problems.is_empty() { Ok(report) } else { Err(problems) }
}

/// The id, the format and the fields of a row, or the column and the nature of what is wrong.
fn parse(line: &str) -> Result<(String, &'static RowFormat, Value), (usize, String)> {
    let located = |error: serde_json::Error| {
        let message = error.to_string();
        // The row is all the parser saw, so its own line number says nothing.
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        (error.column(), message)
    };
    let row: Value = serde_json::from_str(line).map_err(located)?;
    let format = FORMATS
        .iter()
        .find(|format| (format.recognises)(&row))
        .ok_or_else(|| (1, UNKNOWN_FORMAT.to_owned()))?;
    (format.check)(line).map_err(located)?;
    let id = row.get("id").and_then(Value::as_str);
    let id = id.ok_or_else(|| (1, "this row has no id".to_owned()))?.to_owned();
    Ok((id, format, row))
}

fn record(report: &mut FileReport, id: String, outcome: CaseOutcome) {
    report.cases += 1;
    match outcome {
        CaseOutcome::Passed => report.passed += 1,
        CaseOutcome::Failed { place, expected, got } => {
            report.failed += 1;
            report.failures.push(Failure { id, place, expected, got });
        }
        CaseOutcome::Skipped { reason } => {
            report.skipped += 1;
            report.skips.push(Skip { id, reason });
        }
    }
}
