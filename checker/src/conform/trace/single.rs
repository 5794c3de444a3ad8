//! One task reads a cold file alone: every window and folio, its order and its mark, from the
//! reads alone.

use super::{Header, Malformed, Recording, Row, Verdicts, differs, hex, readahead_gfp};
use crate::conform::files::{Bench, FILE, FileSetup, Stubs};
use crate::conform::{CaseOutcome, Skip};
use mm_model::design::ReadaheadOrder;
use mm_model::env::FileCall;
use mm_model::mm::filemap::filemap_fault::FilemapFault;
use mm_model::mm::filemap::filemap_read::FilemapRead;
use mm_model::scenario::VmFlags;
use mm_model::step::{Frame, Next};
use mm_model::units::PageIndex;
use serde_json::json;

/// The columns that each kind of row has after its time.
const COLUMNS: &[(&str, &[&str])] = &[
    ("R", &["pos"]),
    ("S", &["index", "req", "ra_start", "ra_size", "ra_async", "prev_pos"]),
    ("A", &["index", "folio_index", "folio_order", "req", "ra_start", "ra_size", "ra_async"]),
    ("W", &["index", "start", "size", "async_size", "order"]),
    ("U", &["index", "nr_to_read", "lookahead"]),
    ("F", &["index", "order", "marked", "gfp", "ret", "path"]),
];

/// Pages of the two files that were read.
const SMALL_FILE: u64 = 2048;
const LARGE_FILE: u64 = 16384;

/// How the task goes through the file.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    /// Reads of `size` bytes; the next is `step` bytes behind the last, if that is known.
    Reads { size: u64, step: Option<i64>, first: Option<u64> },
    /// It touches every page through a mapping.
    Touches,
}

impl Pattern {
    fn parse(header: &Header<'_>) -> Result<Self, Malformed> {
        let name = header.fact("pattern")?;
        let unknown = || {
            let message = format!("no pattern of reads is called `{name}`");
            Malformed { line: 1, column: 1, message }
        };
        if name == "mmapseq" {
            return Ok(Self::Touches);
        }
        let at = name.find(|c: char| c.is_ascii_digit()).ok_or_else(unknown)?;
        let (way, size) = name.split_at(at);
        let (size, rest) = size.split_once('k').ok_or_else(unknown)?;
        let size = size.parse::<u32>().map_err(|_| unknown())?;
        let (bytes, step) = (u64::from(size) * 1024, i64::from(size) * 1024);
        let offset = match rest.strip_prefix("off") {
            Some(pages) => pages.parse::<u64>().map_err(|_| unknown())? * 4096,
            None => 0,
        };
        let (step, first) = match way {
            "seq" => (Some(step), Some(offset)),
            "stride" => (Some(step * 4), Some(offset)),
            "back" => (Some(-step), Some(SMALL_FILE * 4096 - bytes)),
            "rand" => (None, None),
            _ => return Err(unknown()),
        };
        Ok(Self::Reads { size: bytes, step, first })
    }

    const fn file_pages(self) -> u64 {
        match self {
            Self::Reads { step: None, .. } => LARGE_FILE,
            Self::Reads { .. } | Self::Touches => SMALL_FILE,
        }
    }
}

/// What the model does, row by row as a recording has it.
struct Model<'a> {
    bench: Bench,
    stubs: Stubs,
    file_system: &'a str,
    rows: Vec<(&'static str, Vec<String>)>,
}

impl<'a> Model<'a> {
    fn new(header: &Header<'a>, pattern: Pattern) -> Result<Self, Malformed> {
        let file_system = header.fact("fs")?;
        let (max_order, io_pages) = header.kernel.file_system(file_system);
        let setup = FileSetup {
            last_page: pattern.file_pages() - 1,
            min_order: 0,
            max_order,
            ra_pages: ra_kilobytes(header)? / 4,
            io_pages,
            expands: None,
            fs_leaves: false,
        };
        let bench = Bench::with_design(header.kernel.design(), &setup);
        Ok(Self { bench, stubs: Stubs::default(), file_system, rows: Vec::new() })
    }

    /// Runs an access. Between two steps the readahead state is as the call that was just
    /// announced found it.
    fn run<F: Frame>(&mut self, mut frame: F) {
        self.stubs.forget();
        self.rows.clear();
        loop {
            let seen = self.stubs.calls.len();
            let next = self.bench.step(frame, &mut self.stubs);
            for nth in seen..self.stubs.calls.len() {
                let row = self.row(nth);
                self.rows.extend(row);
            }
            match next {
                Next::Goto(next) => frame = next,
                Next::Return(_) => return self.mark(),
            }
        }
    }

    /// A mark is part of the row of its folio, though it may be set after.
    fn mark(&mut self) {
        let folios = self.rows.iter_mut().filter(|(kind, _)| *kind == "F");
        for ((_, fields), add) in folios.zip(&self.stubs.adds) {
            if add.marked {
                "1".clone_into(&mut fields[2]);
            }
        }
    }

    fn row(&mut self, nth: usize) -> Option<(&'static str, Vec<String>)> {
        let ra = *self.bench.ra();
        let state = [ra.start.0, ra.size.0, ra.async_size.0];
        let texts = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>();
        Some(match self.stubs.calls[nth] {
            FileCall::PageCacheSyncRa { index, req_count, .. } => {
                let mut fields = texts(&[&[index.0, req_count.0], &state[..]].concat());
                fields.push(ra.prev_pos.to_string());
                ("S", fields)
            }
            FileCall::PageCacheAsyncRa { index, req_count, folio, order, .. } => {
                let call = [index.0, folio.0, order.into(), req_count.0];
                ("A", texts(&[&call[..], &state].concat()))
            }
            FileCall::PageCacheRaOrder { index, order, .. } => {
                let order = match self.bench.scenario.design.readahead_order {
                    ReadaheadOrder::State => ra.order,
                    ReadaheadOrder::MarkedFolio => order,
                };
                ("W", texts(&[&[index.0], &state[..], &[order.into()]].concat()))
            }
            FileCall::PageCacheRaUnbounded { index, nr_to_read, lookahead, .. } => {
                ("U", texts(&[index.0, nr_to_read.0, lookahead.0]))
            }
            FileCall::FilemapAddFolio { index, order, gfp, marked, .. } => {
                let result = self.stubs.adds.last().expect("it was noted").result;
                let path = if gfp.speculative() { "ra" } else { "filemap_add_folio" };
                let gfp = hex(readahead_gfp(gfp, self.file_system));
                // The order is read from the page cache, where a folio that failed is not.
                let order = if result == 0 { order } else { 0 };
                let mut fields = texts(&[index.0, order.into(), marked.into()]);
                fields.extend([gfp, result.to_string(), path.to_owned()]);
                ("F", fields)
            }
            FileCall::MemCgroupCharge { .. }
            | FileCall::MemCgroupUncharge { .. }
            | FileCall::XasStore { .. }
            | FileCall::FilemapRemoveFolio { .. }
            | FileCall::FolioSetReadahead { .. }
            | FileCall::FolioClearReadahead { .. }
            | FileCall::ReadPages { .. }
            | FileCall::PageCacheNextMiss { .. }
            | FileCall::PageCachePrevMiss { .. }
            | FileCall::ForcePageCacheRa { .. }
            | FileCall::MmapReadAround { .. }
            | FileCall::MemCgroupReclaimForBatch { .. }
            | FileCall::FilemapReadFolio { .. }
            | FileCall::VmFaultRetry { .. } => return None,
        })
    }
}

/// `read_ahead_kb` as the first line has it.
fn ra_kilobytes(header: &Header<'_>) -> Result<u64, Malformed> {
    let mut words = header.words.iter();
    let stated = words.find_map(|word| word.strip_prefix("ra")?.parse().ok());
    let message = || "the first line does not say how much is read ahead".to_owned();
    stated.ok_or_else(|| Malformed { line: 1, column: 1, message: message() })
}

/// The columns of a row, or what is wrong with it.
fn columns(row: &Row<'_>) -> Result<&'static [&'static str], Malformed> {
    let kind = row.text(0)?;
    let (_, columns) = COLUMNS.iter().find(|(name, _)| *name == kind).ok_or_else(|| {
        let kinds: Vec<_> = COLUMNS.iter().map(|(name, _)| *name).collect();
        row.malformed(0, format!("no row is of kind `{kind}`; there are {}", kinds.join(", ")))
    })?;
    row.demand(columns.len() + 2)?;
    let numbers = columns.len() - usize::from(kind == "F");
    (1..numbers + 2).try_for_each(|field| row.number(field).map(drop))?;
    Ok(columns)
}

/// Runs the accesses of a recording and compares what they do.
pub(super) fn run(recording: &Recording<'_>) -> Result<Verdicts, Malformed> {
    let pattern = Pattern::parse(&recording.header)?;
    let model = Model::new(&recording.header, pattern)?;
    for row in &recording.rows {
        columns(row)?;
    }
    let mut verdicts = Verdicts::default();
    let mut rows = recording.rows.as_slice();
    match pattern {
        Pattern::Reads { size, step, first } => {
            reads(model, &mut rows, (size, step, first), &mut verdicts)?;
        }
        Pattern::Touches => touches(model, &mut rows, &mut verdicts)?,
    }
    leave_out(rows, &mut verdicts);
    Ok(verdicts)
}

/// Reads as the rows say, up to the first difference.
fn reads(
    mut model: Model<'_>,
    rows: &mut &[Row<'_>],
    (size, step, mut expected): (u64, Option<i64>, Option<u64>),
    verdicts: &mut Verdicts,
) -> Result<(), Malformed> {
    while let Some((read, rest)) = rows.split_first() {
        *rows = rest;
        let Some(pos) = read_at(read, expected, size, verdicts)? else { break };
        expected = step.and_then(|step| pos.checked_add_signed(step));
        model.run(FilemapRead::enter(FILE, pos, size));
        if !compare(&model.rows, rows, read.line, verdicts)? {
            break;
        }
        if let Some(row) = rows.first().filter(|row| row.fields[0] != "R") {
            verdicts.add(row.line, differs("ev", row.fields[0], "nothing more in this read"));
            *rows = &rows[1..];
            break;
        }
    }
    Ok(())
}

/// Touches every page, up to the first difference.
fn touches(
    mut model: Model<'_>,
    rows: &mut &[Row<'_>],
    verdicts: &mut Verdicts,
) -> Result<(), Malformed> {
    for page in 0..SMALL_FILE {
        model.run(FilemapFault::enter(FILE, PageIndex(page), VmFlags::empty()));
        let line = rows.first().map_or(0, |row| row.line);
        if !compare(&model.rows, rows, line, verdicts)? {
            return Ok(());
        }
    }
    if let Some((row, rest)) = rows.split_first() {
        verdicts.add(row.line, differs("ev", row.fields[0], "nothing more"));
        *rows = rest;
    }
    Ok(())
}

/// Where the next read begins, unless the row is none or the read is out of the pattern.
fn read_at(
    row: &Row<'_>,
    expected: Option<u64>,
    size: u64,
    verdicts: &mut Verdicts,
) -> Result<Option<u64>, Malformed> {
    if row.text(0)? != "R" {
        verdicts.add(row.line, differs("ev", row.text(0)?, "R"));
        return Ok(None);
    }
    let pos = row.number(2)?.unsigned_abs();
    let expected = expected.unwrap_or(pos - pos % size);
    if pos != expected {
        verdicts.add(row.line, differs("pos", pos, expected));
        return Ok(None);
    }
    verdicts.add(row.line, CaseOutcome::Passed);
    Ok(Some(pos))
}

/// Compares what an access did with the rows up to the next access. False at a difference.
fn compare(
    model: &[(&str, Vec<String>)],
    rows: &mut &[Row<'_>],
    line: usize,
    verdicts: &mut Verdicts,
) -> Result<bool, Malformed> {
    for (kind, fields) in model {
        let Some((row, rest)) = rows.split_first().filter(|(row, _)| row.fields[0] != "R") else {
            let row = format!("{kind},{}", fields.join(","));
            verdicts.add(line, differs("what follows", "nothing", row));
            return Ok(false);
        };
        *rows = rest;
        let recorded = &row.fields;
        let columns = columns(row)?;
        if recorded[0] != *kind {
            verdicts.add(row.line, differs("ev", recorded[0], *kind));
            return Ok(false);
        }
        let differing = columns
            .iter()
            .zip(recorded[2..].iter().zip(fields))
            .find(|(_, (recorded, model))| *recorded != model);
        if let Some((column, (recorded, model))) = differing {
            verdicts.add(row.line, differs(column, *recorded, json!(model)));
            return Ok(false);
        }
        verdicts.add(row.line, CaseOutcome::Passed);
    }
    Ok(true)
}

/// Nothing can be said of the rows after a difference.
fn leave_out(rows: &[Row<'_>], verdicts: &mut Verdicts) {
    let Some(first) = rows.first() else { return };
    verdicts.report.cases += rows.len();
    verdicts.report.skipped += rows.len();
    let reason = format!("{} rows after a difference are not compared", rows.len());
    verdicts.report.skips.push(Skip { id: format!("line {}", first.line), reason });
}
