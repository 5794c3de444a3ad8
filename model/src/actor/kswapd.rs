//! kswapd: frees pages of the machine in the background while few are free.

use crate::ids::MemcgId;
use crate::mm::vmscan::balance_pgdat::BalancePgdat;
use crate::scenario::{ActorConfig, ActorKind, Scenario};
use crate::step::{Ctx, Frame, Guard, Locality, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};

/// kswapd, asleep or at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Kswapd(Option<BalancePgdat>);

impl Kswapd {
    /// Asleep.
    pub(crate) const START: Self = Self(None);

    pub(crate) fn step(self, high: Pages, kernel: &mut Ctx<'_>) -> Self {
        match self.0.unwrap_or_else(|| BalancePgdat::enter(high)).step(kernel) {
            Next::Goto(frame) => Self(Some(frame)),
            Next::Return(()) => {
                kernel.current.empty_passes = 0;
                Self(None)
            }
        }
    }

    pub(crate) fn locality(self, config: &ActorConfig, scenario: &Scenario) -> Locality {
        let low = match config.kind {
            ActorKind::Kswapd { low, .. } => low,
            ActorKind::Task { .. } | ActorKind::DrainWorker | ActorKind::Device(_) => {
                unreachable!("it is kswapd")
            }
        };
        self.0.map_or(Locality::BlockedUntil(Guard::FreePagesBelow(low)), |frame| {
            frame.locality(scenario, &config.task)
        })
    }

    pub(crate) fn in_flight(self, scenario: &Scenario, level: MemcgId) -> Pages {
        self.0.map_or(Pages::ZERO, |frame| frame.in_flight(scenario, level))
    }

    pub(crate) const fn is_idle(self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn stack(self, into: &mut Vec<(&'static str, &'static str)>) {
        if let Some(frame) = self.0 {
            frame.stack(into);
        }
    }
}
