//! `filemap_get_read_batch()`: the folios a read finds in the page cache, one after the other.

use crate::ids::FileId;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::page_cache::FolioFlags;
use crate::step::Ctx;
use crate::units::PageIndex;
use serde::{Deserialize, Serialize};

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "filemap_get_read_batch",
    file: "mm/filemap.c",
    versions: ALL_VERSIONS,
    left_out: "a change of the tree during the lookup, which is one step",
    points: &[],
};

/// Consecutive folios, on each of which the reader holds a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FolioBatch {
    /// How many.
    pub count: u8,
    /// The first page of the last of them.
    pub last: PageIndex,
    /// The page after it.
    pub end: PageIndex,
}

/// Looks up the folios from page `index` to page `max`. The batch ends before the first gap, and
/// with the first folio that isn't uptodate or carries the mark.
pub fn filemap_get_read_batch(
    kernel: &mut Ctx<'_>,
    file: FileId,
    index: PageIndex,
    max: PageIndex,
) -> Option<FolioBatch> {
    let most = kernel.scenario.design.read_batch;
    let cache = kernel.cache(file);
    let mut next = index;
    let mut batch: Option<FolioBatch> = None;
    while next <= max && batch.is_none_or(|batch| batch.count < most) {
        let Some(folio) = cache.folio(next) else { break };
        let count = batch.map_or(1, |batch| batch.count + 1);
        batch = Some(FolioBatch { count, last: folio.index, end: folio.end() });
        next = folio.end();
        let flags = folio.flags;
        if !flags.contains(FolioFlags::UPTODATE) || flags.contains(FolioFlags::READAHEAD) {
            break;
        }
    }
    batch
}
