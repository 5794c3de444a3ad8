//! A sequence of accesses to one file, with or without a budget of memory for readahead.

use super::files::{Bench, FILE, FileSetup, Stubs, Version};
use super::scripted::differ;
use super::{CaseOutcome, has_fields};
use mm_model::env::FileCall;
use mm_model::mm::filemap::filemap_fault::FilemapFault;
use mm_model::mm::filemap::filemap_read::FilemapRead;
use mm_model::page_cache::{Folio, FolioFlags};
use mm_model::scenario::VmFlags;
use mm_model::units::PageIndex;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    #[serde(rename = "id")]
    _id: String,
    #[serde(rename = "kind")]
    _kind: Option<String>,
    design: Version,
    ra_pages: u32,
    io_pages: u32,
    max_order: u8,
    min_order: u8,
    eof: u64,
    vm: Mapping,
    ops: Vec<Op>,
    results: Vec<Option<Map<String, Value>>>,
}

/// How the file is mapped.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mapping {
    None,
    Seq,
    Rand,
}

/// An access.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Vec<Value>")]
enum Op {
    Read { pos: u64, count: u64 },
    Fault { index: u64 },
    Evict { first: u64, last: u64 },
    Room { pages: u64, grants: Vec<u64> },
}

impl TryFrom<Vec<Value>> for Op {
    type Error = String;

    fn try_from(op: Vec<Value>) -> Result<Self, String> {
        let number = |at: usize| op.get(at).and_then(Value::as_u64);
        let list = |at: usize| -> Option<Vec<u64>> {
            op.get(at)?.as_array()?.iter().map(Value::as_u64).collect()
        };
        let name = op.first().and_then(Value::as_str);
        let parsed = match name {
            Some("read") => number(1).zip(number(2)).map(|(pos, count)| Self::Read { pos, count }),
            Some("fault") => number(1).map(|index| Self::Fault { index }),
            Some("evict") => {
                number(1).zip(number(2)).map(|(first, last)| Self::Evict { first, last })
            }
            Some("room") => {
                number(1).zip(list(2)).map(|(pages, grants)| Self::Room { pages, grants })
            }
            Some(_) | None => None,
        };
        parsed.ok_or_else(|| format!("no access is written {}", json!(op)))
    }
}

/// More adds than any access can need: the model runs in a circle.
const MOST_ADDS: usize = 1 << 20;

/// A run of a case.
struct Stream {
    bench: Bench,
    stubs: Stubs,
    vm_flags: VmFlags,
    remembers_order: bool,
    /// The first pages of the folios that carry a mark, the folio added first first.
    marked: Vec<PageIndex>,
}

/// Whether a row has this format.
pub(super) fn recognises(row: &Value) -> bool {
    has_fields(row, &["design", "vm", "ops", "results"])
}

/// Runs a case.
pub(super) fn run(case: &Value) -> CaseOutcome {
    let row = Row::deserialize(case).expect("the row was checked");
    let mut stream = Stream::new(&row);
    let failed = row.ops.iter().zip(&row.results).enumerate().find_map(|(nth, (op, expected))| {
        let got = stream.run(op);
        match (expected, got) {
            (Some(expected), Some(got)) => compare(nth, expected, &got),
            (expected, got) => differ(format!("results[{nth}]"), json!(expected), json!(got)),
        }
    });
    let all = || differ("results".to_owned(), json!(row.ops.len()), json!(row.results.len()));
    failed.or_else(all).unwrap_or(CaseOutcome::Passed)
}

/// The first field that differs. A row without a budget says nothing of adds.
fn compare(
    nth: usize,
    expected: &Map<String, Value>,
    got: &Map<String, Value>,
) -> Option<CaseOutcome> {
    expected.iter().find_map(|(name, expected)| {
        let got = got.get(name).cloned().unwrap_or_default();
        differ(format!("results[{nth}].{name}"), expected.clone(), got)
    })
}

impl Stream {
    fn new(row: &Row) -> Self {
        let setup = FileSetup {
            last_page: row.eof,
            min_order: row.min_order,
            max_order: row.max_order,
            ra_pages: row.ra_pages.into(),
            io_pages: row.io_pages.into(),
            expands: None,
            fs_leaves: false,
        };
        let vm_flags = match row.vm {
            Mapping::None => VmFlags::empty(),
            Mapping::Seq => VmFlags::SEQ_READ,
            Mapping::Rand => VmFlags::RAND_READ,
        };
        Self {
            bench: Bench::new(row.design, &setup),
            stubs: Stubs::default(),
            vm_flags,
            remembers_order: row.design.remembers_order(),
            marked: Vec::new(),
        }
    }

    /// Does one access: what came of it, or nothing if it only sets the budget.
    fn run(&mut self, op: &Op) -> Option<Map<String, Value>> {
        self.stubs.forget();
        match op {
            Op::Read { pos, count } => {
                let frame = FilemapRead::enter(FILE, *pos, *count);
                self.bench.run(frame, &mut self.stubs, MOST_ADDS);
            }
            Op::Fault { index } => {
                let frame = FilemapFault::enter(FILE, PageIndex(*index), self.vm_flags);
                self.bench.run(frame, &mut self.stubs, MOST_ADDS);
            }
            Op::Evict { first, last } => self.evict(PageIndex(*first), PageIndex(*last)),
            Op::Room { pages, grants } => {
                self.stubs.room = Some(*pages);
                self.stubs.grants.clone_from(grants);
                return None;
            }
        }
        self.follow_marks();
        Some(self.result())
    }

    /// Removes every folio that has one of these pages.
    fn evict(&mut self, first: PageIndex, last: PageIndex) {
        let cache = self.bench.cache();
        let from = cache.folio(first).map_or(first, |folio| folio.index);
        while let Some(folio) = cache.next_folio(from).filter(|folio| folio.index <= last) {
            cache.remove(folio.index);
            self.marked.retain(|marked| *marked != folio.index);
        }
    }

    fn follow_marks(&mut self) {
        for call in &self.stubs.calls {
            if let FileCall::FolioSetReadahead { index, .. } = call {
                self.marked.push(*index);
            } else if let FileCall::FolioClearReadahead { index, .. } = call {
                self.marked.retain(|marked| marked != index);
            }
        }
    }

    fn result(&mut self) -> Map<String, Value> {
        let ra = *self.bench.ra();
        let order = if self.remembers_order { ra.order } else { 0 };
        let state = json!([ra.start, ra.size, ra.async_size, order, ra.prev_pos, ra.mmap_miss]);
        let fields = [
            ("ev", json!(self.events())),
            ("st", state),
            ("new", json!(self.runs())),
            ("marked", json!(self.marked)),
            ("batch", json!(self.stubs.batch)),
            ("adds", json!(self.stubs.adds.len())),
            ("failed", json!(self.stubs.failed().count())),
            ("room", json!(self.stubs.room)),
        ];
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// What readahead was asked for, and what was done without it.
    fn events(&self) -> Vec<Value> {
        let mut adds = self.stubs.adds.iter();
        let events = self.stubs.calls.iter().filter_map(|call| {
            let add = matches!(call, FileCall::FilemapAddFolio { .. }).then(|| adds.next());
            if let Some(Some(add)) = add {
                let demanded = add.result == 0 && !add.gfp.speculative();
                return demanded.then(|| json!(["demand", add.index]));
            }
            event(call)
        });
        events.collect()
    }

    /// The folios added, as runs of equal folios one after the other.
    fn runs(&self) -> Vec<(PageIndex, u8, u64)> {
        let mut runs: Vec<(PageIndex, u8, u64)> = Vec::new();
        for add in self.stubs.added() {
            let folio = Folio { index: add.index, order: add.order, flags: FolioFlags::empty() };
            match runs.last_mut() {
                Some((first, order, count))
                    if *order == add.order
                        && first.0 + *count * folio.nr_pages().0 == add.index.0 =>
                {
                    *count += 1;
                }
                Some(_) | None => runs.push((add.index, add.order, 1)),
            }
        }
        runs
    }
}

fn event(call: &FileCall) -> Option<Value> {
    match *call {
        FileCall::PageCacheSyncRa { index, req_count, .. } => {
            Some(json!(["sync", index, req_count]))
        }
        FileCall::PageCacheAsyncRa { index, req_count, folio, order, .. } => {
            Some(json!(["async", index, req_count, folio, order]))
        }
        FileCall::MmapReadAround { start, size, .. } => Some(json!(["around", start, size])),
        FileCall::VmFaultRetry { .. } => Some(json!(["retry"])),
        FileCall::FilemapAddFolio { .. }
        | FileCall::MemCgroupCharge { .. }
        | FileCall::MemCgroupUncharge { .. }
        | FileCall::XasStore { .. }
        | FileCall::FilemapRemoveFolio { .. }
        | FileCall::FolioSetReadahead { .. }
        | FileCall::FolioClearReadahead { .. }
        | FileCall::ReadPages { .. }
        | FileCall::PageCacheNextMiss { .. }
        | FileCall::PageCachePrevMiss { .. }
        | FileCall::ForcePageCacheRa { .. }
        | FileCall::PageCacheRaOrder { .. }
        | FileCall::PageCacheRaUnbounded { .. }
        | FileCall::MemCgroupReclaimForBatch { .. }
        | FileCall::FilemapReadFolio { .. } => None,
    }
}
