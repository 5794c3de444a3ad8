//! `mem_cgroup_iter()`: the next memcg of a walk that several reclaimers share.

use crate::design::MemcgWalk;
use crate::ids::{MemcgId, NodeId};
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::Scenario;
use crate::step::{Ctx, Next, one_or_all};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "mem_cgroup_iter",
    file: "mm/memcontrol.c",
    versions: ALL_VERSIONS,
    left_out: "cgroups that come and go during a walk, the root's own pages",
    points: At::VARIANTS,
};

/// One activation with a shared iterator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemCgroupIter {
    target: Option<MemcgId>,
    node: NodeId,
    /// Whether this is the first call of the walk.
    first: bool,
    at: At,
}

/// Program points.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    VariantNames,
)]
enum At {
    /// `restart:` joins the generation, or finds that another walker has finished it.
    ReadGeneration,
    /// Reads the position.
    ReadPosition,
    /// Moves the position, unless another walker has.
    MovePosition { position: Option<MemcgId> },
    /// At the end of the round: begins the next generation.
    NextGeneration,
}

/// The memcg after `position` in a walk of the subtree of `target`, parents first; the whole tree
/// if there is no target.
pub fn css_next_descendant_pre(
    scenario: &Scenario,
    target: Option<MemcgId>,
    position: Option<MemcgId>,
) -> Option<MemcgId> {
    let parent = |memcg: MemcgId| scenario.memcgs[memcg.index()].parent;
    let child = |of: Option<MemcgId>| scenario.memcg_ids().find(|memcg| parent(*memcg) == of);
    let Some(position) = position else { return target.or_else(|| child(None)) };
    if let Some(child) = child(Some(position)) {
        return Some(child);
    }
    scenario.lineage(position).take_while(|level| Some(*level) != target).find_map(|level| {
        scenario.memcg_ids().find(|memcg| *memcg > level && parent(*memcg) == parent(level))
    })
}

/// Whether a walk with that design shares its iterator at all.
pub(crate) fn walk_is_shared(scenario: &Scenario) -> bool {
    scenario.design.memcg_walk == MemcgWalk::Shared
}

/// `mem_cgroup_iter_break()`: the walker leaves its generation before the end of the walk.
pub fn mem_cgroup_iter_break(kernel: &mut Ctx<'_>, target: Option<MemcgId>, node: NodeId) {
    let index = index(kernel.scenario, target, node);
    kernel.world.iters[index].in_generation.remove(kernel.me);
}

/// The root's iterators come after those of all memcgs.
fn index(scenario: &Scenario, target: Option<MemcgId>, node: NodeId) -> usize {
    let target = target.map_or(scenario.memcgs.len(), MemcgId::index);
    target * scenario.nr_nodes() + node.index()
}

impl MemCgroupIter {
    /// The call.
    pub const fn enter(target: Option<MemcgId>, node: NodeId, first: bool) -> Self {
        Self { target, node, first, at: At::ReadGeneration }
    }

    const fn goto(self, at: At) -> Next<Self, Option<MemcgId>> {
        Next::Goto(Self { at, ..self })
    }

    fn one_step(self, kernel: &mut Ctx<'_>) -> Next<Self, Option<MemcgId>> {
        let me = kernel.me;
        let iter = &mut kernel.world.iters[index(kernel.scenario, self.target, self.node)];
        match self.at {
            At::ReadGeneration => {
                if self.first {
                    iter.in_generation.insert(me);
                } else if !iter.in_generation.contains(me) {
                    return Next::Return(None);
                }
                self.goto(At::ReadPosition)
            }
            At::ReadPosition => self.goto(At::MovePosition { position: iter.position }),
            At::MovePosition { position } => {
                if iter.position != position {
                    return self.goto(At::ReadGeneration);
                }
                let next = css_next_descendant_pre(kernel.scenario, self.target, position);
                iter.position = next;
                if next.is_none() { self.goto(At::NextGeneration) } else { Next::Return(next) }
            }
            At::NextGeneration => {
                iter.in_generation = crate::world::ActorSet::EMPTY;
                // A walk that begins at the end of a round sees at least one memcg of the next.
                if self.first { self.goto(At::ReadGeneration) } else { Next::Return(None) }
            }
        }
    }

    pub(crate) fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, Option<MemcgId>> {
        one_or_all(
            kernel.scenario.granularity.reclaim.iterator,
            self,
            kernel,
            |frame, into| frame.stack(into),
            Self::one_step,
        )
    }

    pub(crate) fn stack(self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
    }
}
