//! A task: runs a program of kernel entry points, once or for ever.

use crate::env::{Event, Operation};
use crate::gfp::Gfp;
use crate::ids::MemcgId;
use crate::mm::filemap::filemap_fault::FilemapFault;
use crate::mm::filemap::filemap_read::FilemapRead;
use crate::mm::memcontrol::mem_cgroup_handle_over_high::MemCgroupHandleOverHigh;
use crate::mm::memcontrol::memcg_uncharge::MemcgUncharge;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::ReadaheadControl;
use crate::mm::readahead::force_page_cache_ra::ForcePageCacheRa;
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
        let leave = |op: u8, kernel: &Ctx<'_>| {
            if kernel.current.memcg_nr_pages_over_high > Pages::ZERO {
                Self::ReturnToUser(op, MemCgroupHandleOverHigh::enter())
            } else {
                after(op)
            }
        };
        match self {
            Self::User(op) => match enter(program[usize::from(op)], kernel) {
                Some(entry) => Self::Kernel(op, entry),
                None => after(op),
            },
            Self::Kernel(op, entry) => match entry.step(kernel) {
                Next::Goto(entry) => Self::Kernel(op, entry),
                Next::Return(()) => leave(op, kernel),
            },
            Self::ReturnToUser(op, frame) => match frame.step(kernel) {
                Next::Goto(frame) => Self::ReturnToUser(op, frame),
                Next::Return(()) => after(op),
            },
            Self::Exited => unreachable!("a task that has exited takes no step"),
        }
    }

    pub(crate) fn locality(self, config: &ActorConfig, scenario: &Scenario) -> Option<Locality> {
        match self {
            Self::User(op) => Some(match config.op(op) {
                Op::Charge { .. }
                | Op::Uncharge { .. }
                | Op::Read { .. }
                | Op::Fault { .. }
                | Op::WillNeed { .. } => Locality::Local,
                Op::LruAdd { .. } => Locality::Shared,
            }),
            Self::Kernel(_, entry) => Some(entry.locality(config, scenario)),
            Self::ReturnToUser(_, frame) => Some(frame.locality(scenario, &config.task)),
            Self::Exited => None,
        }
    }

    /// The operation that is open, with the flags of a charge.
    pub fn open(self) -> Option<(Operation, Gfp)> {
        match self {
            Self::Kernel(_, Entry::Charge(frame)) => Some((Operation::Charge, frame.gfp())),
            Self::Kernel(_, Entry::Uncharge(_)) => Some((Operation::Uncharge, Gfp::empty())),
            Self::Kernel(_, Entry::Read(_)) => Some((Operation::Read, Gfp::KERNEL)),
            Self::Kernel(_, Entry::Fault(_)) => Some((Operation::Fault, Gfp::KERNEL)),
            Self::Kernel(_, Entry::WillNeed(_)) => Some((Operation::Readahead, Gfp::READAHEAD)),
            Self::User(_) | Self::ReturnToUser(..) | Self::Exited => None,
        }
    }

    /// The charge it is in, also below another operation.
    pub fn charging(&self) -> Option<&TryChargeMemcg> {
        let Self::Kernel(_, entry) = self else { return None };
        match entry {
            Entry::Charge(frame) => Some(frame),
            Entry::Uncharge(_) => None,
            Entry::Read(frame) => frame.charging(),
            Entry::Fault(frame) => frame.charging(),
            Entry::WillNeed(frame) => frame.charging(),
        }
    }

    pub(crate) const fn has_exited(self) -> bool {
        matches!(self, Self::Exited)
    }

    pub(crate) fn in_flight(self, scenario: &Scenario, level: MemcgId) -> Pages {
        match self {
            Self::Kernel(_, Entry::Charge(frame)) => frame.in_flight(scenario, level),
            Self::Kernel(_, Entry::Uncharge(frame)) => frame.in_flight(scenario, level),
            Self::Kernel(_, Entry::Read(frame)) => frame.in_flight(scenario, level),
            Self::Kernel(_, Entry::Fault(frame)) => frame.in_flight(scenario, level),
            Self::Kernel(_, Entry::WillNeed(frame)) => frame.in_flight(scenario, level),
            Self::ReturnToUser(_, frame) => frame.in_flight(scenario, level),
            Self::User(_) | Self::Exited => Pages::ZERO,
        }
    }

    pub(crate) fn stack(self, into: &mut Vec<(&'static str, &'static str)>) {
        match self {
            Self::Kernel(_, Entry::Charge(frame)) => frame.stack(into),
            Self::Kernel(_, Entry::Uncharge(frame)) => frame.stack(into),
            Self::Kernel(_, Entry::Read(frame)) => frame.stack(into),
            Self::Kernel(_, Entry::Fault(frame)) => frame.stack(into),
            Self::Kernel(_, Entry::WillNeed(frame)) => frame.stack(into),
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
            Some(Entry::Uncharge(MemcgUncharge::enter(memcg, nr_pages)))
        }
        Op::LruAdd { nr_pages } => {
            let nr_pages = nr_pages.min(kernel.current.held);
            kernel.current.held -= nr_pages;
            kernel.world.memcg(memcg).lru += nr_pages;
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
                        kernel.current.held += frame.nr_pages();
                        0
                    }
                    Err(errno) => errno as i64,
                };
                kernel.note(Event::End(Operation::Charge, frame.gfp(), result));
                Next::Return(())
            }),
            Self::Uncharge(frame) => frame.step(kernel).within(Self::Uncharge, |()| {
                kernel.note(Event::End(Operation::Uncharge, Gfp::empty(), 0));
                Next::Return(())
            }),
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

    fn locality(self, config: &ActorConfig, scenario: &Scenario) -> Locality {
        match self {
            Self::Charge(frame) => frame.locality(scenario, &config.task),
            Self::Uncharge(frame) => frame.locality(scenario, &config.task),
            Self::Read(frame) => frame.locality(scenario, &config.task),
            Self::Fault(frame) => frame.locality(scenario, &config.task),
            Self::WillNeed(frame) => frame.locality(scenario, &config.task),
        }
    }
}
