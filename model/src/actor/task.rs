//! A task: runs a program of kernel entry points, once or for ever.

mod access;
mod enter;
mod entry;
use crate::actor::OpenOperations;
use crate::env::{Event, Operation};
use crate::gfp::Gfp;
use crate::ids::{FileId, MemcgId};
use crate::mm::memcontrol::mem_cgroup_handle_over_high::MemCgroupHandleOverHigh;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::ra_locality;
use crate::page_cache::Pin;
use crate::scenario::{ActorConfig, Io, Op, Scenario};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::{PageIndex, Pages};
use enter::enter;
pub use entry::Entry;
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
            kernel.current.empty_passes = 0;
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
                    kernel.current.empty_passes = 0;
                    after(op)
                }
            },
            Self::Exited => unreachable!("a task that has exited takes no step"),
        }
    }

    pub(crate) fn locality(self, config: &ActorConfig, scenario: &Scenario) -> Option<Locality> {
        match self {
            Self::User(_) if scenario.signals_are_sent() => Some(Locality::Shared),
            Self::User(op) if config.op(op).file().is_some_and(|file| forgets(scenario, file)) => {
                Some(Locality::Shared)
            }
            Self::User(op) => Some(match config.op(op) {
                Op::Charge { .. }
                | Op::Uncharge { .. }
                | Op::WriteReclaim { .. }
                | Op::WriteHigh { .. }
                | Op::WriteMax { .. }
                | Op::Read { .. }
                | Op::Fault { .. }
                | Op::Access { .. }
                | Op::WillNeed { .. } => Locality::Local,
                Op::Window { file, .. } => ra_locality(scenario, file),
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

    /// The folios it holds.
    pub(crate) fn pins(&self) -> Option<Pin> {
        match self {
            Self::Kernel(_, entry) => entry.pins(),
            Self::User(_) | Self::ReturnToUser(..) | Self::Exited => None,
        }
    }

    /// The page an access has mapped and not yet used.
    pub(crate) const fn maps(&self) -> Option<(FileId, PageIndex)> {
        match self {
            Self::Kernel(_, entry) => entry.maps(),
            Self::User(_) | Self::ReturnToUser(..) | Self::Exited => None,
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

/// Whether a pass can tell when older pages of the file are forgotten: a read ends then.
fn forgets(scenario: &Scenario, file: FileId) -> bool {
    scenario.inode(file).is_pooled() && scenario.policy.file.io == Io::File
}
