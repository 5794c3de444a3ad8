//! `page_counter_charge()`: adds pages to a counter and its ancestors, whatever the limits.

use crate::env::{Call, Counter};
use crate::ids::MemcgId;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next, one_or_all};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "page_counter_charge",
    file: "mm/page_counter.c",
    versions: ALL_VERSIONS,
    left_out: "watermarks, memory.min and memory.low propagation",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PageCounterCharge {
    counter: Counter,
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
    /// Adds to a level.
    Add { level: MemcgId },
}

impl PageCounterCharge {
    /// The call.
    pub const fn enter(counter: Counter, memcg: MemcgId, nr_pages: Pages) -> Self {
        Self { counter, memcg, nr_pages, at: At::Add { level: memcg } }
    }

    fn one_step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        let Self { counter, memcg, nr_pages, at: At::Add { level } } = self;
        let call = Call::PageCounterCharge { counter, memcg, nr_pages };
        if level == memcg && kernel.stub(call).is_some() {
            return Next::Return(());
        }
        kernel.world.memcg(level).counter(counter).usage += nr_pages;
        if let Some(level) = kernel.scenario.memcgs[level.index()].parent {
            return Next::Goto(Self { at: At::Add { level }, ..self });
        }
        kernel.returned(call, 0);
        Next::Return(())
    }
}

impl Frame for PageCounterCharge {
    type Output = ();

    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        one_or_all(kernel.scenario.granularity.counter, self, kernel, Self::stack, Self::one_step)
    }

    fn locality(&self, _: &Scenario, _: &TaskContext) -> Locality {
        Locality::Shared
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        let At::Add { level: next } = self.at;
        let added = self.counter == Counter::Memory
            && scenario.lineage(self.memcg).take_while(|at| *at != next).any(|at| at == level);
        if added { self.nr_pages } else { Pages::ZERO }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
    }
}
