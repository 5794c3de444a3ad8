//! The named designs: kernel versions, and designs that are wrong on purpose.

use super::{
    ChargeMoving, CounterTest, CounterUndo, Design, DrainQueue, DrainWait, DyingCgroup, DyingOom,
    DyingOverHigh, HighWrite, HighWriteProgress, Lru, MarginRetry, MaxEvent, MemcgWalk,
    MemswNoswap, MglruBudget, MglruGoal, MglruSignal, Nofail, NoreclaimBatch, Noretry,
    OversizeRefill, ProgressRetry, ReclaimBatch, ReclaimRetries, ReclaimSignal, StockSlots,
    StockpileProgress, VictimCharge,
};

/// A design with a name.
pub struct Preset {
    /// The name in a spec and on the command line.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// Its decisions.
    pub design: Design,
}

const LINUX_7_3: Design = Design {
    stock_slots: StockSlots::Several,
    oversize_refill: OversizeRefill::UnchargeAtOnce,
    drain_queue: DrainQueue::NotIsolated,
    drain_wait: DrainWait::No,
    noreclaim_batch: NoreclaimBatch::Exact,
    memsw_noswap: MemswNoswap::Reset,
    victim_charge: VictimCharge::Fails,
    max_event: MaxEvent::ForcedOrRejectedAfter,
    charge_moving: ChargeMoving::Gone,
    dying_oom: DyingOom::LooksForVictim,
    dying_over_high: DyingOverHigh::Leaves,
    margin_retry: MarginRetry::Uncounted,
    progress_retry: ProgressRetry::Uncounted,
    noretry: Noretry::AfterDrain,
    nofail: Nofail::Forced,
    counter_test: CounterTest::AddThenCompare,
    counter_undo: CounterUndo::AllLevels,
    lru: Lru::Classic,
    memcg_walk: MemcgWalk::Shared,
    mglru_budget: MglruBudget::Once,
    mglru_goal: MglruGoal::Always,
    mglru_signal: MglruSignal::EndsProactive,
    reclaim_batch: ReclaimBatch::Fraction,
    reclaim_retries: ReclaimRetries::InTotal,
    high_write: HighWrite::SetsFirst,
    high_write_progress: HighWriteProgress::Uncounted,
    stockpile_progress: StockpileProgress::Uncounted,
    reclaim_signal: ReclaimSignal::Restarts,
    dying_cgroup: DyingCgroup::Stops,
    reclaim_batch_divisor: 4,
    reclaim_floor: 1,
};

const LINUX_6_12: Design = Design {
    stock_slots: StockSlots::One,
    oversize_refill: OversizeRefill::ThroughTheSlot,
    noreclaim_batch: NoreclaimBatch::Batch,
    memsw_noswap: MemswNoswap::Sticky,
    max_event: MaxEvent::ForcedBefore,
    charge_moving: ChargeMoving::Waits,
    dying_oom: DyingOom::Succeeds,
    mglru_budget: MglruBudget::Evictable,
    mglru_goal: MglruGoal::Root,
    mglru_signal: MglruSignal::Ignored,
    reclaim_signal: ReclaimSignal::Interrupts,
    dying_cgroup: DyingCgroup::GoesOn,
    ..LINUX_7_3
};

const LINUX_6_1: Design = Design {
    drain_queue: DrainQueue::EveryCpu,
    victim_charge: VictimCharge::Retries,
    dying_over_high: DyingOverHigh::Reclaims,
    memcg_walk: MemcgWalk::Full,
    mglru_budget: MglruBudget::Total,
    mglru_signal: MglruSignal::FatalCounts,
    reclaim_batch: ReclaimBatch::Whole,
    ..LINUX_6_12
};

const RECLAIM_MIN_32: Design = Design { reclaim_batch: ReclaimBatch::Clipped, ..LINUX_6_12 };

const RECLAIM_MIN_32_7_3: Design = Design { reclaim_batch: ReclaimBatch::Clipped, ..LINUX_7_3 };

const RECLAIM_WHOLE_7_3: Design = Design { reclaim_batch: ReclaimBatch::Whole, ..LINUX_7_3 };

/// The kernels, newest first.
pub const PRESETS: &[Preset] = &[
    Preset { name: "linux-7.3", summary: "Linux 7.3.4", design: LINUX_7_3 },
    Preset { name: "linux-6.12", summary: "Linux 6.12.117", design: LINUX_6_12 },
    Preset { name: "linux-6.1", summary: "Linux 6.1.192", design: LINUX_6_1 },
    Preset {
        name: "reclaim-min-32",
        summary: "Linux 6.12.117 with memory.reclaim in batches of at most SWAP_CLUSTER_MAX",
        design: RECLAIM_MIN_32,
    },
    Preset {
        name: "reclaim-min-32-7.3",
        summary: "Linux 7.3.4 with memory.reclaim in batches of at most SWAP_CLUSTER_MAX",
        design: RECLAIM_MIN_32_7_3,
    },
    Preset {
        name: "reclaim-whole-7.3",
        summary: "Linux 7.3.4 with memory.reclaim in one batch, the whole rest each time",
        design: RECLAIM_WHOLE_7_3,
    },
];
