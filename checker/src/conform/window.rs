//! One call that fills one window: `page_cache_ra_order()`, `do_page_cache_ra()` or
//! `force_page_cache_ra()`.

use super::files::{Bench, FILE, FileSetup, Stubs, Version};
use super::scripted::{Flag, differ};
use super::{CaseOutcome, has_fields};
use mm_model::env::FileCall;
use mm_model::gfp::Gfp;
use mm_model::mm::readahead::ReadaheadControl;
use mm_model::mm::readahead::do_page_cache_ra::do_page_cache_ra;
use mm_model::mm::readahead::force_page_cache_ra::ForcePageCacheRa;
use mm_model::mm::readahead::page_cache_ra_order::PageCacheRaOrder;
use mm_model::units::{PageIndex, Pages};
use serde::Deserialize;
use serde_json::{Value, json};

/// A case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    #[serde(rename = "id")]
    _id: String,
    #[serde(rename = "kind")]
    _kind: Option<String>,
    design: Version,
    input: Input,
    folios: Vec<(u64, u8, u8)>,
    n_attempts: usize,
    failed: Vec<(usize, u64, u8, String)>,
    direct_reclaim: Option<u8>,
    batch: Vec<(u64, u8)>,
    state: State,
    end_index: u64,
    reclaims: u8,
    removed: usize,
    marks: Vec<u64>,
}

/// Which function is called.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Function {
    Order,
    Pcra,
    Force,
}

/// The arguments, the file, and what the stubs answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: Function,
    start: u64,
    size: u32,
    async_size: u32,
    new_order: u8,
    min_order: u8,
    max_order: u8,
    eof: u64,
    ra_pages: u32,
    #[serde(default)]
    req: u32,
    #[serde(default)]
    present: Vec<u64>,
    #[serde(default)]
    enomem: Vec<usize>,
    #[serde(default)]
    eexist: Vec<usize>,
    room: Option<u64>,
    #[serde(default)]
    grants: Vec<u64>,
    #[serde(default)]
    answers: Vec<Flag>,
    explo: Option<u64>,
    exphi: Option<u64>,
    fsread: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    start: u64,
    size: u64,
    #[serde(rename = "async")]
    async_size: u64,
    order: u8,
}

impl Input {
    fn setup(&self) -> FileSetup {
        FileSetup {
            last_page: self.eof,
            min_order: self.min_order,
            max_order: self.max_order,
            ra_pages: self.ra_pages.into(),
            io_pages: self.ra_pages.into(),
            expands: self.explo.zip(self.exphi),
            fs_leaves: self.fsread.is_some(),
        }
    }

    fn stubs(&self) -> Stubs {
        Stubs {
            enomem: self.enomem.clone(),
            eexist: self.eexist.clone(),
            room: self.room,
            grants: self.grants.clone(),
            answers: self.answers.iter().map(|answer| answer.0).collect(),
            fs_reads: self.fsread.unwrap_or(0),
            ..Stubs::default()
        }
    }

    fn bench(&self, version: Version) -> Bench {
        let mut bench = Bench::new(version, &self.setup());
        for range in self.present.chunks_exact(2) {
            (range[0]..=range[1]).for_each(|page| bench.add_present(page));
        }
        let ra = bench.ra();
        ra.start = PageIndex(self.start);
        ra.size = Pages(self.size.into());
        ra.async_size = Pages(self.async_size.into());
        ra.order = self.new_order;
        bench
    }
}

/// Whether a row has this format.
pub(super) fn recognises(row: &Value) -> bool {
    has_fields(row, &["design", "input", "folios", "end_index"])
}

/// Runs a case.
pub(super) fn run(case: &Value) -> CaseOutcome {
    let row = Row::deserialize(case).expect("the row was checked");
    let mut bench = row.input.bench(row.design);
    let mut stubs = row.input.stubs();
    let ractl = fill(&row, &mut bench, &mut stubs);
    judge(&row, &mut bench, &stubs, ractl.as_ref()).unwrap_or(CaseOutcome::Passed)
}

/// Makes the call; nothing comes back if it tries more adds than the kernel did.
fn fill(row: &Row, bench: &mut Bench, stubs: &mut Stubs) -> Option<ReadaheadControl> {
    let input = &row.input;
    let ractl = ReadaheadControl::new(FILE, PageIndex(input.start));
    match input.path {
        Function::Order => {
            let frame = PageCacheRaOrder::enter(&mut bench.kernel(stubs), ractl, input.new_order);
            bench.run(frame, stubs, row.n_attempts)
        }
        Function::Pcra => {
            let [size, async_size] = [input.size, input.async_size].map(|of| Pages(of.into()));
            match do_page_cache_ra(&mut bench.kernel(stubs), ractl, size, async_size) {
                Some(frame) => bench.run(frame, stubs, row.n_attempts),
                None => Some(ractl),
            }
        }
        Function::Force => {
            let req = Pages(input.req.into());
            let frame = ForcePageCacheRa::enter(&mut bench.kernel(stubs), ractl, req);
            bench.run(frame, stubs, row.n_attempts)
        }
    }
}

/// The first difference.
fn judge(
    row: &Row,
    bench: &mut Bench,
    stubs: &Stubs,
    ractl: Option<&ReadaheadControl>,
) -> Option<CaseOutcome> {
    let folios: Vec<_> =
        stubs.added().map(|add| (add.index.0, add.order, u8::from(add.marked))).collect();
    let marks: Vec<_> = folios.iter().filter(|folio| folio.2 == 1).map(|folio| folio.0).collect();
    let failed: Vec<_> = stubs
        .failed()
        .map(|(nth, add)| json!([nth, add.index, add.order, error(add.result)]))
        .collect();
    let direct = stubs.adds.first().map(|add| u8::from(add.gfp.contains(Gfp::DIRECT_RECLAIM)));
    let removed = stubs.calls.iter().filter(|call| is_removal(call)).count();
    let ra = *bench.ra();
    let order = |order| if row.design.remembers_order() { json!(order) } else { Value::Null };
    let state = &row.state;
    let pairs = [
        ("folios", json!(row.folios), json!(folios)),
        ("failed", json!(row.failed), json!(failed)),
        ("n_attempts", json!(row.n_attempts), json!(stubs.adds.len())),
        ("direct_reclaim", json!(row.direct_reclaim), json!(direct)),
        ("batch", json!(row.batch), json!(stubs.batch)),
        ("state.start", json!(state.start), json!(ra.start)),
        ("state.size", json!(state.size), json!(ra.size)),
        ("state.async", json!(state.async_size), json!(ra.async_size)),
        ("state.order", order(state.order), order(ra.order)),
        ("end_index", json!(row.end_index), json!(ractl.map(|ractl| ractl.index))),
        ("reclaims", json!(row.reclaims), json!(ractl.map(|ractl| ractl.nr_memcg_reclaims))),
        ("removed", json!(row.removed), json!(removed)),
        ("marks", json!(row.marks), json!(marks)),
    ];
    pairs.into_iter().find_map(|(place, expected, got)| differ(place.to_owned(), expected, got))
}

fn is_removal(call: &FileCall) -> bool {
    matches!(call, FileCall::FilemapRemoveFolio { .. })
}

/// The name of an error an add can end with.
fn error(result: i64) -> &'static str {
    match result {
        -12 => "ENOMEM",
        -17 => "EEXIST",
        _ => "another error",
    }
}
