//! `page_counter_uncharge()`: takes pages from a counter and its ancestors, level by level.

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
    name: "page_counter_uncharge",
    file: "mm/page_counter.c",
    versions: ALL_VERSIONS,
    left_out: "memory.min and memory.low propagation",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PageCounterUncharge {
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
    /// Subtracts from a level; the group of levels is not atomic.
    Subtract { level: MemcgId },
}

impl PageCounterUncharge {
    /// The call.
    pub const fn enter(counter: Counter, memcg: MemcgId, nr_pages: Pages) -> Self {
        Self { counter, memcg, nr_pages, at: At::Subtract { level: memcg } }
    }

    /// The memcg whose pages these are.
    pub const fn memcg(&self) -> MemcgId {
        self.memcg
    }

    /// How many pages.
    pub const fn nr_pages(&self) -> Pages {
        self.nr_pages
    }

    fn one_step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        let Self { counter, memcg, nr_pages, at: At::Subtract { level } } = self;
        let call = Call::PageCounterUncharge { counter, memcg, nr_pages };
        if level == memcg && kernel.stub(call).is_some() {
            return Next::Return(());
        }
        kernel.world.memcg(level).counter(counter).usage -= nr_pages;
        if let Some(level) = kernel.scenario.memcgs[level.index()].parent {
            return Next::Goto(Self { at: At::Subtract { level }, ..self });
        }
        kernel.returned(call, 0);
        Next::Return(())
    }
}

impl Frame for PageCounterUncharge {
    type Output = ();

    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        one_or_all(kernel.scenario.granularity.counter, self, kernel, Self::stack, Self::one_step)
    }

    fn locality(&self, _: &Scenario, _: &TaskContext) -> Locality {
        Locality::Shared
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        let At::Subtract { level: from } = self.at;
        let still = self.counter == Counter::Memory && scenario.lineage(from).any(|at| at == level);
        if still { self.nr_pages } else { Pages::ZERO }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
    }
}
