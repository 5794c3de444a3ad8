//! `struct scan_control`: what a pass carries through all its functions.

use crate::ids::MemcgId;
use crate::scenario::Scenario;
use crate::units::Pages;
use bitflags::bitflags;
use serde::{Deserialize, Serialize};

bitflags! {
    /// The bit fields.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(transparent)]
    pub struct ScanFlags: u16 {
        /// `may_swap`.
        const MAY_SWAP = 1 << 0;
        /// `proactive`: for memory.reclaim, not for a charge.
        const PROACTIVE = 1 << 1;
        /// `memcg_full_walk`: every memcg is visited, by a walk of the pass's own.
        const FULL_WALK = 1 << 2;
        /// `may_deactivate`, anonymous folios.
        const DEACTIVATE_ANON = 1 << 3;
        /// `may_deactivate`, folios of files.
        const DEACTIVATE_FILE = 1 << 4;
        /// `force_deactivate`.
        const FORCE_DEACTIVATE = 1 << 5;
        /// `skipped_deactivate`.
        const SKIPPED_DEACTIVATE = 1 << 6;
        /// `memcg_low_reclaim`.
        const LOW_RECLAIM = 1 << 7;
        /// `memcg_low_skipped`.
        const LOW_SKIPPED = 1 << 8;
    }
}

/// `struct scan_control`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ScanControl {
    /// Whose subtree is reclaimed; none for the root's.
    pub target: Option<MemcgId>,
    /// The goal.
    pub nr_to_reclaim: Pages,
    /// What counts as freed so far, over all priorities and restarts.
    pub nr_reclaimed: Pages,
    /// List sizes are shifted right by it.
    pub priority: u8,
    /// The bit fields.
    pub flags: ScanFlags,
}

impl ScanControl {
    /// Before the first sweep.
    pub const fn new(
        scenario: &Scenario,
        target: Option<MemcgId>,
        nr_to_reclaim: Pages,
        flags: ScanFlags,
    ) -> Self {
        let priority = scenario.kernel.def_priority;
        Self { target, nr_to_reclaim, nr_reclaimed: Pages::ZERO, priority, flags }
    }

    /// Whether the goal is reached.
    pub fn reached_goal(&self) -> bool {
        self.nr_reclaimed >= self.nr_to_reclaim
    }

    /// Whether anonymous folios can be reclaimed.
    pub const fn can_swap(&self, scenario: &Scenario) -> bool {
        scenario.policy.reclaim.swap && self.flags.contains(ScanFlags::MAY_SWAP)
    }
}
