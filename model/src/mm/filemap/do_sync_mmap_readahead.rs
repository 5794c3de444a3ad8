//! `do_sync_mmap_readahead()`: readahead after a fault missed its page.

use crate::design::{FaultTests, ReadaheadOrder};
use crate::env::{Call, FileCall};
use crate::ids::{FileId, MemcgId};
use crate::mm::filemap::mapping_max_folio_order;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::page_cache_ra_order::PageCacheRaOrder;
use crate::mm::readahead::page_cache_sync_ra::PageCacheSyncRa;
use crate::mm::readahead::{ReadaheadControl, ra_locality};
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext, VmFlags};
use crate::step::{Ctx, Frame, Locality, Next, one_or_run};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "do_sync_mmap_readahead",
    file: "mm/filemap.c",
    versions: ALL_VERSIONS,
    left_out: "the windows of executable mappings",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DoSyncMmapReadahead {
    file: FileId,
    index: PageIndex,
    vm_flags: VmFlags,
    at: At,
}

/// A window around a fault, before it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Around {
    start: PageIndex,
    size: Pages,
    async_size: Pages,
    order: u8,
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
    /// Tests how the mapping is going to be used.
    Enter,
    /// Loads ra->mmap_miss.
    LoadMiss,
    /// Stores it, and gives up if it is large.
    StoreMiss { mmap_miss: u16 },
    /// Stores ra->start of a window around the fault.
    StoreStart(Around),
    /// Stores ra->size.
    StoreSize(Around),
    /// Stores ra->async_size.
    StoreAsyncSize(Around),
    /// Stores ra->order, where the design has it.
    StoreOrder(Around),
    /// Loads ra->start: the control begins there.
    Start(Around),
    /// In page_cache_ra_order() for that window.
    Around(PageCacheRaOrder),
    /// In page_cache_sync_ra(), of a sequential mapping.
    Sync(PageCacheSyncRa),
}

type ToNext = Next<DoSyncMmapReadahead, bool>;

impl DoSyncMmapReadahead {
    /// The call.
    pub const fn enter(file: FileId, index: PageIndex, vm_flags: VmFlags) -> Self {
        Self { file, index, vm_flags, at: At::Enter }
    }

    /// Whether it is in a request to read ahead.
    pub(super) const fn reads_ahead(&self) -> bool {
        matches!(self.at, At::Around(_) | At::Sync(_))
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    /// A mapping of huge pages, of a file that can have them.
    fn huge(self, scenario: &Scenario) -> bool {
        self.vm_flags.contains(VmFlags::HUGEPAGE)
            && mapping_max_folio_order(scenario, self.file) > 0
    }

    fn begin(self, kernel: &mut Ctx<'_>) -> ToNext {
        let scenario = kernel.scenario;
        let ra_pages = scenario.file(self.file).ra_pages;
        let huge = self.huge(scenario);
        if huge && scenario.design.fault_tests == FaultTests::HugeFirst {
            return self.goto(At::StoreStart(self.around_huge(scenario)));
        }
        if !huge {
            if self.vm_flags.contains(VmFlags::RAND_READ) || ra_pages == Pages::ZERO {
                return Next::Return(false);
            }
            if self.vm_flags.contains(VmFlags::SEQ_READ) {
                let ractl = ReadaheadControl::begin(kernel, self.file, self.index);
                return self.goto(At::Sync(PageCacheSyncRa::enter(ractl, ra_pages)));
            }
        } else if self.vm_flags.contains(VmFlags::SEQ_READ) {
            return self.goto(At::StoreStart(self.around_huge(scenario)));
        }
        self.goto(At::LoadMiss)
    }

    fn around_huge(self, scenario: &Scenario) -> Around {
        let huge = scenario.kernel.max_pagecache_order;
        let order = match scenario.design.fault_tests {
            FaultTests::HugeFirst => huge,
            FaultTests::UseFirst => huge.min(mapping_max_folio_order(scenario, self.file)),
        };
        let folio = Pages::of_order(order);
        let random = self.vm_flags.contains(VmFlags::RAND_READ);
        let size = if random { folio } else { folio + folio };
        Around { start: self.index.align_down(order), size, async_size: folio, order }
    }

    fn around(self, scenario: &Scenario) -> Around {
        let size = scenario.file(self.file).ra_pages;
        let start = PageIndex(self.index.0.saturating_sub(size.0 / 2));
        Around { start, size, async_size: Pages(size.0 / 4), order: 0 }
    }

    fn counted(self, scenario: &Scenario, mmap_miss: u16) -> ToNext {
        if mmap_miss > scenario.kernel.mmap_lotsamiss {
            return Next::Return(false);
        }
        let huge = self.huge(scenario);
        self.goto(At::StoreStart(if huge {
            self.around_huge(scenario)
        } else {
            self.around(scenario)
        }))
    }

    fn start(self, kernel: &mut Ctx<'_>, around: Around) -> ToNext {
        let file = self.file;
        let index = kernel.ra(file).start;
        let ractl = ReadaheadControl::begin(kernel, file, index);
        let call = FileCall::MmapReadAround { file, start: index, size: around.size };
        kernel.returned(Call::File(call), 0);
        let callee = PageCacheRaOrder::enter(kernel, ractl, around.order);
        self.goto(At::Around(callee))
    }

    fn one_step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let scenario = kernel.scenario;
        let inside = |at| Self { at, ..self };
        match self.at {
            At::Enter => self.begin(kernel),
            At::LoadMiss => {
                let mmap_miss = kernel.ra(self.file).mmap_miss;
                if mmap_miss < scenario.kernel.mmap_lotsamiss * 10 {
                    self.goto(At::StoreMiss { mmap_miss: mmap_miss + 1 })
                } else {
                    self.counted(scenario, mmap_miss)
                }
            }
            At::StoreMiss { mmap_miss } => {
                kernel.ra(self.file).mmap_miss = mmap_miss;
                self.counted(scenario, mmap_miss)
            }
            At::StoreStart(around) => {
                kernel.ra(self.file).start = around.start;
                self.goto(At::StoreSize(around))
            }
            At::StoreSize(around) => {
                kernel.ra(self.file).size = around.size;
                self.goto(At::StoreAsyncSize(around))
            }
            At::StoreAsyncSize(around) => {
                kernel.ra(self.file).async_size = around.async_size;
                self.goto(match scenario.design.readahead_order {
                    ReadaheadOrder::State => At::StoreOrder(around),
                    ReadaheadOrder::MarkedFolio => At::Start(around),
                })
            }
            At::StoreOrder(around) => {
                kernel.ra(self.file).order = around.order;
                self.goto(At::Start(around))
            }
            At::Start(around) => self.start(kernel, around),
            At::Around(callee) => callee.step(kernel).within(
                |callee| inside(At::Around(callee)),
                |ractl| {
                    ractl.end(kernel);
                    Next::Return(true)
                },
            ),
            At::Sync(callee) => callee.step(kernel).within(
                |callee| inside(At::Sync(callee)),
                |ractl| {
                    ractl.end(kernel);
                    Next::Return(true)
                },
            ),
        }
    }

    const fn accesses(&self) -> bool {
        !matches!(self.at, At::Enter | At::Around(_) | At::Sync(_))
    }
}

impl Frame for DoSyncMmapReadahead {
    /// Whether the mmap lock was dropped, if that was allowed.
    type Output = bool;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let steps = kernel.scenario.granularity.file_ra_state;
        one_or_run(steps, self, kernel, Self::accesses, Self::one_step)
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Enter => Locality::Local,
            At::LoadMiss
            | At::StoreMiss { .. }
            | At::StoreStart(_)
            | At::StoreSize(_)
            | At::StoreAsyncSize(_)
            | At::StoreOrder(_)
            | At::Start(_) => ra_locality(scenario, self.file),
            At::Around(callee) => callee.locality(scenario, task),
            At::Sync(callee) => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        if let At::Around(callee) = &self.at {
            callee.in_flight(scenario, level)
        } else if let At::Sync(callee) = &self.at {
            callee.in_flight(scenario, level)
        } else {
            Pages::ZERO
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::Around(callee) = &self.at {
            callee.charging()
        } else if let At::Sync(callee) = &self.at {
            callee.charging()
        } else {
            None
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        if let At::Around(callee) = &self.at {
            callee.stack(into);
        } else if let At::Sync(callee) = &self.at {
            callee.stack(into);
        }
    }
}
