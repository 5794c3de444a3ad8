//! The page cache of one inode: which folios it holds, and their state.
//!
//! The step functions know this interface only. Behind it are two stores: a few bits for a search,
//! where a state must be small, and a tree for files of any size.

use crate::ids::FileId;
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod bits;
use bits::Bits;

/// A folio in the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Folio {
    /// Its first page.
    pub index: PageIndex,
    /// Its size, as a power of two.
    pub order: u8,
    /// Its flags.
    pub flags: FolioFlags,
}

bitflags::bitflags! {
    /// The flags of a folio that a modelled function tests.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(transparent)]
    pub struct FolioFlags: u8 {
        /// `PG_locked`: from the add until its read has ended.
        const LOCKED = 1 << 0;
        /// `PG_uptodate`: it holds what the file holds.
        const UPTODATE = 1 << 1;
        /// `PG_readahead`: whoever finds it starts the next window.
        const READAHEAD = 1 << 2;
        /// `PG_referenced`, or a page table entry was used.
        const REFERENCED = 1 << 3;
        /// `PG_dirty`: it must be written before it can go.
        const DIRTY = 1 << 4;
        /// Its read has been submitted and will end.
        const READING = 1 << 5;
        /// It is the first of those that are read together.
        const BIO = 1 << 6;
        /// Somebody has used it, however long ago.
        const USED = 1 << 7;
    }
}

impl Folio {
    /// Its size.
    pub const fn nr_pages(&self) -> Pages {
        Pages::of_order(self.order)
    }

    /// The first page after it.
    pub fn end(&self) -> PageIndex {
        self.index + self.nr_pages()
    }
}

/// Pages on whose folios a task holds a reference, so that reclaim can't take them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The open file.
    pub file: FileId,
    /// The first page.
    pub first: PageIndex,
    /// The page after the last.
    pub end: PageIndex,
}

impl Pin {
    /// The folio of one page.
    pub const fn page(file: FileId, index: PageIndex) -> Self {
        Self { file, first: index, end: index.wrapping_add(Pages(1)) }
    }
}

/// `struct address_space`: the folios of an inode.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PageCache {
    /// A few pages as bits; the last index is [`PageCache::LAST_BIT`].
    Bits(Bits),
    /// Any size.
    Tree(BTreeMap<PageIndex, Folio>),
}

impl PageCache {
    /// The last page a store of bits can hold.
    pub const LAST_BIT: PageIndex = PageIndex(127);

    /// An empty store that takes few bytes as long as little is in it.
    pub const fn bits() -> Self {
        Self::Bits(Bits::EMPTY)
    }

    /// An empty store for any size.
    pub const fn tree() -> Self {
        Self::Tree(BTreeMap::new())
    }

    /// The folio that holds this page.
    pub fn folio(&self, index: PageIndex) -> Option<Folio> {
        match self {
            Self::Bits(bits) => bits.folio(index),
            Self::Tree(tree) => {
                let (_, folio) = tree.range(..=index).next_back()?;
                (index < folio.end()).then_some(*folio)
            }
        }
    }

    /// Whether this page is in the cache.
    pub fn contains(&self, index: PageIndex) -> bool {
        match self {
            Self::Bits(bits) => bits.contains(index),
            Self::Tree(_) => self.folio(index).is_some(),
        }
    }

    /// Whether any page of a naturally aligned block is in the cache.
    pub fn overlaps(&self, index: PageIndex, order: u8) -> bool {
        match self {
            Self::Bits(bits) => bits.overlaps(index, order),
            Self::Tree(tree) => {
                let last = index.wrapping_add(Pages::of_order(order)).wrapping_sub(Pages(1));
                let before = tree.range(..=last).next_back();
                before.is_some_and(|(_, folio)| folio.end() > index)
            }
        }
    }

    /// Adds a folio.
    ///
    /// # Panics
    /// If one of its pages is in the cache already, or beyond what the store can hold.
    pub fn insert(&mut self, folio: Folio) {
        assert!(!self.overlaps(folio.index, folio.order), "a page has one folio: {folio:?}");
        match self {
            Self::Bits(bits) => bits.insert(folio),
            Self::Tree(tree) => {
                tree.insert(folio.index, folio);
            }
        }
    }

    /// Removes the folio that starts at this page.
    ///
    /// # Panics
    /// If none does.
    pub fn remove(&mut self, index: PageIndex) -> Folio {
        match self {
            Self::Bits(bits) => bits.remove(index),
            Self::Tree(tree) => tree.remove(&index).expect("a folio starts here"),
        }
    }

    /// Sets flags of the folio that starts at this page, and clears others.
    ///
    /// # Panics
    /// If none does.
    pub fn change(&mut self, index: PageIndex, set: FolioFlags, clear: FolioFlags) {
        match self {
            Self::Bits(bits) => bits.change(index, set, clear),
            Self::Tree(tree) => {
                let folio = tree.get_mut(&index).expect("a folio starts here");
                folio.flags = folio.flags.difference(clear).union(set);
            }
        }
    }

    /// The first folio that starts at this page or after it.
    pub fn next_folio(&self, index: PageIndex) -> Option<Folio> {
        match self {
            Self::Bits(bits) => bits.next_folio(index),
            Self::Tree(tree) => tree.range(index..).next().map(|(_, folio)| *folio),
        }
    }

    /// Every folio, by index.
    pub fn folios(&self) -> impl Iterator<Item = Folio> {
        std::iter::successors(self.next_folio(PageIndex(0)), |folio| self.next_folio(folio.end()))
    }

    /// Pages in the cache.
    pub fn nr_pages(&self) -> Pages {
        match self {
            Self::Bits(bits) => bits.nr_pages(),
            Self::Tree(tree) => tree.values().map(Folio::nr_pages).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folio(index: u64, order: u8, flags: FolioFlags) -> Folio {
        Folio { index: PageIndex(index), order, flags }
    }

    /// What can be seen of a store.
    fn seen(cache: &PageCache) -> (Vec<Folio>, Vec<Option<Folio>>, Vec<bool>, Pages) {
        let pages = || (0..128).map(PageIndex);
        (
            cache.folios().collect(),
            pages().map(|page| cache.folio(page)).collect(),
            pages().map(|page| cache.overlaps(page.align_down(2), 2)).collect(),
            cache.nr_pages(),
        )
    }

    #[test]
    fn both_stores_hold_the_same_after_the_same_changes() {
        let [mut bits, mut tree] = [PageCache::bits(), PageCache::tree()];
        let changes: &[fn(&mut PageCache)] = &[
            |cache| cache.insert(folio(0, 0, FolioFlags::LOCKED)),
            |cache| cache.insert(folio(4, 2, FolioFlags::LOCKED | FolioFlags::READAHEAD)),
            |cache| cache.insert(folio(8, 3, FolioFlags::UPTODATE)),
            |cache| cache.insert(folio(64, 6, FolioFlags::DIRTY)),
            |cache| cache.change(PageIndex(4), FolioFlags::UPTODATE, FolioFlags::LOCKED),
            |cache| assert_eq!(cache.remove(PageIndex(8)).order, 3),
            |cache| cache.insert(folio(9, 0, FolioFlags::REFERENCED)),
            |cache| assert_eq!(cache.remove(PageIndex(64)).order, 6),
        ];
        for change in changes {
            change(&mut bits);
            change(&mut tree);
            assert_eq!(seen(&bits), seen(&tree));
        }
    }

    #[test]
    #[should_panic(expected = "a page has one folio")]
    fn a_page_never_has_two_folios() {
        let mut cache = PageCache::tree();
        cache.insert(folio(4, 2, FolioFlags::empty()));
        cache.insert(folio(6, 0, FolioFlags::empty()));
    }
}
