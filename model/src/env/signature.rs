//! What a [`Call`] looks like as C: its name, its arguments in order, what it returns. Whoever
//! prints calls needs no knowledge of the single functions.

use super::{Call, Counter};
use crate::gfp::Gfp;
use crate::ids::{CpuId, FileId, InodeId, MemcgId};
use crate::units::{PageIndex, Pages};

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// A memcg.
    Memcg(MemcgId),
    /// A number of pages.
    Pages(Pages),
    /// One of a memcg's counters.
    Counter(Counter),
    /// A CPU.
    Cpu(CpuId),
    /// An open file.
    File(FileId),
    /// An inode.
    Inode(InodeId),
    /// A page of a file.
    Index(PageIndex),
    /// Allocation flags.
    Gfp(Gfp),
    /// Something that is so or not, with its name.
    Flag(&'static str, bool),
    /// Any other number, with its name.
    Number(&'static str, u64),
}

/// What the value of a call means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// Nothing.
    Nothing,
    /// 1 or 0.
    Flag,
    /// A number of pages.
    Pages,
    /// -1, or the memcg that refused.
    RefusingLevel,
    /// 0 or an error.
    Error,
    /// A page of a file, or -1.
    Index,
}

impl Call {
    /// The kernel function.
    pub fn name(&self) -> &'static str {
        if let Self::File(call) = self { call.name() } else { self.into() }
    }

    /// Its arguments, in order.
    pub fn args(&self) -> Vec<Arg> {
        match *self {
            Self::ConsumeStock { memcg, nr_pages } | Self::RefillStock { memcg, nr_pages } => {
                vec![Arg::Memcg(memcg), Arg::Pages(nr_pages)]
            }
            Self::PageCounterTryCharge { counter, memcg, nr_pages }
            | Self::PageCounterCharge { counter, memcg, nr_pages }
            | Self::PageCounterUncharge { counter, memcg, nr_pages } => {
                vec![Arg::Memcg(memcg), Arg::Counter(counter), Arg::Pages(nr_pages)]
            }
            Self::MemcgMemoryEventMax { memcg }
            | Self::MemCgroupMargin { memcg }
            | Self::QueueHighWork { memcg }
            | Self::MemcgMemoryEventOom { memcg }
            | Self::MemcgMemoryEventHigh { memcg } => vec![Arg::Memcg(memcg)],
            Self::TryToFreeMemCgroupPages { memcg, nr_pages, may_swap } => {
                vec![Arg::Memcg(memcg), Arg::Pages(nr_pages), Arg::Flag("may_swap", may_swap)]
            }
            Self::DrainAllStock { root } => vec![Arg::Memcg(root)],
            Self::DrainLocalStock { cpu } => vec![Arg::Cpu(cpu)],
            Self::MemCgroupOom { memcg, order } => {
                vec![Arg::Memcg(memcg), Arg::Number("order", u64::from(order))]
            }
            Self::SetNotifyResume
            | Self::TryToFreePages
            | Self::BalancePgdat
            | Self::SignalPending
            | Self::LruAddDrainAll => Vec::new(),
            Self::MemCgroupHandleOverHigh { nr_pages } => vec![Arg::Pages(nr_pages)],
            Self::ScheduleTimeoutKillable { jiffies } => vec![Arg::Number("jiffies", jiffies)],
            Self::File(call) => call.args(),
        }
    }

    /// Whether it is a reclaim pass.
    pub const fn frees(&self) -> bool {
        matches!(
            self,
            Self::TryToFreeMemCgroupPages { .. } | Self::TryToFreePages | Self::BalancePgdat
        )
    }

    /// What its value means.
    pub const fn returns(&self) -> Returns {
        match self {
            Self::ConsumeStock { .. } | Self::MemCgroupOom { .. } | Self::SignalPending => {
                Returns::Flag
            }
            Self::PageCounterTryCharge { .. } => Returns::RefusingLevel,
            Self::TryToFreeMemCgroupPages { .. }
            | Self::MemCgroupMargin { .. }
            | Self::TryToFreePages
            | Self::BalancePgdat => Returns::Pages,
            Self::PageCounterCharge { .. }
            | Self::PageCounterUncharge { .. }
            | Self::RefillStock { .. }
            | Self::MemcgMemoryEventMax { .. }
            | Self::DrainAllStock { .. }
            | Self::DrainLocalStock { .. }
            | Self::SetNotifyResume
            | Self::QueueHighWork { .. }
            | Self::MemCgroupHandleOverHigh { .. }
            | Self::LruAddDrainAll
            | Self::MemcgMemoryEventOom { .. }
            | Self::MemcgMemoryEventHigh { .. }
            | Self::ScheduleTimeoutKillable { .. } => Returns::Nothing,
            Self::File(call) => call.returns(),
        }
    }
}
