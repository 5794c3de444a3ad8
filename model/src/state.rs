//! A state: the shared world and where each actor is.

use crate::actor::Actor;
use crate::units::Pages;
use crate::world::World;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// One reachable situation. Plain data; equal states behave alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    /// What all actors share.
    pub world: World,
    /// The actors, in the scenario's order.
    pub actors: SmallVec<[Actor; 3]>,
}

/// The part of a `task_struct` that lasts beyond one kernel call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Current {
    /// `memcg_nr_pages_over_high`: charged while over memory.high, not yet answered for.
    pub memcg_nr_pages_over_high: Pages,
    /// Pages the task has charged and still holds; reclaim can't take them.
    pub held: Pages,
    /// Batch reclaims of the running system call or fault, where a design counts them per task.
    pub nr_memcg_reclaims: u8,
    /// Passes of the running operation that freed nothing although they could, where they are
    /// rationed. Nothing in the kernel counts them.
    pub empty_passes: u8,
}
