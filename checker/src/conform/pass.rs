//! Reclaim passes over real lists: the walk over memcgs and nodes, and the loop over lists.
//!
//! Around them were stubs that the model is given as a scenario: every list is scanned by its size
//! and the priority alone, every folio is freed when it is isolated, nothing is active, and no
//! generation ages.

use super::scripted::{Bench, Chain, Flag, PageCount, Version, differ};
use super::{CaseOutcome, has_fields};
use mm_model::design::{Changes, Lru, MemcgWalk, ReclaimBatch};
use mm_model::env::{Call, Env, Event, Question};
use mm_model::ids::MemcgId;
use mm_model::lru::{FolioFlags, LruList, Run};
use mm_model::mm::memcontrol::memory_reclaim::MemoryReclaim;
use mm_model::mm::vmscan::try_to_free_mem_cgroup_pages::TryToFreeMemCgroupPages;
use mm_model::scenario::{MemcgConfig, Pass, Reclaim, Steps, TaskFlags};
use mm_model::step::Next;
use mm_model::units::Pages;
use mm_model::world::World;
use serde::Deserialize;
use serde_json::{Value, json};

/// A case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    #[serde(rename = "id")]
    _id: String,
    #[serde(rename = "kind")]
    _kind: String,
    version: Version,
    lru: Lru,
    memcgs: usize,
    nodes: usize,
    folio_pages: FolioPages,
    #[serde(default)]
    full_walk: Flag,
    file: Vec<Vec<PageCount>>,
    anon: Vec<Vec<PageCount>>,
    /// Passes one after another, or the request below.
    #[serde(default)]
    passes: Vec<PassResult>,
    #[serde(flatten)]
    request: Option<Request>,
}

/// The pages of a folio: a power of two.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "u64")]
struct FolioPages {
    order: u8,
}

impl TryFrom<u64> for FolioPages {
    type Error = String;

    fn try_from(pages: u64) -> Result<Self, String> {
        if !pages.is_power_of_two() {
            return Err(format!("{pages} is not a power of two"));
        }
        Ok(Self { order: u8::try_from(pages.trailing_zeros()).expect("below 64") })
    }
}

/// What a pass did.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PassResult {
    asked: u64,
    returned: u64,
    /// At the end; -1 if all were used.
    priority: i64,
    freed: Vec<Vec<u64>>,
}

/// A write to memory.reclaim, and what came of it.
#[derive(Debug, Deserialize)]
struct Request {
    design: Rule,
    #[serde(rename = "request")]
    nr_to_reclaim: PageCount,
    asked: Vec<u64>,
    total: u64,
    over: u64,
    result: String,
}

/// A rule for the batches of the request.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Rule {
    Whole,
    Min32,
    Quarter,
}

impl Rule {
    const fn batch(self) -> ReclaimBatch {
        match self {
            Self::Whole => ReclaimBatch::Whole,
            Self::Min32 => ReclaimBatch::Clipped,
            Self::Quarter => ReclaimBatch::Fraction,
        }
    }
}

/// Hears which passes are asked for.
#[derive(Default)]
struct Passes {
    asked: Vec<u64>,
    returned: u64,
}

impl Env for Passes {
    fn answer(&mut self, question: Question) -> u64 {
        unreachable!("a pass does not ask {:?}", question.ask)
    }

    fn note(&mut self, event: Event) {
        if let Event::Returned(Call::TryToFreeMemCgroupPages { nr_pages, .. }, freed) = event {
            self.asked.push(nr_pages.0);
            self.returned += freed.unsigned_abs();
        }
    }

    fn stub(&mut self, _: &mut World, _: Call) -> Option<i64> {
        None
    }
}

/// Whether a row has this format.
pub(super) fn recognises(row: &Value) -> bool {
    has_fields(row, &["lru", "memcgs", "nodes", "folio_pages"])
}

/// Runs a case.
pub(super) fn run(case: &Value) -> CaseOutcome {
    let row = Row::deserialize(case).expect("the row was checked");
    let sized = |lists: &Vec<Vec<PageCount>>| {
        lists.len() == row.memcgs && lists.iter().all(|nodes| nodes.len() == row.nodes)
    };
    if !sized(&row.file) || !sized(&row.anon) {
        let reason = "file and anon are not lists of memcgs of nodes".to_owned();
        return CaseOutcome::Skipped { reason };
    }
    judge(&row).unwrap_or(CaseOutcome::Passed)
}

/// The first memcg is the target, the others its children.
const TARGET: MemcgId = MemcgId(0);

impl Row {
    fn bench(&self) -> Bench {
        let mut bench = Bench::new(self.version, &Chain::UNLIMITED, TaskFlags::empty());
        let runs = |memcg: usize, node: usize| {
            let lists = [(LruList::InactiveAnon, &self.anon), (LruList::InactiveFile, &self.file)];
            let order = self.folio_pages.order;
            let run = |pages: Pages| Run {
                flags: FolioFlags::empty(),
                order,
                nr_folios: pages.0 >> order,
            };
            lists.map(|(list, pages)| (list, run(pages[memcg][node].0))).to_vec()
        };
        let memcg = |number: usize| MemcgConfig {
            name: format!("memcg {number}"),
            parent: (number > 0).then_some(TARGET),
            max: Pages::UNLIMITED,
            high: Pages::UNLIMITED,
            memsw_max: None,
            lru: Pages::ZERO,
            anon: Pages::ZERO,
            reclaim: Reclaim {
                nodes: (0..self.nodes).map(|node| runs(number, node)).collect(),
                ..Reclaim::default()
            },
        };
        let scenario = &mut bench.scenario;
        scenario.memcgs = (0..self.memcgs).map(memcg).collect();
        scenario.granularity.reclaim.pass = Pass::Walked;
        scenario.policy.reclaim.cgroup_may_die = false;
        scenario.design.lru = self.lru;
        if self.full_walk.0 {
            scenario.design.memcg_walk = MemcgWalk::Full;
        }
        if let Some(request) = &self.request {
            scenario.granularity.reclaim.walk = Steps::One;
            let changes = Changes { reclaim_batch: Some(request.design.batch()), ..Changes::NONE };
            scenario.design = scenario.design.clone().with(&changes);
        }
        bench.world = bench.scenario.initial().world;
        bench
    }

    /// The pages on each memcg's lists, by node.
    fn pages(world: &World) -> Vec<Vec<u64>> {
        let nodes = |memcg: &mm_model::world::Memcg| {
            memcg.lruvecs.iter().map(|lruvec| lruvec.pages().0).collect()
        };
        world.memcgs.iter().map(nodes).collect()
    }
}

/// The first difference.
fn judge(row: &Row) -> Option<CaseOutcome> {
    let mut bench = row.bench();
    let mut passes = row.passes.iter().enumerate();
    passes
        .find_map(|(at, expected)| judge_pass(&mut bench, at, expected))
        .or_else(|| row.request.as_ref().and_then(|request| judge_request(&mut bench, request)))
}

fn judge_pass(bench: &mut Bench, at: usize, expected: &PassResult) -> Option<CaseOutcome> {
    let before = Row::pages(&bench.world);
    let mut frame = TryToFreeMemCgroupPages::enter(TARGET, Pages(expected.asked), true);
    let mut env = Passes::default();
    let mut last = None;
    let returned = loop {
        match bench.step(frame, &mut env) {
            Next::Goto(next) => frame = next,
            Next::Return(returned) => break returned,
        }
        last = frame.walk().map(|walk| *walk.scan_control());
    };
    // The priority falls below zero when the goal isn't reached at any.
    let priority =
        last.filter(|sc| returned >= sc.nr_to_reclaim).map_or(-1, |sc| i64::from(sc.priority));
    let after = Row::pages(&bench.world);
    let freed = |before: &Vec<u64>, after: &Vec<u64>| -> Vec<u64> {
        before.iter().zip(after).map(|(before, after)| before - after).collect()
    };
    let freed: Vec<_> =
        before.iter().zip(&after).map(|(before, after)| freed(before, after)).collect();
    let place = |field: &str| format!("passes[{at}].{field}");
    differ(place("returned"), json!(expected.returned), json!(returned))
        .or_else(|| differ(place("priority"), json!(expected.priority), json!(priority)))
        .or_else(|| differ(place("freed"), json!(expected.freed), json!(freed)))
}

fn judge_request(bench: &mut Bench, expected: &Request) -> Option<CaseOutcome> {
    let mut env = Passes::default();
    let request = expected.nr_to_reclaim.0;
    let frame = MemoryReclaim::enter(&bench.scenario, TARGET, request);
    let result = bench.run(frame, &mut env, |_| false);
    let over = env.returned.saturating_sub(request.0);
    differ("asked".to_owned(), json!(expected.asked), json!(env.asked))
        .or_else(|| differ("total".to_owned(), json!(expected.total), json!(env.returned)))
        .or_else(|| differ("over".to_owned(), json!(expected.over), json!(over)))
        .or_else(|| {
            let got = super::reclaim::name(result);
            differ("result".to_owned(), json!(expected.result), json!(got))
        })
}
