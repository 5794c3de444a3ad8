//! `drain_all_stock()`: has every CPU give back what it stocked for a subtree.

use crate::design::{DrainQueue, DrainWait};
use crate::env::Call;
use crate::ids::{CpuId, MemcgId};
use crate::mm::memcontrol::drain_local_stock::DrainLocalStock;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, Steps, TaskContext};
use crate::step::{Ctx, Frame, Guard, Locality, Next};
use crate::units::Pages;
use crate::world::DrainWork;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "drain_all_stock",
    file: "mm/memcontrol.c",
    versions: ALL_VERSIONS,
    left_out: "CPU hotplug, migration of the draining task, the stock of kernel objects",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DrainAllStock {
    root: MemcgId,
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
    /// Tries to take percpu_charge_mutex; whoever finds it taken returns with nothing drained.
    Trylock,
    /// Looks at a CPU's stock: drains it if it is this CPU's, queues work if it is another's.
    Cpu(CpuId),
    /// In drain_local_stock() of this CPU.
    OwnCpu(DrainLocalStock),
    /// Releases the mutex; the work that was queued may run at any time later.
    Unlock,
    /// Waits for the queued work (only in a design that does so).
    Flush,
}

impl DrainAllStock {
    /// The call.
    pub const fn enter(root: MemcgId) -> Self {
        Self { root, at: At::Trylock }
    }

    fn goto(self, at: At) -> Next<Self, ()> {
        Next::Goto(Self { at, ..self })
    }

    fn returned(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        kernel.returned(Call::DrainAllStock { root: self.root }, 0);
        Next::Return(())
    }

    fn after_cpu(self, kernel: &Ctx<'_>, cpu: CpuId) -> Next<Self, ()> {
        let next = cpu.index() + 1;
        self.goto(if next < kernel.scenario.cpus.len() { At::Cpu(next.into()) } else { At::Unlock })
    }

    fn cpu(self, kernel: &mut Ctx<'_>, id: CpuId) -> Next<Self, ()> {
        let scenario = kernel.scenario;
        let cpu = &mut kernel.world.cpus[id.index()];
        let stocked = cpu.slots.iter().flatten().any(|s| scenario.in_subtree(s.memcg, self.root));
        if stocked && cpu.drain == DrainWork::Clear {
            if id == kernel.task.cpu {
                cpu.drain = DrainWork::Set;
                return self.goto(At::OwnCpu(DrainLocalStock::enter(id)));
            }
            // The bit of an isolated CPU is set as well, and nothing ever clears it.
            let skipped = scenario.design.drain_queue == DrainQueue::NotIsolated
                && scenario.cpus[id.index()].isolated;
            cpu.drain = if skipped { DrainWork::Set } else { DrainWork::Queued };
        }
        self.after_cpu(kernel, id)
    }

    fn one_step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        match self.at {
            At::Trylock => {
                if kernel.stub(Call::DrainAllStock { root: self.root }).is_some() {
                    return Next::Return(());
                }
                if kernel.world.percpu_charge_mutex.is_some() {
                    return self.returned(kernel);
                }
                kernel.world.percpu_charge_mutex = Some(kernel.me);
                self.goto(At::Cpu(CpuId(0)))
            }
            At::Cpu(cpu) => self.cpu(kernel, cpu),
            At::OwnCpu(callee) => match callee.step(kernel) {
                Next::Goto(callee) => self.goto(At::OwnCpu(callee)),
                Next::Return(()) => self.after_cpu(kernel, kernel.task.cpu),
            },
            At::Unlock => {
                kernel.world.percpu_charge_mutex = None;
                match kernel.scenario.design.drain_wait {
                    DrainWait::No => self.returned(kernel),
                    DrainWait::Flush => self.goto(At::Flush),
                }
            }
            At::Flush => self.returned(kernel),
        }
    }
}

impl Frame for DrainAllStock {
    type Output = ();

    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        let steps = kernel.scenario.granularity.drain;
        let mut next = self.one_step(kernel);
        // Even as one step it can't pass the point where it must wait.
        while let Next::Goto(frame) = next
            && steps == Steps::One
            && !matches!(frame.at, At::Flush)
        {
            kernel.env.at(&|into| frame.stack(into));
            next = frame.one_step(kernel);
        }
        next
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            // Where no CPU ever has a stock, nothing comes of it.
            At::Trylock | At::Cpu(_) | At::Unlock if !scenario.stocks_in_use() => Locality::Local,
            At::Trylock | At::Cpu(_) | At::Unlock => Locality::Shared,
            At::OwnCpu(callee) => callee.locality(scenario, task),
            At::Flush => Locality::BlockedUntil(Guard::NoDrainPending),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::OwnCpu(callee) => callee.in_flight(scenario, level),
            At::Trylock | At::Cpu(_) | At::Unlock | At::Flush => Pages::ZERO,
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::OwnCpu(callee) => callee.stack(into),
            At::Trylock | At::Cpu(_) | At::Unlock | At::Flush => {}
        }
    }
}
