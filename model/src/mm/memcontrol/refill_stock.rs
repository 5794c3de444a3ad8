//! `refill_stock()`: keeps pages that were charged in advance on this CPU.

use crate::design::{OversizeRefill, StockSlots};
use crate::env::Call;
use crate::ids::MemcgId;
use crate::mm::memcontrol::memcg_uncharge::MemcgUncharge;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::Pages;
use crate::world::{Cpu, StockSlot};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "refill_stock",
    file: "mm/memcontrol.c",
    versions: ALL_VERSIONS,
    left_out: "the failing trylock of 7.3, which only an interrupt on the same CPU can cause",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RefillStock {
    memcg: MemcgId,
    nr_pages: Pages,
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
    /// Changes the slots; on this CPU that is one step.
    Enter,
    /// In memcg_uncharge() of what another memcg had in the slot; then perhaps of our own.
    Evict { callee: MemcgUncharge, then: Option<Pages> },
    /// In memcg_uncharge() of our own pages, which were too many to keep.
    Overflow(MemcgUncharge),
}

/// What changing the slots leaves to be uncharged.
struct Excess {
    evicted: Option<StockSlot>,
    own: Option<Pages>,
}

impl RefillStock {
    /// The call.
    pub const fn enter(memcg: MemcgId, nr_pages: Pages) -> Self {
        Self { memcg, nr_pages, at: At::Enter }
    }

    fn goto(self, at: At) -> Next<Self, ()> {
        Next::Goto(Self { at, ..self })
    }

    fn call(self) -> Call {
        Call::RefillStock { memcg: self.memcg, nr_pages: self.nr_pages }
    }

    fn overflow(self, kernel: &mut Ctx<'_>, own: Option<Pages>) -> Next<Self, ()> {
        if let Some(pages) = own {
            return self.goto(At::Overflow(MemcgUncharge::enter(self.memcg, pages)));
        }
        kernel.returned(self.call(), 0);
        Next::Return(())
    }

    /// Changes the slots of this CPU.
    fn fill(self, kernel: &mut Ctx<'_>) -> Excess {
        let batch = kernel.scenario.kernel.memcg_charge_batch;
        let cpu = &mut kernel.world.cpus[kernel.task.cpu.index()];
        let oversize = kernel.scenario.design.oversize_refill;
        if oversize == OversizeRefill::UnchargeAtOnce && self.nr_pages > batch {
            return Excess { evicted: None, own: Some(self.nr_pages) };
        }
        let (index, evicted) = slot_for(cpu, self.memcg, slots(kernel.scenario));
        let kept = cpu.slots[index].map_or(Pages::ZERO, |slot| slot.nr_pages) + self.nr_pages;
        if kept > batch {
            cpu.slots[index] = None;
            Excess { evicted, own: Some(kept) }
        } else {
            cpu.slots[index] = Some(StockSlot { memcg: self.memcg, nr_pages: kept });
            Excess { evicted, own: None }
        }
    }
}

/// How many slots a CPU has.
pub fn slots(scenario: &Scenario) -> u8 {
    match scenario.design.stock_slots {
        StockSlots::One => 1,
        StockSlots::Several => scenario.kernel.nr_memcg_stock,
    }
}

/// The slot that serves `memcg`: its own, a free one, or one that is evicted for it.
fn slot_for(cpu: &mut Cpu, memcg: MemcgId, slots: u8) -> (usize, Option<StockSlot>) {
    if let Some(own) = cpu.slots.iter().position(|slot| slot.is_some_and(|s| s.memcg == memcg)) {
        return (own, None);
    }
    if let Some(free) = cpu.slots.iter().position(Option::is_none) {
        return (free, None);
    }
    let index = usize::from(cpu.drain_idx);
    cpu.drain_idx = (cpu.drain_idx + 1) % slots;
    (index, cpu.slots[index].take())
}

impl Frame for RefillStock {
    type Output = ();

    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        match self.at {
            At::Enter => {
                if kernel.stub(self.call()).is_some() {
                    return Next::Return(());
                }
                let Excess { evicted, own } = self.fill(kernel);
                match evicted {
                    Some(StockSlot { memcg, nr_pages }) => {
                        let callee = MemcgUncharge::enter(memcg, nr_pages);
                        self.goto(At::Evict { callee, then: own })
                    }
                    None => self.overflow(kernel, own),
                }
            }
            At::Evict { callee, then } => match callee.step(kernel) {
                Next::Goto(callee) => self.goto(At::Evict { callee, then }),
                Next::Return(()) => self.overflow(kernel, then),
            },
            At::Overflow(callee) => match callee.step(kernel) {
                Next::Goto(callee) => self.goto(At::Overflow(callee)),
                Next::Return(()) => self.overflow(kernel, None),
            },
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Enter => Locality::Shared,
            At::Evict { callee, .. } | At::Overflow(callee) => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        let own = |pages| {
            let charged = scenario.lineage(self.memcg).any(|at| at == level);
            if charged { pages } else { Pages::ZERO }
        };
        match &self.at {
            At::Enter => own(self.nr_pages),
            At::Evict { callee, then } => {
                callee.in_flight(scenario, level) + own(then.unwrap_or_default())
            }
            At::Overflow(callee) => callee.in_flight(scenario, level),
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Enter => {}
            At::Evict { callee, .. } | At::Overflow(callee) => callee.stack(into),
        }
    }
}
