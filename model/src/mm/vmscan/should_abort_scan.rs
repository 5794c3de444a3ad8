//! `should_abort_scan()`: whether an MGLRU visit stops between two evictions.

use crate::design::{MglruGoal, MglruSignal};
use crate::mm::vmscan::scan_control::{ScanControl, ScanFlags};
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::TaskFlags;
use crate::step::Ctx;
use crate::units::Pages;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "should_abort_scan",
    file: "mm/vmscan.c",
    versions: ALL_VERSIONS,
    left_out: "kswapd's watermarks, another task that ages the lruvec twice meanwhile (6.1)",
    points: &[],
};

/// Whether to stop. In 6.1 a fatal signal also counts as pages freed.
pub(crate) fn should_abort_scan(kernel: &mut Ctx<'_>, sc: &mut ScanControl, swapped: bool) -> bool {
    let design = &kernel.scenario.design;
    match design.mglru_signal {
        MglruSignal::FatalCounts => {
            if swapped && sc.reached_goal() {
                return true;
            }
            if kernel.task.flags.contains(TaskFlags::DYING) {
                sc.nr_reclaimed += kernel.scenario.kernel.min_lru_batch;
                return true;
            }
        }
        MglruSignal::Ignored => {}
        MglruSignal::EndsProactive => {
            if sc.flags.contains(ScanFlags::PROACTIVE) && kernel.signal_pending() {
                return true;
            }
        }
    }
    let tested = match design.mglru_goal {
        MglruGoal::Root => sc.target.is_none(),
        MglruGoal::Always => true,
    };
    // compact_gap() of order 0 is two pages.
    tested && sc.nr_reclaimed >= sc.nr_to_reclaim.max(Pages(2))
}
