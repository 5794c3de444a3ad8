//! Actors: threads of control, each a state machine over the shared world.

use crate::env::Operation;
use crate::gfp::Gfp;
use crate::ids::MemcgId;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::scenario::{ActorConfig, ActorKind, Scenario};
use crate::state::Current;
use crate::step::{Ctx, Locality};
use crate::units::Pages;
use serde::{Deserialize, Serialize};

pub mod drain_worker;
pub mod task;

use drain_worker::DrainWorker;
use task::Task;

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
}

impl Actor {
    /// The actor before its first step.
    pub fn start(config: &ActorConfig) -> Self {
        let at = match config.kind {
            ActorKind::Task { .. } => At::Task(Task::START),
            ActorKind::DrainWorker => At::DrainWorker(DrainWorker::START),
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
            (At::Task(_), ActorKind::DrainWorker)
            | (At::DrainWorker(_), ActorKind::Task { .. }) => {
                unreachable!("an actor keeps its kind")
            }
        }
    }

    /// How far its next step reaches; nothing if it has ended.
    pub fn locality(&self, config: &ActorConfig, scenario: &Scenario) -> Option<Locality> {
        match &self.at {
            At::Task(task) => task.locality(config, scenario),
            At::DrainWorker(worker) => Some(worker.locality(config, scenario)),
        }
    }

    /// The charge it is in.
    pub fn charging(&self) -> Option<&TryChargeMemcg> {
        match &self.at {
            At::Task(task) => task.charging(),
            At::DrainWorker(_) => None,
        }
    }

    /// The operation it has open, with the flags of a charge.
    pub fn open(&self) -> Option<(Operation, Gfp)> {
        match self.at {
            At::Task(task) => task.open(),
            At::DrainWorker(_) => None,
        }
    }

    /// Whether it may rest here for ever without anything being wrong.
    pub fn may_rest(&self) -> bool {
        match &self.at {
            At::Task(task) => task.has_exited(),
            At::DrainWorker(worker) => worker.is_idle(),
        }
    }

    /// Pages it has added to the memory usage of `level` and not yet handed on.
    pub fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Task(task) => task.in_flight(scenario, level),
            At::DrainWorker(worker) => worker.in_flight(scenario, level),
        }
    }

    /// (function, program point) of its active frames, outermost first; empty in user space.
    pub fn stack(&self) -> Vec<(&'static str, &'static str)> {
        let mut stack = Vec::new();
        match &self.at {
            At::Task(task) => task.stack(&mut stack),
            At::DrainWorker(worker) => worker.stack(&mut stack),
        }
        stack
    }
}
