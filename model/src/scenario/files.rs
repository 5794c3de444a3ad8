//! Files: what no step changes about them.

use crate::ids::{InodeId, MemcgId};
use crate::page_cache::Folio;
use crate::units::{PageIndex, Pages};
use crate::world::FileRaState;
use serde::{Deserialize, Serialize};

/// A number of a range, picked anew each time it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The least.
    pub first: u64,
    /// The most.
    pub last: u64,
    /// What it counts: 4096 for bytes that are whole pages.
    pub unit: u64,
}

impl Pick {
    /// A number of pages, or the index of one, of a range.
    pub const fn range(first: u64, last: u64) -> Self {
        Self { first, last, unit: 1 }
    }

    /// This number alone.
    pub const fn just(number: u64) -> Self {
        Self::range(number, number)
    }
}

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// There, in pages or bytes.
    At(Pick),
    /// At the page after the one before, in the middle of a large file.
    Next,
}

/// The pages of a file, and how its file system reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InodeConfig {
    /// Its name.
    pub name: String,
    /// The memcg all its folios are charged to, which is that of every task that uses it; none
    /// for tasks of the root, whose memory is not charged.
    pub memcg: Option<MemcgId>,
    /// Its last page; none if it is empty.
    pub last_page: Option<PageIndex>,
    /// The least folio order of its mapping.
    pub min_order: u8,
    /// The largest; 0 for a mapping without large folios.
    pub max_order: u8,
    /// How its page cache is stored.
    pub store: Store,
    /// Its folios at the start.
    pub cached: Vec<Folio>,
    /// What its file system wants when it is given a batch and may ask for more.
    pub expands: Option<Expand>,
    /// More than one actor uses its pages.
    pub shared: bool,
    /// Which of its pages are told apart.
    pub layout: Layout,
}

impl InodeConfig {
    /// Whether older pages are only counted.
    pub const fn is_pooled(&self) -> bool {
        matches!(self.layout, Layout::Pooled)
    }
}

/// Which pages of a file are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// All, from the first to the last.
    Line,
    /// All, and the last one lies before the first. Only how they lie to each other matters, so the
    /// file is turned until the page of the running access is where it always is.
    Ring,
    /// Those that the running access may still need; older ones are only counted.
    Pooled,
}

/// How a page cache is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Store {
    /// As a few bits, for a search.
    Bits,
    /// As a tree, for any size.
    Tree,
}

/// What a file system wants of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expand {
    /// Whole naturally aligned blocks of that order, as compressing file systems do.
    Blocks(u8),
    /// From the first page to the last.
    Range(PageIndex, PageIndex),
}

/// An open file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileConfig {
    /// Its name.
    pub name: String,
    /// Whose pages it reads.
    pub inode: InodeId,
    /// The most a window holds.
    pub ra_pages: Pages,
    /// The most the device reads at once.
    pub io_pages: Pages,
    /// It was opened for random reads (`FMODE_RANDOM`).
    pub random: bool,
    /// Its readahead state at the start.
    pub ra: FileRaState,
    /// More than one actor uses its readahead state.
    pub shared: bool,
}

bitflags::bitflags! {
    /// How a mapping of a file is going to be used.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(transparent)]
    pub struct VmFlags: u8 {
        /// `VM_SEQ_READ`.
        const SEQ_READ = 1 << 0;
        /// `VM_RAND_READ`.
        const RAND_READ = 1 << 1;
        /// `VM_HUGEPAGE`.
        const HUGEPAGE = 1 << 2;
    }
}

/// Which cached folios a pass takes that the world answers for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evicts {
    /// None: pages of files stay.
    None,
    /// Any.
    #[default]
    Any,
    /// Any, but one that a running access has mapped only if there is nothing else.
    UnmappedFirst,
    /// Those that were added first.
    Fifo,
    /// Those that were added first, but one that was used since a pass last looked goes round once.
    Lru,
}

impl Evicts {
    /// Whether the order in which folios were added matters.
    pub const fn in_order(self) -> bool {
        matches!(self, Self::Fifo | Self::Lru)
    }
}

/// When a read of folios ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Io {
    /// At once, where it is submitted.
    #[default]
    AtOnce,
    /// Some time later, together with all of the same file that is submitted by then; of a pooled
    /// file no later than the next access begins.
    File,
    /// Some time later, together with all folios that were submitted with it.
    Batch,
    /// Some time later, each folio by itself.
    Page,
}

/// What the outside world may do to files. By default nothing ever goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a possibility of its own")]
pub struct FilePolicy {
    /// There may be no memory for a folio.
    pub folio_alloc_fails: bool,
    /// The first folio of an inode needs a node of the tree, which is charged too.
    pub tree_nodes: bool,
    /// There may be no memory for such a node.
    pub node_alloc_fails: bool,
    /// The file system may leave a part of a batch unread.
    pub fs_leaves: bool,
    /// The task's block device cgroup may be congested.
    pub congested: bool,
    /// Faults keep the mmap lock, as without `FAULT_FLAG_ALLOW_RETRY`.
    pub no_retry: bool,
    /// When reads end.
    pub io: Io,
    /// Which cached folios a pass takes.
    pub evicts: Evicts,
}
