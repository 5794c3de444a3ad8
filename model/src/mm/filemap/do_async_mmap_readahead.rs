//! `do_async_mmap_readahead()`: readahead after a fault found its page in the cache.

use crate::design::FaultTests;
use crate::ids::{FileId, MemcgId};
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::page_cache_async_ra::PageCacheAsyncRa;
use crate::mm::readahead::{ReadaheadControl, ra_locality};
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::page_cache::FolioFlags;
use crate::scenario::{Scenario, TaskContext, VmFlags};
use crate::step::{Ctx, Frame, Locality, Next, one_or_run};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "do_async_mmap_readahead",
    file: "mm/filemap.c",
    versions: ALL_VERSIONS,
    left_out: "executable mappings",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DoAsyncMmapReadahead {
    file: FileId,
    index: PageIndex,
    vm_flags: VmFlags,
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
    /// Loads ra->mmap_miss, if this hit counts.
    LoadMiss,
    /// Stores it.
    StoreMiss { mmap_miss: u16 },
    /// Tests the folio for the mark.
    TestMark,
    /// In page_cache_async_ra(), because it carries it.
    Async(PageCacheAsyncRa),
}

type ToNext = Next<DoAsyncMmapReadahead, bool>;

impl DoAsyncMmapReadahead {
    /// The call.
    pub const fn enter(file: FileId, index: PageIndex, vm_flags: VmFlags) -> Self {
        Self { file, index, vm_flags, at: At::LoadMiss }
    }

    /// Whether it is in a request to read ahead.
    pub(super) const fn reads_ahead(&self) -> bool {
        matches!(self.at, At::Async(_))
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    /// The fault looks nothing ahead, so this hit means nothing.
    fn unused(self, scenario: &Scenario) -> bool {
        self.vm_flags.contains(VmFlags::RAND_READ)
            || scenario.file(self.file).ra_pages == Pages::ZERO
    }

    fn counts(self, kernel: &mut Ctx<'_>) -> bool {
        match kernel.scenario.design.fault_tests {
            FaultTests::HugeFirst => true,
            FaultTests::UseFirst => {
                let folio = kernel.cache(self.file).folio(self.index);
                !self.vm_flags.contains(VmFlags::SEQ_READ)
                    && folio.is_some_and(|folio| !folio.flags.contains(FolioFlags::LOCKED))
            }
        }
    }

    fn test_mark(self, kernel: &mut Ctx<'_>) -> ToNext {
        let marked = kernel
            .cache(self.file)
            .folio(self.index)
            .filter(|folio| folio.flags.contains(FolioFlags::READAHEAD));
        let Some(folio) = marked else { return Next::Return(false) };
        // The control begins at the page of the fault, not at the folio that carries the mark.
        let ractl = ReadaheadControl::begin(kernel, self.file, self.index);
        let req_count = kernel.scenario.file(self.file).ra_pages;
        self.goto(At::Async(PageCacheAsyncRa::enter(ractl, folio, req_count)))
    }

    fn one_step(self, kernel: &mut Ctx<'_>) -> ToNext {
        match self.at {
            At::LoadMiss if self.unused(kernel.scenario) => Next::Return(false),
            At::LoadMiss => {
                let mmap_miss = kernel.ra(self.file).mmap_miss;
                let less = mmap_miss.checked_sub(1).filter(|_| self.counts(kernel));
                self.goto(match less {
                    Some(mmap_miss) => At::StoreMiss { mmap_miss },
                    None => At::TestMark,
                })
            }
            At::StoreMiss { mmap_miss } => {
                kernel.ra(self.file).mmap_miss = mmap_miss;
                self.goto(At::TestMark)
            }
            At::TestMark => self.test_mark(kernel),
            At::Async(callee) => callee.step(kernel).within(
                |callee| Self { at: At::Async(callee), ..self },
                |ractl| {
                    ractl.end(kernel);
                    Next::Return(true)
                },
            ),
        }
    }

    const fn accesses(&self) -> bool {
        matches!(self.at, At::LoadMiss | At::StoreMiss { .. })
    }
}

impl Frame for DoAsyncMmapReadahead {
    /// Whether the mmap lock was dropped, if that was allowed.
    type Output = bool;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let steps = kernel.scenario.granularity.file_ra_state;
        one_or_run(steps, self, kernel, Self::accesses, Self::one_step)
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::LoadMiss if self.unused(scenario) => Locality::Local,
            At::LoadMiss | At::StoreMiss { .. } => ra_locality(scenario, self.file),
            At::TestMark => Locality::Shared,
            At::Async(callee) => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::LoadMiss | At::StoreMiss { .. } | At::TestMark => Pages::ZERO,
            At::Async(callee) => callee.in_flight(scenario, level),
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::Async(callee) = &self.at { callee.charging() } else { None }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::LoadMiss | At::StoreMiss { .. } | At::TestMark => {}
            At::Async(callee) => callee.stack(into),
        }
    }
}
