//! The loop of a write to memory.reclaim: passes, signals and dying cgroups were scripted.

use super::scripted::{Bench, Chain, Flag, LEVELS, PageCount, Script, Version, differ, level};
use super::{CaseOutcome, has_fields};
use mm_model::design::PRESETS;
use mm_model::env::{Ask, Call, Env, Errno, Event, Question};
use mm_model::mm::memcontrol::memory_reclaim::MemoryReclaim;
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
    /// Why the case was written.
    #[serde(rename = "kind")]
    _kind: String,
    design: Rule,
    /// The kernel the design was taken from; the design says it as well.
    #[serde(rename = "kernel")]
    _kernel: String,
    input: Input,
    passes: Vec<[u64; 2]>,
    drain_before_pass: Vec<usize>,
    result: String,
    total: u64,
}

/// A design of the loop.
#[derive(Clone, Copy, Debug, Deserialize)]
enum Rule {
    #[serde(rename = "whole")]
    Whole,
    #[serde(rename = "min32")]
    Min32,
    #[serde(rename = "quarter")]
    Quarter,
    #[serde(rename = "quarter-7.3")]
    Quarter7_3,
}

impl Rule {
    const fn preset(self) -> &'static str {
        match self {
            Self::Whole => "linux-6.1",
            Self::Min32 => "reclaim-min-32",
            Self::Quarter => "linux-6.12",
            Self::Quarter7_3 => "linux-7.3",
        }
    }
}

/// What was written, and what the stubs answered.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    bytes: u64,
    request_pages: PageCount,
    reclaim: Vec<PageCount>,
    #[serde(default)]
    reclaim_def: PageCount,
    #[serde(default)]
    sig: Vec<Flag>,
    #[serde(default)]
    dyingcg: Vec<Flag>,
}

/// The stubs, and what they were called with.
struct Stubs {
    reclaim: Script<PageCount>,
    signals: Script<Flag>,
    dying: Script<Flag>,
    passes: Vec<[u64; 2]>,
    drains: Vec<usize>,
}

impl Env for Stubs {
    fn answer(&mut self, question: Question) -> u64 {
        match question.ask {
            Ask::CgroupDying(_) => self.dying.next().0.into(),
            Ask::PassFrees(_)
            | Ask::PassIsEmpty(_)
            | Ask::OomOutcome(_)
            | Ask::ChargeMoving
            | Ask::Folio(..)
            | Ask::RestartsSyscall
            | Ask::Pick(_)
            | Ask::Evicts(..)
            | Ask::ReadEnds(_)
            | Ask::FolioAllocFails(_)
            | Ask::NodeAllocFails(_)
            | Ask::Congested(_)
            | Ask::FsExpands(_)
            | Ask::FsLeaves(_) => unreachable!("the loop does not ask {:?}", question.ask),
        }
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Returned(Call::TryToFreeMemCgroupPages { nr_pages, .. }, freed) => {
                self.passes.push([nr_pages.0, freed.unsigned_abs()]);
            }
            Event::Returned(Call::LruAddDrainAll, _) => self.drains.push(self.passes.len()),
            Event::Returned(..)
            | Event::Begin(..)
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

    fn stub(&mut self, _: &mut World, call: Call) -> Option<i64> {
        if matches!(call, Call::TryToFreeMemCgroupPages { .. }) {
            return Some(self.reclaim.next().0.raw());
        }
        matches!(call, Call::SignalPending).then(|| self.signals.next().0.into())
    }
}

/// Whether a row has this format.
pub(super) fn recognises(row: &Value) -> bool {
    has_fields(row, &["design", "drain_before_pass", "passes"])
}

/// Runs a case.
pub(super) fn run(case: &Value) -> CaseOutcome {
    let row = Row::deserialize(case).expect("the row was checked");
    judge(&row).unwrap_or(CaseOutcome::Passed)
}

/// The name vectors give a result.
pub(super) fn name(result: Option<Result<(), Errno>>) -> &'static str {
    match result {
        None => "cut",
        Some(Ok(())) => "ok",
        Some(Err(Errno::EINTR)) => "EINTR",
        Some(Err(Errno::EAGAIN)) => "EAGAIN",
        Some(Err(Errno::ENOMEM)) => "ENOMEM",
        Some(Err(Errno::EFAULT)) => "EFAULT",
        Some(Err(Errno::EEXIST)) => "EEXIST",
        Some(Err(Errno::EINVAL)) => "EINVAL",
        Some(Err(Errno::ERESTARTSYS)) => "ERESTARTSYS",
    }
}

/// The first difference.
fn judge(row: &Row) -> Option<CaseOutcome> {
    let input = &row.input;
    let request = Pages(input.bytes / 4096);
    let written =
        differ("input.request_pages".to_owned(), input.request_pages.0.0.into(), request.0.into());
    let mut bench = Bench::new(Version::Linux7_3, &Chain::UNLIMITED, TaskFlags::empty());
    let preset = PRESETS.iter().find(|preset| preset.name == row.design.preset());
    bench.scenario.design = preset.expect("every rule has its preset").design.clone();
    let mut stubs = Stubs {
        reclaim: Script::new(&input.reclaim, input.reclaim_def),
        signals: Script::new(&input.sig, Flag(false)),
        dying: Script::new(&input.dyingcg, Flag(false)),
        passes: Vec::new(),
        drains: Vec::new(),
    };
    // A row that was cut says nothing of what comes after its last pass or drain.
    let cut = row.result == "cut";
    let enough = row.passes.len() + row.drain_before_pass.len() + usize::from(!cut);
    let frame = MemoryReclaim::enter(&bench.scenario, level(LEVELS - 1), request);
    let result =
        bench.run(frame, &mut stubs, |stubs| stubs.passes.len() + stubs.drains.len() >= enough);
    let total: u64 = stubs.passes.iter().map(|[_, freed]| freed).sum();
    written
        .or_else(|| differ("passes".to_owned(), json!(row.passes), json!(stubs.passes)))
        .or_else(|| {
            let expected = json!(row.drain_before_pass);
            differ("drain_before_pass".to_owned(), expected, json!(stubs.drains))
        })
        .or_else(|| differ("result".to_owned(), json!(row.result), json!(name(result))))
        .or_else(|| differ("total".to_owned(), json!(row.total), json!(total)))
}
