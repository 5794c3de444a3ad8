//! `balance_pgdat()`: what kswapd does when it is woken.

use crate::env::Call;
use crate::ids::MemcgId;
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
    name: "balance_pgdat",
    file: "mm/vmscan.c",
    versions: ALL_VERSIONS,
    left_out: "one kswapd balances all nodes, in the order of direct reclaim; boosted watermarks, \
               higher orders, writing dirty folios, giving up after many failures",
    points: &["ReadFreePages", "Reclaim"],
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BalancePgdat {
    high: Pages,
    walk: Option<DoTryToFreePages>,
}

impl BalancePgdat {
    /// The call: frees pages until `high` are free.
    pub const fn enter(high: Pages) -> Self {
        Self { high, walk: None }
    }

    fn reclaimed(self, kernel: &mut Ctx<'_>, freed: Pages) -> Next<Self, ()> {
        kernel.returned(Call::BalancePgdat, freed.raw());
        if freed == Pages::ZERO { Next::Return(()) } else { Next::Goto(Self::enter(self.high)) }
    }
}

impl Frame for BalancePgdat {
    type Output = ();

    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        let scenario = kernel.scenario;
        let walk = if let Some(walk) = self.walk {
            walk
        } else {
            let free = kernel.world.free_pages.unwrap_or(self.high);
            let short = self.high.saturating_sub(free);
            if short == Pages::ZERO {
                return Next::Return(());
            }
            let goal = short.max(scenario.kernel.swap_cluster_max);
            if scenario.granularity.reclaim.pass == Pass::Answered {
                let freed = pass(kernel, None, goal);
                return self.reclaimed(kernel, freed);
            }
            // kswapd never shares a walk.
            let flags = ScanFlags::MAY_SWAP | ScanFlags::FULL_WALK;
            DoTryToFreePages::enter(ScanControl::new(scenario, None, goal, flags))
        };
        match walk.step(kernel) {
            Next::Goto(walk) => Next::Goto(Self { walk: Some(walk), ..self }),
            Next::Return(freed) => self.reclaimed(kernel, freed),
        }
    }

    fn locality(&self, _: &Scenario, _: &TaskContext) -> Locality {
        Locality::Shared
    }

    fn in_flight(&self, _: &Scenario, _: MemcgId) -> Pages {
        Pages::ZERO
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, KERNEL.points[usize::from(self.walk.is_some())]));
        if let Some(walk) = &self.walk {
            walk.stack(into);
        }
    }
}
