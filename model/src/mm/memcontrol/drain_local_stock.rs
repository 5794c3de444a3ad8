//! `drain_local_stock()`: gives a CPU's whole stock back to the counters. Runs on that CPU: as
//! queued work, or called by the task that drains all stocks.

use crate::env::Call;
use crate::ids::{CpuId, MemcgId};
use crate::mm::memcontrol::memcg_uncharge::MemcgUncharge;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next, one_or_all};
use crate::units::Pages;
use crate::world::DrainWork;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "drain_local_stock",
    file: "mm/memcontrol.c",
    versions: ALL_VERSIONS,
    left_out: "the stock of kernel objects",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DrainLocalStock {
    cpu: CpuId,
    at: At,
}

/// Program points.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    VariantNames,
)]
enum At {
    /// Empties the next slot that holds pages; after the last, a new drain may be queued.
    Slot,
    /// In memcg_uncharge() of what was in a slot.
    Uncharge(MemcgUncharge),
}

impl DrainLocalStock {
    /// The call.
    pub const fn enter(cpu: CpuId) -> Self {
        Self { cpu, at: At::Slot }
    }

    fn one_step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        let goto = |at| Next::Goto(Self { at, ..self });
        match self.at {
            At::Slot => {
                let cpu = &mut kernel.world.cpus[self.cpu.index()];
                if let Some(slot) = cpu.slots.iter_mut().find_map(Option::take) {
                    return goto(At::Uncharge(MemcgUncharge::enter(slot.memcg, slot.nr_pages)));
                }
                cpu.drain = DrainWork::Clear;
                kernel.returned(Call::DrainLocalStock { cpu: self.cpu }, 0);
                Next::Return(())
            }
            At::Uncharge(callee) => match callee.step(kernel) {
                Next::Goto(callee) => goto(At::Uncharge(callee)),
                Next::Return(()) => goto(At::Slot),
            },
        }
    }
}

impl Frame for DrainLocalStock {
    type Output = ();

    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        one_or_all(kernel.scenario.granularity.counter, self, kernel, Self::stack, Self::one_step)
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Slot => Locality::Shared,
            At::Uncharge(callee) => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Slot => Pages::ZERO,
            At::Uncharge(callee) => callee.in_flight(scenario, level),
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Slot => {}
            At::Uncharge(callee) => callee.stack(into),
        }
    }
}
