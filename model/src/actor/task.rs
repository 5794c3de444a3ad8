//! A task: runs a program of kernel entry points, once or for ever.

use crate::actor::OpenOperations;
use crate::env::{Ask, Errno, Event, Operation};
use crate::gfp::Gfp;
use crate::ids::MemcgId;
use crate::lru::{FolioFlags, LruList};
use crate::mm::filemap::filemap_fault::FilemapFault;
use crate::mm::filemap::filemap_read::FilemapRead;
use crate::mm::madvise::madvise_stockpile::MadviseStockpile;
use crate::mm::memcontrol::mem_cgroup_handle_over_high::MemCgroupHandleOverHigh;
use crate::mm::memcontrol::memcg_uncharge::MemcgUncharge;
use crate::mm::memcontrol::memory_high_write::MemoryHighWrite;
use crate::mm::memcontrol::memory_max_write::MemoryMaxWrite;
use crate::mm::memcontrol::memory_reclaim::MemoryReclaim;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::ReadaheadControl;
use crate::mm::readahead::force_page_cache_ra::ForcePageCacheRa;
use crate::mm::swap::folio_add_lru::folio_add_lru;
use crate::scenario::{ActorConfig, Op, Scenario};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Task {
    /// In user space, before that entry of its program.
    User(u8),
    /// In the kernel, in that entry of its program.
    Kernel(u8, Entry),
    /// On its way back to user space after that entry, answering for memory.high.
    ReturnToUser(u8, MemCgroupHandleOverHigh),
    /// At the end of its program.
    Exited,
}

/// The kernel function an entry of the program has called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Entry {
    /// A charge.
    Charge(TryChargeMemcg),
    /// An uncharge.
    Uncharge(MemcgUncharge),
    /// A write to memory.reclaim.
    WriteReclaim(MemoryReclaim),
    /// A write to memory.high.
    WriteHigh(MemoryHighWrite),
    /// A write to memory.max.
    WriteMax(MemoryMaxWrite),
    /// madvise(MADV_STOCKPILE).
    Stockpile(MadviseStockpile),
    /// A read.
    Read(FilemapRead),
    /// A page fault.
    Fault(FilemapFault),
    /// Pages that will be needed.
    WillNeed(ForcePageCacheRa),
}

impl Task {
    /// Before the first entry.
    pub(crate) const START: Self = Self::User(0);

    pub(crate) fn step(self, program: &[Op], repeat: bool, kernel: &mut Ctx<'_>) -> Self {
        // Where the task goes after entry `op` of its program.
        let after = |op: u8| match usize::from(op) + 1 {
            next if next < program.len() => Self::User(op + 1),
            _ if repeat => Self::START,
            _ => Self::Exited,
        };
        let leave = |op: u8, kernel: &mut Ctx<'_>| {
            if kernel.current.memcg_nr_pages_over_high > Pages::ZERO {
                kernel.note(Event::Begin(Operation::ReturnToUser, Gfp::KERNEL));
                Self::ReturnToUser(op, MemCgroupHandleOverHigh::enter())
            } else {
                after(op)
            }
        };
        match self {
            Self::User(op) => {
                // Signals that came before this are handled by now.
                kernel.world.signals.remove(kernel.me);
                match enter(program[usize::from(op)], kernel) {
                    Some(entry) => Self::Kernel(op, entry),
                    None => after(op),
                }
            }
            Self::Kernel(op, entry) => match entry.step(kernel) {
                Next::Goto(entry) => Self::Kernel(op, entry),
                Next::Return(()) => leave(op, kernel),
            },
            Self::ReturnToUser(op, frame) => match frame.step(kernel) {
                Next::Goto(frame) => Self::ReturnToUser(op, frame),
                Next::Return(()) => {
                    kernel.note(Event::End(Operation::ReturnToUser, Gfp::KERNEL, 0));
                    after(op)
                }
            },
            Self::Exited => unreachable!("a task that has exited takes no step"),
        }
    }

    pub(crate) fn locality(self, config: &ActorConfig, scenario: &Scenario) -> Option<Locality> {
        match self {
            Self::User(_) if scenario.signals_are_sent() => Some(Locality::Shared),
            Self::User(op) => Some(match config.op(op) {
                Op::Charge { .. }
                | Op::Uncharge { .. }
                | Op::WriteReclaim { .. }
                | Op::WriteHigh { .. }
                | Op::WriteMax { .. }
                | Op::Read { .. }
                | Op::Fault { .. }
                | Op::WillNeed { .. } => Locality::Local,
                // A call that is refused at once takes no other step that anybody could see.
                Op::Stockpile { .. } | Op::LruAdd { .. } | Op::Signal { .. } | Op::Mark { .. } => {
                    Locality::Shared
                }
            }),
            Self::Kernel(_, entry) => Some(entry.locality(config, scenario)),
            Self::ReturnToUser(_, frame) => Some(frame.locality(scenario, &config.task)),
            Self::Exited => None,
        }
    }

    /// The operations that are open, outermost first, with the flags of a charge.
    pub fn open(self) -> OpenOperations {
        match self {
            Self::Kernel(_, entry) => entry.open(),
            Self::ReturnToUser(..) => {
                std::iter::once((Operation::ReturnToUser, Gfp::KERNEL)).collect()
            }
            Self::User(_) | Self::Exited => OpenOperations::new(),
        }
    }

    /// The charge it is in, also below another operation.
    pub fn charging(&self) -> Option<&TryChargeMemcg> {
        match self {
            Self::Kernel(_, entry) => entry.charging(),
            Self::User(_) | Self::ReturnToUser(..) | Self::Exited => None,
        }
    }

    /// Which entry of its program it is at.
    pub const fn op(&self) -> Option<u8> {
        match self {
            Self::User(op) | Self::Kernel(op, _) | Self::ReturnToUser(op, _) => Some(*op),
            Self::Exited => None,
        }
    }

    /// The memory.high it is writing.
    pub const fn writing_high(&self) -> Option<(MemcgId, Pages)> {
        match self {
            Self::Kernel(_, Entry::WriteHigh(frame)) => Some(frame.limit()),
            Self::Kernel(_, _) | Self::User(_) | Self::ReturnToUser(..) | Self::Exited => None,
        }
    }

    pub(crate) const fn has_exited(self) -> bool {
        matches!(self, Self::Exited)
    }

    pub(crate) fn in_flight(self, scenario: &Scenario, level: MemcgId) -> Pages {
        match self {
            Self::Kernel(_, entry) => entry.in_flight(scenario, level),
            Self::ReturnToUser(_, frame) => frame.in_flight(scenario, level),
            Self::User(_) | Self::Exited => Pages::ZERO,
        }
    }

    pub(crate) fn stack(self, into: &mut Vec<(&'static str, &'static str)>) {
        match self {
            Self::Kernel(_, entry) => entry.stack(into),
            Self::ReturnToUser(_, frame) => frame.stack(into),
            Self::User(_) | Self::Exited => {}
        }
    }
}

/// Enters the kernel; nothing if the entry is over at once.
fn enter(op: Op, kernel: &mut Ctx<'_>) -> Option<Entry> {
    let memcg = kernel.task.memcg;
    kernel.current.nr_memcg_reclaims = 0;
    match op {
        Op::Charge { nr_pages, gfp } => {
            kernel.note(Event::Begin(Operation::Charge, gfp));
            let frame = TryChargeMemcg::enter(kernel.scenario, memcg, gfp, nr_pages);
            Some(Entry::Charge(frame))
        }
        Op::Uncharge { nr_pages } => {
            let nr_pages = nr_pages.min(kernel.current.held);
            if nr_pages == Pages::ZERO {
                return None;
            }
            kernel.note(Event::Begin(Operation::Uncharge, Gfp::empty()));
            kernel.current.held -= nr_pages;
            kernel.world.free(nr_pages);
            Some(Entry::Uncharge(MemcgUncharge::enter(memcg, nr_pages)))
        }
        Op::LruAdd { nr_pages } => {
            let nr_pages = nr_pages.min(kernel.current.held);
            kernel.current.held -= nr_pages;
            folio_add_lru(kernel, nr_pages);
            None
        }
        Op::WriteReclaim { memcg, nr_pages } => {
            kernel.note(Event::Begin(Operation::ReclaimWrite, Gfp::empty()));
            kernel.note(Event::Requested(nr_pages));
            Some(Entry::WriteReclaim(MemoryReclaim::enter(kernel.scenario, memcg, nr_pages)))
        }
        Op::WriteHigh { memcg, high } => {
            kernel.note(Event::Begin(Operation::HighWrite, Gfp::empty()));
            Some(Entry::WriteHigh(MemoryHighWrite::enter(memcg, high)))
        }
        Op::WriteMax { memcg, max } => {
            kernel.note(Event::Begin(Operation::MaxWrite, Gfp::empty()));
            Some(Entry::WriteMax(MemoryMaxWrite::enter(memcg, max)))
        }
        Op::Stockpile { nr_pages } => {
            kernel.note(Event::Begin(Operation::Stockpile, Gfp::empty()));
            kernel.note(Event::Requested(nr_pages));
            Some(Entry::Stockpile(MadviseStockpile::enter(0, nr_pages)))
        }
        Op::Signal { actor } => {
            kernel.world.signals.insert(actor);
            kernel.note(Event::Signalled(actor));
            None
        }
        Op::Mark { flags, set, nr_folios } => {
            mark(kernel, nr_folios, |of| if set { of | flags } else { of - flags });
            None
        }
        Op::Read { file, pos, count } => {
            kernel.note(Event::Begin(Operation::Read, Gfp::KERNEL));
            Some(Entry::Read(FilemapRead::enter(file, pos, count)))
        }
        Op::Fault { file, index, vm_flags } => {
            kernel.note(Event::Begin(Operation::Fault, Gfp::KERNEL));
            Some(Entry::Fault(FilemapFault::enter(file, index, vm_flags)))
        }
        Op::WillNeed { file, index, nr_pages } => {
            let ractl = ReadaheadControl::begin(kernel, file, index);
            Some(Entry::WillNeed(ForcePageCacheRa::enter(kernel, ractl, nr_pages)))
        }
    }
}

impl Entry {
    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        match self {
            Self::Charge(frame) => frame.step(kernel).within(Self::Charge, |charged| {
                let result = match charged {
                    Ok(()) => {
                        kernel.world.allocate(frame.nr_pages());
                        kernel.current.held += frame.nr_pages();
                        0
                    }
                    Err(errno) => errno as i64,
                };
                kernel.note(Event::End(Operation::Charge, frame.gfp(), result));
                Next::Return(())
            }),
            Self::Uncharge(frame) => frame
                .step(kernel)
                .within(Self::Uncharge, |()| end(kernel, Operation::Uncharge, Ok(()))),
            Self::WriteReclaim(frame) => frame.step(kernel).within(Self::WriteReclaim, |result| {
                // Seen by nobody: the signal's handling chooses between -EINTR and a new start.
                if result != Err(Errno::ERESTARTSYS) {
                    return end(kernel, Operation::ReclaimWrite, result);
                }
                let may_restart = u64::from(kernel.scenario.policy.reclaim.syscalls_restart);
                if kernel.ask(Ask::RestartsSyscall, may_restart) == 0 {
                    return end(kernel, Operation::ReclaimWrite, Err(Errno::EINTR));
                }
                kernel.world.signals.remove(kernel.me);
                kernel.note(Event::Restarted(Operation::ReclaimWrite));
                let (memcg, nr_pages) = (frame.memcg(), frame.nr_to_reclaim());
                let again = MemoryReclaim::enter(kernel.scenario, memcg, nr_pages);
                Next::Goto(Self::WriteReclaim(again))
            }),
            Self::WriteHigh(frame) => frame
                .step(kernel)
                .within(Self::WriteHigh, |()| end(kernel, Operation::HighWrite, Ok(()))),
            Self::WriteMax(frame) => frame
                .step(kernel)
                .within(Self::WriteMax, |()| end(kernel, Operation::MaxWrite, Ok(()))),
            Self::Stockpile(frame) => frame
                .step(kernel)
                .within(Self::Stockpile, |result| end(kernel, Operation::Stockpile, result)),
            Self::Read(frame) => frame.step(kernel).within(Self::Read, |result| {
                let result = result.map_or_else(|errno| errno as i64, |()| 0);
                kernel.note(Event::End(Operation::Read, Gfp::KERNEL, result));
                Next::Return(())
            }),
            Self::Fault(frame) => frame.step(kernel).within(Self::Fault, |result| {
                let result = result.map_or_else(|errno| errno as i64, |()| 0);
                kernel.note(Event::End(Operation::Fault, Gfp::KERNEL, result));
                Next::Return(())
            }),
            Self::WillNeed(frame) => frame.step(kernel).within(Self::WillNeed, |ractl| {
                ractl.end(kernel);
                Next::Return(())
            }),
        }
    }

    const fn operation(self) -> (Operation, Gfp) {
        match self {
            Self::Charge(frame) => (Operation::Charge, frame.gfp()),
            Self::Uncharge(_) => (Operation::Uncharge, Gfp::empty()),
            Self::WriteReclaim(_) => (Operation::ReclaimWrite, Gfp::empty()),
            Self::WriteHigh(_) => (Operation::HighWrite, Gfp::empty()),
            Self::WriteMax(_) => (Operation::MaxWrite, Gfp::empty()),
            Self::Stockpile(_) => (Operation::Stockpile, Gfp::empty()),
            Self::Read(_) => (Operation::Read, Gfp::KERNEL),
            Self::Fault(_) => (Operation::Fault, Gfp::KERNEL),
            Self::WillNeed(_) => (Operation::Readahead, Gfp::READAHEAD),
        }
    }

    /// What is open: a read and a fault may read ahead.
    fn open(self) -> OpenOperations {
        let reads_ahead = match &self {
            Self::Read(frame) => frame.reads_ahead(),
            Self::Fault(frame) => frame.reads_ahead(),
            Self::Charge(_)
            | Self::Uncharge(_)
            | Self::WriteReclaim(_)
            | Self::WriteHigh(_)
            | Self::WriteMax(_)
            | Self::Stockpile(_)
            | Self::WillNeed(_) => false,
        };
        let within = reads_ahead.then_some((Operation::Readahead, Gfp::READAHEAD));
        std::iter::once(self.operation()).chain(within).collect()
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        match self {
            Self::Charge(frame) => Some(frame),
            Self::Uncharge(_)
            | Self::WriteReclaim(_)
            | Self::WriteHigh(_)
            | Self::WriteMax(_)
            | Self::Stockpile(_) => None,
            Self::Read(frame) => frame.charging(),
            Self::Fault(frame) => frame.charging(),
            Self::WillNeed(frame) => frame.charging(),
        }
    }

    fn locality(self, config: &ActorConfig, scenario: &Scenario) -> Locality {
        match self {
            Self::Charge(frame) => frame.locality(scenario, &config.task),
            Self::Uncharge(frame) => frame.locality(scenario, &config.task),
            Self::WriteReclaim(frame) => frame.locality(scenario, &config.task),
            Self::WriteHigh(frame) => frame.locality(scenario, &config.task),
            Self::WriteMax(frame) => frame.locality(scenario, &config.task),
            Self::Stockpile(frame) => frame.locality(scenario, &config.task),
            Self::Read(frame) => frame.locality(scenario, &config.task),
            Self::Fault(frame) => frame.locality(scenario, &config.task),
            Self::WillNeed(frame) => frame.locality(scenario, &config.task),
        }
    }

    fn in_flight(self, scenario: &Scenario, level: MemcgId) -> Pages {
        match self {
            Self::Charge(frame) => frame.in_flight(scenario, level),
            Self::Uncharge(frame) => frame.in_flight(scenario, level),
            Self::WriteReclaim(frame) => frame.in_flight(scenario, level),
            Self::WriteHigh(frame) => frame.in_flight(scenario, level),
            Self::WriteMax(frame) => frame.in_flight(scenario, level),
            Self::Stockpile(frame) => frame.in_flight(scenario, level),
            Self::Read(frame) => frame.in_flight(scenario, level),
            Self::Fault(frame) => frame.in_flight(scenario, level),
            Self::WillNeed(frame) => frame.in_flight(scenario, level),
        }
    }

    fn stack(self, into: &mut Vec<(&'static str, &'static str)>) {
        match self {
            Self::Charge(frame) => frame.stack(into),
            Self::Uncharge(frame) => frame.stack(into),
            Self::WriteReclaim(frame) => frame.stack(into),
            Self::WriteHigh(frame) => frame.stack(into),
            Self::WriteMax(frame) => frame.stack(into),
            Self::Stockpile(frame) => frame.stack(into),
            Self::Read(frame) => frame.stack(into),
            Self::Fault(frame) => frame.stack(into),
            Self::WillNeed(frame) => frame.stack(into),
        }
    }
}

/// Ends an operation other than a charge.
fn end(kernel: &mut Ctx<'_>, operation: Operation, result: Result<(), Errno>) -> Next<Entry, ()> {
    let result = result.map_or_else(|errno| errno as i64, |()| 0);
    kernel.note(Event::End(operation, Gfp::empty(), result));
    Next::Return(())
}

/// Changes the condition of folios on the lists of the task's memcg: those that reclaim would take
/// first, whatever their list.
fn mark(kernel: &mut Ctx<'_>, mut nr_folios: u64, change: impl Fn(FolioFlags) -> FolioFlags) {
    let order = kernel.scenario.policy.reclaim.order;
    for lruvec in &mut kernel.world.memcg(kernel.task.memcg).lruvecs {
        for list in LruList::ALL {
            nr_folios -= lruvec.list_mut(list).mark(nr_folios, order, &change);
        }
    }
}
