//! `get_scan_count()`: how many pages of each list a visit of the classic LRU looks at.

use crate::ids::{MemcgId, NodeId};
use crate::lru::LruList;
use crate::mm::vmscan::scan_control::ScanControl;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::step::Ctx;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "get_scan_count",
    file: "mm/vmscan.c",
    versions: ALL_VERSIONS,
    left_out: "the balance between anonymous and file pages by swappiness and refaults, partial \
               protection, dying cgroups",
    points: &[],
};

/// Pages, by list.
pub(crate) type Targets = [u64; 4];

/// Each list's size shifted right by the priority; no anonymous pages where none can be swapped.
pub(crate) fn get_scan_count(
    kernel: &mut Ctx<'_>,
    sc: &ScanControl,
    memcg: MemcgId,
    node: NodeId,
) -> Targets {
    let can_swap = sc.can_swap(kernel.scenario);
    let lruvec = kernel.world.lruvec(memcg, node);
    LruList::ALL.map(|list| {
        if list.file() || can_swap { lruvec.list(list).pages().0 >> sc.priority } else { 0 }
    })
}
