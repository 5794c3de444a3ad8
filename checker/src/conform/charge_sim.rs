//! Charges and uncharges on one CPU with the kernel's counters and stock; only the reclaim pass,
//! the OOM killer and the handling of memory.high were stubs.

use super::scripted::{
    Bench, Chain, Flag, LEVELS, PageCount, Script, Version, compare_calls, differ, gfp_class,
    level, notation,
};
use super::{CaseOutcome, has_fields};
use mm_model::env::{Call, Env, Event, Question};
use mm_model::gfp::Gfp;
use mm_model::mm::memcontrol::drain_all_stock::DrainAllStock;
use mm_model::mm::memcontrol::memcg_uncharge::MemcgUncharge;
use mm_model::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use mm_model::scenario::{Steps, TaskFlags};
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
    input: Input,
    steps: Vec<Step>,
}

/// The chain at the start, the operations, and what the stubs answered.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    max: [PageCount; LEVELS],
    #[serde(default = "no_high")]
    high: [PageCount; LEVELS],
    #[serde(default)]
    usage: [PageCount; LEVELS],
    ops: Vec<Op>,
    #[serde(default)]
    reclaim: Vec<PageCount>,
    #[serde(default)]
    reclaim_def: PageCount,
    #[serde(default)]
    steal: Vec<PageCount>,
    #[serde(default)]
    steal_def: PageCount,
    #[serde(default)]
    oom: Vec<Flag>,
    #[serde(default)]
    oom_def: Flag,
}

fn no_high() -> [PageCount; LEVELS] {
    [PageCount(Pages::UNLIMITED); LEVELS]
}

/// An operation of the task.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "an operation is [\"charge\", pages, gfp class], [\"uncharge\", \
                               pages] or [\"drain\"], with known names"
)]
enum Op {
    Charge(Charge, PageCount, #[serde(deserialize_with = "gfp_class")] Gfp),
    Uncharge(Uncharge, PageCount),
    Drain((Drain,)),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Charge {
    Charge,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Uncharge {
    Uncharge,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Drain {
    Drain,
}

/// What an operation did.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    result: i64,
    #[serde(default)]
    cut: Flag,
    calls: Vec<Value>,
    usage: Value,
    stock: Value,
    in_use: Value,
    over_high: Value,
}

/// The stubs, the pages the task has in use, and the calls of the running operation.
struct Stubs {
    reclaim: Script<PageCount>,
    steal: Script<PageCount>,
    oom: Script<Flag>,
    in_use: Pages,
    calls: Vec<Value>,
}

impl Stubs {
    /// A pass frees what the task has in use, as far as the script says; then others charge.
    fn pass(&mut self, world: &mut World) -> Pages {
        let freed = self.reclaim.next().0.min(self.in_use);
        let stolen = self.steal.next().0;
        self.in_use -= freed;
        for number in 0..LEVELS {
            let usage = &mut world.memcg(level(number)).memory.usage;
            *usage -= freed;
            *usage += stolen;
        }
        freed
    }
}

impl Env for Stubs {
    fn answer(&mut self, question: Question) -> u64 {
        unreachable!("a stub answers before {:?} is asked", question.ask)
    }

    fn note(&mut self, event: Event) {
        let Event::Returned(call, value) = event else { return };
        let left_out = match call {
            Call::ConsumeStock { .. } => value == 0,
            // What stocks and the task give back shows in usage.
            Call::PageCounterUncharge { .. } => true,
            Call::PageCounterTryCharge { .. }
            | Call::PageCounterCharge { .. }
            | Call::RefillStock { .. }
            | Call::MemcgMemoryEventMax { .. }
            | Call::TryToFreeMemCgroupPages { .. }
            | Call::MemCgroupMargin { .. }
            | Call::DrainAllStock { .. }
            | Call::DrainLocalStock { .. }
            | Call::MemCgroupOom { .. }
            | Call::TryToFreePages
            | Call::BalancePgdat
            | Call::SignalPending
            | Call::LruAddDrainAll
            | Call::MemcgMemoryEventOom { .. }
            | Call::SetNotifyResume
            | Call::QueueHighWork { .. }
            | Call::MemCgroupHandleOverHigh { .. }
            | Call::MemcgMemoryEventHigh { .. }
            | Call::ScheduleTimeoutKillable { .. }
            | Call::File(_) => false,
        };
        let written = notation(call, value);
        if !left_out {
            self.calls.extend(written);
        }
    }

    fn stub(&mut self, world: &mut World, call: Call) -> Option<i64> {
        match call {
            Call::TryToFreeMemCgroupPages { .. } => Some(self.pass(world).raw()),
            Call::MemCgroupOom { .. } => Some(self.oom.next().0.into()),
            Call::MemCgroupHandleOverHigh { .. } => Some(0),
            Call::ConsumeStock { .. }
            | Call::PageCounterTryCharge { .. }
            | Call::PageCounterCharge { .. }
            | Call::PageCounterUncharge { .. }
            | Call::RefillStock { .. }
            | Call::MemcgMemoryEventMax { .. }
            | Call::MemCgroupMargin { .. }
            | Call::DrainAllStock { .. }
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
    has_fields(row, &["version", "input", "steps"])
}

/// Runs a case.
pub(super) fn run(case: &Value) -> CaseOutcome {
    let row = Row::deserialize(case).expect("the row was checked");
    let differ = |steps| judge(&row, steps);
    [Steps::Kernel, Steps::One].into_iter().find_map(differ).unwrap_or(CaseOutcome::Passed)
}

/// The first difference, or why the rest can't be compared.
fn judge(row: &Row, steps: Steps) -> Option<CaseOutcome> {
    let input = &row.input;
    let pages = |counts: [PageCount; LEVELS]| counts.map(|count| count.0);
    let chain = Chain {
        max: pages(input.max),
        high: pages(input.high),
        usage: pages(input.usage),
        memsw: false,
        steps,
    };
    let mut bench = Bench::new(row.version, &chain, TaskFlags::empty());
    let mut stubs = Stubs {
        reclaim: Script::new(&input.reclaim, input.reclaim_def),
        steal: Script::new(&input.steal, input.steal_def),
        oom: Script::new(&input.oom, input.oom_def),
        in_use: Pages::ZERO,
        calls: Vec::new(),
    };
    let counts = differ("steps".to_owned(), row.steps.len().into(), input.ops.len().into());
    for (at, (op, step)) in input.ops.iter().zip(&row.steps).enumerate() {
        let enough = step.calls.len() + usize::from(!step.cut.0);
        let result = perform(&mut bench, &mut stubs, *op, enough);
        let inside = format!("steps[{at}].");
        let calls = std::mem::take(&mut stubs.calls);
        let difference = compare_calls(&inside, &step.calls, &calls, step.cut.0);
        if difference.is_some() {
            return difference;
        }
        if step.cut.0 {
            let reason = format!("nothing is known of the steps after steps[{at}], which was cut");
            let last = at + 1 == row.steps.len();
            return if last { counts } else { Some(CaseOutcome::Skipped { reason }) };
        }
        let difference = compare_state(&inside, step, result, &bench, &stubs);
        if difference.is_some() {
            return difference;
        }
    }
    counts
}

/// Performs an operation; nothing is returned if it was stopped after enough calls.
fn perform(bench: &mut Bench, stubs: &mut Stubs, op: Op, enough: usize) -> Option<i64> {
    let stop = |stubs: &Stubs| stubs.calls.len() >= enough;
    match op {
        Op::Charge(_, PageCount(nr_pages), gfp) => {
            let frame = TryChargeMemcg::enter(&bench.scenario, level(0), gfp, nr_pages);
            let charged = bench.run(frame, stubs, stop)?;
            if charged.is_ok() {
                stubs.in_use += nr_pages;
            }
            Some(charged.map_or_else(|errno| errno as i64, |()| 0))
        }
        Op::Uncharge(_, PageCount(nr_pages)) => {
            let nr_pages = nr_pages.min(stubs.in_use);
            stubs.in_use -= nr_pages;
            stubs.calls.push(json!(["free", nr_pages]));
            bench.run(MemcgUncharge::enter(level(0), nr_pages), stubs, |_| false).map(|()| 0)
        }
        Op::Drain(_) => bench.run(DrainAllStock::enter(level(0)), stubs, |_| false).map(|()| 0),
    }
}

/// What differs after an operation.
fn compare_state(
    inside: &str,
    step: &Step,
    result: Option<i64>,
    bench: &Bench,
    stubs: &Stubs,
) -> Option<CaseOutcome> {
    let usage = |number| bench.world.memcgs[level(number).index()].memory.usage;
    let usage: Vec<Pages> = (0..LEVELS).map(usage).collect();
    let stock = bench.world.cpus[0].stocked(level(0));
    let over_high = bench.current.memcg_nr_pages_over_high;
    [
        ("result", &Value::from(step.result), json!(result)),
        ("usage", &step.usage, json!(usage)),
        ("stock", &step.stock, json!(stock)),
        ("in_use", &step.in_use, json!(stubs.in_use)),
        ("over_high", &step.over_high, json!(over_high)),
    ]
    .into_iter()
    .find_map(|(field, expected, got)| differ(format!("{inside}{field}"), expected.clone(), got))
}
