//! The kernel calls of the page cache and of readahead, and what they look like as C.

use super::{Arg, Returns};
use crate::gfp::Gfp;
use crate::ids::{FileId, InodeId, MemcgId};
use crate::units::{PageIndex, Pages};

/// A kernel call of the page cache or of readahead, named after the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are the arguments of the kernel function")]
pub enum FileCall {
    /// The charge of a folio or of a node of the tree: 0 or an error.
    MemCgroupCharge {
        memcg: MemcgId,
        nr_pages: Pages,
        gfp: Gfp,
    },
    /// Such a charge is given back.
    MemCgroupUncharge {
        memcg: MemcgId,
        nr_pages: Pages,
    },
    /// Looks for a folio in the way and stores the new one, under the lock: 0 or an error.
    XasStore {
        inode: InodeId,
        index: PageIndex,
        order: u8,
    },
    /// 0 or an error. A folio that is `marked` carried the mark before it was added.
    FilemapAddFolio {
        file: FileId,
        index: PageIndex,
        order: u8,
        gfp: Gfp,
        marked: bool,
    },
    FilemapRemoveFolio {
        inode: InodeId,
        index: PageIndex,
        order: u8,
    },
    /// The folio in the cache that starts there carries the mark from now on.
    FolioSetReadahead {
        file: FileId,
        index: PageIndex,
    },
    /// It no longer does.
    FolioClearReadahead {
        file: FileId,
        index: PageIndex,
    },
    /// The file system was given a batch: returns the pages it read.
    ReadPages {
        file: FileId,
        index: PageIndex,
        nr_pages: Pages,
    },
    /// Returns the index it stopped at, -1 for the one before page 0.
    PageCacheNextMiss {
        file: FileId,
        index: PageIndex,
        max_scan: Pages,
    },
    /// Returns the index it stopped at, -1 for the one before page 0.
    PageCachePrevMiss {
        file: FileId,
        index: PageIndex,
        max_scan: Pages,
    },
    PageCacheSyncRa {
        file: FileId,
        index: PageIndex,
        req_count: Pages,
    },
    PageCacheAsyncRa {
        file: FileId,
        index: PageIndex,
        req_count: Pages,
        folio: PageIndex,
        order: u8,
    },
    ForcePageCacheRa {
        file: FileId,
        index: PageIndex,
        nr_to_read: Pages,
    },
    /// A window begins to be filled; `order` is that of the folio whose mark was found, where the
    /// design hands it over.
    PageCacheRaOrder {
        file: FileId,
        index: PageIndex,
        order: u8,
    },
    /// Base pages begin to be added.
    PageCacheRaUnbounded {
        file: FileId,
        index: PageIndex,
        nr_to_read: Pages,
        lookahead: Pages,
    },
    /// do_sync_mmap_readahead() has set a window around the fault.
    MmapReadAround {
        file: FileId,
        start: PageIndex,
        size: Pages,
    },
    /// Returns 1 if one more add is worth it.
    MemCgroupReclaimForBatch {
        memcg: MemcgId,
        nr_pages: Pages,
        gfp: Gfp,
    },
    /// A fault or a read reads a folio by itself.
    FilemapReadFolio {
        file: FileId,
        index: PageIndex,
    },
    /// The fault leaves without the mmap lock and is repeated.
    VmFaultRetry {
        file: FileId,
        index: PageIndex,
    },
}

impl FileCall {
    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    pub(super) fn args(self) -> Vec<Arg> {
        let order = |order: u8| Arg::Number("order", order.into());
        match self {
            Self::MemCgroupCharge { memcg, nr_pages, gfp }
            | Self::MemCgroupReclaimForBatch { memcg, nr_pages, gfp } => {
                vec![Arg::Memcg(memcg), Arg::Pages(nr_pages), Arg::Gfp(gfp)]
            }
            Self::MemCgroupUncharge { memcg, nr_pages } => {
                vec![Arg::Memcg(memcg), Arg::Pages(nr_pages)]
            }
            Self::XasStore { inode, index, order: of }
            | Self::FilemapRemoveFolio { inode, index, order: of } => {
                vec![Arg::Inode(inode), Arg::Index(index), order(of)]
            }
            Self::FilemapAddFolio { file, index, order: of, gfp, .. } => {
                vec![Arg::File(file), Arg::Index(index), order(of), Arg::Gfp(gfp)]
            }
            Self::FolioSetReadahead { file, index }
            | Self::FolioClearReadahead { file, index }
            | Self::FilemapReadFolio { file, index }
            | Self::VmFaultRetry { file, index } => vec![Arg::File(file), Arg::Index(index)],
            Self::PageCacheAsyncRa { file, index, req_count, folio, order: of } => vec![
                Arg::File(file),
                Arg::Index(index),
                Arg::Pages(req_count),
                Arg::Number("folio", folio.0),
                order(of),
            ],
            Self::PageCacheRaOrder { file, index, order: of } => {
                vec![Arg::File(file), Arg::Index(index), order(of)]
            }
            Self::PageCacheRaUnbounded { file, index, nr_to_read, lookahead } => vec![
                Arg::File(file),
                Arg::Index(index),
                Arg::Pages(nr_to_read),
                Arg::Number("lookahead", lookahead.0),
            ],
            Self::ReadPages { file, index, nr_pages: pages }
            | Self::PageCacheNextMiss { file, index, max_scan: pages }
            | Self::PageCachePrevMiss { file, index, max_scan: pages }
            | Self::PageCacheSyncRa { file, index, req_count: pages }
            | Self::ForcePageCacheRa { file, index, nr_to_read: pages }
            | Self::MmapReadAround { file, start: index, size: pages } => {
                vec![Arg::File(file), Arg::Index(index), Arg::Pages(pages)]
            }
        }
    }

    pub(super) const fn returns(self) -> Returns {
        match self {
            Self::MemCgroupCharge { .. } | Self::XasStore { .. } | Self::FilemapAddFolio { .. } => {
                Returns::Error
            }
            Self::ReadPages { .. } => Returns::Pages,
            Self::PageCacheNextMiss { .. } | Self::PageCachePrevMiss { .. } => Returns::Index,
            Self::MemCgroupReclaimForBatch { .. } => Returns::Flag,
            Self::MemCgroupUncharge { .. }
            | Self::FilemapRemoveFolio { .. }
            | Self::FolioSetReadahead { .. }
            | Self::FolioClearReadahead { .. }
            | Self::PageCacheSyncRa { .. }
            | Self::PageCacheAsyncRa { .. }
            | Self::ForcePageCacheRa { .. }
            | Self::PageCacheRaOrder { .. }
            | Self::PageCacheRaUnbounded { .. }
            | Self::MmapReadAround { .. }
            | Self::FilemapReadFolio { .. }
            | Self::VmFaultRetry { .. } => Returns::Nothing,
        }
    }
}
