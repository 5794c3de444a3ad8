//! What two actors can both see: counters, stocks, reclaimable pages.

use crate::env::Counter;
use crate::ids::{ActorId, InodeId, MemcgId, NodeId};
use crate::lru::{LruList, Lruvec, Run};
use crate::page_cache::PageCache;
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// `struct page_counter`: one level's usage and limit, in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PageCounter {
    /// Charged to this level and everything below it.
    pub usage: Pages,
    /// The most it may be.
    pub max: Pages,
}

/// A memory cgroup. The tree itself never changes and is part of the scenario.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Memcg {
    /// The `memory` counter.
    pub memory: PageCounter,
    /// The memory+swap counter of cgroup v1, where it is in use.
    pub memsw: Option<PageCounter>,
    /// `memory.high`.
    pub high: Pages,
    /// Pages of this memcg itself that a pass can free, where the world answers for passes.
    pub lru: Pages,
    /// Its lists on each node, where passes walk them.
    pub lruvecs: SmallVec<[Lruvec; 1]>,
    /// Pages of processes that are not actors: only an OOM kill frees them.
    pub anon: Pages,
    /// The pages that a pass can free, in the order they were added, where that matters.
    pub order: SmallVec<[Added; 0]>,
}

/// Something that was added to a memcg's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Added {
    /// The folio of a file that starts there.
    Folio(InodeId, PageIndex),
    /// One of the pages that are only counted.
    Counted,
    /// One of those that was used since a pass last looked, where that matters.
    Used,
}

impl Memcg {
    /// One of its counters.
    ///
    /// # Panics
    /// If the memory+swap counter is asked for where it is not in use.
    pub fn counter(&mut self, counter: Counter) -> &mut PageCounter {
        match counter {
            Counter::Memory => &mut self.memory,
            Counter::Memsw => self.memsw.as_mut().expect("the memsw counter is in use"),
        }
    }

    /// Its own pages, reclaimable or of other processes, without what CPUs have collected.
    pub fn resident(&self) -> Pages {
        self.lru + self.anon + self.lruvecs.iter().map(Lruvec::pages).sum()
    }
}

/// Folios a CPU has collected to put them on a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LruAdd {
    /// Whose they are.
    pub memcg: MemcgId,
    /// The node they are on.
    pub node: NodeId,
    /// Where they go.
    pub list: LruList,
    /// What they are.
    pub run: Run,
}

/// `struct mem_cgroup_reclaim_iter`: where the walkers that share a target and a node are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReclaimIter {
    /// The memcg visited last; none before the first and after the last.
    pub position: Option<MemcgId>,
    /// The walkers that have joined the present generation. The kernel compares numbers; a walker
    /// finds its own number again exactly as long as it is in here.
    pub in_generation: ActorSet,
}

/// A set of actors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ActorSet(u64);

impl ActorSet {
    /// No actor.
    pub const EMPTY: Self = Self(0);

    const fn bit(actor: ActorId) -> u64 {
        assert!(actor.0 < 64, "a set holds actors below 64");
        1 << actor.0
    }

    /// Whether it is in the set.
    pub const fn contains(self, actor: ActorId) -> bool {
        self.0 & Self::bit(actor) != 0
    }

    /// Puts it in.
    pub const fn insert(&mut self, actor: ActorId) {
        self.0 |= Self::bit(actor);
    }

    /// Takes it out.
    pub const fn remove(&mut self, actor: ActorId) {
        self.0 &= !Self::bit(actor);
    }
}

/// Pages a CPU has charged to a memcg in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StockSlot {
    /// Whose they are.
    pub memcg: MemcgId,
    /// How many, at least one.
    pub nr_pages: Pages,
}

/// `FLUSHING_CACHED_CHARGE` of a CPU's stock, and whether the work that clears it waits to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DrainWork {
    /// The bit is clear: whoever drains all stocks may take this one.
    #[default]
    Clear,
    /// The bit is set and the work is queued.
    Queued,
    /// The bit is set and the queued work has begun.
    Running,
    /// The bit is set and no work is queued: a task drains its own CPU's stock, or the CPU is
    /// isolated and its drain never runs.
    Set,
}

/// `struct memcg_stock_pcp` and the state of its drain work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cpu {
    /// The slots; a slot without pages is free.
    pub slots: SmallVec<[Option<StockSlot>; 2]>,
    /// The slot that is evicted next when all are taken.
    pub drain_idx: u8,
    /// Its drain work.
    pub drain: DrainWork,
    /// Folios that are not on a list yet, so that no pass sees them.
    pub lru_add: SmallVec<[LruAdd; 1]>,
}

impl Cpu {
    /// Pages stocked for `memcg`.
    pub fn stocked(&self, memcg: MemcgId) -> Pages {
        self.slots
            .iter()
            .flatten()
            .filter(|slot| slot.memcg == memcg)
            .map(|slot| slot.nr_pages)
            .sum()
    }
}

/// The pages of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Inode {
    /// Its folios in memory.
    pub cache: PageCache,
    /// Pages charged for the nodes of the tree that holds the folios.
    pub nodes: Pages,
    /// How many pages of a block the task has passed that goes through the file in order.
    pub passed: Pages,
}

/// `struct file_ra_state`: what readahead remembers of an open file. No lock protects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileRaState {
    /// Where the last window begins.
    pub start: PageIndex,
    /// Its size.
    pub size: Pages,
    /// How far before its end the mark is.
    pub async_size: Pages,
    /// The folio order of the last window, where a design remembers it here.
    pub order: u8,
    /// Faults that missed, less those that hit.
    pub mmap_miss: u16,
    /// The byte where the last read ended.
    pub prev_pos: i64,
}

impl Default for FileRaState {
    fn default() -> Self {
        Self {
            start: PageIndex(0),
            size: Pages::ZERO,
            async_size: Pages::ZERO,
            order: 0,
            mmap_miss: 0,
            prev_pos: -1,
        }
    }
}

/// Everything shared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct World {
    /// The memcgs, in the scenario's order.
    pub memcgs: SmallVec<[Memcg; 3]>,
    /// The CPUs, in the scenario's order.
    pub cpus: SmallVec<[Cpu; 2]>,
    /// `percpu_charge_mutex`: who is draining all stocks.
    pub percpu_charge_mutex: Option<ActorId>,
    /// Tasks with a pending signal.
    pub signals: ActorSet,
    /// The shared iterators, by target and node, where a design has them and passes walk.
    pub iters: SmallVec<[ReclaimIter; 1]>,
    /// Free pages of the machine, where the scenario counts them.
    pub free_pages: Option<Pages>,
    /// The inodes, in the scenario's order.
    pub inodes: SmallVec<[Inode; 1]>,
    /// The open files, in the scenario's order.
    pub files: SmallVec<[FileRaState; 2]>,
    /// Tasks whose running access has lost the page it had mapped.
    pub unmapped: ActorSet,
}

impl World {
    /// Pages become free.
    pub fn free(&mut self, pages: Pages) {
        if let Some(free) = &mut self.free_pages {
            *free += pages;
        }
    }

    /// Pages are allocated. Allocation itself is not modelled: where too few are free, the rest
    /// comes from elsewhere.
    pub fn allocate(&mut self, pages: Pages) {
        if let Some(free) = &mut self.free_pages {
            *free = free.saturating_sub(pages);
        }
    }

    /// The lists of a memcg on a node.
    pub fn lruvec(&mut self, memcg: MemcgId, node: NodeId) -> &mut Lruvec {
        &mut self.memcgs[memcg.index()].lruvecs[node.index()]
    }

    /// One level's counters and pages.
    pub fn memcg(&mut self, memcg: MemcgId) -> &mut Memcg {
        &mut self.memcgs[memcg.index()]
    }
}
