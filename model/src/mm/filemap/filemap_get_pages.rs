//! `filemap_get_pages()`: the folios a read copies from, read in if they must be.

use crate::design::{ReadBehind, ReadEnd};
use crate::env::Errno;
use crate::gfp::Gfp;
use crate::ids::{FileId, MemcgId};
use crate::mm::filemap::filemap_add_folio::FilemapAddFolio;
use crate::mm::filemap::filemap_get_read_batch::{FolioBatch, filemap_get_read_batch};
use crate::mm::filemap::mapping_min_folio_order;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::ReadaheadControl;
use crate::mm::readahead::page_cache_async_ra::PageCacheAsyncRa;
use crate::mm::readahead::page_cache_sync_ra::PageCacheSyncRa;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::page_cache::{FolioFlags, Pin};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Guard, Locality, Next};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "filemap_get_pages",
    file: "mm/filemap.c",
    versions: ALL_VERSIONS,
    left_out: "fatal signals, reads that must not wait, partly uptodate folios",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FilemapGetPages {
    file: FileId,
    /// The first page wanted.
    index: PageIndex,
    /// The page after the last one wanted.
    last_index: PageIndex,
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
    /// `retry:` looks up what is there.
    Lookup,
    /// In page_cache_sync_ra(), because the first page is missing.
    Sync(PageCacheSyncRa),
    /// Looks again.
    LookupAgain,
    /// In filemap_add_folio() for one folio, because it still is.
    Create(FilemapAddFolio),
    /// Tests the last folio of the batch for the mark.
    TestMark(FolioBatch),
    /// In page_cache_async_ra(), because it carries it.
    Async(FolioBatch, PageCacheAsyncRa),
    /// Tests whether the last folio is uptodate.
    TestUptodate(FolioBatch),
    /// Waits for the lock of a folio that isn't, and reads it if nobody else has.
    Lock(FolioBatch),
}

type ToNext = Next<FilemapGetPages, Result<PageIndex, Errno>>;

impl FilemapGetPages {
    /// The call, for `count` bytes from byte `pos` on.
    pub fn enter(scenario: &Scenario, file: FileId, pos: u64, count: u64) -> Self {
        let order = match scenario.design.read_end {
            ReadEnd::Page => 0,
            ReadEnd::MinFolio => mapping_min_folio_order(scenario, file),
        };
        let last_index = PageIndex((pos + count).div_ceil(4096)).wrapping_align_up(order);
        Self { file, index: PageIndex(pos / 4096), last_index, at: At::Lookup }
    }

    /// Whether it is in a request to read ahead.
    pub(super) const fn reads_ahead(&self) -> bool {
        matches!(self.at, At::Sync(_) | At::Async(..))
    }

    /// The folios it holds.
    pub(super) const fn pins(&self) -> Option<Pin> {
        match &self.at {
            At::TestMark(batch)
            | At::Async(batch, _)
            | At::TestUptodate(batch)
            | At::Lock(batch) => Some(Pin { file: self.file, first: self.index, end: batch.end }),
            At::Lookup | At::Sync(_) | At::LookupAgain | At::Create(_) => None,
        }
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    fn lookup(self, kernel: &mut Ctx<'_>) -> Option<FolioBatch> {
        let max = self.last_index.wrapping_sub(Pages(1));
        filemap_get_read_batch(kernel, self.file, self.index, max)
    }

    /// `filemap_create_folio()`.
    fn create(self, scenario: &Scenario) -> ToNext {
        let order = mapping_min_folio_order(scenario, self.file);
        let index = self.index.align_down(order);
        let callee = FilemapAddFolio::enter(self.file, index, order, Gfp::KERNEL, false);
        self.goto(At::Create(callee))
    }

    fn created(self, kernel: &mut Ctx<'_>, added: Result<(), Errno>) -> ToNext {
        match added {
            Ok(()) => {
                let cache = kernel.cache(self.file);
                let folio = cache.folio(self.index).expect("a locked folio stays");
                cache.change(folio.index, FolioFlags::UPTODATE, FolioFlags::LOCKED);
                Next::Return(Ok(folio.end()))
            }
            Err(Errno::EEXIST) => self.goto(At::Lookup),
            Err(errno) => Next::Return(Err(errno)),
        }
    }

    fn test_mark(self, kernel: &mut Ctx<'_>, batch: FolioBatch) -> ToNext {
        let marked = kernel
            .cache(self.file)
            .folio(batch.last)
            .filter(|folio| folio.flags.contains(FolioFlags::READAHEAD));
        let Some(folio) = marked else { return self.goto(At::TestUptodate(batch)) };
        let ractl = ReadaheadControl::begin(kernel, self.file, folio.index);
        let req_count = self.last_index.wrapping_since(folio.index);
        self.goto(At::Async(batch, PageCacheAsyncRa::enter(ractl, folio, req_count)))
    }

    fn test_uptodate(self, kernel: &mut Ctx<'_>, batch: FolioBatch) -> ToNext {
        let cache = kernel.cache(self.file);
        // One that has gone has not been read: only a file system that left it takes it away from
        // under a reader.
        let uptodate =
            cache.folio(batch.last).is_some_and(|folio| folio.flags.contains(FolioFlags::UPTODATE));
        if uptodate {
            return Next::Return(Ok(batch.end));
        }
        let leaves = kernel.scenario.design.read_behind == ReadBehind::Leaves;
        if leaves && batch.count > 1 {
            return Next::Return(Ok(batch.last));
        }
        self.goto(At::Lock(batch))
    }

    /// The folio is locked now: it may have gone, or have been read by another.
    fn lock(self, kernel: &mut Ctx<'_>, batch: FolioBatch) -> ToNext {
        let cache = kernel.cache(self.file);
        if cache.folio(batch.last).is_none_or(|folio| folio.index != batch.last) {
            return self.goto(At::Lookup);
        }
        cache.change(batch.last, FolioFlags::UPTODATE, FolioFlags::empty());
        Next::Return(Ok(batch.end))
    }
}

impl Frame for FilemapGetPages {
    /// The page after the last that can be copied.
    type Output = Result<PageIndex, Errno>;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let inside = |at| Self { at, ..self };
        match self.at {
            At::Lookup => {
                if let Some(batch) = self.lookup(kernel) {
                    return self.goto(At::TestMark(batch));
                }
                let ractl = ReadaheadControl::begin(kernel, self.file, self.index);
                let req_count = self.last_index.wrapping_since(self.index);
                self.goto(At::Sync(PageCacheSyncRa::enter(ractl, req_count)))
            }
            At::Sync(callee) => callee.step(kernel).within(
                |callee| inside(At::Sync(callee)),
                |ractl| {
                    ractl.end(kernel);
                    self.goto(At::LookupAgain)
                },
            ),
            At::LookupAgain => match self.lookup(kernel) {
                Some(batch) => self.goto(At::TestMark(batch)),
                None => self.create(kernel.scenario),
            },
            At::Create(callee) => callee
                .step(kernel)
                .within(|callee| inside(At::Create(callee)), |added| self.created(kernel, added)),
            At::TestMark(batch) => self.test_mark(kernel, batch),
            At::Async(batch, callee) => callee.step(kernel).within(
                |callee| inside(At::Async(batch, callee)),
                |ractl| {
                    ractl.end(kernel);
                    self.goto(At::TestUptodate(batch))
                },
            ),
            At::TestUptodate(batch) => self.test_uptodate(kernel, batch),
            At::Lock(batch) => self.lock(kernel, batch),
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        let inode = scenario.file(self.file).inode;
        match &self.at {
            At::Lookup | At::LookupAgain => {
                Locality::LocalIf(Guard::RangeAbsent(inode, self.index, 0))
            }
            At::TestMark(_) | At::TestUptodate(_) => Locality::Shared,
            At::Lock(batch) => Locality::BlockedUntil(Guard::FolioUnlocked(inode, batch.last)),
            At::Sync(callee) => callee.locality(scenario, task),
            At::Create(callee) => callee.locality(scenario, task),
            At::Async(_, callee) => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Lookup | At::LookupAgain | At::TestMark(_) | At::TestUptodate(_) | At::Lock(_) => {
                Pages::ZERO
            }
            At::Sync(callee) => callee.in_flight(scenario, level),
            At::Create(callee) => callee.in_flight(scenario, level),
            At::Async(_, callee) => callee.in_flight(scenario, level),
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::Sync(callee) = &self.at {
            callee.charging()
        } else if let At::Create(callee) = &self.at {
            callee.charging()
        } else if let At::Async(_, callee) = &self.at {
            callee.charging()
        } else {
            None
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Lookup | At::LookupAgain | At::TestMark(_) | At::TestUptodate(_) | At::Lock(_) => {}
            At::Sync(callee) => callee.stack(into),
            At::Create(callee) => callee.stack(into),
            At::Async(_, callee) => callee.stack(into),
        }
    }
}
