//! `try_charge_memcg()` alone: every function it calls was a stub that answered from a script.

use super::scripted::{
    Bench, Chain, Flag, LEVELS, PageCount, Script, Version, compare_calls, differ, gfp_class,
    level, notation,
};
use super::{CaseOutcome, has_fields};
use mm_model::env::{Call, Env, Event, Question};
use mm_model::gfp::Gfp;
use mm_model::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use mm_model::scenario::{Steps, TaskFlags};
use mm_model::units::Pages;
use mm_model::world::{StockSlot, World};
use serde::Deserialize;
use serde_json::Value;

/// A case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    #[serde(rename = "id")]
    _id: String,
    /// Why the case was written.
    #[serde(rename = "kind")]
    _kind: Option<String>,
    version: Version,
    #[serde(deserialize_with = "gfp_class")]
    gfp_class: Gfp,
    input: Input,
    result: i64,
    #[serde(default)]
    cut: Flag,
    calls: Vec<Value>,
    over_high: u64,
}

/// What the stubs answered, and the situation of the task.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Input {
    nr: PageCount,
    consume: Vec<Flag>,
    consume_def: Flag,
    trys: Vec<Refusal>,
    trys_def: Refusal,
    reclaim: Vec<PageCount>,
    reclaim_def: PageCount,
    margin: Vec<PageCount>,
    margin_def: PageCount,
    oom: Vec<Flag>,
    oom_def: Flag,
    pfmem: Flag,
    inoom: Flag,
    victim: Flag,
    oomskip: Flag,
    dying: Flag,
    intask: Flag,
    memsw: Flag,
    usage: [PageCount; LEVELS],
    high: [PageCount; LEVELS],
    over_high: PageCount,
}

impl Default for Input {
    fn default() -> Self {
        Self {
            nr: PageCount(Pages(1)),
            consume: Vec::new(),
            consume_def: Flag(false),
            trys: Vec::new(),
            trys_def: Refusal::default(),
            reclaim: Vec::new(),
            reclaim_def: PageCount::default(),
            margin: Vec::new(),
            margin_def: PageCount::default(),
            oom: Vec::new(),
            oom_def: Flag(false),
            pfmem: Flag(false),
            inoom: Flag(false),
            victim: Flag(false),
            oomskip: Flag(false),
            dying: Flag(false),
            intask: Flag(true),
            memsw: Flag(false),
            usage: <[PageCount; LEVELS]>::default(),
            high: [PageCount(Pages::UNLIMITED); LEVELS],
            over_high: PageCount::default(),
        }
    }
}

/// The level that refuses a charge, if one does.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "i64")]
struct Refusal(Option<usize>);

impl Default for Refusal {
    fn default() -> Self {
        Self(Some(0))
    }
}

impl TryFrom<i64> for Refusal {
    type Error = String;

    fn try_from(value: i64) -> Result<Self, String> {
        match usize::try_from(value) {
            Ok(level) if level < LEVELS => Ok(Self(Some(level))),
            Err(_) if value == -1 => Ok(Self(None)),
            Ok(_) | Err(_) => Err(format!("{value} is neither -1 nor one of {LEVELS} levels")),
        }
    }
}

impl Input {
    fn flags(&self) -> TaskFlags {
        let mut flags = TaskFlags::empty();
        flags.set(TaskFlags::MEMALLOC, self.pfmem.0);
        flags.set(TaskFlags::IN_MEMCG_OOM, self.inoom.0);
        flags.set(TaskFlags::VICTIM_SKIPPED, self.victim.0 && self.oomskip.0);
        flags.set(TaskFlags::DYING, self.dying.0);
        flags.set(TaskFlags::NOT_IN_TASK, !self.intask.0);
        flags
    }

    fn chain(&self) -> Chain {
        Chain {
            max: [Pages::UNLIMITED; LEVELS],
            high: self.high.map(|pages| pages.0),
            usage: self.usage.map(|pages| pages.0),
            memsw: self.memsw.0,
            steps: Steps::Kernel,
        }
    }
}

/// The stubs, and what they were called with.
struct Stubs {
    consume: Script<Flag>,
    trys: Script<Refusal>,
    reclaim: Script<PageCount>,
    margin: Script<PageCount>,
    oom: Script<Flag>,
    calls: Vec<Value>,
}

impl Stubs {
    fn new(input: &Input) -> Self {
        Self {
            consume: Script::new(&input.consume, input.consume_def),
            trys: Script::new(&input.trys, input.trys_def),
            reclaim: Script::new(&input.reclaim, input.reclaim_def),
            margin: Script::new(&input.margin, input.margin_def),
            oom: Script::new(&input.oom, input.oom_def),
            calls: Vec::new(),
        }
    }
}

impl Env for Stubs {
    fn answer(&mut self, question: Question) -> u64 {
        unreachable!("a stub answers before {:?} is asked", question.ask)
    }

    fn note(&mut self, event: Event) {
        if let Event::Returned(call, value) = event {
            self.calls.extend(notation(call, value));
        }
    }

    fn stub(&mut self, _: &mut World, call: Call) -> Option<i64> {
        match call {
            Call::ConsumeStock { .. } => Some(self.consume.next().0.into()),
            Call::PageCounterTryCharge { .. } => {
                Some(self.trys.next().0.map_or(-1, |refused| level(refused).0.into()))
            }
            Call::TryToFreeMemCgroupPages { .. } => Some(self.reclaim.next().0.raw()),
            Call::MemCgroupMargin { .. } => Some(self.margin.next().0.raw()),
            Call::MemCgroupOom { .. } => Some(self.oom.next().0.into()),
            Call::PageCounterCharge { .. }
            | Call::PageCounterUncharge { .. }
            | Call::RefillStock { .. }
            | Call::DrainAllStock { .. }
            | Call::MemCgroupHandleOverHigh { .. } => Some(0),
            Call::MemcgMemoryEventMax { .. }
            | Call::DrainLocalStock { .. }
            | Call::TryToFreePages
            | Call::BalancePgdat
            | Call::SignalPending
            | Call::LruAddDrainAll
            | Call::MemcgMemoryEventOom { .. }
            | Call::SetNotifyResume
            | Call::QueueHighWork { .. }
            | Call::MemcgMemoryEventHigh { .. }
            | Call::ScheduleTimeoutKillable { .. }
            | Call::File(_) => None,
        }
    }
}

/// Whether a row has this format.
pub(super) fn recognises(row: &Value) -> bool {
    has_fields(row, &["version", "gfp_class", "calls"])
}

/// Runs a case.
pub(super) fn run(case: &Value) -> CaseOutcome {
    let row = Row::deserialize(case).expect("the row was checked");
    judge(&row).unwrap_or(CaseOutcome::Passed)
}

/// The first difference.
fn judge(row: &Row) -> Option<CaseOutcome> {
    let input = &row.input;
    let mut bench = Bench::new(row.version, &input.chain(), input.flags());
    bench.current.memcg_nr_pages_over_high = input.over_high.0;
    // Every function that would change the world is a stub, so this stock must stay.
    let stock = StockSlot { memcg: level(0), nr_pages: Pages(1) };
    bench.world.cpus[0].slots[0] = Some(stock);
    let world = bench.world.clone();
    let mut stubs = Stubs::new(input);
    let frame = TryChargeMemcg::enter(&bench.scenario, level(0), row.gfp_class, input.nr.0);
    // One call more than the kernel made is a difference; a cut run made as many and went on.
    let enough = row.calls.len() + usize::from(!row.cut.0);
    let charged = bench.run(frame, &mut stubs, |stubs| stubs.calls.len() >= enough);
    compare_calls("", &row.calls, &stubs.calls, row.cut.0).or_else(|| {
        if row.cut.0 {
            return None;
        }
        let result = charged.map(|charged| charged.map_or_else(|errno| errno as i64, |()| 0));
        let over_high = bench.current.memcg_nr_pages_over_high;
        differ("result".to_owned(), row.result.into(), result.into())
            .or_else(|| differ("over_high".to_owned(), row.over_high.into(), over_high.0.into()))
            .or_else(|| differ("world".to_owned(), true.into(), (bench.world == world).into()))
    })
}
