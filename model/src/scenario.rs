//! A scenario: everything about a run that no step changes.

use crate::design::Design;
use crate::gfp::Gfp;
use crate::ids::{ActorId, CpuId, FileId, InodeId, MemcgId, NodeId};
use crate::kernel::Kernel;
use crate::lru::FolioFlags;
use crate::page_cache::Folio;
use crate::units::Pages;
use serde::{Deserialize, Serialize};

mod files;
pub use files::{
    Evicts, Expand, FileConfig, FilePolicy, InodeConfig, Io, Layout, Pick, Store, VmFlags, Where,
};

mod reclaim;
pub use reclaim::{Pass, Ram, Reclaim, ReclaimPolicy, ReclaimSteps};

/// A world to start from, its actors, one design, and how finely to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Constants, real or scaled.
    pub kernel: Kernel,
    /// How this kernel decides.
    pub design: Design,
    /// The memcg tree, each parent before its children.
    pub memcgs: Vec<MemcgConfig>,
    /// The CPUs.
    pub cpus: Vec<CpuConfig>,
    /// The inodes.
    pub inodes: Vec<InodeConfig>,
    /// The open files.
    pub files: Vec<FileConfig>,
    /// The actors.
    pub actors: Vec<ActorConfig>,
    /// What the outside world may answer.
    pub policy: Policy,
    /// What is one step and what is several.
    pub granularity: Granularity,
    /// The memory of the machine, where it matters.
    pub ram: Option<Ram>,
}

/// A memory cgroup at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemcgConfig {
    /// Its name.
    pub name: String,
    /// The memcg it lies in; none for a child of the root, which is not counted.
    pub parent: Option<MemcgId>,
    /// `memory.max` in pages.
    pub max: Pages,
    /// `memory.high` in pages.
    pub high: Pages,
    /// The limit of memory plus swap (cgroup v1), where that is in use.
    pub memsw_max: Option<Pages>,
    /// Its own reclaimable pages.
    pub lru: Pages,
    /// Its own pages that only an OOM kill frees.
    pub anon: Pages,
    /// What else reclaim knows of it.
    pub reclaim: Reclaim,
}

/// A CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuConfig {
    /// It is isolated from housekeeping work.
    pub isolated: bool,
}

/// A thread of control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActorConfig {
    /// Its name.
    pub name: String,
    /// Where and as what it runs.
    pub task: TaskContext,
    /// What it does.
    pub kind: ActorKind,
}

/// Where an actor runs, and the flags of its task that no step changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskContext {
    /// The memcg of its memory.
    pub memcg: MemcgId,
    /// The CPU it stays on.
    pub cpu: CpuId,
    /// The situation of the task.
    pub flags: TaskFlags,
}

bitflags::bitflags! {
    /// The situation a task charges in.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct TaskFlags: u8 {
        /// `PF_MEMALLOC`: it is itself reclaiming.
        const MEMALLOC = 1 << 0;
        /// It waits for a cgroup v1 OOM to be resolved.
        const IN_MEMCG_OOM = 1 << 1;
        /// It is an OOM victim whose memory is being freed (`MMF_OOM_SKIP`).
        const VICTIM_SKIPPED = 1 << 2;
        /// It is exiting or has a fatal signal.
        const DYING = 1 << 3;
        /// It is an interrupt, not a task.
        const NOT_IN_TASK = 1 << 4;
    }
}

/// What an actor does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActorKind {
    /// A task that runs a program of kernel entry points.
    Task {
        /// The entry points, in order.
        program: Vec<Op>,
        /// Whether it starts over at the end.
        repeat: bool,
    },
    /// The worker that runs the drain work of the actor's CPU.
    DrainWorker,
    /// The device an inode's folios are read from: it ends reads.
    Device(InodeId),
    /// kswapd.
    Kswapd {
        /// It is woken when fewer pages are free.
        low: Pages,
        /// It sleeps when as many are free.
        high: Pages,
    },
}

/// An entry point of a task's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Charges pages to the task's memcg and holds them.
    Charge {
        /// How many.
        nr_pages: Pages,
        /// With which flags.
        gfp: Gfp,
    },
    /// Uncharges pages it holds, at most as many as it holds.
    Uncharge {
        /// How many.
        nr_pages: Pages,
    },
    /// Puts pages it holds on the LRU, at most as many as it holds: reclaim can then take them.
    LruAdd {
        /// How many.
        nr_pages: Pages,
    },
    /// Writes a number of pages to a memcg's memory.reclaim.
    WriteReclaim {
        /// Whose.
        memcg: MemcgId,
        /// How many.
        nr_pages: Pages,
    },
    /// Writes a memcg's memory.high.
    WriteHigh {
        /// Whose.
        memcg: MemcgId,
        /// The limit.
        high: Pages,
    },
    /// Writes a memcg's memory.max.
    WriteMax {
        /// Whose.
        memcg: MemcgId,
        /// The limit.
        max: Pages,
    },
    /// Calls madvise(MADV_STOCKPILE).
    Stockpile {
        /// How many pages it wants free.
        nr_pages: Pages,
    },
    /// Sends a signal to an actor.
    Signal {
        /// To whom.
        actor: ActorId,
    },
    /// Changes the condition of folios on the lists of the task's memcg.
    Mark {
        /// Which flags.
        flags: FolioFlags,
        /// Whether they are set or cleared.
        set: bool,
        /// How many folios, of those that are not in that condition.
        nr_folios: u64,
    },
    /// Reads from a file.
    Read {
        /// Which.
        file: FileId,
        /// The first byte.
        pos: Where,
        /// Bytes.
        count: Pick,
    },
    /// Faults in a page of a mapped file.
    Fault {
        /// Which.
        file: FileId,
        /// The page.
        index: Where,
        /// How the mapping is going to be used.
        vm_flags: VmFlags,
    },
    /// Accesses a page of a mapped file: an instruction that faults until the page is there when
    /// it retires.
    Access {
        /// Which.
        file: FileId,
        /// The page.
        index: Where,
        /// How the mapping is going to be used.
        vm_flags: VmFlags,
    },
    /// Asks for pages that will be needed (`POSIX_FADV_WILLNEED`).
    WillNeed {
        /// Of which file.
        file: FileId,
        /// The first page.
        index: Pick,
        /// Pages.
        nr_pages: Pick,
    },
    /// Fills a window, whatever made it: stores it as the file's readahead state and calls
    /// `page_cache_ra_order()`.
    Window {
        /// Of which file.
        file: FileId,
        /// Its first page.
        start: Pick,
        /// Its pages.
        size: Pick,
        /// How far before its end the mark is, cut to its size.
        async_size: Pick,
        /// The folio order.
        order: Pick,
    },
}

impl Op {
    /// Whether it goes on behind the page where the one before it was.
    pub const fn goes_on(&self) -> bool {
        matches!(
            self,
            Self::Read { pos: Where::Next, .. }
                | Self::Fault { index: Where::Next, .. }
                | Self::Access { index: Where::Next, .. }
        )
    }

    /// The file it uses.
    pub fn file(&self) -> Option<FileId> {
        let mut op = *self;
        op.file_mut().copied()
    }

    /// The file it uses, to be replaced.
    pub const fn file_mut(&mut self) -> Option<&mut FileId> {
        match self {
            Self::Read { file, .. }
            | Self::Fault { file, .. }
            | Self::Access { file, .. }
            | Self::WillNeed { file, .. }
            | Self::Window { file, .. } => Some(file),
            Self::Charge { .. }
            | Self::Uncharge { .. }
            | Self::LruAdd { .. }
            | Self::WriteReclaim { .. }
            | Self::WriteHigh { .. }
            | Self::WriteMax { .. }
            | Self::Stockpile { .. }
            | Self::Signal { .. }
            | Self::Mark { .. } => None,
        }
    }
}

/// What the outside world may answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The most one reclaim pass may free.
    pub pass_frees: PassFrees,
    /// Whether a pass may free nothing although it could free something.
    pub empty_passes: EmptyPasses,
    /// What the OOM killer may do.
    pub oom: Vec<OomOutcome>,
    /// Whether a task may be moving between cgroup v1 groups.
    pub charge_moving: bool,
    /// What it may answer to a reclaimer.
    pub reclaim: ReclaimPolicy,
    /// What may happen to files.
    pub file: FilePolicy,
}

/// The most one reclaim pass frees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PassFrees {
    /// What it was asked for, and no less than `swap_cluster_max`.
    Goal,
    /// Up to the bound of a classic pass over one node: `2 * goal - 2 + 3 * swap_cluster_max`.
    Bound,
}

/// How many of the passes that could free something may free nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmptyPasses {
    /// None.
    #[default]
    Never,
    /// So many within each operation of a task, from its entry into the kernel until it is back.
    Rationed(u8),
    /// Any.
    Freely,
}

/// What the OOM killer does once it looks for a victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OomOutcome {
    /// It kills a process that is no actor and frees its pages; without such a process, as none.
    Kill,
    /// A victim is dying already: success without a new kill.
    Pending,
    /// There is nothing to kill: failure.
    None,
}

/// Which kernel functions are one atomic step, and which are several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Granularity {
    /// The counters of a memcg and of its ancestors.
    pub counter: Steps,
    /// `drain_all_stock()`, and so whether its mutex can be seen taken.
    pub drain: Steps,
    /// Reclaim passes.
    pub reclaim: ReclaimSteps,
    /// The fields of a file's readahead state, which nothing locks.
    pub file_ra_state: Steps,
}

/// How finely a function is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Steps {
    /// As one atomic step.
    #[default]
    One,
    /// As the kernel does it: one step for each access that another CPU can see.
    Kernel,
}

impl MemcgConfig {
    /// Its own pages, reclaimable or not.
    pub fn pages(&self) -> Pages {
        let listed = self.reclaim.nodes.iter().flatten().map(|(_, run)| run.pages());
        self.lru + self.anon + listed.sum()
    }
}

impl ActorConfig {
    /// An entry of a task's program.
    ///
    /// # Panics
    /// If the actor is no task or its program is shorter.
    pub fn op(&self, index: u8) -> Op {
        match &self.kind {
            ActorKind::Task { program, .. } => program[usize::from(index)],
            ActorKind::DrainWorker | ActorKind::Device(_) | ActorKind::Kswapd { .. } => {
                panic!("only tasks have a program")
            }
        }
    }
}

impl Scenario {
    /// `memcg` and its ancestors, innermost first.
    pub fn lineage(&self, memcg: MemcgId) -> impl Iterator<Item = MemcgId> {
        std::iter::successors(Some(memcg), |level| self.memcgs[level.index()].parent)
    }

    /// Whether `memcg` lies in the subtree of `root`, which includes `root`.
    pub fn in_subtree(&self, memcg: MemcgId, root: MemcgId) -> bool {
        self.lineage(memcg).any(|level| level == root)
    }

    /// Every memcg, parents first.
    pub fn memcg_ids(&self) -> impl Iterator<Item = MemcgId> + use<> {
        (0..self.memcgs.len()).map(MemcgId::from)
    }

    /// Every actor.
    pub fn actor_ids(&self) -> impl Iterator<Item = ActorId> + use<> {
        (0..self.actors.len()).map(ActorId::from)
    }

    /// How many tasks run on a CPU.
    pub fn tasks_on(&self, cpu: CpuId) -> usize {
        self.actors
            .iter()
            .filter(|actor| actor.task.cpu == cpu && matches!(actor.kind, ActorKind::Task { .. }))
            .count()
    }

    /// Whether `memory.high` can matter to a charge of `memcg`.
    pub fn high_in_use(&self, memcg: MemcgId) -> bool {
        self.high_is_written()
            || self.lineage(memcg).any(|level| self.memcgs[level.index()].high < Pages::UNLIMITED)
    }

    /// Whether a CPU can ever have a stock: it is what a charge of a whole batch leaves.
    pub fn stocks_in_use(&self) -> bool {
        self.kernel.memcg_charge_batch > Pages(1)
    }

    /// Whether some task's program has such an entry.
    fn has_op(&self, wanted: impl Fn(&Op) -> bool) -> bool {
        self.actors.iter().any(|actor| match &actor.kind {
            ActorKind::Task { program, .. } => program.iter().any(&wanted),
            ActorKind::DrainWorker | ActorKind::Device(_) | ActorKind::Kswapd { .. } => false,
        })
    }

    /// Whether somebody writes memory.max, so that it has to be read where the kernel reads it.
    pub fn max_is_written(&self) -> bool {
        self.has_op(|op| matches!(op, Op::WriteMax { .. }))
    }

    /// Whether somebody writes memory.high.
    pub fn high_is_written(&self) -> bool {
        self.has_op(|op| matches!(op, Op::WriteHigh { .. }))
    }

    /// Whether somebody calls MADV_STOCKPILE.
    pub fn pages_are_stockpiled(&self) -> bool {
        self.has_op(|op| matches!(op, Op::Stockpile { .. }))
    }

    /// Whether somebody sends signals.
    pub fn signals_are_sent(&self) -> bool {
        self.has_op(|op| matches!(op, Op::Signal { .. }))
    }

    /// How many nodes there are.
    pub fn nr_nodes(&self) -> usize {
        self.memcgs.iter().map(|memcg| memcg.reclaim.nodes.len()).max().unwrap_or(0).max(1)
    }

    /// Every node, the nearest first.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nr_nodes()).map(NodeId::from)
    }

    /// An open file.
    pub fn file(&self, file: FileId) -> &FileConfig {
        &self.files[file.index()]
    }

    /// The inode of an open file.
    pub fn inode(&self, file: FileId) -> &InodeConfig {
        &self.inodes[self.file(file).inode.index()]
    }

    /// Pages of files that the memcg pays for at the start.
    pub fn cached(&self, memcg: MemcgId) -> Pages {
        let inodes = self.inodes.iter().filter(|inode| inode.memcg == Some(memcg));
        inodes.flat_map(|inode| &inode.cached).map(Folio::nr_pages).sum()
    }

    /// The name of a memcg.
    pub fn memcg_name(&self, memcg: MemcgId) -> &str {
        &self.memcgs[memcg.index()].name
    }
}
