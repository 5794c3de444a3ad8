//! `try_charge_memcg()`: charges pages to a memcg, reclaiming for them if it must.
//!
//! The steps S1 to S21 that comments name are numbered in the order of the function's code, from
//! the retry label on.

use crate::design::{
    ChargeMoving, MarginRetry, MaxEvent, MemswNoswap, Nofail, NoreclaimBatch, Noretry,
    ProgressRetry, VictimCharge,
};
use crate::env::{Ask, Call, Counter, Errno};
use crate::gfp::Gfp;
use crate::ids::MemcgId;
use crate::mm::memcontrol::consume_stock::consume_stock;
use crate::mm::memcontrol::drain_all_stock::DrainAllStock;
use crate::mm::memcontrol::mem_cgroup_handle_over_high::MemCgroupHandleOverHigh;
use crate::mm::memcontrol::mem_cgroup_margin::{mem_cgroup_margin, mem_cgroup_margin_of};
use crate::mm::memcontrol::mem_cgroup_oom::mem_cgroup_oom;
use crate::mm::memcontrol::refill_stock::RefillStock;
use crate::mm::page_counter::page_counter_charge::PageCounterCharge;
use crate::mm::page_counter::page_counter_try_charge::PageCounterTryCharge;
use crate::mm::page_counter::page_counter_uncharge::PageCounterUncharge;
use crate::mm::vmscan::try_to_free_mem_cgroup_pages::TryToFreeMemCgroupPages;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext, TaskFlags};
use crate::step::{Ctx, Frame, Guard, Locality, Next};
use crate::units::Pages;
use crate::world::World;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "try_charge_memcg",
    file: "mm/memcontrol.c",
    versions: ALL_VERSIONS,
    left_out: "swap.high, pressure stall accounting, the root memcg, which the callers filter out",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TryChargeMemcg {
    memcg: MemcgId,
    gfp: Gfp,
    nr_pages: Pages,
    at: At,
}

/// The locals that live from one retry to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "they are the kernel's locals")]
struct Tries {
    /// Whether the charge has shrunk from a batch to the pages asked for.
    exact: bool,
    nr_retries: u8,
    drained: bool,
    passed_oom: bool,
    raised_max_event: bool,
    may_swap: bool,
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
    /// `retry:` consume_stock(). S1 to S3.
    Retry(Tries),
    /// In page_counter_try_charge() of memory+swap, cgroup v1 only. S4.
    TryChargeMemsw(Tries, PageCounterTryCharge),
    /// In page_counter_try_charge() of memory. S5.
    TryChargeMemory(Tries, PageCounterTryCharge),
    /// In page_counter_uncharge() of memory+swap, because memory refused. S5.
    UnchargeMemsw(Tries, MemcgId, PageCounterUncharge),
    /// A level refused: shrinks the batch, or decides whether this charge may reclaim. S6 to S11.
    Refused(Tries, MemcgId),
    /// In try_to_free_mem_cgroup_pages() of the level that refused. S12.
    Reclaim(Tries, MemcgId, TryToFreeMemCgroupPages),
    /// mem_cgroup_margin() of that level. S13.
    Margin { tries: Tries, level: MemcgId, progress: bool },
    /// The same, where memory.max is written meanwhile: usage is read, the limit comes next.
    MarginMax { tries: Tries, level: MemcgId, progress: bool, usage: Pages },
    /// In drain_all_stock() of that level. S14.
    DrainAllStock(Tries, DrainAllStock),
    /// No margin and nothing left to drain: retries or gives up. S15 to S20.
    NoMargin { tries: Tries, level: MemcgId, progress: bool },
    /// mem_cgroup_oom() of that level. S21.
    Oom(Tries, MemcgId),
    /// `nomem:` fails, or forces what must not fail.
    Nomem { level: MemcgId, raised_max_event: bool },
    /// `force:` in page_counter_charge() of memory, whatever the limits.
    ForceMemory { level: MemcgId, raised_max_event: bool, callee: PageCounterCharge },
    /// `force:` in page_counter_charge() of memory+swap.
    ForceMemsw { level: MemcgId, raised_max_event: bool, callee: PageCounterCharge },
    /// `done_restock:` in refill_stock() of what the batch leaves over.
    Restock(RefillStock),
    /// Compares a level's usage with its memory.high.
    High { batch: Pages, level: MemcgId },
    /// The walk is over: handles what the task has charged over memory.high, if it is enough.
    OverHigh,
    /// In mem_cgroup_handle_over_high().
    HandleOverHigh(MemCgroupHandleOverHigh),
}

type ToNext = Next<TryChargeMemcg, Result<(), Errno>>;

impl TryChargeMemcg {
    /// The call.
    pub fn enter(scenario: &Scenario, memcg: MemcgId, gfp: Gfp, nr_pages: Pages) -> Self {
        let tries = Tries {
            exact: nr_pages >= scenario.kernel.memcg_charge_batch,
            nr_retries: scenario.kernel.max_reclaim_retries,
            drained: false,
            passed_oom: false,
            raised_max_event: false,
            may_swap: true,
        };
        Self { memcg, gfp, nr_pages, at: At::Retry(tries) }
    }

    /// The flags it charges with.
    pub const fn gfp(&self) -> Gfp {
        self.gfp
    }

    /// How many pages it charges.
    pub const fn nr_pages(&self) -> Pages {
        self.nr_pages
    }

    /// Pages it has added to the memory usage of `level` and is certain to take back.
    pub fn doomed(&self, scenario: &Scenario, world: &World, level: MemcgId) -> Pages {
        match &self.at {
            At::TryChargeMemory(_, callee) => callee.doomed(scenario, world, level),
            At::Retry(_)
            | At::TryChargeMemsw(..)
            | At::UnchargeMemsw(..)
            | At::Refused(..)
            | At::Reclaim(..)
            | At::Margin { .. }
            | At::MarginMax { .. }
            | At::DrainAllStock(..)
            | At::NoMargin { .. }
            | At::Oom(..)
            | At::Nomem { .. }
            | At::ForceMemory { .. }
            | At::ForceMemsw { .. }
            | At::Restock(_)
            | At::High { .. }
            | At::OverHigh
            | At::HandleOverHigh(_) => Pages::ZERO,
        }
    }

    /// Whether it is adding to the counters whatever the limits.
    pub const fn forcing(&self) -> bool {
        matches!(self.at, At::ForceMemory { .. })
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    fn batch(self, scenario: &Scenario, tries: Tries) -> Pages {
        if tries.exact { self.nr_pages } else { scenario.kernel.memcg_charge_batch }
    }

    fn do_memsw(self, scenario: &Scenario) -> bool {
        scenario.memcgs[self.memcg.index()].memsw_max.is_some()
    }

    /// S1 to S3.
    fn retry(self, kernel: &mut Ctx<'_>, mut tries: Tries) -> ToNext {
        if consume_stock(kernel, self.memcg, self.nr_pages) {
            return Next::Return(Ok(()));
        }
        let design = &kernel.scenario.design;
        let may_reclaim = self.gfp.intersects(Gfp::DIRECT_RECLAIM | Gfp::KSWAPD_RECLAIM);
        if !may_reclaim && design.noreclaim_batch == NoreclaimBatch::Exact {
            tries.exact = true;
        }
        if design.memsw_noswap == MemswNoswap::Reset {
            tries.may_swap = true;
        }
        let batch = self.batch(kernel.scenario, tries);
        if self.do_memsw(kernel.scenario) {
            let callee = PageCounterTryCharge::enter(Counter::Memsw, self.memcg, batch);
            return self.goto(At::TryChargeMemsw(tries, callee));
        }
        self.goto(self.try_memory(kernel.scenario, tries))
    }

    fn try_memory(self, scenario: &Scenario, tries: Tries) -> At {
        let batch = self.batch(scenario, tries);
        let callee = PageCounterTryCharge::enter(Counter::Memory, self.memcg, batch);
        At::TryChargeMemory(tries, callee)
    }

    /// After the memory counter answered.
    fn tried_memory(self, kernel: &Ctx<'_>, tries: Tries, charged: Result<(), MemcgId>) -> ToNext {
        let batch = self.batch(kernel.scenario, tries);
        self.goto(match charged {
            Ok(()) if batch > self.nr_pages => {
                At::Restock(RefillStock::enter(self.memcg, batch - self.nr_pages))
            }
            Ok(()) => At::High { batch, level: self.memcg },
            Err(level) if self.do_memsw(kernel.scenario) => {
                let callee = PageCounterUncharge::enter(Counter::Memsw, self.memcg, batch);
                At::UnchargeMemsw(tries, level, callee)
            }
            Err(level) => At::Refused(tries, level),
        })
    }

    /// S6 to S11.
    fn refused(self, kernel: &mut Ctx<'_>, mut tries: Tries, level: MemcgId) -> ToNext {
        if !tries.exact {
            tries.exact = true;
            return self.goto(At::Retry(tries));
        }
        let flags = kernel.task.flags;
        if flags.contains(TaskFlags::MEMALLOC) {
            return self.force(kernel, level, tries.raised_max_event);
        }
        let victim_fails = kernel.scenario.design.victim_charge == VictimCharge::Fails
            && flags.contains(TaskFlags::VICTIM_SKIPPED);
        if flags.contains(TaskFlags::IN_MEMCG_OOM) || !self.gfp.allow_blocking() || victim_fails {
            let raised_max_event = tries.raised_max_event;
            return self.goto(At::Nomem { level, raised_max_event });
        }
        kernel.returned(Call::MemcgMemoryEventMax { memcg: level }, 0);
        tries.raised_max_event = true;
        let callee = TryToFreeMemCgroupPages::enter(level, self.nr_pages, tries.may_swap);
        self.goto(At::Reclaim(tries, level, callee))
    }

    /// S13. One step unless somebody writes the limit between the two reads.
    fn read_margin(
        self,
        kernel: &mut Ctx<'_>,
        tries: Tries,
        level: MemcgId,
        progress: bool,
    ) -> ToNext {
        if kernel.scenario.max_is_written() {
            let usage = kernel.world.memcg(level).memory.usage;
            return self.goto(At::MarginMax { tries, level, progress, usage });
        }
        let margin = mem_cgroup_margin(kernel, level);
        self.margin(kernel, tries, level, progress, margin)
    }

    /// S13, then S14 where stocks may still hold pages.
    fn margin(
        self,
        kernel: &mut Ctx<'_>,
        mut tries: Tries,
        level: MemcgId,
        progress: bool,
        margin: Pages,
    ) -> ToNext {
        if margin >= self.nr_pages {
            return match kernel.scenario.design.margin_retry {
                // No counter: others can take the margin before the retry, each time.
                MarginRetry::Uncounted => self.goto(At::Retry(tries)),
                MarginRetry::Counted => self.count_retry(tries, level),
            };
        }
        if !tries.drained {
            tries.drained = true;
            return self.goto(At::DrainAllStock(tries, DrainAllStock::enter(level)));
        }
        self.goto(At::NoMargin { tries, level, progress })
    }

    /// S15 to S20.
    fn no_margin(
        self,
        kernel: &mut Ctx<'_>,
        tries: Tries,
        level: MemcgId,
        progress: bool,
    ) -> ToNext {
        let Scenario { design, kernel: constants, policy, .. } = kernel.scenario;
        if self.gfp.contains(Gfp::NORETRY) && design.noretry == Noretry::AfterDrain {
            return self.nomem(tries, level);
        }
        let small = self.nr_pages.0 <= 1 << constants.page_alloc_costly_order;
        if progress && small && design.progress_retry == ProgressRetry::Uncounted {
            // No counter either.
            return self.goto(At::Retry(tries));
        }
        if design.charge_moving == ChargeMoving::Waits
            && kernel.ask(Ask::ChargeMoving, u64::from(policy.charge_moving)) == 1
        {
            return self.goto(At::Retry(tries));
        }
        if tries.nr_retries > 0 {
            return self.count_retry(tries, level);
        }
        let dying_after_oom = tries.passed_oom && kernel.task.flags.contains(TaskFlags::DYING);
        if self.gfp.contains(Gfp::RETRY_MAYFAIL) || dying_after_oom {
            return self.nomem(tries, level);
        }
        self.goto(At::Oom(tries, level))
    }

    /// A retry that counts; without one left, the charge goes where S18 would send it.
    fn count_retry(self, mut tries: Tries, level: MemcgId) -> ToNext {
        match tries.nr_retries.checked_sub(1) {
            Some(left) => {
                tries.nr_retries = left;
                self.goto(At::Retry(tries))
            }
            None => self.goto(At::NoMargin { tries, level, progress: false }),
        }
    }

    const fn nomem(self, tries: Tries, level: MemcgId) -> ToNext {
        self.goto(At::Nomem { level, raised_max_event: tries.raised_max_event })
    }

    /// S21.
    fn oom(self, kernel: &mut Ctx<'_>, mut tries: Tries, level: MemcgId) -> ToNext {
        if !mem_cgroup_oom(kernel, level, self.nr_pages.order()) {
            return self.nomem(tries, level);
        }
        tries.passed_oom = true;
        tries.nr_retries = kernel.scenario.kernel.max_reclaim_retries;
        self.goto(At::Retry(tries))
    }

    fn at_nomem(self, kernel: &mut Ctx<'_>, level: MemcgId, raised_max_event: bool) -> ToNext {
        let forced = match kernel.scenario.design.nofail {
            Nofail::Forced => Gfp::NOFAIL | Gfp::HIGH,
            Nofail::Refused => Gfp::HIGH,
        };
        if self.gfp.intersects(forced) {
            return self.force(kernel, level, raised_max_event);
        }
        if kernel.scenario.design.max_event == MaxEvent::ForcedOrRejectedAfter {
            raise_max_event(kernel, level, raised_max_event);
        }
        Next::Return(Err(Errno::ENOMEM))
    }

    fn force(self, kernel: &mut Ctx<'_>, level: MemcgId, raised_max_event: bool) -> ToNext {
        if kernel.scenario.design.max_event == MaxEvent::ForcedBefore {
            raise_max_event(kernel, level, raised_max_event);
        }
        let callee = PageCounterCharge::enter(Counter::Memory, self.memcg, self.nr_pages);
        self.goto(At::ForceMemory { level, raised_max_event, callee })
    }

    fn forced(kernel: &mut Ctx<'_>, level: MemcgId, raised_max_event: bool) -> ToNext {
        if kernel.scenario.design.max_event == MaxEvent::ForcedOrRejectedAfter {
            raise_max_event(kernel, level, raised_max_event);
        }
        Next::Return(Ok(()))
    }

    /// One level of the memory.high walk: the first level that is over ends it.
    fn high(self, kernel: &mut Ctx<'_>, batch: Pages, level: MemcgId) -> ToNext {
        let memcg = kernel.world.memcg(level);
        if memcg.memory.usage > memcg.high {
            if kernel.task.flags.contains(TaskFlags::NOT_IN_TASK) {
                kernel.returned(Call::QueueHighWork { memcg: level }, 0);
            } else {
                // What was charged is added, not what it is over.
                kernel.current.memcg_nr_pages_over_high += batch;
                kernel.returned(Call::SetNotifyResume, 0);
            }
            return self.goto(At::OverHigh);
        }
        self.goto(match kernel.scenario.memcgs[level.index()].parent {
            Some(level) => At::High { batch, level },
            None => At::OverHigh,
        })
    }

    fn over_high(self, kernel: &Ctx<'_>) -> ToNext {
        let enough =
            kernel.current.memcg_nr_pages_over_high > kernel.scenario.kernel.memcg_charge_batch;
        let reclaiming = kernel.task.flags.contains(TaskFlags::MEMALLOC);
        if enough && !reclaiming && self.gfp.allow_blocking() {
            self.goto(At::HandleOverHigh(MemCgroupHandleOverHigh::enter()))
        } else {
            Next::Return(Ok(()))
        }
    }
}

fn raise_max_event(kernel: &mut Ctx<'_>, level: MemcgId, raised: bool) {
    if !raised {
        kernel.returned(Call::MemcgMemoryEventMax { memcg: level }, 0);
    }
}

impl Frame for TryChargeMemcg {
    type Output = Result<(), Errno>;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let inside = |at| Self { at, ..self };
        match self.at {
            At::Retry(tries) => self.retry(kernel, tries),
            At::TryChargeMemsw(tries, callee) => callee.step(kernel).within(
                |callee| inside(At::TryChargeMemsw(tries, callee)),
                |charged| match charged {
                    Ok(()) => self.goto(self.try_memory(kernel.scenario, tries)),
                    Err(level) => self.goto(At::Refused(Tries { may_swap: false, ..tries }, level)),
                },
            ),
            At::TryChargeMemory(tries, callee) => callee.step(kernel).within(
                |callee| inside(At::TryChargeMemory(tries, callee)),
                |charged| self.tried_memory(kernel, tries, charged),
            ),
            At::UnchargeMemsw(tries, level, callee) => callee.step(kernel).within(
                |callee| inside(At::UnchargeMemsw(tries, level, callee)),
                |()| self.goto(At::Refused(tries, level)),
            ),
            At::Refused(tries, level) => self.refused(kernel, tries, level),
            At::Reclaim(tries, level, callee) => callee.step(kernel).within(
                |callee| inside(At::Reclaim(tries, level, callee)),
                |freed| self.goto(At::Margin { tries, level, progress: freed > Pages::ZERO }),
            ),
            At::Margin { tries, level, progress } => {
                self.read_margin(kernel, tries, level, progress)
            }
            At::MarginMax { tries, level, progress, usage } => {
                let margin = mem_cgroup_margin_of(kernel, level, usage);
                self.margin(kernel, tries, level, progress, margin)
            }
            At::DrainAllStock(tries, callee) => callee.step(kernel).within(
                |callee| inside(At::DrainAllStock(tries, callee)),
                |()| self.goto(At::Retry(tries)),
            ),
            At::NoMargin { tries, level, progress } => {
                self.no_margin(kernel, tries, level, progress)
            }
            At::Oom(tries, level) => self.oom(kernel, tries, level),
            At::Nomem { level, raised_max_event } => self.at_nomem(kernel, level, raised_max_event),
            At::ForceMemory { level, raised_max_event, callee } => callee.step(kernel).within(
                |callee| inside(At::ForceMemory { level, raised_max_event, callee }),
                |()| {
                    if !self.do_memsw(kernel.scenario) {
                        return Self::forced(kernel, level, raised_max_event);
                    }
                    let callee =
                        PageCounterCharge::enter(Counter::Memsw, self.memcg, self.nr_pages);
                    self.goto(At::ForceMemsw { level, raised_max_event, callee })
                },
            ),
            At::ForceMemsw { level, raised_max_event, callee } => callee.step(kernel).within(
                |callee| inside(At::ForceMemsw { level, raised_max_event, callee }),
                |()| Self::forced(kernel, level, raised_max_event),
            ),
            At::Restock(callee) => {
                let batch = kernel.scenario.kernel.memcg_charge_batch;
                callee.step(kernel).within(
                    |callee| inside(At::Restock(callee)),
                    |()| self.goto(At::High { batch, level: self.memcg }),
                )
            }
            At::High { batch, level } => self.high(kernel, batch, level),
            At::OverHigh => self.over_high(kernel),
            At::HandleOverHigh(callee) => callee
                .step(kernel)
                .within(|callee| inside(At::HandleOverHigh(callee)), |()| Next::Return(Ok(()))),
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Retry(_) if !scenario.stocks_in_use() => Locality::Local,
            At::Retry(_) => Locality::LocalIf(Guard::StockEmpty(task.cpu, self.memcg)),
            At::TryChargeMemsw(_, callee) | At::TryChargeMemory(_, callee) => {
                callee.locality(scenario, task)
            }
            At::UnchargeMemsw(_, _, callee) => callee.locality(scenario, task),
            At::Reclaim(_, _, callee) => callee.locality(scenario, task),
            At::DrainAllStock(_, callee) => callee.locality(scenario, task),
            At::ForceMemory { callee, .. } | At::ForceMemsw { callee, .. } => {
                callee.locality(scenario, task)
            }
            At::Restock(callee) => callee.locality(scenario, task),
            At::HandleOverHigh(callee) => callee.locality(scenario, task),
            // Without a memory.high anywhere above, the walk reads only what nobody changes.
            At::High { .. } if !scenario.high_in_use(self.memcg) => Locality::Local,
            At::Margin { .. } | At::MarginMax { .. } | At::Oom(..) | At::High { .. } => {
                Locality::Shared
            }
            At::Refused(..) | At::NoMargin { .. } | At::Nomem { .. } | At::OverHigh => {
                Locality::Local
            }
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        let charged = || {
            let holds = scenario.lineage(self.memcg).any(|at| at == level);
            if holds { self.nr_pages } else { Pages::ZERO }
        };
        match &self.at {
            At::TryChargeMemsw(_, callee) | At::TryChargeMemory(_, callee) => {
                callee.in_flight(scenario, level)
            }
            At::Reclaim(_, _, callee) => callee.in_flight(scenario, level),
            At::DrainAllStock(_, callee) => callee.in_flight(scenario, level),
            At::ForceMemory { callee, .. } => callee.in_flight(scenario, level),
            At::Restock(callee) => charged() + callee.in_flight(scenario, level),
            At::ForceMemsw { .. } | At::High { .. } | At::OverHigh => charged(),
            At::HandleOverHigh(callee) => charged() + callee.in_flight(scenario, level),
            At::Retry(_)
            | At::UnchargeMemsw(..)
            | At::Refused(..)
            | At::Margin { .. }
            | At::MarginMax { .. }
            | At::NoMargin { .. }
            | At::Oom(..)
            | At::Nomem { .. } => Pages::ZERO,
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::TryChargeMemsw(_, callee) | At::TryChargeMemory(_, callee) => callee.stack(into),
            At::UnchargeMemsw(_, _, callee) => callee.stack(into),
            At::Reclaim(_, _, callee) => callee.stack(into),
            At::DrainAllStock(_, callee) => callee.stack(into),
            At::ForceMemory { callee, .. } | At::ForceMemsw { callee, .. } => callee.stack(into),
            At::Restock(callee) => callee.stack(into),
            At::HandleOverHigh(callee) => callee.stack(into),
            At::Retry(_)
            | At::Refused(..)
            | At::Margin { .. }
            | At::MarginMax { .. }
            | At::NoMargin { .. }
            | At::Oom(..)
            | At::Nomem { .. }
            | At::High { .. }
            | At::OverHigh => {}
        }
    }
}
