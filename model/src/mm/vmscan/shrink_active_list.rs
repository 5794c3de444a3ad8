//! `shrink_active_list()`: moves folios from an active list to the inactive one. It frees nothing.

use crate::ids::{MemcgId, NodeId};
use crate::lru::{Amount, FolioFlags, LruList};
use crate::mm::swap::lru_add_drain::lru_add_drain;
use crate::mm::vmscan::isolate_lru_folios::isolate_lru_folios;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::step::Ctx;
use crate::units::Pages;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "shrink_active_list",
    file: "mm/vmscan.c",
    versions: ALL_VERSIONS,
    left_out: "executable file folios, which stay active while they are young; one step, so that \
               nobody sees the folios isolated",
    points: &[],
};

/// Deactivates folios of up to `nr_to_scan` pages.
pub(crate) fn shrink_active_list(
    kernel: &mut Ctx<'_>,
    memcg: MemcgId,
    node: NodeId,
    active: LruList,
    nr_to_scan: Pages,
) {
    lru_add_drain(kernel);
    let amount = Amount { pages: nr_to_scan, folios: u64::MAX };
    isolate_lru_folios(kernel, memcg, node, active, amount);
    let (me, order) = (kernel.me, kernel.scenario.policy.reclaim.order);
    let lruvec = kernel.world.lruvec(memcg, node);
    for isolated in std::mem::take(&mut lruvec.isolated) {
        if isolated.by == me {
            let run = isolated.run.with(isolated.run.flags - FolioFlags::YOUNG);
            lruvec.list_mut(active.counterpart()).push(run, order);
        } else {
            lruvec.isolated.push(isolated);
        }
    }
}
