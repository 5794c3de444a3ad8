//! `mem_cgroup_handle_over_high()`: only passes were scripted, and what others charge meanwhile.

use super::scripted::{
    Bench, Chain, Flag, LEVELS, PageCount, Script, Version, compare_calls, differ, level, notation,
};
use super::{CaseOutcome, has_fields};
use mm_model::env::{Call, Env, Event, Question};
use mm_model::mm::memcontrol::mem_cgroup_handle_over_high::MemCgroupHandleOverHigh;
use mm_model::scenario::TaskFlags;
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
    version: Version,
    #[serde(rename = "HZ")]
    hz: u64,
    input: Input,
    calls: Vec<Value>,
    cut: Flag,
    usage_after: [u64; LEVELS],
}

/// The situation, and what the stubs answered.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    over_high: PageCount,
    usage: [PageCount; LEVELS],
    high: [PageCount; LEVELS],
    reclaim: Vec<PageCount>,
    #[serde(default)]
    reclaim_def: PageCount,
    #[serde(default)]
    steal: Vec<PageCount>,
    #[serde(default)]
    steal_def: PageCount,
    #[serde(default)]
    dying: Flag,
}

/// The stubs, and the calls that were made.
struct Stubs {
    passes: Passes,
    calls: Vec<Value>,
}

/// Passes that free what a script says, while others charge what another says.
pub(super) struct Passes {
    pub(super) reclaim: Script<PageCount>,
    pub(super) steal: Script<PageCount>,
}

impl Passes {
    /// One pass: every level's usage falls by what it frees, then rises by what others charge.
    pub(super) fn pass(&mut self, world: &mut World) -> i64 {
        let (freed, stolen) = (self.reclaim.next().0, self.steal.next().0);
        for memcg in &mut world.memcgs {
            memcg.memory.usage = memcg.memory.usage.saturating_sub(freed) + stolen;
        }
        freed.raw()
    }
}

impl Env for Stubs {
    fn answer(&mut self, question: Question) -> u64 {
        unreachable!("the handler does not ask {:?}", question.ask)
    }

    fn note(&mut self, event: Event) {
        if let Event::Returned(call, value) = event
            && !matches!(call, Call::MemCgroupHandleOverHigh { .. })
        {
            self.calls.extend(notation(call, value));
        }
    }

    fn stub(&mut self, world: &mut World, call: Call) -> Option<i64> {
        matches!(call, Call::TryToFreeMemCgroupPages { .. }).then(|| self.passes.pass(world))
    }
}

/// Whether a row has this format.
pub(super) fn recognises(row: &Value) -> bool {
    has_fields(row, &["version", "HZ", "usage_after"])
}

/// Runs a case.
pub(super) fn run(case: &Value) -> CaseOutcome {
    let row = Row::deserialize(case).expect("the row was checked");
    judge(&row).unwrap_or(CaseOutcome::Passed)
}

/// The usage of every level, as vectors write it.
pub(super) fn usage(world: &World) -> Value {
    let usage = |number| world.memcgs[level(number).index()].memory.usage;
    json!((0..LEVELS).map(usage).collect::<Vec<Pages>>())
}

/// The first difference.
fn judge(row: &Row) -> Option<CaseOutcome> {
    let input = &row.input;
    let chain = Chain {
        usage: input.usage.map(|pages| pages.0),
        high: input.high.map(|pages| pages.0),
        ..Chain::UNLIMITED
    };
    let flags = if input.dying.0 { TaskFlags::DYING } else { TaskFlags::empty() };
    let mut bench = Bench::new(row.version, &chain, flags);
    // The highest level is the root, at which the kernel does not look.
    bench.scenario.memcgs[level(LEVELS - 2).index()].parent = None;
    bench.scenario.kernel.hz = row.hz;
    bench.current.memcg_nr_pages_over_high = input.over_high.0;
    let passes = Passes {
        reclaim: Script::new(&input.reclaim, input.reclaim_def),
        steal: Script::new(&input.steal, input.steal_def),
    };
    let mut stubs = Stubs { passes, calls: Vec::new() };
    let enough = row.calls.len() + usize::from(!row.cut.0);
    let frame = MemCgroupHandleOverHigh::enter();
    let returned = bench.run(frame, &mut stubs, |stubs| stubs.calls.len() >= enough);
    compare_calls("", &row.calls, &stubs.calls, row.cut.0).or_else(|| {
        if row.cut.0 {
            return None;
        }
        differ("returned".to_owned(), true.into(), returned.is_some().into()).or_else(|| {
            differ("usage_after".to_owned(), json!(row.usage_after), usage(&bench.world))
        })
    })
}
