//! `page_cache_prev_miss()`: the last page before that is not in the cache.

use super::page_cache_next_miss::{XA_CHUNK_SIZE, first_slot};
use crate::design::NoGapBefore;
use crate::env::{Call, FileCall};
use crate::ids::FileId;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::page_cache::PageCache;
use crate::step::Ctx;
use crate::units::{PageIndex, Pages};

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "page_cache_prev_miss",
    file: "mm/filemap.c",
    versions: ALL_VERSIONS,
    left_out: "shadow entries, which count as missing; a change of the tree during the walk, which \
               is one step",
    points: &[],
};

/// The page before page 0: all pages from 0 on are in the cache.
pub const BEFORE_FIRST: PageIndex = PageIndex(u64::MAX);

/// Looks at `max_scan` pages from `index` down. Returns the first that is missing; without one, as
/// the design says.
///
/// A walk that begins inside a large folio counts as [`super::page_cache_next_miss`] tells, with
/// one difference: where it leaves a node of the tree downwards, it looks up the slot of the node
/// before that has the page number's place in a node, which is most of a node too far back.
pub fn page_cache_prev_miss(
    kernel: &mut Ctx<'_>,
    file: FileId,
    index: PageIndex,
    max_scan: Pages,
) -> PageIndex {
    let no_gap = kernel.scenario.design.no_gap_before;
    let call = FileCall::PageCachePrevMiss { file, index, max_scan };
    let miss = kernel.call(Call::File(call), |kernel| {
        walk(kernel.cache(file), index, max_scan, no_gap).0.cast_signed()
    });
    PageIndex(miss.cast_unsigned())
}

fn walk(cache: &PageCache, index: PageIndex, max_scan: Pages, no_gap: NoGapBefore) -> PageIndex {
    let (mut page, mut slot) = (index, Some(first_slot(cache, index)));
    for looked in 0..max_scan.0 {
        if looked > 0 {
            page = page.wrapping_sub(Pages(1));
            slot = slot.and_then(|slot| slot_before(slot, page));
        }
        if page == BEFORE_FIRST || !slot.is_some_and(|slot| cache.contains(slot)) {
            return page;
        }
    }
    match no_gap {
        NoGapBefore::LastPage => page,
        NoGapBefore::PastRange => index.wrapping_sub(max_scan),
    }
}

/// The slot to look at for `page` after `slot`; none if the walk leaves the tree.
fn slot_before(slot: PageIndex, page: PageIndex) -> Option<PageIndex> {
    let place = page.0 % XA_CHUNK_SIZE;
    if !slot.0.is_multiple_of(XA_CHUNK_SIZE) {
        Some(PageIndex(slot.0 - 1))
    } else if place == 0 {
        Some(slot)
    } else {
        slot.0.checked_sub(XA_CHUNK_SIZE).map(|node| PageIndex(node + place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page_cache::{Folio, FolioFlags};

    fn miss(folios: &[(u64, u8)], index: u64) -> PageIndex {
        let mut cache = PageCache::bits();
        for (index, order) in folios {
            let (index, flags) = (PageIndex(*index), FolioFlags::empty());
            cache.insert(Folio { index, order: *order, flags });
        }
        walk(&cache, PageIndex(index), Pages(32), NoGapBefore::PastRange)
    }

    #[test]
    fn a_look_back_from_a_folios_first_page_is_exact() {
        assert_eq!(miss(&[(6, 1), (8, 0)], 8), PageIndex(5));
    }

    #[test]
    fn a_look_back_from_inside_a_large_folio_counts_one_and_the_run_before_it() {
        assert_eq!(miss(&[(3, 0), (4, 2)], 7), PageIndex(5));
    }

    #[test]
    fn a_run_that_reaches_page_0_ends_before_it() {
        assert_eq!(miss(&[(0, 0), (1, 0), (2, 0)], 2), BEFORE_FIRST);
    }
}
