//! What the formats of the charge path share: a chain of three levels, scripts of answers, and the
//! notation in which a vector lists the kernel's calls.

use super::CaseOutcome;
use super::reached::{self, Hearing};
use mm_model::design::PRESETS;
use mm_model::env::{Call, Counter, Env};
use mm_model::gfp::Gfp;
use mm_model::ids::{ActorId, CpuId, MemcgId};
use mm_model::kernel::Kernel;
use mm_model::lru::EvictionOrder;
use mm_model::scenario::{
    CpuConfig, EmptyPasses, FilePolicy, Granularity, MemcgConfig, OomOutcome, PassFrees, Policy,
    Reclaim, ReclaimPolicy, ReclaimSteps, Scenario, Steps, TaskContext, TaskFlags,
};
use mm_model::state::Current;
use mm_model::step::{Ctx, Frame, Next};
use mm_model::units::Pages;
use mm_model::world::World;
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::{Value, json};

/// Levels of the chain: the memcg that is charged, its parent, the root.
pub(super) const LEVELS: usize = 3;

/// A level of the chain by its number in a vector. The model lists parents first, vectors last.
pub(super) fn level(number: usize) -> MemcgId {
    MemcgId::from(LEVELS - 1 - number)
}

fn number(level: MemcgId) -> i64 {
    let last = MemcgId::from(LEVELS - 1);
    i64::from(last.0) - i64::from(level.0)
}

/// A kernel the vectors were computed with.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) enum Version {
    #[serde(rename = "6.1")]
    Linux6_1,
    #[serde(rename = "6.12")]
    Linux6_12,
    #[serde(rename = "7.3")]
    Linux7_3,
}

impl Version {
    const fn preset(self) -> &'static str {
        match self {
            Self::Linux6_1 => "linux-6.1",
            Self::Linux6_12 => "linux-6.12",
            Self::Linux7_3 => "linux-7.3",
        }
    }
}

/// 0 or 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u64")]
pub(super) struct Flag(pub bool);

impl TryFrom<u64> for Flag {
    type Error = String;

    fn try_from(value: u64) -> Result<Self, String> {
        match value {
            0 => Ok(Self(false)),
            1 => Ok(Self(true)),
            other => Err(format!("{other} is neither 0 nor 1")),
        }
    }
}

/// A number of pages that a kernel counter can hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u64")]
pub(super) struct PageCount(pub Pages);

impl TryFrom<u64> for PageCount {
    type Error = String;

    fn try_from(value: u64) -> Result<Self, String> {
        let largest = Pages::UNLIMITED;
        if Pages(value) > largest {
            return Err(format!("{value} pages are more than a counter holds ({})", largest.0));
        }
        Ok(Self(Pages(value)))
    }
}

/// Reads the name of a gfp class.
pub(super) fn gfp_class<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Gfp, D::Error> {
    let name = String::deserialize(deserializer)?;
    Gfp::class(&name).ok_or_else(|| {
        let names: Vec<_> = Gfp::CLASSES.iter().map(|class| class.name).collect();
        D::Error::custom(format!("no gfp class is named `{name}`; there are {}", names.join(", ")))
    })
}

/// Answers, one a call; after the last one always the same.
#[derive(Clone, Debug)]
pub(super) struct Script<T> {
    values: Vec<T>,
    asked: usize,
    default: T,
}

impl<T: Copy> Script<T> {
    pub(super) fn new(values: &[T], default: T) -> Self {
        Self { values: values.to_vec(), asked: 0, default }
    }

    pub(super) fn next(&mut self) -> T {
        let answer = self.values.get(self.asked).copied().unwrap_or(self.default);
        self.asked += 1;
        answer
    }
}

/// Limits and usage of the chain, by level.
pub(super) struct Chain {
    pub(super) max: [Pages; LEVELS],
    pub(super) high: [Pages; LEVELS],
    pub(super) usage: [Pages; LEVELS],
    pub(super) memsw: bool,
    /// Whether the counters and the drain are looked at as one step or as the kernel's steps,
    /// which must not matter where only one task runs.
    pub(super) steps: Steps,
}

impl Chain {
    /// Without limits, and nothing charged.
    pub(super) const UNLIMITED: Self = Self {
        max: [Pages::UNLIMITED; LEVELS],
        high: [Pages::UNLIMITED; LEVELS],
        usage: [Pages::ZERO; LEVELS],
        memsw: false,
        steps: Steps::Kernel,
    };
}

/// One task on one CPU, charging to level 0 of a chain.
pub(super) struct Bench {
    pub(super) scenario: Scenario,
    pub(super) world: World,
    pub(super) current: Current,
    task: TaskContext,
}

impl Bench {
    pub(super) fn new(version: Version, chain: &Chain, flags: TaskFlags) -> Self {
        let preset = PRESETS.iter().find(|preset| preset.name == version.preset());
        let memcg = |number: usize| MemcgConfig {
            name: format!("level {number}"),
            parent: (number + 1 < LEVELS).then(|| level(number + 1)),
            max: chain.max[number],
            high: chain.high[number],
            memsw_max: chain.memsw.then_some(chain.max[number]),
            lru: Pages::ZERO,
            anon: Pages::ZERO,
            reclaim: Reclaim::default(),
        };
        let scenario = Scenario {
            kernel: Kernel::default(),
            design: preset.expect("every version has its preset").design.clone(),
            memcgs: (0..LEVELS).rev().map(memcg).collect(),
            cpus: vec![CpuConfig::default()],
            inodes: Vec::new(),
            files: Vec::new(),
            actors: Vec::new(),
            policy: Policy {
                pass_frees: PassFrees::Goal,
                empty_passes: EmptyPasses::Freely,
                oom: vec![OomOutcome::None],
                charge_moving: false,
                reclaim: ReclaimPolicy {
                    order: EvictionOrder::Lru,
                    swap: true,
                    cgroup_may_die: true,
                    syscalls_restart: false,
                },
                file: FilePolicy::default(),
            },
            granularity: Granularity {
                counter: chain.steps,
                drain: chain.steps,
                reclaim: ReclaimSteps { walk: Steps::Kernel, ..ReclaimSteps::default() },
                file_ra_state: Steps::Kernel,
            },
            ram: None,
        };
        let mut world = scenario.initial().world;
        for (number, usage) in chain.usage.into_iter().enumerate() {
            let memcg = world.memcg(level(number));
            memcg.memory.usage = usage;
            if let Some(memsw) = &mut memcg.memsw {
                memsw.usage = usage;
            }
        }
        let task = TaskContext { memcg: level(0), cpu: CpuId(0), flags };
        Self { scenario, world, current: Current::default(), task }
    }

    /// Runs a function until it returns, or until `stop` says that enough was seen.
    pub(super) fn run<F: Frame, E: Env>(
        &mut self,
        mut frame: F,
        env: &mut E,
        stop: impl Fn(&E) -> bool,
    ) -> Option<F::Output> {
        while !stop(env) {
            match self.step(frame, env) {
                Next::Goto(next) => frame = next,
                Next::Return(value) => return Some(value),
            }
        }
        None
    }

    /// Takes one step of a function.
    pub(super) fn step<F: Frame, E: Env>(&mut self, frame: F, env: &mut E) -> Next<F, F::Output> {
        reached::at(&frame);
        frame.step(&mut Ctx {
            scenario: &self.scenario,
            world: &mut self.world,
            actors: &[],
            me: ActorId(0),
            task: &self.task,
            current: &mut self.current,
            env: &mut Hearing(env),
        })
    }
}

/// A call that returned, as vectors write it; nothing for calls they leave out.
///
/// # Panics
/// If a call that returns nothing returned something.
pub(super) fn notation(call: Call, value: i64) -> Option<Value> {
    let name = |counter| match counter {
        Counter::Memory => "memory",
        Counter::Memsw => "memsw",
    };
    let nothing = |written: Value| {
        assert_eq!(value, 0, "{call:?} returns nothing");
        written
    };
    Some(match call {
        Call::ConsumeStock { nr_pages, .. } => json!(["consume", nr_pages, value]),
        Call::PageCounterTryCharge { counter, nr_pages, .. } => {
            let refused = usize::try_from(value).map_or(value, |id| number(id.into()));
            json!(["try", name(counter), nr_pages, refused])
        }
        Call::TryToFreeMemCgroupPages { memcg, nr_pages, may_swap } => {
            json!(["reclaim", number(memcg), nr_pages, value, u8::from(may_swap)])
        }
        Call::MemCgroupMargin { memcg } => json!(["margin", number(memcg), value]),
        Call::MemCgroupOom { memcg, order } => json!(["oom", number(memcg), order, value]),
        Call::PageCounterCharge { counter, nr_pages, .. } => {
            nothing(json!(["force", name(counter), nr_pages]))
        }
        Call::PageCounterUncharge { counter, nr_pages, .. } => {
            nothing(json!(["uncharge", name(counter), nr_pages]))
        }
        Call::RefillStock { nr_pages, .. } => nothing(json!(["refill", nr_pages])),
        Call::MemcgMemoryEventMax { memcg } => nothing(json!(["event", number(memcg), "max"])),
        Call::DrainAllStock { root } => nothing(json!(["drain", number(root)])),
        Call::SetNotifyResume => nothing(json!(["notify"])),
        Call::QueueHighWork { memcg } => nothing(json!(["high_work", number(memcg)])),
        Call::MemCgroupHandleOverHigh { nr_pages } => nothing(json!(["handle_high", nr_pages])),
        Call::MemcgMemoryEventHigh { memcg } => nothing(json!(["event", number(memcg), "high"])),
        Call::ScheduleTimeoutKillable { jiffies } => nothing(json!(["sleep", jiffies])),
        Call::DrainLocalStock { .. }
        | Call::LruAddDrainAll
        | Call::MemcgMemoryEventOom { .. }
        | Call::File(_) => {
            nothing(Value::Null);
            return None;
        }
        Call::TryToFreePages | Call::BalancePgdat | Call::SignalPending => return None,
    })
}

/// The first of two values at `place` that differ, unless they agree.
pub(super) fn differ(place: String, expected: Value, got: Value) -> Option<CaseOutcome> {
    (expected != got).then_some(CaseOutcome::Failed { place, expected, got })
}

/// The first call that differs. Of a run that was cut only the beginning is known.
pub(super) fn compare_calls(
    inside: &str,
    expected: &[Value],
    got: &[Value],
    cut: bool,
) -> Option<CaseOutcome> {
    let known = if cut { expected.len() } else { expected.len().max(got.len()) };
    (0..known).find_map(|at| {
        let nth = |calls: &[Value]| calls.get(at).cloned().unwrap_or_default();
        differ(format!("{inside}calls[{at}]"), nth(expected), nth(got))
    })
}
