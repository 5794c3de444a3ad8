//! `do_try_to_free_pages()`: sweeps over all nodes with falling priority, and what is tried once
//! more when nothing was freed at all.

use crate::ids::MemcgId;
use crate::mm::memcontrol::mem_cgroup_iter::walk_is_shared;
use crate::mm::vmscan::scan_control::{ScanControl, ScanFlags};
use crate::mm::vmscan::shrink_zones::ShrinkZones;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::step::{Ctx, Next, one_or_all};
use crate::units::Pages;
use serde::{Deserialize, Serialize};

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "do_try_to_free_pages",
    file: "mm/vmscan.c",
    versions: ALL_VERSIONS,
    left_out: "compaction, vmpressure, snapshots of refaults",
    points: &["Sweep"],
};

/// One activation: always inside a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DoTryToFreePages {
    sc: ScanControl,
    zones: ShrinkZones,
}

impl DoTryToFreePages {
    /// The call.
    pub const fn enter(sc: ScanControl) -> Self {
        Self { sc, zones: ShrinkZones::enter() }
    }

    /// What the pass carries.
    pub const fn scan_control(&self) -> &ScanControl {
        &self.sc
    }

    fn one_step(self, kernel: &mut Ctx<'_>) -> Next<Self, Pages> {
        let Self { mut sc, zones } = self;
        match zones.step(kernel, &mut sc) {
            Next::Goto(zones) => Next::Goto(Self { sc, zones }),
            Next::Return(()) => Self::swept(kernel, sc),
        }
    }

    /// After all nodes at one priority.
    fn swept(kernel: &Ctx<'_>, mut sc: ScanControl) -> Next<Self, Pages> {
        if !sc.reached_goal() && sc.priority > 0 {
            sc.priority -= 1;
            return Next::Goto(Self::enter(sc));
        }
        if sc.nr_reclaimed > Pages::ZERO {
            // Also if it is less than the goal.
            return Next::Return(sc.nr_reclaimed);
        }
        sc.priority = kernel.scenario.kernel.def_priority;
        if walk_is_shared(kernel.scenario) && !sc.flags.contains(ScanFlags::FULL_WALK) {
            sc.flags |= ScanFlags::FULL_WALK;
        } else if sc.flags.contains(ScanFlags::SKIPPED_DEACTIVATE) {
            sc.flags |= ScanFlags::FORCE_DEACTIVATE;
            sc.flags -= ScanFlags::SKIPPED_DEACTIVATE;
        } else if sc.flags.contains(ScanFlags::LOW_SKIPPED) {
            sc.flags |= ScanFlags::LOW_RECLAIM;
            sc.flags -= ScanFlags::LOW_SKIPPED | ScanFlags::FORCE_DEACTIVATE;
        } else {
            return Next::Return(Pages::ZERO);
        }
        Next::Goto(Self::enter(sc))
    }

    pub(crate) fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, Pages> {
        one_or_all(
            kernel.scenario.granularity.reclaim.walk,
            self,
            kernel,
            Self::stack,
            Self::one_step,
        )
    }

    /// The memcg that is being visited.
    pub const fn visiting(&self) -> Option<MemcgId> {
        self.zones.visiting()
    }

    pub(crate) fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, KERNEL.points[0]));
        self.zones.stack(into);
    }
}
