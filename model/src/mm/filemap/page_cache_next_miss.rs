//! `page_cache_next_miss()`: the next page that is not in the cache.

use crate::design::NoGap;
use crate::env::{Call, FileCall};
use crate::ids::FileId;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::page_cache::PageCache;
use crate::step::Ctx;
use crate::units::{PageIndex, Pages};

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "page_cache_next_miss",
    file: "mm/filemap.c",
    versions: ALL_VERSIONS,
    left_out: "shadow entries, which count as missing; a change of the tree during the walk, which \
               is one step",
    points: &[],
};

/// Slots of a node of the tree.
pub(super) const XA_CHUNK_SIZE: u64 = 64;

/// The slot where a walk that starts at this page begins: that of its folio's first page, if the
/// folio takes several slots of one node; the page's own otherwise.
pub(super) fn first_slot(cache: &PageCache, index: PageIndex) -> PageIndex {
    match cache.folio(index) {
        Some(folio) if Pages::of_order(folio.order).0 < XA_CHUNK_SIZE => folio.index,
        Some(_) | None => index,
    }
}

/// Looks at `max_scan` pages from `index` on. Returns the first that is missing; without one, as
/// the design says. Nothing means the page number wrapped to 0.
///
/// The walk counts slots. Where it begins inside a large folio, it begins at the folio's first
/// slot, but counts pages from `index`: it finds the gap as many pages too late, until it enters
/// the next node of the tree, where it looks the slot up by its page number again.
pub fn page_cache_next_miss(
    kernel: &mut Ctx<'_>,
    file: FileId,
    index: PageIndex,
    max_scan: Pages,
) -> PageIndex {
    let no_gap = kernel.scenario.design.no_gap;
    let call = FileCall::PageCacheNextMiss { file, index, max_scan };
    let miss = kernel.call(Call::File(call), |kernel| {
        walk(kernel.cache(file), index, max_scan, no_gap).0.cast_signed()
    });
    PageIndex(miss.cast_unsigned())
}

fn walk(cache: &PageCache, index: PageIndex, max_scan: Pages, no_gap: NoGap) -> PageIndex {
    let (mut page, mut slot) = (index, first_slot(cache, index));
    for looked in 0..max_scan.0 {
        if looked > 0 {
            page = page.wrapping_add(Pages(1));
            slot = slot.wrapping_add(Pages(1));
            if slot.0.is_multiple_of(XA_CHUNK_SIZE) {
                slot = page;
            }
        }
        if page == PageIndex(0) || !cache.contains(slot) {
            return page;
        }
    }
    match no_gap {
        NoGap::LastPage => page,
        NoGap::PastRange => index.wrapping_add(max_scan),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page_cache::{Folio, FolioFlags};

    fn cache(folios: &[(u64, u8)]) -> PageCache {
        let mut cache = PageCache::bits();
        for (index, order) in folios {
            let (index, flags) = (PageIndex(*index), FolioFlags::empty());
            cache.insert(Folio { index, order: *order, flags });
        }
        cache
    }

    fn miss(folios: &[(u64, u8)], index: u64) -> u64 {
        walk(&cache(folios), PageIndex(index), Pages(32), NoGap::PastRange).0
    }

    #[test]
    fn a_walk_from_a_folios_first_page_is_exact() {
        assert_eq!(miss(&[(4, 2), (8, 0)], 4), 9);
    }

    #[test]
    fn a_walk_from_inside_a_large_folio_finds_the_gap_as_much_too_late() {
        assert_eq!(miss(&[(4, 2), (8, 0)], 6), 11);
    }

    #[test]
    fn the_next_node_of_the_tree_sets_the_count_right() {
        assert_eq!(miss(&[(56, 3), (64, 3)], 58), 72);
    }

    #[test]
    fn without_a_gap_the_kernels_differ_by_one() {
        let full = cache(&[(0, 6)]);
        let end = |no_gap| walk(&full, PageIndex(0), Pages(8), no_gap).0;
        // Page 0 counts as the sign of a wrap.
        assert_eq!(end(NoGap::PastRange), 0);
        let end = |no_gap| walk(&full, PageIndex(1), Pages(8), no_gap).0;
        assert_eq!((end(NoGap::LastPage), end(NoGap::PastRange)), (8, 9));
    }
}
