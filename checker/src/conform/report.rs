//! What a run showed, for people and for programs.

use super::{Failure, FileReport, Format};
use serde::Serialize;
use std::io::{self, Write};

/// Differences shown for a file; the JSON has all of them.
const SHOWN: usize = 5;

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    files: &'a [FileReport],
}

pub(super) fn write(files: &[FileReport], format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Human => files.iter().try_for_each(|file| human(file, out)),
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &Report { schema: 1, files })?;
            writeln!(out)
        }
    }
}

fn human(report: &FileReport, out: &mut dyn Write) -> io::Result<()> {
    let FileReport { file, cases, passed, failed, skipped, failures, skips } = report;
    writeln!(out, "{file}: {cases} cases, {passed} passed, {failed} failed, {skipped} skipped")?;
    for Failure { id, place, expected, got } in failures.iter().take(SHOWN) {
        writeln!(out, "  {id} {place}: kernel {expected}, model {got}")?;
    }
    if let Some(more) = failures.len().checked_sub(SHOWN + 1) {
        writeln!(out, "  and {} more", more + 1)?;
    }
    for skip in skips.iter().take(SHOWN) {
        writeln!(out, "  {} skipped: {}", skip.id, skip.reason)?;
    }
    Ok(())
}
