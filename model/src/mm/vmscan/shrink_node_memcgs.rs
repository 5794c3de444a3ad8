//! `shrink_node_memcgs()`: visits memcgs of the target's subtree on one node.

use crate::ids::{MemcgId, NodeId};
use crate::mm::memcontrol::mem_cgroup_iter::{
    MemCgroupIter, css_next_descendant_pre, mem_cgroup_iter_break, walk_is_shared,
};
use crate::mm::vmscan::scan_control::{ScanControl, ScanFlags};
use crate::mm::vmscan::shrink_lruvec::ShrinkLruvec;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::step::{Ctx, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "shrink_node_memcgs",
    file: "mm/vmscan.c",
    versions: ALL_VERSIONS,
    left_out: "slab, vmpressure, protection that reaches down the tree or covers a part of a group",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ShrinkNodeMemcgs {
    node: NodeId,
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
    /// In mem_cgroup_iter() with the iterator that walkers share.
    SharedIter(MemCgroupIter),
    /// The next memcg of a walk of the pass's own.
    OwnIter { prev: Option<MemcgId> },
    /// Compares the memcg's usage with its protection.
    Protection { memcg: MemcgId },
    /// In shrink_lruvec().
    ShrinkLruvec { memcg: MemcgId, callee: ShrinkLruvec },
}

impl ShrinkNodeMemcgs {
    pub(crate) fn enter(kernel: &Ctx<'_>, sc: &ScanControl, node: NodeId) -> Self {
        let at = if partial(kernel, sc) {
            At::SharedIter(MemCgroupIter::enter(sc.target, node, true))
        } else {
            At::OwnIter { prev: None }
        };
        Self { node, at }
    }

    fn goto(self, at: At) -> Next<Self, ()> {
        Next::Goto(Self { at, ..self })
    }

    pub(crate) fn step(self, kernel: &mut Ctx<'_>, sc: &mut ScanControl) -> Next<Self, ()> {
        match self.at {
            At::SharedIter(iter) => match iter.step(kernel) {
                Next::Goto(iter) => self.goto(At::SharedIter(iter)),
                Next::Return(Some(memcg)) => self.chose(kernel, sc, memcg),
                Next::Return(None) => Next::Return(()),
            },
            At::OwnIter { prev } => {
                match css_next_descendant_pre(kernel.scenario, sc.target, prev) {
                    Some(memcg) => self.chose(kernel, sc, memcg),
                    None => Next::Return(()),
                }
            }
            At::Protection { memcg } => self.protection(kernel, sc, memcg),
            At::ShrinkLruvec { memcg, callee } => match callee.step(kernel, sc) {
                Next::Goto(callee) => self.goto(At::ShrinkLruvec { memcg, callee }),
                Next::Return(()) => self.visited(kernel, sc, memcg),
            },
        }
    }

    fn chose(self, kernel: &Ctx<'_>, sc: &ScanControl, memcg: MemcgId) -> Next<Self, ()> {
        let config = &kernel.scenario.memcgs[memcg.index()].reclaim;
        // The target itself is not protected from its own reclaim.
        let protected = config.min.max(config.low) > Pages::ZERO && Some(memcg) != sc.target;
        if protected { self.goto(At::Protection { memcg }) } else { self.visit(memcg) }
    }

    fn visit(self, memcg: MemcgId) -> Next<Self, ()> {
        self.goto(At::ShrinkLruvec { memcg, callee: ShrinkLruvec::enter(memcg, self.node) })
    }

    fn protection(
        self,
        kernel: &mut Ctx<'_>,
        sc: &mut ScanControl,
        memcg: MemcgId,
    ) -> Next<Self, ()> {
        let usage = kernel.world.memcg(memcg).memory.usage;
        let config = &kernel.scenario.memcgs[memcg.index()].reclaim;
        if usage <= config.min {
            return self.next(kernel, sc, memcg);
        }
        if usage <= config.low && !sc.flags.contains(ScanFlags::LOW_RECLAIM) {
            sc.flags |= ScanFlags::LOW_SKIPPED;
            return self.next(kernel, sc, memcg);
        }
        self.visit(memcg)
    }

    fn visited(self, kernel: &mut Ctx<'_>, sc: &mut ScanControl, memcg: MemcgId) -> Next<Self, ()> {
        if partial(kernel, sc) && sc.reached_goal() {
            mem_cgroup_iter_break(kernel, sc.target, self.node);
            return Next::Return(());
        }
        self.next(kernel, sc, memcg)
    }

    fn next(self, kernel: &Ctx<'_>, sc: &ScanControl, memcg: MemcgId) -> Next<Self, ()> {
        self.goto(if partial(kernel, sc) {
            At::SharedIter(MemCgroupIter::enter(sc.target, self.node, false))
        } else {
            At::OwnIter { prev: Some(memcg) }
        })
    }

    pub(crate) const fn visiting(&self) -> Option<MemcgId> {
        match &self.at {
            At::SharedIter(_) | At::OwnIter { .. } => None,
            At::Protection { memcg } | At::ShrinkLruvec { memcg, .. } => Some(*memcg),
        }
    }

    pub(crate) fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::SharedIter(iter) => iter.stack(into),
            At::ShrinkLruvec { callee, .. } => callee.stack(into),
            At::OwnIter { .. } | At::Protection { .. } => {}
        }
    }
}

/// Whether the walk shares its iterator and stops at the goal.
fn partial(kernel: &Ctx<'_>, sc: &ScanControl) -> bool {
    walk_is_shared(kernel.scenario) && !sc.flags.contains(ScanFlags::FULL_WALK)
}
