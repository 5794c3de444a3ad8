//! The one interface between the step functions and everything that is not the kernel's code.
//!
//! A step *asks* wherever the outside world decides, and *announces* every kernel call it makes.
//! Who answers makes the difference between the ways of running the model: a search tries every
//! answer ([`crate::choose`]), a vector or a recording gives the one it saw, a simulation draws
//! one, a replay repeats one.

use crate::gfp::Gfp;
use crate::ids::{ActorId, CpuId, FileId, InodeId, MemcgId, NodeId};
use crate::lru::LruList;
use crate::units::{PageIndex, Pages};
use crate::world::World;
use serde::{Deserialize, Serialize};
use std::fmt;

mod file_call;
mod signature;
pub use file_call::FileCall;
pub use signature::{Arg, Returns};

/// (function, program point) of active frames, outermost first.
pub type Stack = Vec<(&'static str, &'static str)>;

/// Something the outside world decides. The answer is one of `0..=last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// What is asked.
    pub ask: Ask,
    /// The largest answer allowed.
    pub last: u64,
}

/// What is asked, with the meaning of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// How many of a memcg's own pages a reclaim pass frees, above the least it must: pages.
    PassFrees(MemcgId),
    /// Whether a pass over that subtree, or over all memcgs, frees nothing although it could: 1 if so.
    PassIsEmpty(Option<MemcgId>),
    /// What the OOM killer does for that level: an index into the outcomes the spec allows.
    OomOutcome(MemcgId),
    /// Whether a task is being moved between cgroup v1 groups.
    ChargeMoving,
    /// Which run of equal folios of a list is taken from next, where the order is any: a position.
    Folio(MemcgId, NodeId, LruList),
    /// Whether the cgroup is being removed.
    CgroupDying(MemcgId),
    /// Whether the interrupted system call is restarted from the beginning.
    RestartsSyscall,
    /// Which number of a range the task picks for a call: how far above that least one.
    Pick(u64),
    /// Which of the folios a pass could take it takes next, by position, or none of them: 0 if
    /// that is allowed.
    Evicts(InodeId, PageIndex),
    /// Which of the reads that are submitted for that inode ends, by position.
    ReadEnds(InodeId),
    /// Whether there is no memory for a folio of that inode: 1 if so.
    FolioAllocFails(InodeId),
    /// Whether there is no memory for a node of that inode's tree of folios: 1 if so.
    NodeAllocFails(InodeId),
    /// Whether the block device cgroup of the task is congested: 1 if so.
    Congested(FileId),
    /// Whether the file system asks for more than the batch it is given: 1 if so.
    FsExpands(InodeId),
    /// How many folios of a batch the file system leaves unread.
    FsLeaves(InodeId),
}

/// Which counters of a memcg.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Counter {
    /// `memory`.
    Memory,
    /// `memsw`: memory plus swap, cgroup v1 only.
    Memsw,
}

/// A kernel call a step makes, named after the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are the arguments of the kernel function")]
pub enum Call {
    /// Returns 1 if the stock covered the pages.
    ConsumeStock {
        memcg: MemcgId,
        nr_pages: Pages,
    },
    /// Returns -1, or the level that refused.
    PageCounterTryCharge {
        counter: Counter,
        memcg: MemcgId,
        nr_pages: Pages,
    },
    PageCounterCharge {
        counter: Counter,
        memcg: MemcgId,
        nr_pages: Pages,
    },
    PageCounterUncharge {
        counter: Counter,
        memcg: MemcgId,
        nr_pages: Pages,
    },
    RefillStock {
        memcg: MemcgId,
        nr_pages: Pages,
    },
    /// A MAX event is counted on that level.
    MemcgMemoryEventMax {
        memcg: MemcgId,
    },
    /// Returns pages freed.
    TryToFreeMemCgroupPages {
        memcg: MemcgId,
        nr_pages: Pages,
        may_swap: bool,
    },
    /// Returns pages.
    MemCgroupMargin {
        memcg: MemcgId,
    },
    DrainAllStock {
        root: MemcgId,
    },
    DrainLocalStock {
        cpu: CpuId,
    },
    /// Returns 1 if the killer claims success.
    MemCgroupOom {
        memcg: MemcgId,
        order: u32,
    },
    /// The task will handle memory.high on its return to user space.
    SetNotifyResume,
    /// The level's own work item will reclaim: the charge was not in task context.
    QueueHighWork {
        memcg: MemcgId,
    },
    MemCgroupHandleOverHigh {
        nr_pages: Pages,
    },
    /// Returns pages freed anywhere, by direct reclaim for a global allocation.
    TryToFreePages,
    /// Returns pages one round of kswapd freed.
    BalancePgdat,
    /// Returns 1 if the task has a pending signal; only then it is announced.
    SignalPending,
    /// Every CPU puts the folios it has collected on the LRU.
    LruAddDrainAll,
    /// An OOM event is counted on that level.
    MemcgMemoryEventOom {
        memcg: MemcgId,
    },
    /// A HIGH event is counted on that level.
    MemcgMemoryEventHigh {
        memcg: MemcgId,
    },
    /// Sleeps that many timer ticks.
    ScheduleTimeoutKillable {
        jiffies: u64,
    },
    /// A call of the page cache or of readahead.
    File(FileCall),
}

/// A kind of operation: what a user waits for.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Operation {
    /// One charge.
    Charge,
    /// One uncharge.
    Uncharge,
    /// One write to memory.reclaim.
    ReclaimWrite,
    /// One write to memory.high.
    HighWrite,
    /// One write to memory.max.
    MaxWrite,
    /// One madvise(MADV_STOCKPILE).
    Stockpile,
    /// One `struct readahead_control`: every folio added for one request.
    Readahead,
    /// One read of a file.
    Read,
    /// One page fault, with its repetition.
    Fault,
    /// One instruction that accesses a page of a mapped file, from its first fault until it
    /// retires.
    Access,
    /// One return to user space on which a task answers for what it charged over memory.high.
    ReturnToUser,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.into())
    }
}

/// An error the kernel returns, as its negative number.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::VariantArray,
)]
pub enum Errno {
    /// Interrupted by a signal.
    EINTR = -4,
    /// Not enough could be reclaimed.
    EAGAIN = -11,
    /// Out of memory.
    ENOMEM = -12,
    /// There is no such page.
    EFAULT = -14,
    /// A folio is there already.
    EEXIST = -17,
    /// Invalid argument.
    EINVAL = -22,
    /// Interrupted, and begun anew where the signal's handling allows it; never seen in user
    /// space.
    ERESTARTSYS = -512,
}

impl Errno {
    /// The error of that negative number.
    pub fn from_raw(number: i64) -> Option<Self> {
        <Self as strum::VariantArray>::VARIANTS
            .iter()
            .copied()
            .find(|errno| *errno as i64 == number)
    }
}

/// What happened in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A kernel call returned this (0 if it returns nothing).
    Returned(Call, i64),
    /// An attempt found a level's usage above its max with these pages in it, and will be refused.
    AboveMax(MemcgId, Pages),
    /// An operation began; for a charge, with these flags.
    Begin(Operation, Gfp),
    /// The operation that has just begun asks for that many pages.
    Requested(Pages),
    /// A write to the memcg's memory.reclaim asked for so many pages, and has got so many.
    Fulfilled(MemcgId, Pages, Pages),
    /// Reclaim took that many pages from the memcg's counters.
    Reclaimed(MemcgId, Pages),
    /// Among them was a folio of a file that nobody has used yet, of so many pages.
    Unused(MemcgId, Pages),
    /// A system call begins anew after a signal; its operation stays open.
    Restarted(Operation),
    /// The actor was sent a signal.
    Signalled(ActorId),
    /// A file whose pages lie in a ring was turned by so many pages, and nothing changed for anybody.
    Turned(FileId, Pages),
    /// An operation ended, with 0 or the error's number.
    End(Operation, Gfp, i64),
    /// Unsigned arithmetic of the kernel wrapped.
    Wrapped(Wrap),
    /// A request to read ahead is over, and came to this.
    ReadAhead(RequestSummary),
}

/// What a request to read ahead came to. The kernel remembers none of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RequestSummary {
    /// Folios it has set the mark on, counted up to 2.
    pub marks: u8,
    /// It has added the folio that holds the page its mark belongs to.
    pub mark_due: bool,
    /// Batch reclaims it has asked for.
    pub batch_reclaims: u8,
    /// It went on with base pages where a folio of its window had failed.
    pub fell_back: bool,
    /// Those were to go past the end of the window.
    pub overran: bool,
}

/// A place where unsigned arithmetic of the kernel can wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Wrap {
    /// The position of the mark: start + size - async_size, or index + nr - lookahead.
    MarkPosition,
    /// No mark, as all ones, rounded up to a folio's size.
    NoMark,
    /// The last page of a window: index + size - 1 of an empty window at page 0.
    WindowEnd,
    /// What is left of a window when its first folio failed: index - start.
    WindowRest,
    /// The size of a window that the file system did not read whole.
    WindowSize,
}

/// Whoever answers the questions of a step and hears what it does.
pub trait Env {
    /// Answers a question: a number in `0..=question.last`.
    fn answer(&mut self, question: Question) -> u64;

    /// Hears what the actor that steps does.
    fn note(&mut self, event: Event);

    /// Hears at which point the actor goes on, within a step too: `stack` adds the frames that move,
    /// outermost first.
    fn at(&mut self, stack: &dyn Fn(&mut Stack)) {
        let _ = stack;
    }

    /// Hears that a step is over: what was announced since the last one happened in it.
    fn stepped(&mut self) {}

    /// Answers for a whole kernel call, so that the model's own is not run. A search never does;
    /// vectors do, because the functions around the tested one were stubs.
    fn stub(&mut self, world: &mut World, call: Call) -> Option<i64>;
}
