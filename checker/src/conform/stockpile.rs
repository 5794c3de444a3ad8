//! `madvise_stockpile()` and `mem_cgroup_stockpile()` of the proposal: passes of either kind,
//! signals, and what others charge meanwhile were scripted.

use super::high::{Passes, usage};
use super::reclaim::name;
use super::scripted::{
    Bench, Chain, Flag, LEVELS, PageCount, Script, Version, compare_calls, differ, notation,
};
use super::{CaseOutcome, has_fields};
use mm_model::env::{Call, Env, Event, Question};
use mm_model::mm::madvise::madvise_stockpile::MadviseStockpile;
use mm_model::scenario::{Ram, TaskFlags};
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
    input: Input,
    calls: Vec<Value>,
    result: String,
    usage_after: [u64; LEVELS],
    free_after: u64,
}

/// The situation, and what the stubs answered.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    bytes: u64,
    #[serde(default)]
    ptr: u64,
    usage: [PageCount; LEVELS],
    max: [PageCount; LEVELS],
    high: [PageCount; LEVELS],
    gfree: PageCount,
    reserve: PageCount,
    totalram: PageCount,
    reclaim: Vec<PageCount>,
    #[serde(default)]
    reclaim_def: PageCount,
    #[serde(default)]
    steal: Vec<PageCount>,
    #[serde(default)]
    steal_def: PageCount,
    gl: Vec<PageCount>,
    #[serde(default)]
    gl_def: PageCount,
    #[serde(default)]
    sig: Vec<Flag>,
}

/// The stubs, and the calls that were made.
struct Stubs {
    passes: Passes,
    global: Script<PageCount>,
    signals: Script<Flag>,
    calls: Vec<Value>,
}

impl Env for Stubs {
    fn answer(&mut self, question: Question) -> u64 {
        unreachable!("the stockpile does not ask {:?}", question.ask)
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Returned(Call::SignalPending, _) => self.calls.push(json!(["signal"])),
            Event::Returned(call, value) => self.calls.extend(notation(call, value)),
            Event::Begin(..)
            | Event::End(..)
            | Event::AboveMax(..)
            | Event::Requested(_)
            | Event::Fulfilled(..)
            | Event::Reclaimed(..)
            | Event::Unused(..)
            | Event::Restarted(_)
            | Event::Signalled(_)
            | Event::Turned(..)
            | Event::Wrapped(_)
            | Event::ReadAhead(_) => {}
        }
    }

    fn stub(&mut self, world: &mut World, call: Call) -> Option<i64> {
        match call {
            Call::TryToFreeMemCgroupPages { .. } => Some(self.passes.pass(world)),
            Call::TryToFreePages => {
                let (freed, stolen) = (self.global.next().0, self.passes.steal.next().0);
                self.calls.push(json!(["global", freed, stolen]));
                world.free(freed);
                world.allocate(stolen);
                Some(freed.raw())
            }
            Call::SignalPending => Some(self.signals.next().0.into()),
            Call::ConsumeStock { .. }
            | Call::PageCounterTryCharge { .. }
            | Call::PageCounterCharge { .. }
            | Call::PageCounterUncharge { .. }
            | Call::RefillStock { .. }
            | Call::MemcgMemoryEventMax { .. }
            | Call::MemCgroupMargin { .. }
            | Call::DrainAllStock { .. }
            | Call::DrainLocalStock { .. }
            | Call::MemCgroupOom { .. }
            | Call::BalancePgdat
            | Call::LruAddDrainAll
            | Call::MemcgMemoryEventOom { .. }
            | Call::SetNotifyResume
            | Call::QueueHighWork { .. }
            | Call::MemCgroupHandleOverHigh { .. }
            | Call::MemcgMemoryEventHigh { .. }
            | Call::ScheduleTimeoutKillable { .. }
            | Call::File(_) => None,
        }
    }
}

/// Whether a row has this format.
pub(super) fn recognises(row: &Value) -> bool {
    has_fields(row, &["free_after", "usage_after", "calls"])
}

/// Runs a case.
pub(super) fn run(case: &Value) -> CaseOutcome {
    let row = Row::deserialize(case).expect("the row was checked");
    judge(&row).unwrap_or(CaseOutcome::Passed)
}

/// The first difference.
fn judge(row: &Row) -> Option<CaseOutcome> {
    let input = &row.input;
    let chain = Chain {
        usage: input.usage.map(|pages| pages.0),
        max: input.max.map(|pages| pages.0),
        high: input.high.map(|pages| pages.0),
        ..Chain::UNLIMITED
    };
    let mut bench = Bench::new(Version::Linux7_3, &chain, TaskFlags::empty());
    bench.scenario.ram =
        Some(Ram { total: input.totalram.0, reserve: input.reserve.0, free: input.gfree.0 });
    bench.world.free_pages = Some(input.gfree.0);
    let passes = Passes {
        reclaim: Script::new(&input.reclaim, input.reclaim_def),
        steal: Script::new(&input.steal, input.steal_def),
    };
    let global = Script::new(&input.gl, input.gl_def);
    let signals = Script::new(&input.sig, Flag(false));
    let mut stubs = Stubs { passes, global, signals, calls: Vec::new() };
    let cut = row.result == "cut";
    let enough = row.calls.len() + usize::from(!cut);
    let frame = MadviseStockpile::enter(input.ptr, Pages(input.bytes / 4096));
    let result = bench.run(frame, &mut stubs, |stubs| stubs.calls.len() >= enough);
    compare_calls("", &row.calls, &stubs.calls, cut).or_else(|| {
        let free = bench.world.free_pages;
        differ("result".to_owned(), json!(row.result), json!(name(result)))
            .or_else(|| {
                differ("usage_after".to_owned(), json!(row.usage_after), usage(&bench.world))
            })
            .or_else(|| differ("free_after".to_owned(), json!(row.free_after), json!(free)))
    })
}
