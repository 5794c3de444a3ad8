//! `mem_cgroup_reclaim_for_batch()`: makes room for several charges at once.
//!
//! Of this function only its name, its arguments and the sense of its answer are known: the
//! patches that add it are in no public tree. The base is an assumption, the designs differ where
//! it could be another.

use crate::design::{BatchAnswer, BatchDrain, BatchLevels, BatchRefuses, BatchRoot};
use crate::env::{Call, FileCall};
use crate::gfp::Gfp;
use crate::ids::MemcgId;
use crate::mm::KernelFn;
use crate::mm::memcontrol::drain_all_stock::DrainAllStock;
use crate::mm::memcontrol::mem_cgroup_margin::mem_cgroup_margin;
use crate::mm::vmscan::try_to_free_mem_cgroup_pages::TryToFreeMemCgroupPages;
use crate::scenario::{Scenario, TaskContext, TaskFlags};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "mem_cgroup_reclaim_for_batch",
    file: "mm/memcontrol.c",
    versions: "assumed, for \"mm/readahead: avoid per-folio memcg reclaim\", v1 3/3",
    left_out: "MAX events and pressure stall accounting, of which nothing is known",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemCgroupReclaimForBatch {
    memcg: Option<MemcgId>,
    nr_pages: Pages,
    gfp: Gfp,
    at: At,
}

/// Program points.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    VariantNames,
)]
enum At {
    /// Refuses some callers, else looks at the memcg itself.
    Enter,
    /// Looks whether this level has room.
    Margin(MemcgId),
    /// In try_to_free_mem_cgroup_pages() of a level without.
    Reclaim(MemcgId, TryToFreeMemCgroupPages),
    /// Answers by what that pass brought.
    Answer { level: MemcgId, freed: bool, drained: bool },
    /// In drain_all_stock() of that level.
    Drain { level: MemcgId, freed: bool, callee: DrainAllStock },
}

type ToNext = Next<MemCgroupReclaimForBatch, bool>;

impl MemCgroupReclaimForBatch {
    /// The call, by a task that charges to `memcg`, or to none.
    pub const fn enter(memcg: Option<MemcgId>, nr_pages: Pages, gfp: Gfp) -> Self {
        Self { memcg, nr_pages, gfp, at: At::Enter }
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    const fn call(self, memcg: MemcgId) -> Call {
        let Self { nr_pages, gfp, .. } = self;
        Call::File(FileCall::MemCgroupReclaimForBatch { memcg, nr_pages, gfp })
    }

    fn answer(self, kernel: &mut Ctx<'_>, memcg: MemcgId, worth_it: bool) -> ToNext {
        kernel.returned(self.call(memcg), worth_it.into());
        Next::Return(worth_it)
    }

    fn begin(self, kernel: &mut Ctx<'_>) -> ToNext {
        let design = &kernel.scenario.design;
        let Some(memcg) = self.memcg else {
            return Next::Return(design.batch_root == BatchRoot::Yes);
        };
        if let Some(worth_it) = kernel.stub(self.call(memcg)) {
            return Next::Return(worth_it != 0);
        }
        let unfit = kernel.task.flags.intersects(TaskFlags::MEMALLOC | TaskFlags::DYING)
            || !self.gfp.allow_blocking();
        if unfit && design.batch_refuses == BatchRefuses::NonBlocking {
            return self.answer(kernel, memcg, false);
        }
        self.margin(kernel, memcg, memcg)
    }

    fn margin(self, kernel: &mut Ctx<'_>, memcg: MemcgId, level: MemcgId) -> ToNext {
        if mem_cgroup_margin(kernel, level) < self.nr_pages {
            let callee = TryToFreeMemCgroupPages::enter(level, self.nr_pages, true);
            return self.goto(At::Reclaim(level, callee));
        }
        self.level_above(kernel, memcg, level)
    }

    fn level_above(self, kernel: &mut Ctx<'_>, memcg: MemcgId, level: MemcgId) -> ToNext {
        match kernel.scenario.memcgs[level.index()].parent {
            Some(parent) => self.goto(At::Margin(parent)),
            None => self.answer(kernel, memcg, true),
        }
    }

    fn judge(
        self,
        kernel: &mut Ctx<'_>,
        memcg: MemcgId,
        (level, freed, drained): (MemcgId, bool, bool),
    ) -> ToNext {
        let design = &kernel.scenario.design;
        let worth_it = match design.batch_answer {
            BatchAnswer::Margin => mem_cgroup_margin(kernel, level) >= self.nr_pages,
            BatchAnswer::Freed => freed,
            BatchAnswer::AnyRoom => mem_cgroup_margin(kernel, level) > Pages::ZERO,
        };
        match (worth_it, design.batch_levels) {
            (true, BatchLevels::Every) => self.level_above(kernel, memcg, level),
            (true, BatchLevels::Lowest) => self.answer(kernel, memcg, true),
            (false, BatchLevels::Every | BatchLevels::Lowest)
                if !drained && design.batch_drain == BatchDrain::Once =>
            {
                self.goto(At::Drain { level, freed, callee: DrainAllStock::enter(level) })
            }
            (false, BatchLevels::Every | BatchLevels::Lowest) => self.answer(kernel, memcg, false),
        }
    }
}

impl Frame for MemCgroupReclaimForBatch {
    /// Whether one more add is worth it.
    type Output = bool;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let Some(memcg) = self.memcg else { return self.begin(kernel) };
        let inside = |at| Self { at, ..self };
        match self.at {
            At::Enter => self.begin(kernel),
            At::Margin(level) => self.margin(kernel, memcg, level),
            At::Reclaim(level, callee) => callee.step(kernel).within(
                |callee| inside(At::Reclaim(level, callee)),
                |freed| {
                    let freed = freed > Pages::ZERO;
                    self.goto(At::Answer { level, freed, drained: false })
                },
            ),
            At::Answer { level, freed, drained } => {
                self.judge(kernel, memcg, (level, freed, drained))
            }
            At::Drain { level, freed, callee } => callee.step(kernel).within(
                |callee| inside(At::Drain { level, freed, callee }),
                |()| self.goto(At::Answer { level, freed, drained: true }),
            ),
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Enter if self.memcg.is_none() => Locality::Local,
            At::Enter | At::Margin(_) => Locality::Shared,
            At::Answer { .. } => match scenario.design.batch_answer {
                BatchAnswer::Freed => Locality::Local,
                BatchAnswer::Margin | BatchAnswer::AnyRoom => Locality::Shared,
            },
            At::Reclaim(_, callee) => callee.locality(scenario, task),
            At::Drain { callee, .. } => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Enter | At::Margin(_) | At::Answer { .. } => Pages::ZERO,
            At::Reclaim(_, callee) => callee.in_flight(scenario, level),
            At::Drain { callee, .. } => callee.in_flight(scenario, level),
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Enter | At::Margin(_) | At::Answer { .. } => {}
            At::Reclaim(_, callee) => callee.stack(into),
            At::Drain { callee, .. } => callee.stack(into),
        }
    }
}
