//! `try_to_free_pages()`: direct reclaim for an allocation, over the whole machine.

use crate::env::Call;
use crate::mm::vmscan::answered_pass::pass;
use crate::mm::vmscan::do_try_to_free_pages::DoTryToFreePages;
use crate::mm::vmscan::scan_control::{ScanControl, ScanFlags};
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Pass, Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "try_to_free_pages",
    file: "mm/vmscan.c",
    versions: ALL_VERSIONS,
    left_out: "throttling, pages of no memcg",
    points: &["Enter", "Reclaim"],
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TryToFreePages(Option<DoTryToFreePages>);

impl TryToFreePages {
    /// The call.
    pub const fn enter() -> Self {
        Self(None)
    }

    fn returned(kernel: &mut Ctx<'_>, freed: Pages) -> Next<Self, Pages> {
        kernel.returned(Call::TryToFreePages, freed.raw());
        Next::Return(freed)
    }
}

impl Frame for TryToFreePages {
    /// Pages freed.
    type Output = Pages;

    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, Pages> {
        let scenario = kernel.scenario;
        let goal = scenario.kernel.swap_cluster_max;
        let walk = if let Some(walk) = self.0 {
            walk
        } else {
            if let Some(freed) = kernel.stub(Call::TryToFreePages) {
                let freed = u64::try_from(freed).expect("a pass frees no negative number");
                return Next::Return(Pages(freed));
            }
            if scenario.granularity.reclaim.pass == Pass::Answered {
                let freed = pass(kernel, None, goal);
                return Self::returned(kernel, freed);
            }
            let sc = ScanControl::new(scenario, None, goal, ScanFlags::MAY_SWAP);
            DoTryToFreePages::enter(sc)
        };
        match walk.step(kernel) {
            Next::Goto(walk) => Next::Goto(Self(Some(walk))),
            Next::Return(freed) => Self::returned(kernel, freed),
        }
    }

    fn locality(&self, _: &Scenario, _: &TaskContext) -> Locality {
        Locality::Shared
    }

    fn in_flight(&self, _: &Scenario, _: crate::ids::MemcgId) -> Pages {
        Pages::ZERO
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, KERNEL.points[usize::from(self.0.is_some())]));
        if let Some(walk) = &self.0 {
            walk.stack(into);
        }
    }
}
