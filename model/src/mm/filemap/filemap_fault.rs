//! `filemap_fault()`: brings the page of a fault into the page cache, its repetition included.

use crate::env::{Call, Errno, FileCall};
use crate::gfp::Gfp;
use crate::ids::{FileId, MemcgId};
use crate::mm::filemap::do_async_mmap_readahead::DoAsyncMmapReadahead;
use crate::mm::filemap::do_sync_mmap_readahead::DoSyncMmapReadahead;
use crate::mm::filemap::filemap_add_folio::FilemapAddFolio;
use crate::mm::filemap::mapping_min_folio_order;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::page_cache::{Folio, FolioFlags, Pin};
use crate::scenario::{Scenario, TaskContext, VmFlags};
use crate::step::{Ctx, Frame, Guard, Locality, Next};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "filemap_fault",
    file: "mm/filemap.c",
    versions: ALL_VERSIONS,
    left_out: "fault-around, truncation, fatal signals, the invalidate lock, the recheck of the \
               page table entry, reads that fail",
    points: At::VARIANTS,
};

/// One activation, and the one that the caller makes if the mmap lock was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FilemapFault {
    file: FileId,
    index: PageIndex,
    vm_flags: VmFlags,
    /// `FAULT_FLAG_TRIED`: the mmap lock was dropped before, and stays taken now.
    tried: bool,
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
    /// Looks the page up.
    Lookup,
    /// In do_async_mmap_readahead(), of a page that is there.
    Async(DoAsyncMmapReadahead),
    /// In do_sync_mmap_readahead(), of a page that is not.
    Sync(DoSyncMmapReadahead),
    /// Finds the folio, or allocates one.
    Find { dropped: bool },
    /// In filemap_add_folio() for it.
    Create { dropped: bool, callee: FilemapAddFolio },
    /// Tries to lock the folio.
    Trylock { dropped: bool },
    /// Waits for its lock.
    Lock { dropped: bool },
    /// Holds the lock: reads the folio if nobody else has.
    Locked { dropped: bool },
}

type ToNext = Next<FilemapFault, Result<(), Errno>>;

impl FilemapFault {
    /// The first call.
    pub const fn enter(file: FileId, index: PageIndex, vm_flags: VmFlags) -> Self {
        Self { file, index, vm_flags, tried: false, at: At::Lookup }
    }

    /// Whether it is in a request to read ahead.
    pub(crate) const fn reads_ahead(&self) -> bool {
        match &self.at {
            At::Async(callee) => callee.reads_ahead(),
            At::Sync(callee) => callee.reads_ahead(),
            At::Lookup
            | At::Find { .. }
            | At::Trylock { .. }
            | At::Lock { .. }
            | At::Locked { .. }
            | At::Create { .. } => false,
        }
    }

    /// The folio it holds.
    pub(crate) const fn pins(&self) -> Option<Pin> {
        match &self.at {
            At::Async(_) | At::Trylock { .. } | At::Lock { .. } | At::Locked { .. } => {
                Some(Pin::page(self.file, self.index))
            }
            At::Lookup | At::Sync(_) | At::Find { .. } | At::Create { .. } => None,
        }
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    fn lookup(self, kernel: &mut Ctx<'_>) -> ToNext {
        let Self { file, index, vm_flags, tried, .. } = self;
        if kernel.scenario.inode(file).last_page.is_none_or(|last| index > last) {
            return Next::Return(Err(Errno::EFAULT));
        }
        self.goto(match kernel.cache(file).contains(index) {
            true if tried => At::Trylock { dropped: false },
            true => At::Async(DoAsyncMmapReadahead::enter(file, index, vm_flags)),
            false => At::Sync(DoSyncMmapReadahead::enter(file, index, vm_flags)),
        })
    }

    fn find(self, kernel: &mut Ctx<'_>, dropped: bool) -> ToNext {
        let Self { file, index, .. } = self;
        if kernel.cache(file).contains(index) {
            return self.goto(At::Trylock { dropped });
        }
        let order = mapping_min_folio_order(kernel.scenario, file);
        let index = index.align_down(order);
        let callee = FilemapAddFolio::enter(file, index, order, Gfp::KERNEL, false);
        self.goto(At::Create { dropped, callee })
    }

    fn created(self, kernel: &mut Ctx<'_>, dropped: bool, added: Result<(), Errno>) -> ToNext {
        match added {
            Ok(()) => self.goto(At::Locked { dropped }),
            Err(Errno::EEXIST) => self.goto(At::Find { dropped }),
            Err(_) if dropped => self.retry(kernel),
            Err(errno) => Next::Return(Err(errno)),
        }
    }

    fn folio(self, kernel: &mut Ctx<'_>) -> Option<Folio> {
        kernel.cache(self.file).folio(self.index)
    }

    /// Whether it may drop the mmap lock and have the caller repeat the fault.
    const fn may_drop(&self, scenario: &Scenario) -> bool {
        !self.tried && !scenario.policy.file.no_retry
    }

    /// What happens with the lock held is one step, so that it is never seen held.
    fn locked(self, kernel: &mut Ctx<'_>, dropped: bool) -> ToNext {
        let Some(folio) = self.folio(kernel) else { return self.goto(At::Find { dropped }) };
        let file = self.file;
        if folio.flags.contains(FolioFlags::UPTODATE) {
            return if dropped { self.retry(kernel) } else { Next::Return(Ok(())) };
        }
        let call = Call::File(FileCall::FilemapReadFolio { file, index: folio.index });
        let at_once = kernel.stub(call).is_some();
        kernel.cache(file).change(folio.index, FolioFlags::UPTODATE, FolioFlags::LOCKED);
        if dropped || (self.may_drop(kernel.scenario) && !at_once) {
            return self.retry(kernel);
        }
        // It is looked up again, and found: what was added a moment ago waits in the CPU's batch,
        // where no pass sees it, before it is on a list.
        self.goto(At::Trylock { dropped })
    }

    /// The caller takes the mmap lock again and repeats the fault; nothing holds the page.
    fn retry(self, kernel: &mut Ctx<'_>) -> ToNext {
        let Self { file, index, .. } = self;
        kernel.returned(Call::File(FileCall::VmFaultRetry { file, index }), 0);
        Next::Goto(Self { tried: true, at: At::Lookup, ..self })
    }
}

impl Frame for FilemapFault {
    type Output = Result<(), Errno>;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let inside = |at| Self { at, ..self };
        match self.at {
            At::Lookup => self.lookup(kernel),
            At::Async(callee) => callee.step(kernel).within(
                |callee| inside(At::Async(callee)),
                |dropped| self.goto(At::Trylock { dropped }),
            ),
            At::Sync(callee) => callee.step(kernel).within(
                |callee| inside(At::Sync(callee)),
                |dropped| {
                    self.goto(At::Find { dropped: dropped && self.may_drop(kernel.scenario) })
                },
            ),
            At::Find { dropped } => self.find(kernel, dropped),
            At::Create { dropped, callee } => callee.step(kernel).within(
                |callee| inside(At::Create { dropped, callee }),
                |added| self.created(kernel, dropped, added),
            ),
            At::Trylock { dropped } => {
                let folio = self.folio(kernel);
                if folio.is_some_and(|folio| folio.flags.contains(FolioFlags::LOCKED)) {
                    let dropped = dropped || self.may_drop(kernel.scenario);
                    return self.goto(At::Lock { dropped });
                }
                self.locked(kernel, dropped)
            }
            At::Lock { dropped } | At::Locked { dropped } => self.locked(kernel, dropped),
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        let inode = scenario.file(self.file).inode;
        match &self.at {
            At::Lookup | At::Find { .. } => {
                Locality::LocalIf(Guard::RangeAbsent(inode, self.index, 0))
            }
            // Nobody else locks or reads the folio that it holds of an inode of its own; letting go
            // of it is what a pass can tell.
            At::Trylock { dropped: false } => {
                Locality::LocalIf(Guard::FolioRead(inode, self.index))
            }
            At::Locked { dropped: false }
                if !self.may_drop(scenario) && !scenario.inode(self.file).shared =>
            {
                Locality::Local
            }
            At::Trylock { .. } | At::Locked { .. } => Locality::Shared,
            At::Lock { .. } => Locality::BlockedUntil(Guard::FolioUnlocked(inode, self.index)),
            At::Async(callee) => callee.locality(scenario, task),
            At::Sync(callee) => callee.locality(scenario, task),
            At::Create { callee, .. } => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Lookup
            | At::Find { .. }
            | At::Trylock { .. }
            | At::Lock { .. }
            | At::Locked { .. } => Pages::ZERO,
            At::Async(callee) => callee.in_flight(scenario, level),
            At::Sync(callee) => callee.in_flight(scenario, level),
            At::Create { callee, .. } => callee.in_flight(scenario, level),
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::Async(callee) = &self.at {
            callee.charging()
        } else if let At::Sync(callee) = &self.at {
            callee.charging()
        } else if let At::Create { callee, .. } = &self.at {
            callee.charging()
        } else {
            None
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Lookup
            | At::Find { .. }
            | At::Trylock { .. }
            | At::Lock { .. }
            | At::Locked { .. } => {}
            At::Async(callee) => callee.stack(into),
            At::Sync(callee) => callee.stack(into),
            At::Create { callee, .. } => callee.stack(into),
        }
    }
}
