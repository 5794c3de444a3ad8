//! A design: one field per decision in which kernel versions and proposals differ.
//!
//! Steps match on the decision, never on a design's name, so a new combination is data. A new
//! kind of behaviour is one new variant and the arms the compiler then asks for.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

mod presets;
pub use presets::{PRESETS, Preset};

/// One decision of a design, for listings and error messages.
pub struct Field {
    key: &'static str,
    /// What it decides.
    pub summary: &'static str,
    /// The values it can take; none for a number.
    pub values: &'static [&'static str],
    /// The least it can be, for a number.
    pub least: Option<u8>,
}

impl Field {
    /// Its name in a spec: the field's, in kebab case.
    pub fn name(&self) -> String {
        self.key.replace('_', "-")
    }
}

macro_rules! design {
    (decisions {$($(#[doc = $doc:literal])+ $field:ident: $type:ident {
        $($(#[doc = $vdoc:literal])+ $variant:ident,)+
    })+}
    numbers {$($(#[doc = $ndoc:literal])+ $number:ident: $least:literal..,)+}) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
            #[derive(IntoStaticStr, VariantNames)]
            #[serde(rename_all = "kebab-case")]
            #[strum(serialize_all = "kebab-case")]
            pub enum $type {
                $($(#[doc = $vdoc])+ $variant,)+
            }
        )+

        /// How one kernel, real or proposed, decides.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub struct Design {
            $($(#[doc = $doc])+ pub $field: $type,)+
            $($(#[doc = $ndoc])+ pub $number: u8,)+
        }

        /// Some decisions, to be laid over a design.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
        pub struct Changes {
            $(
                $(#[doc = $doc])+
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )+
            $(
                $(#[doc = $ndoc])+
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $number: Option<u8>,
            )+
        }

        impl Changes {
            /// No change, to be filled in with struct update syntax.
            pub const NONE: Self = Self { $($field: None,)+ $($number: None,)+ };
        }

        impl Design {
            /// Every decision there is, in order.
            pub const FIELDS: &'static [Field] = &[
                $(Field {
                    key: stringify!($field),
                    summary: concat!($($doc),+),
                    values: $type::VARIANTS,
                    least: None,
                },)+
                $(Field {
                    key: stringify!($number),
                    summary: concat!($($ndoc),+),
                    values: &[],
                    least: Some($least),
                },)+
            ];

            /// This design with `changes` laid over it.
            #[must_use]
            pub fn with(mut self, changes: &Changes) -> Self {
                $(if let Some(value) = changes.$field { self.$field = value; })+
                $(if let Some(value) = changes.$number { self.$number = value; })+
                self
            }
        }
    };
}

design! {
    decisions {
        /// How many memcgs a CPU's stock can serve at once.
        stock_slots: StockSlots {
            /// One; another memcg drains it first.
            One,
            /// NR_MEMCG_STOCK; when all are taken, one is evicted in turn.
            Several,
        }
        /// What refill_stock() does with more pages than a slot may keep.
        oversize_refill: OversizeRefill {
            /// They go through the slot, which is then drained whole.
            ThroughTheSlot,
            /// They are uncharged at once and the slot stays as it is.
            UnchargeAtOnce,
        }
        /// Which CPUs drain_all_stock() queues work on.
        drain_queue: DrainQueue {
            /// Every CPU with stock of the subtree.
            EveryCpu,
            /// Not the isolated ones, whose stock stays.
            NotIsolated,
        }
        /// Whether drain_all_stock() waits for the work it queued.
        drain_wait: DrainWait {
            /// It returns at once; the caller's next attempt races with the workers.
            No,
            /// It waits until every queued drain has run (no kernel does).
            Flush,
        }
        /// The first counter attempt of a charge that may not even wake kswapd.
        noreclaim_batch: NoreclaimBatch {
            /// A whole batch, as any other.
            Batch,
            /// The pages asked for and no more.
            Exact,
        }
        /// Whether a failure of the memory+swap counter forbids swap for the rest of the charge.
        memsw_noswap: MemswNoswap {
            /// Until the charge returns.
            Sticky,
            /// Until the next retry.
            Reset,
        }
        /// What a charge of an OOM victim whose memory is being freed does after the counters refuse.
        victim_charge: VictimCharge {
            /// It reclaims and retries like any other.
            Retries,
            /// It fails at once.
            Fails,
        }
        /// Which charges raise a MAX event although they never reached reclaim.
        max_event: MaxEvent {
            /// Forced ones, before the counters are raised.
            ForcedBefore,
            /// Forced ones, after the counters are raised, and rejected ones.
            ForcedOrRejectedAfter,
        }
        /// Whether a charge waits for a task that is being moved between cgroup v1 groups.
        charge_moving: ChargeMoving {
            /// It waits and retries without counting.
            Waits,
            /// There is no such move.
            Gone,
        }
        /// What the memcg OOM killer does for a task that is dying already.
        dying_oom: DyingOom {
            /// It reports success without a kill.
            Succeeds,
            /// It looks for a victim as for any other task.
            LooksForVictim,
        }
        /// What a dying task does about the pages it charged over memory.high.
        dying_over_high: DyingOverHigh {
            /// It reclaims and sleeps like any other.
            Reclaims,
            /// It leaves before each round.
            Leaves,
        }
        /// Whether a retry because the pass left enough margin counts against the retries.
        margin_retry: MarginRetry {
            /// It does not: the loop has no bound.
            Uncounted,
            /// It does (no kernel does).
            Counted,
        }
        /// Whether a retry of a small charge because the pass freed something counts.
        progress_retry: ProgressRetry {
            /// It does not: the loop has no bound.
            Uncounted,
            /// It does (no kernel does).
            Counted,
        }
        /// Where a charge with NORETRY gives up.
        noretry: Noretry {
            /// After the pass that follows the drain.
            AfterDrain,
            /// Nowhere: it goes on to the OOM killer (no kernel does).
            Ignored,
        }
        /// What a charge that must not fail does at the end.
        nofail: Nofail {
            /// It is forced over the limit.
            Forced,
            /// It fails like any other (no kernel does).
            Refused,
        }
        /// How page_counter_try_charge() tests the limit.
        counter_test: CounterTest {
            /// It adds, then compares, then takes back.
            AddThenCompare,
            /// It reads and compares, then adds: two tasks can both pass (no kernel does).
            CompareThenAdd,
        }
        /// Which levels page_counter_try_charge() takes back after a refusal.
        counter_undo: CounterUndo {
            /// The one that refused and all below it.
            AllLevels,
            /// Only the one that refused (no kernel does).
            RefusingLevel,
        }
        /// Which LRU a memcg's pages are on.
        lru: Lru {
            /// Active and inactive lists.
            Classic,
            /// Generations (MGLRU).
            Mglru,
        }
        /// How a memcg pass walks the memcgs below its target.
        memcg_walk: MemcgWalk {
            /// From the target on, all of them, whatever is already freed.
            Full,
            /// From where the last walker stopped, until the goal is reached; all of them only if
            /// nothing was freed.
            Shared,
        }
        /// How many pages an MGLRU visit looks at.
        mglru_budget: MglruBudget {
            /// All pages of the lruvec >> priority, computed again after each eviction.
            Total,
            /// The evictable pages >> priority, computed again after each eviction.
            Evictable,
            /// The evictable pages >> priority, computed once.
            Once,
        }
        /// Whether an MGLRU visit stops between evictions when the goal of the pass is reached.
        mglru_goal: MglruGoal {
            /// Only if the target is the root.
            Root,
            /// Always.
            Always,
        }
        /// What a signal does to an MGLRU visit.
        mglru_signal: MglruSignal {
            /// A fatal one ends it and counts as MIN_LRU_BATCH pages freed.
            FatalCounts,
            /// Nothing.
            Ignored,
            /// Any signal ends it if the reclaim is proactive.
            EndsProactive,
        }
        /// How much of the rest of a request a write to memory.reclaim asks of one pass.
        reclaim_batch: ReclaimBatch {
            /// All of it.
            Whole,
            /// At most SWAP_CLUSTER_MAX.
            Clipped,
            /// The rest divided by reclaim-batch-divisor.
            Fraction,
        }
        /// What a write to memory.reclaim returns when it sees a signal.
        reclaim_signal: ReclaimSignal {
            /// -EINTR.
            Interrupts,
            /// The restart code: the write may begin anew, for the whole request.
            Restarts,
        }
        /// Which fruitless passes use up the retries of a write to memory.reclaim.
        reclaim_retries: ReclaimRetries {
            /// All of them.
            InTotal,
            /// Those without a fruitful one between them (no kernel does).
            InARow,
        }
        /// When a writer of memory.high sets the limit.
        high_write: HighWrite {
            /// Before it reclaims: chargers help.
            SetsFirst,
            /// After it has reclaimed down to it, as some versions before 5.11 did.
            ReclaimsFirst,
        }
        /// Whether a pass that freed something counts against the retries of a writer of
        /// memory.high.
        high_write_progress: HighWriteProgress {
            /// It does not: the loop has no bound.
            Uncounted,
            /// It does (no kernel does).
            Counted,
        }
        /// Whether a pass that freed something counts against the retries of MADV_STOCKPILE.
        stockpile_progress: StockpileProgress {
            /// It does not: the loop has no bound.
            Uncounted,
            /// It does (not proposed).
            Counted,
        }
        /// Whether memory.reclaim and the writers of limits stop when the cgroup is being removed.
        dying_cgroup: DyingCgroup {
            /// They do not look.
            GoesOn,
            /// They stop; memory.reclaim with -EAGAIN.
            Stops,
        }
        /// How readahead charges a folio.
        readahead_charge: ReadaheadCharge {
            /// With the mapping's own mask: each folio may reclaim.
            Blocking,
            /// Without direct reclaim; a batch reclaim makes room for several folios.
            NonBlocking,
        }
        /// What the cap on batch reclaims counts over.
        readahead_count: ReadaheadCount {
            /// One readahead_control: every folio added for one request.
            Control,
            /// One pass over a window: the fallback, a chunk and an expansion start again at none.
            Call,
            /// One system call or fault of the task.
            Task,
        }
        /// How many pages a batch reclaim is asked for.
        readahead_batch: ReadaheadBatch {
            /// The rest of the window, this folio included.
            RestOfWindow,
            /// This folio.
            Folio,
            /// The whole window.
            Window,
        }
        /// When a batch reclaim says that one more add is worth it.
        batch_answer: BatchAnswer {
            /// The level has room for what was asked.
            Margin,
            /// The pass freed something (A1).
            Freed,
            /// The level has any room (A2).
            AnyRoom,
        }
        /// Which levels a batch reclaim makes room on.
        batch_levels: BatchLevels {
            /// The lowest without enough room, by one pass.
            Lowest,
            /// Each without enough room, by one pass each (A3).
            Every,
        }
        /// Whether a batch reclaim drains the stocks before it says no.
        batch_drain: BatchDrain {
            /// It doesn't.
            No,
            /// Once (A4).
            Once,
        }
        /// What a batch reclaim says to a task that is charged to no memcg.
        batch_root: BatchRoot {
            /// Yes: there is no limit.
            Yes,
            /// No: there is nothing to reclaim (A5).
            No,
        }
        /// Whether a batch reclaim refuses some callers outright.
        batch_refuses: BatchRefuses {
            /// It never does.
            Nobody,
            /// Those that may not block, that are reclaiming already, or that are dying (A6).
            NonBlocking,
        }
        /// How the mark, and the index expected when it is found, are rounded to a folio's size.
        mark_rounding: MarkRounding {
            /// Down: the folio that holds the mark.
            Down,
            /// Up: a folio that starts at or after it, or none, or several.
            Up,
        }
        /// Where a window that touches the end of the file has its mark.
        eof_mark: EofMark {
            /// Where the state says, moved down when a window of base pages is cut.
            Kept,
            /// Nowhere.
            None,
        }
        /// What a window of base pages does about a mark before its first page.
        early_mark: EarlyMark {
            /// Nothing: rounding up can bring it back into the window.
            Unchecked,
            /// There is no mark then.
            None,
        }
        /// Which folio orders a mapping may have.
        mapping_orders: MappingOrders {
            /// 0, or any up to the kernel's own largest except 1.
            AnyOrZero,
            /// From the mapping's least to its largest.
            Range,
        }
        /// Where the folio order of a window comes from.
        readahead_order: ReadaheadOrder {
            /// From the folio whose mark was found, two orders more each time.
            MarkedFolio,
            /// From the file's state, which a found mark raises by two orders.
            State,
        }
        /// Which windows are filled with base pages although the mapping has large folios.
        base_windows: BaseWindows {
            /// Those of fewer than four pages.
            Small,
            /// None.
            Never,
        }
        /// How much a window of large folios asks for again after a failed add.
        fallback_size: FallbackSize {
            /// Its full size, from wherever it got to.
            Window,
            /// What is left of it.
            Rest,
        }
        /// After which errors a window of large folios goes on with base pages.
        fallback_after: FallbackAfter {
            /// Any.
            AnyError,
            /// Any but a lack of memory (no kernel does).
            NotEnomem,
        }
        /// What a window of base pages does when there is no memory for one.
        base_enomem: BaseEnomem {
            /// It goes on with the next page.
            Continues,
            /// It ends.
            Stops,
        }
        /// Where each chunk of forced readahead starts.
        forced_chunks: ForcedChunks {
            /// A chunk's length after the last.
            Computed,
            /// Where the last one ended.
            Continue,
        }
        /// What becomes of folios that the file system did not read.
        leftover_folios: LeftoverFolios {
            /// They shorten the window; those before its mark are removed.
            ShrinkWindow,
            /// They are removed.
            Removed,
        }
        /// How a missing page or a found mark sets the next window.
        window_rules: WindowRules {
            /// One function for both; a miss at the end or the mark advances the window.
            Ondemand,
            /// A miss starts anew, a found mark advances.
            Split,
        }
        /// Whether a window that a found mark starts ends at a multiple of its folio size.
        window_end: WindowEnd {
            /// Wherever it ends.
            Free,
            /// It is shortened to such a multiple.
            Aligned,
        }
        /// What the search for the next gap returns when there is none.
        no_gap: NoGap {
            /// The last page it looked at, as if it were missing.
            LastPage,
            /// The page after that.
            PastRange,
        }
        /// What the look back returns when there is no gap.
        no_gap_before: NoGapBefore {
            /// The last page it looked at, as if it were missing.
            LastPage,
            /// The page before that.
            PastRange,
        }
        /// How far a read looks.
        read_end: ReadEnd {
            /// To the last page it wants.
            Page,
            /// To the end of the mapping's least folio.
            MinFolio,
        }
        /// What a read does with a folio that is not read yet, behind others that are.
        read_behind: ReadBehind {
            /// It waits for it.
            Waits,
            /// It copies the others first.
            Leaves,
        }
        /// What a window of large folios that begins beyond the end of the file does to the state.
        past_end: PastEnd {
            /// It makes the window longer by the pages between.
            Lengthens,
            /// Nothing.
            Ignored,
        }
        /// When a read stores where it got to.
        prev_pos_store: PrevPosStore {
            /// After each batch of folios.
            Batch,
            /// At its end.
            End,
        }
        /// What a fault tests before readahead.
        fault_tests: FaultTests {
            /// A huge mapping first; every miss and hit counts.
            HugeFirst,
            /// The use of the mapping first; sequential mappings and locked folios don't count.
            UseFirst,
        }
    }
    numbers {
        /// The divisor of the fraction rule of memory.reclaim.
        reclaim_batch_divisor: 1..,
        /// The least a memcg pass asks for, in units of SWAP_CLUSTER_MAX; 0 is no floor.
        reclaim_floor: 0..,
        /// Batch reclaims that readahead may try.
        readahead_max_memcg_reclaims: 0..,
        /// Folios a read looks up at once.
        read_batch: 1..,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_overrides_its_decision_and_nothing_else() {
        let base = &PRESETS[0].design;
        let changed =
            base.clone().with(&Changes { noretry: Some(Noretry::Ignored), ..Changes::NONE });
        assert_eq!(changed.noretry, Noretry::Ignored);
        assert_eq!(Design { noretry: base.noretry, ..changed }, *base);
    }
}
