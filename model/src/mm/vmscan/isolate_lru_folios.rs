//! `isolate_lru_folios()`, and `scan_folios()` of MGLRU: take folios off their list.

use crate::env::Ask;
use crate::ids::{MemcgId, NodeId};
use crate::lru::{Amount, Isolated, LruList, Run};
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::step::Ctx;
use crate::units::Pages;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "isolate_lru_folios",
    file: "mm/vmscan.c",
    versions: ALL_VERSIONS,
    left_out: "the throttling when too many folios are isolated, zones; folios MGLRU moves to a \
               younger generation while it scans",
    points: &[],
};

/// Isolates folios of a list for the actor that steps, and returns how many pages they are.
///
/// # Panics
/// If the environment chooses a folio that is not there.
pub(crate) fn isolate_lru_folios(
    kernel: &mut Ctx<'_>,
    memcg: MemcgId,
    node: NodeId,
    from: LruList,
    amount: Amount,
) -> Pages {
    let order = kernel.scenario.policy.reclaim.order;
    let mut list = std::mem::take(kernel.world.lruvec(memcg, node).list_mut(from));
    let ask = Ask::Folio(memcg, node, from);
    let taken = list.take(amount, order, |last| kernel.ask(ask, last));
    let lruvec = kernel.world.lruvec(memcg, node);
    *lruvec.list_mut(from) = list;
    let by = kernel.me;
    lruvec.isolated.extend(taken.iter().map(|run| Isolated { by, from, run: *run }));
    taken.iter().map(|run: &Run| run.pages()).sum()
}
