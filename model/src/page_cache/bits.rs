//! The page cache of a small file: one bit for each page and flag.

use super::{Folio, FolioFlags, PageCache};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};

/// Bits of at most 128 pages, page 0 the lowest. A set without high bits packs into few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Bits {
    /// Pages in the cache.
    present: u128,
    /// Those that start a folio.
    first: u128,
    /// The folios, by first page, that have the flag of that position.
    flags: [u128; FLAGS],
}

/// Flags a folio can have.
const FLAGS: usize = FolioFlags::all().bits().count_ones() as usize;

/// The pages of a naturally aligned block.
const fn block(index: PageIndex, order: u8) -> u128 {
    if order >= 7 { u128::MAX } else { ((1 << (1u128 << order)) - 1) << index.0 }
}

impl Bits {
    pub(super) const EMPTY: Self = Self { present: 0, first: 0, flags: [0; FLAGS] };

    pub(super) const fn contains(&self, index: PageIndex) -> bool {
        index.0 <= PageCache::LAST_BIT.0 && self.present >> index.0 & 1 == 1
    }

    pub(super) const fn overlaps(&self, index: PageIndex, order: u8) -> bool {
        index.0 <= PageCache::LAST_BIT.0 && self.present & block(index, order) != 0
    }

    pub(super) fn folio(&self, index: PageIndex) -> Option<Folio> {
        if !self.contains(index) {
            return None;
        }
        let up_to = u128::MAX >> (PageCache::LAST_BIT.0 - index.0);
        Some(self.starting_at((self.first & up_to).ilog2()))
    }

    pub(super) fn next_folio(&self, index: PageIndex) -> Option<Folio> {
        let from = u32::try_from(index.0).ok().and_then(|index| u128::MAX.checked_shl(index))?;
        let first = self.first & from;
        (first != 0).then(|| self.starting_at(first.trailing_zeros()))
    }

    /// The folio whose first page has that bit. It ends where the next begins or nothing is.
    fn starting_at(&self, bit: u32) -> Folio {
        let after = (!self.present | self.first) >> bit >> 1;
        let nr_pages = if after == 0 { 128 - bit } else { after.trailing_zeros() + 1 };
        let mut flags = FolioFlags::empty();
        for (flag, set) in FolioFlags::all().iter().zip(self.flags) {
            flags.set(flag, set >> bit & 1 == 1);
        }
        let order = u8::try_from(nr_pages.ilog2()).expect("an order is small");
        Folio { index: PageIndex(u64::from(bit)), order, flags }
    }

    pub(super) fn insert(&mut self, folio: Folio) {
        let last = folio.index + folio.nr_pages();
        assert!(last.0 <= PageCache::LAST_BIT.0 + 1, "a store of bits can't hold {folio:?}");
        self.present |= block(folio.index, folio.order);
        self.first |= 1 << folio.index.0;
        self.change(folio.index, folio.flags, FolioFlags::empty());
    }

    pub(super) fn remove(&mut self, index: PageIndex) -> Folio {
        let folio = self.folio(index).filter(|folio| folio.index == index);
        let folio = folio.expect("a folio starts here");
        self.change(index, FolioFlags::empty(), FolioFlags::all());
        self.present &= !block(index, folio.order);
        self.first &= !(1 << index.0);
        folio
    }

    pub(super) fn change(&mut self, index: PageIndex, set: FolioFlags, clear: FolioFlags) {
        assert!(self.contains(index) && self.first >> index.0 & 1 == 1, "a folio starts here");
        for (flag, bits) in FolioFlags::all().iter().zip(&mut self.flags) {
            if clear.contains(flag) {
                *bits &= !(1 << index.0);
            }
            if set.contains(flag) {
                *bits |= 1 << index.0;
            }
        }
    }

    pub(super) fn nr_pages(&self) -> Pages {
        Pages(u64::from(self.present.count_ones()))
    }
}
