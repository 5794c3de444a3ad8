//! Actors: threads of control, each a state machine over the shared world.

use crate::env::{Operation, Stack};
use crate::gfp::Gfp;
use crate::ids::{InodeId, MemcgId};
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::page_cache::Pin;
use crate::scenario::{ActorConfig, ActorKind, Scenario};
use crate::state::Current;
use crate::step::{Ctx, Locality};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

pub mod device;
pub mod drain_worker;
pub mod kswapd;
pub mod task;

use drain_worker::DrainWorker;
use kswapd::Kswapd;
use task::Task;

/// Operations that lie in each other, outermost first: no kind lies in its own.
pub type OpenOperations = SmallVec<[(Operation, Gfp); 4]>;

/// An actor: what lasts, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Actor {
    /// Its task's lasting part.
    pub current: Current,
    /// Where it is.
    pub at: At,
}

/// Where an actor is, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum At {
    /// A task.
    Task(Task),
    /// The drain worker of a CPU.
    DrainWorker(DrainWorker),
    /// A device.
    Device,
    /// kswapd.
    Kswapd(Kswapd),
}

impl Actor {
    /// The actor before its first step.
    pub fn start(config: &ActorConfig) -> Self {
        let at = match config.kind {
            ActorKind::Task { .. } => At::Task(Task::START),
            ActorKind::DrainWorker => At::DrainWorker(DrainWorker::START),
            ActorKind::Device(_) => At::Device,
            ActorKind::Kswapd { .. } => At::Kswapd(Kswapd::START),
        };
        Self { current: Current::default(), at }
    }

    /// Takes one atomic step.
    pub(crate) fn step(at: At, config: &ActorConfig, kernel: &mut Ctx<'_>) -> At {
        match (at, &config.kind) {
            (At::Task(task), ActorKind::Task { program, repeat }) => {
                At::Task(task.step(program, *repeat, kernel))
            }
            (At::DrainWorker(worker), ActorKind::DrainWorker) => {
                At::DrainWorker(worker.step(kernel))
            }
            (At::Kswapd(kswapd), ActorKind::Kswapd { high, .. }) => {
                At::Kswapd(kswapd.step(*high, kernel))
            }
            (At::Device, ActorKind::Device(inode)) => {
                device::step(*inode, kernel);
                At::Device
            }
            (at @ (At::Task(_) | At::DrainWorker(_) | At::Device | At::Kswapd(_)), kind) => {
                unreachable!("an actor keeps its kind: {at:?} is a {kind:?}")
            }
        }
    }

    /// How far its next step reaches; nothing if it has ended.
    pub fn locality(&self, config: &ActorConfig, scenario: &Scenario) -> Option<Locality> {
        match &self.at {
            At::Task(task) => task.locality(config, scenario),
            At::DrainWorker(worker) => Some(worker.locality(config, scenario)),
            At::Device => match config.kind {
                ActorKind::Device(inode) => Some(device::locality(inode)),
                ActorKind::Task { .. } | ActorKind::DrainWorker | ActorKind::Kswapd { .. } => {
                    unreachable!("it is a device")
                }
            },
            At::Kswapd(kswapd) => Some(kswapd.locality(config, scenario)),
        }
    }

    /// The charge it is in.
    pub fn charging(&self) -> Option<&TryChargeMemcg> {
        match &self.at {
            At::Task(task) => task.charging(),
            At::DrainWorker(_) | At::Device | At::Kswapd(_) => None,
        }
    }

    /// The operations it has open, outermost first, with the flags of a charge.
    pub fn open(&self) -> OpenOperations {
        match self.at {
            At::Task(task) => task.open(),
            At::DrainWorker(_) | At::Device | At::Kswapd(_) => OpenOperations::new(),
        }
    }

    /// The folios it holds: inode, first page, page after the last.
    pub fn pins(&self, scenario: &Scenario) -> Option<(InodeId, PageIndex, PageIndex)> {
        let At::Task(task) = &self.at else { return None };
        let Pin { file, first, end } = task.pins()?;
        Some((scenario.file(file).inode, first, end))
    }

    /// The page an access of it has mapped and not yet used.
    pub fn maps(&self, scenario: &Scenario) -> Option<(InodeId, PageIndex)> {
        let At::Task(task) = &self.at else { return None };
        let (file, index) = task.maps()?;
        Some((scenario.file(file).inode, index))
    }

    /// Whether it is a task before the first entry of its program.
    pub(crate) const fn begins_program(&self) -> bool {
        matches!(self.at, At::Task(Task::User(0)))
    }

    /// Which entry of its program a task is at.
    pub const fn op(&self) -> Option<u8> {
        match &self.at {
            At::Task(task) => task.op(),
            At::DrainWorker(_) | At::Device | At::Kswapd(_) => None,
        }
    }

    /// The memory.high it is writing.
    pub const fn writing_high(&self) -> Option<(MemcgId, Pages)> {
        match &self.at {
            At::Task(task) => task.writing_high(),
            At::DrainWorker(_) | At::Device | At::Kswapd(_) => None,
        }
    }

    /// Whether it may rest here for ever without anything being wrong.
    pub fn may_rest(&self) -> bool {
        match &self.at {
            At::Task(task) => task.has_exited(),
            At::DrainWorker(worker) => worker.is_idle(),
            // It waits for reads, and nothing else can hold it up.
            At::Device => true,
            At::Kswapd(kswapd) => kswapd.is_idle(),
        }
    }

    /// Pages it has added to the memory usage of `level` and not yet handed on.
    pub fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Task(task) => task.in_flight(scenario, level),
            At::DrainWorker(worker) => worker.in_flight(scenario, level),
            At::Kswapd(kswapd) => kswapd.in_flight(scenario, level),
            At::Device => Pages::ZERO,
        }
    }

    /// (function, program point) of its active frames, outermost first; empty in user space.
    pub fn stack(&self) -> Stack {
        let mut stack = Vec::new();
        self.at.stack(&mut stack);
        stack
    }
}

impl At {
    pub(crate) fn stack(&self, into: &mut Stack) {
        match self {
            Self::Task(task) => task.stack(into),
            Self::DrainWorker(worker) => worker.stack(into),
            Self::Device => {}
            Self::Kswapd(kswapd) => kswapd.stack(into),
        }
    }
}
