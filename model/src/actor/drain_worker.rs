//! The worker that runs a CPU's queued stock drain.

use crate::ids::MemcgId;
use crate::mm::memcontrol::drain_local_stock::DrainLocalStock;
use crate::scenario::{ActorConfig, Scenario};
use crate::step::{Ctx, Frame, Guard, Locality, Next};
use crate::units::Pages;
use crate::world::DrainWork;
use serde::{Deserialize, Serialize};

/// The drain worker of the CPU its actor is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DrainWorker(Option<DrainLocalStock>);

impl DrainWorker {
    /// Waiting for work.
    pub(crate) const START: Self = Self(None);

    pub(crate) fn step(self, kernel: &mut Ctx<'_>) -> Self {
        let frame = self.0.unwrap_or_else(|| {
            kernel.world.cpus[kernel.task.cpu.index()].drain = DrainWork::Running;
            DrainLocalStock::enter(kernel.task.cpu)
        });
        match frame.step(kernel) {
            Next::Goto(frame) => Self(Some(frame)),
            Next::Return(()) => Self(None),
        }
    }

    pub(crate) fn locality(self, config: &ActorConfig, scenario: &Scenario) -> Locality {
        self.0.map_or(Locality::BlockedUntil(Guard::DrainQueued(config.task.cpu)), |frame| {
            frame.locality(scenario, &config.task)
        })
    }

    pub(crate) const fn is_idle(self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn in_flight(self, scenario: &Scenario, level: MemcgId) -> Pages {
        self.0.map_or(Pages::ZERO, |frame| frame.in_flight(scenario, level))
    }

    pub(crate) fn stack(self, into: &mut Vec<(&'static str, &'static str)>) {
        if let Some(frame) = self.0 {
            frame.stack(into);
        }
    }
}
