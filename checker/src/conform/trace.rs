//! Recordings of running kernels: which stage, which kernel, which columns.
//!
//! A recording is a text of comma-separated rows. Its first line is a comment that begins with the
//! stage and says under what it was recorded; its second names the columns, and by them the kind
//! of recording is told. Times and task names only order the rows.

use super::files::FileSetup;
use super::{CaseOutcome, Failure, FileReport, Malformed, Skip};
use control::Filler;
use mm_model::design::{Changes, Design, MarkRounding, PRESETS};
use mm_model::gfp::Gfp;
use serde_json::Value;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

mod batch;
mod control;
mod group;
mod passes;
mod raw;
mod requests;
mod single;
mod verdict;
mod windows;

/// A kernel that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernel {
    Linux6_1,
    /// The same with marks rounded up.
    Linux6_1Up,
    Linux6_12,
    Linux7_2,
    Linux7_3,
    /// The same with batch reclaim for readahead.
    BatchReclaim,
}

impl Kernel {
    const LABELS: &[(&str, Self)] = &[
        ("6.1", Self::Linux6_1),
        ("6.1up", Self::Linux6_1Up),
        ("6.12", Self::Linux6_12),
        ("7.2", Self::Linux7_2),
        ("7.3", Self::Linux7_3),
        ("7.3p3", Self::BatchReclaim),
    ];

    fn design(self) -> Design {
        let preset = match self {
            Self::Linux6_1 | Self::Linux6_1Up => "linux-6.1",
            Self::Linux6_12 => "linux-6.12",
            Self::Linux7_2 => "linux-7.2",
            Self::Linux7_3 => "linux-7.3",
            Self::BatchReclaim => "readahead-batch-reclaim",
        };
        let preset = PRESETS.iter().find(|of| of.name == preset).expect("every kernel has one");
        let rounding = (self == Self::Linux6_1Up).then_some(MarkRounding::Up);
        preset.design.clone().with(&Changes { mark_rounding: rounding, ..Changes::NONE })
    }

    /// Whether ext4 has large folios on that kernel.
    const fn large_folios_on_ext4(self) -> bool {
        match self {
            Self::Linux6_1 | Self::Linux6_1Up | Self::Linux6_12 => false,
            Self::Linux7_2 | Self::Linux7_3 | Self::BatchReclaim => true,
        }
    }

    /// The largest folio order of a file, and the pages the block device likes at once.
    fn file_system(self, name: &str) -> (u8, u64) {
        let large = match name {
            "ext4" => self.large_folios_on_ext4(),
            // Mounted so that it journals data, which takes its large folios away.
            "ext4o0" => false,
            _ => true,
        };
        let io_pages = if self.large_folios_on_ext4() { 1024 } else { 320 };
        (if large { 9 } else { 0 }, io_pages)
    }
}

/// The first line of a recording.
struct Header<'a> {
    kernel: Kernel,
    words: Vec<&'a str>,
    /// What it says of the run, by name.
    facts: BTreeMap<&'a str, &'a str>,
}

impl<'a> Header<'a> {
    fn parse(line: &'a str) -> Result<Self, Malformed> {
        let words: Vec<_> = line.split_whitespace().collect();
        let facts: BTreeMap<_, _> = words.iter().filter_map(|word| word.split_once('=')).collect();
        let malformed = |message: String| Malformed { line: 1, column: 1, message };
        let label = facts.get("kernel").ok_or_else(|| malformed("no kernel is named".into()))?;
        let kernel = Kernel::LABELS.iter().find(|(name, _)| name == label).ok_or_else(|| {
            let labels: Vec<_> = Kernel::LABELS.iter().map(|(name, _)| *name).collect();
            malformed(format!("no kernel is called `{label}`; there are {}", labels.join(", ")))
        })?;
        Ok(Self { kernel: kernel.1, words, facts })
    }

    fn fact(&self, name: &str) -> Result<&'a str, Malformed> {
        let message = || format!("the first line does not say {name}=");
        let malformed = || Malformed { line: 1, column: 1, message: message() };
        self.facts.get(name).copied().ok_or_else(malformed)
    }

    fn number(&self, name: &str) -> Result<u64, Malformed> {
        let text = self.fact(name)?;
        let message = || format!("{name}={text} is not a number");
        text.parse().map_err(|_| Malformed { line: 1, column: 1, message: message() })
    }

    /// The file system, which some first lines only name in the name of the run.
    fn file_system(&self) -> &'a str {
        self.facts.get("fs").copied().unwrap_or_default()
    }

    /// The file, as windows of it are filled.
    fn filler(&self) -> Result<Filler, Malformed> {
        let (max_order, io_pages) = self.kernel.file_system(self.file_system());
        let setup = FileSetup {
            last_page: self.file_pages() - 1,
            min_order: 0,
            max_order,
            ra_pages: self.number("ra")? / 4,
            io_pages,
            expands: None,
            fs_leaves: false,
        };
        Ok(Filler::new(self.kernel.design(), &setup))
    }

    /// Pages of the file that was used.
    fn file_pages(&self) -> u64 {
        if self.large_file() { 16384 } else { 4096 }
    }

    /// Whether the run read the file of 64 MiB rather than files of 16 MiB.
    fn large_file(&self) -> bool {
        let large = ["bigread", "mapone"];
        self.facts.get("kind").is_some_and(|kind| large.contains(kind))
    }
}

/// A row of a recording.
#[derive(Clone, Debug)]
struct Row<'a> {
    line: usize,
    fields: Vec<&'a str>,
}

impl<'a> Row<'a> {
    fn malformed(&self, field: usize, message: String) -> Malformed {
        let before: usize = self.fields.iter().take(field).map(|field| field.len() + 1).sum();
        Malformed { line: self.line, column: before + 1, message }
    }

    fn text(&self, field: usize) -> Result<&'a str, Malformed> {
        let missing = || self.malformed(field, format!("field {} is missing", field + 1));
        self.fields.get(field).copied().ok_or_else(missing)
    }

    fn number(&self, field: usize) -> Result<i64, Malformed> {
        let text = self.text(field)?;
        let number = match text.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        };
        number.ok_or_else(|| self.malformed(field, format!("`{text}` is not a number")))
    }

    /// A number that is not negative.
    fn count(&self, field: usize) -> Result<u64, Malformed> {
        let number = self.number(field)?;
        let message = || format!("{number} is negative");
        u64::try_from(number).map_err(|_| self.malformed(field, message()))
    }

    /// Demands that it has so many fields and no more.
    fn demand(&self, fields: usize) -> Result<(), Malformed> {
        if self.fields.len() == fields {
            return Ok(());
        }
        let message = format!("{} fields, where {fields} are expected", self.fields.len());
        Err(self.malformed(0, message))
    }
}

/// A recording, split up.
struct Recording<'a> {
    header: Header<'a>,
    /// The other comments, without their sign.
    comments: Vec<&'a str>,
    rows: Vec<Row<'a>>,
}

impl<'a> Recording<'a> {
    fn parse(text: &'a str) -> Result<Self, Malformed> {
        let header = Header::parse(text.lines().next().unwrap_or_default())?;
        let (mut comments, mut rows) = (Vec::new(), Vec::new());
        for (nth, line) in text.lines().enumerate().skip(1) {
            if let Some(comment) = line.strip_prefix('#') {
                comments.push(comment.trim());
            } else if !line.is_empty() {
                rows.push(Row { line: nth + 1, fields: line.split(',').collect() });
            }
        }
        Ok(Self { header, comments, rows })
    }
}

/// What the rows of a recording showed.
#[derive(Default)]
struct Verdicts {
    report: FileReport,
}

impl Verdicts {
    fn add(&mut self, line: usize, outcome: CaseOutcome) {
        let id = format!("line {line}");
        self.report.cases += 1;
        match outcome {
            CaseOutcome::Passed => self.report.passed += 1,
            CaseOutcome::Failed { place, expected, got } => {
                self.report.failed += 1;
                self.report.failures.push(Failure { id, place, expected, got });
            }
            CaseOutcome::Skipped { reason } => {
                self.report.skipped += 1;
                self.report.skips.push(Skip { id, reason });
            }
        }
    }
}

/// A difference at a column: what was recorded, and the nearest the model can do.
fn differs(column: &str, recorded: impl Into<Value>, model: impl Into<Value>) -> CaseOutcome {
    CaseOutcome::Failed { place: column.to_owned(), expected: recorded.into(), got: model.into() }
}

/// Whether a text is a recording.
pub(super) fn recognises(text: &str) -> bool {
    text.strip_prefix("# S").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Judges the rows of a recording.
pub(super) fn judge(file: &str, text: &str) -> Result<FileReport, Vec<Malformed>> {
    let recording = Recording::parse(text).map_err(|problem| vec![problem])?;
    let columns = recording.comments.first().copied().unwrap_or_default();
    let run: fn(&Recording<'_>) -> Result<Verdicts, Malformed> = match columns {
        _ if columns.starts_with("R,t_us,pos") => single::run,
        _ if columns.starts_with("REQ,amount,asked_pages") => requests::run,
        _ if columns.starts_with("t_us,task,event,args") => raw::run,
        _ if columns.starts_with("t_us,task,win_start,win_size") => batch::run,
        _ if columns.starts_with("t_us,task,fault_pgoff,via") => windows::run,
        _ if columns.starts_with("t_start_us,t_end_us,task,class") => passes::run,
        _ => {
            let message = "the columns of this recording are those of no known kind".to_owned();
            return Err(vec![Malformed { line: 2, column: 1, message }]);
        }
    };
    let verdicts = catch_unwind(AssertUnwindSafe(|| run(&recording))).unwrap_or_else(|panic| {
        let message = super::panic_message(&*panic);
        let mut verdicts = Verdicts::default();
        verdicts.add(1, differs("the model", Value::Null, message));
        Ok(verdicts)
    });
    let mut report = verdicts.map_err(|problem| vec![problem])?.report;
    file.clone_into(&mut report.file);
    Ok(report)
}

/// `gfp_t` of a folio that readahead adds, as the kernel's number. What no modelled function tests
/// is the same for every such folio: a movable page of any zone, no warning.
fn readahead_gfp(gfp: Gfp, file_system: &str) -> u64 {
    const UNTESTED: u64 = 0x10_204a;
    // Such a folio is added from within the file system, which some do not allow reclaim to enter.
    let gfp = if file_system == "xfs" { gfp.difference(Gfp::FS) } else { gfp };
    UNTESTED | gfp_bits(gfp)
}

/// The kernel's bits for the flags.
fn gfp_bits(gfp: Gfp) -> u64 {
    const BITS: &[(Gfp, u64)] = &[
        (Gfp::HIGH, 0x20),
        (Gfp::FS, 0x80),
        (Gfp::DIRECT_RECLAIM, 0x400),
        (Gfp::KSWAPD_RECLAIM, 0x800),
        (Gfp::RETRY_MAYFAIL, 0x4000),
        (Gfp::NOFAIL, 0x8000),
        (Gfp::NORETRY, 0x1_0000),
    ];
    BITS.iter().filter(|(flag, _)| gfp.contains(*flag)).map(|(_, bit)| bit).sum()
}

/// The flags the model knows of the kernel's number.
fn gfp_of(raw: u64) -> Gfp {
    Gfp::all().iter().filter(|flag| raw & gfp_bits(*flag) != 0).collect()
}

/// A number as the kernel prints flags.
fn hex(number: u64) -> String {
    format!("{number:#x}")
}
