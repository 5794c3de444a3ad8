//! Vectors of the real kernel against the model: `mmcheck conform`.
//!
//! A vector is one JSON object a line: what the kernel's own function was given, which calls it
//! made and what came out. The model's step functions are run with the same answers, and the
//! first difference is the result. What format a row has is told by its fields, never by the name
//! of its file; `FORMATS` lists the formats, each in a module of its own.

use crate::cli::Format;
use crate::status::Outcome;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::Any;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

mod charge;
mod charge_sim;
mod files;
mod high;
mod pass;
mod reached;
mod reclaim;
mod report;
mod rows;
mod scripted;
mod stockpile;
mod stream;
mod trace;
mod window;

pub use reached::{Reached, reached};

/// What running one case showed.
#[derive(Clone, Debug, PartialEq)]
pub enum CaseOutcome {
    /// The model did what the kernel did.
    Passed,
    /// The model did something else.
    Failed {
        /// The first place that differs, as a path into the row.
        place: String,
        /// What the kernel did there; null if nothing.
        expected: Value,
        /// What the model did there; null if nothing.
        got: Value,
    },
    /// The case can't be judged.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// A format of rows.
struct RowFormat {
    name: &'static str,
    /// Whether a row has the fields that only this format has.
    recognises: fn(&Value) -> bool,
    /// Says where a row is malformed.
    check: fn(&str) -> serde_json::Result<()>,
    /// Runs the case of a well-formed row.
    run: fn(&Value) -> CaseOutcome,
}

impl RowFormat {
    const fn new<Row: DeserializeOwned>(
        name: &'static str,
        recognises: fn(&Value) -> bool,
        run: fn(&Value) -> CaseOutcome,
    ) -> Self {
        Self { name, recognises, check: |text| serde_json::from_str::<Row>(text).map(drop), run }
    }
}

/// Every format. A row belongs to the first that recognises it.
const FORMATS: &[RowFormat] = &[
    RowFormat::new::<charge::Row>("charge", charge::recognises, charge::run),
    RowFormat::new::<charge_sim::Row>("charge_sim", charge_sim::recognises, charge_sim::run),
    RowFormat::new::<reclaim::Row>("reclaim", reclaim::recognises, reclaim::run),
    RowFormat::new::<high::Row>("high", high::recognises, high::run),
    RowFormat::new::<stockpile::Row>("stockpile", stockpile::recognises, stockpile::run),
    RowFormat::new::<pass::Row>("pass", pass::recognises, pass::run),
    RowFormat::new::<window::Row>("window", window::recognises, window::run),
    RowFormat::new::<stream::Row>("stream", stream::recognises, stream::run),
];

/// Whether a row has all these fields.
fn has_fields(row: &Value, fields: &[&str]) -> bool {
    fields.iter().all(|field| row.get(field).is_some())
}

/// What the cases of a file showed.
#[derive(Debug, Default, Serialize)]
struct FileReport {
    file: String,
    cases: usize,
    passed: usize,
    failed: usize,
    skipped: usize,
    failures: Vec<Failure>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skips: Vec<Skip>,
}

#[derive(Debug, Serialize)]
struct Failure {
    id: String,
    #[serde(rename = "where")]
    place: String,
    expected: Value,
    got: Value,
}

#[derive(Debug, Serialize)]
struct Skip {
    id: String,
    reason: String,
}

/// A place in a file that can't be read as a case.
struct Malformed {
    line: usize,
    column: usize,
    message: String,
}

/// Runs every case of the files.
pub fn run(
    files: &[PathBuf],
    format: Format,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Outcome> {
    let mut reports = Vec::new();
    let mut malformed = false;
    for file in files {
        match read(file) {
            Ok(report) => reports.push(report),
            Err(problems) => {
                malformed = true;
                for problem in problems {
                    writeln!(err, "{problem}")?;
                }
            }
        }
    }
    report::write(&reports, format, out)?;
    let count = |of: fn(&FileReport) -> usize| reports.iter().map(of).sum::<usize>();
    Ok(if malformed {
        Outcome::Usage
    } else if count(|report| report.failed) > 0 {
        Outcome::Differs
    } else if count(|report| report.passed) == 0 {
        Outcome::NothingDecided
    } else {
        Outcome::AsExpected
    })
}

/// Runs the cases of one file, or says what is wrong with it, a problem a line.
fn read(file: &Path) -> Result<FileReport, Vec<String>> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| vec![format!("{name}: {error}")])?;
    let judge = if trace::recognises(&text) { trace::judge } else { rows::judge };
    judge(&name, &text).map_err(|problems| {
        let unknown = problems.iter().any(|problem| problem.message == rows::UNKNOWN_FORMAT);
        let hint = unknown.then(|| {
            let names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
            format!("\nhint: the formats are {}", names.join(", "))
        });
        let located = problems.into_iter().map(|Malformed { line, column, message }| {
            format!("{name}:{line}:{column}: {message}")
        });
        located.chain(hint).collect()
    })
}

/// Runs a case; where the model's own arithmetic stops it, that is the difference.
fn judge(format: &RowFormat, row: &Value) -> CaseOutcome {
    catch_unwind(AssertUnwindSafe(|| (format.run)(row))).unwrap_or_else(|panic| {
        let got = panic_message(&*panic).into();
        CaseOutcome::Failed { place: "the model".to_owned(), expected: Value::Null, got }
    })
}

/// What a panic said.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
    message.unwrap_or("a panic").to_owned()
}
