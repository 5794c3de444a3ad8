//! `force_page_cache_ra()`: reads a range whatever the window, in chunks.

use crate::design::ForcedChunks;
use crate::env::{Call, FileCall};
use crate::ids::MemcgId;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::ReadaheadControl;
use crate::mm::readahead::do_page_cache_ra::do_page_cache_ra;
use crate::mm::readahead::page_cache_ra_unbounded::PageCacheRaUnbounded;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "force_page_cache_ra",
    file: "mm/readahead.c",
    versions: ALL_VERSIONS,
    left_out: "a file system without readahead",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ForcePageCacheRa {
    /// Pages after this chunk.
    left: Pages,
    /// Where the next chunk would begin if this one is filled.
    next: PageIndex,
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
    /// Takes the next chunk.
    Chunk(ReadaheadControl),
    /// In page_cache_ra_unbounded() for it.
    Unbounded(PageCacheRaUnbounded),
}

impl ForcePageCacheRa {
    /// The call.
    pub fn enter(kernel: &mut Ctx<'_>, ractl: ReadaheadControl, nr_to_read: Pages) -> Self {
        let file = ractl.file;
        let config = kernel.scenario.file(file);
        let left = nr_to_read.min(config.io_pages.max(config.ra_pages));
        let call = FileCall::ForcePageCacheRa { file, index: ractl.index, nr_to_read: left };
        kernel.returned(Call::File(call), 0);
        Self { left, next: ractl.index, at: At::Chunk(ractl) }
    }

    fn chunk(
        self,
        kernel: &mut Ctx<'_>,
        mut ractl: ReadaheadControl,
    ) -> Next<Self, ReadaheadControl> {
        if self.left == Pages::ZERO {
            return Next::Return(ractl);
        }
        let chunk = self.left.min(kernel.scenario.kernel.force_page_cache_ra_chunk);
        if kernel.scenario.design.forced_chunks == ForcedChunks::Computed {
            ractl.index = self.next;
        }
        let rest = Self { left: self.left - chunk, next: self.next + chunk, ..self };
        Next::Goto(match do_page_cache_ra(kernel, ractl, chunk, Pages::ZERO) {
            Some(callee) => Self { at: At::Unbounded(callee), ..rest },
            None => Self { at: At::Chunk(ractl), ..rest },
        })
    }
}

impl Frame for ForcePageCacheRa {
    type Output = ReadaheadControl;

    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, ReadaheadControl> {
        match self.at {
            At::Chunk(ractl) => self.chunk(kernel, ractl),
            At::Unbounded(callee) => callee.step(kernel).within(
                |callee| Self { at: At::Unbounded(callee), ..self },
                |ractl| Next::Goto(Self { at: At::Chunk(ractl), ..self }),
            ),
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Chunk(_) => Locality::Local,
            At::Unbounded(callee) => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Chunk(_) => Pages::ZERO,
            At::Unbounded(callee) => callee.in_flight(scenario, level),
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::Unbounded(callee) = &self.at { callee.charging() } else { None }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Chunk(_) => {}
            At::Unbounded(callee) => callee.stack(into),
        }
    }
}
