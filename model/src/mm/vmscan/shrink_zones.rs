//! `shrink_zones()`: visits every node once, whatever the nodes before have freed.

use crate::design::Lru;
use crate::ids::{MemcgId, NodeId};
use crate::lru::LruList;
use crate::mm::vmscan::scan_control::{ScanControl, ScanFlags};
use crate::mm::vmscan::shrink_node_memcgs::ShrinkNodeMemcgs;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::step::{Ctx, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "shrink_zones",
    file: "mm/vmscan.c",
    versions: ALL_VERSIONS,
    left_out: "zones within a node, cpusets, soft limits, compaction; of prepare_scan_control() \
               refaults and the trim of the page cache",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ShrinkZones {
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
    /// prepare_scan_control(): decides which active lists may be deactivated.
    PrepareScanControl,
    /// In shrink_node_memcgs().
    ShrinkNodeMemcgs(ShrinkNodeMemcgs),
}

impl ShrinkZones {
    /// The call.
    pub const fn enter() -> Self {
        Self { node: NodeId(0), at: At::PrepareScanControl }
    }

    pub(crate) fn step(self, kernel: &mut Ctx<'_>, sc: &mut ScanControl) -> Next<Self, ()> {
        match self.at {
            At::PrepareScanControl => {
                prepare_scan_control(kernel, sc, self.node);
                let callee = ShrinkNodeMemcgs::enter(kernel, sc, self.node);
                Next::Goto(Self { at: At::ShrinkNodeMemcgs(callee), ..self })
            }
            At::ShrinkNodeMemcgs(callee) => match callee.step(kernel, sc) {
                Next::Goto(callee) => Next::Goto(Self { at: At::ShrinkNodeMemcgs(callee), ..self }),
                Next::Return(()) => {
                    let next = self.node.index() + 1;
                    if next == kernel.scenario.nr_nodes() {
                        return Next::Return(());
                    }
                    Next::Goto(Self { node: next.into(), at: At::PrepareScanControl })
                }
            },
        }
    }

    pub(crate) const fn visiting(&self) -> Option<MemcgId> {
        match &self.at {
            At::PrepareScanControl => None,
            At::ShrinkNodeMemcgs(callee) => callee.visiting(),
        }
    }

    pub(crate) fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::PrepareScanControl => {}
            At::ShrinkNodeMemcgs(callee) => callee.stack(into),
        }
    }
}

fn prepare_scan_control(kernel: &Ctx<'_>, sc: &mut ScanControl, node: NodeId) {
    if kernel.scenario.design.lru == Lru::Mglru {
        return;
    }
    let types = [
        (ScanFlags::DEACTIVATE_ANON, LruList::InactiveAnon),
        (ScanFlags::DEACTIVATE_FILE, LruList::InactiveFile),
    ];
    for (flag, inactive) in types {
        let force = sc.flags.contains(ScanFlags::FORCE_DEACTIVATE);
        sc.flags.set(flag, force || inactive_is_low(kernel, sc, node, inactive));
    }
}

/// Whether the inactive list of the target's subtree is short compared with the active one.
fn inactive_is_low(kernel: &Ctx<'_>, sc: &ScanControl, node: NodeId, inactive: LruList) -> bool {
    let scenario = kernel.scenario;
    let pages = |list: LruList| -> Pages {
        let below =
            |memcg: &MemcgId| sc.target.is_none_or(|root| scenario.in_subtree(*memcg, root));
        let memcgs = scenario.memcg_ids().filter(below);
        memcgs
            .map(|id| kernel.world.memcgs[id.index()].lruvecs[node.index()].list(list).pages())
            .sum()
    };
    let (inactive, active) = (pages(inactive), pages(inactive.counterpart()));
    let gigabytes = (inactive + active).0 >> (30 - 12);
    let ratio = if gigabytes == 0 { 1 } else { (10 * gigabytes).isqrt() };
    inactive.0 * ratio < active.0
}
