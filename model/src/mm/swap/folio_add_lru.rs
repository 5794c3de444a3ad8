//! `folio_add_lru()`: has the CPU collect a folio for the LRU.

use crate::ids::NodeId;
use crate::lru::{LruList, Run};
use crate::mm::swap::lru_add_drain::lru_add_drain_cpu;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::Pass;
use crate::step::Ctx;
use crate::units::Pages;
use crate::world::{Added, LruAdd};

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "folio_add_lru",
    file: "mm/swap.c",
    versions: ALL_VERSIONS,
    left_out: "large folios, which are never collected; nodes beyond the first; anonymous folios",
    points: &[],
};

/// Hands clean base pages of the task's memcg over to the LRU. Until the CPU has collected enough
/// of them, or somebody drains it, no pass sees them.
pub fn folio_add_lru(kernel: &mut Ctx<'_>, nr_pages: Pages) {
    let memcg = kernel.task.memcg;
    match kernel.scenario.granularity.reclaim.pass {
        Pass::Answered => {
            let in_order = kernel.scenario.policy.file.evicts.in_order();
            let memcg = kernel.world.memcg(memcg);
            memcg.lru += nr_pages;
            if in_order {
                memcg.order.extend((0..nr_pages.0).map(|_| Added::Counted));
            }
        }
        Pass::Walked => {
            let cpu = kernel.task.cpu;
            let collected = &mut kernel.world.cpus[cpu.index()].lru_add;
            let (node, list) = (NodeId(0), LruList::InactiveFile);
            let run = Run::base_pages(nr_pages);
            if run.nr_folios > 0 {
                collected.push(LruAdd { memcg, node, list, run });
            }
            let folios: u64 = collected.iter().map(|add| add.run.nr_folios).sum();
            if folios >= kernel.scenario.kernel.pagevec_size {
                lru_add_drain_cpu(kernel, cpu);
            }
        }
    }
}
