//! The named designs: kernel versions, and designs that are wrong on purpose.

use super::{
    BaseEnomem, BaseWindows, BatchAnswer, BatchDrain, BatchLevels, BatchRefuses, BatchRoot,
    ChargeMoving, CounterTest, CounterUndo, Design, DrainQueue, DrainWait, DyingCgroup, DyingOom,
    DyingOverHigh, EarlyMark, EofMark, FallbackAfter, FallbackSize, FaultTests, ForcedChunks,
    HighWrite, HighWriteProgress, LeftoverFolios, Lru, MappingOrders, MarginRetry, MarkRounding,
    MaxEvent, MemcgWalk, MemswNoswap, MglruBudget, MglruGoal, MglruSignal, NoGap, NoGapBefore,
    Nofail, NoreclaimBatch, Noretry, OversizeRefill, PastEnd, PrevPosStore, ProgressRetry,
    ReadBehind, ReadEnd, ReadaheadBatch, ReadaheadCharge, ReadaheadCount, ReadaheadOrder,
    ReclaimBatch, ReclaimRetries, ReclaimSignal, StockSlots, StockpileProgress, VictimCharge,
    WindowEnd, WindowRules,
};
use crate::mm::readahead::READAHEAD_MAX_MEMCG_RECLAIMS;

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
    readahead_charge: ReadaheadCharge::Blocking,
    readahead_count: ReadaheadCount::Control,
    readahead_batch: ReadaheadBatch::RestOfWindow,
    batch_answer: BatchAnswer::Margin,
    batch_levels: BatchLevels::Lowest,
    batch_drain: BatchDrain::No,
    batch_root: BatchRoot::Yes,
    batch_refuses: BatchRefuses::Nobody,
    mark_rounding: MarkRounding::Down,
    eof_mark: EofMark::None,
    early_mark: EarlyMark::None,
    mapping_orders: MappingOrders::Range,
    readahead_order: ReadaheadOrder::State,
    base_windows: BaseWindows::Never,
    fallback_size: FallbackSize::Rest,
    fallback_after: FallbackAfter::AnyError,
    base_enomem: BaseEnomem::Stops,
    forced_chunks: ForcedChunks::Continue,
    past_end: PastEnd::Ignored,
    leftover_folios: LeftoverFolios::Removed,
    window_rules: WindowRules::Split,
    window_end: WindowEnd::Aligned,
    no_gap: NoGap::PastRange,
    no_gap_before: NoGapBefore::PastRange,
    read_end: ReadEnd::MinFolio,
    read_behind: ReadBehind::Leaves,
    prev_pos_store: PrevPosStore::End,
    fault_tests: FaultTests::UseFirst,
    readahead_max_memcg_reclaims: 0,
    read_batch: 31,
};

/// Between the two in one decision only: it raises MAX events as 6.12 does.
const LINUX_7_2: Design = Design { max_event: MaxEvent::ForcedBefore, ..LINUX_7_3 };

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
    eof_mark: EofMark::Kept,
    early_mark: EarlyMark::Unchecked,
    readahead_order: ReadaheadOrder::MarkedFolio,
    base_windows: BaseWindows::Small,
    fallback_size: FallbackSize::Window,
    leftover_folios: LeftoverFolios::ShrinkWindow,
    window_end: WindowEnd::Free,
    no_gap_before: NoGapBefore::LastPage,
    read_end: ReadEnd::Page,
    read_behind: ReadBehind::Waits,
    fault_tests: FaultTests::HugeFirst,
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
    mapping_orders: MappingOrders::AnyOrZero,
    base_enomem: BaseEnomem::Continues,
    forced_chunks: ForcedChunks::Computed,
    past_end: PastEnd::Lengthens,
    window_rules: WindowRules::Ondemand,
    no_gap: NoGap::LastPage,
    prev_pos_store: PrevPosStore::Batch,
    read_batch: 15,
    ..LINUX_6_12
};

const RECLAIM_MIN_32: Design = Design { reclaim_batch: ReclaimBatch::Clipped, ..LINUX_6_12 };

const RECLAIM_MIN_32_7_3: Design = Design { reclaim_batch: ReclaimBatch::Clipped, ..LINUX_7_3 };

const RECLAIM_WHOLE_7_3: Design = Design { reclaim_batch: ReclaimBatch::Whole, ..LINUX_7_3 };

/// The first mail: readahead folios are charged without direct reclaim.
const READAHEAD_BATCH_RECLAIM: Design = Design {
    readahead_charge: ReadaheadCharge::NonBlocking,
    readahead_max_memcg_reclaims: READAHEAD_MAX_MEMCG_RECLAIMS,
    ..LINUX_7_3
};

/// The rounding that the second mail's patch replaced, on the newest kernel.
const MARK_ROUND_UP: Design = Design { mark_rounding: MarkRounding::Up, ..LINUX_7_3 };

/// The kernels, newest first, then the proposals.
pub const PRESETS: &[Preset] = &[
    Preset { name: "linux-7.3", summary: "Linux 7.3.4", design: LINUX_7_3 },
    Preset { name: "linux-7.2", summary: "Linux 7.2.13", design: LINUX_7_2 },
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
    Preset {
        name: "readahead-batch-reclaim",
        summary: "7.3.4 with the patch mm/readahead: avoid per-folio memcg reclaim, v1 3/3",
        design: READAHEAD_BATCH_RECLAIM,
    },
    Preset {
        name: "mark-round-up",
        summary: "7.3.4 with marks rounded up, as they were before they were rounded down",
        design: MARK_ROUND_UP,
    },
];
