//! `lru_add_drain()` and `lru_add_drain_all()`: put what CPUs have collected on the LRU.

use crate::env::Call;
use crate::ids::CpuId;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::step::Ctx;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "lru_add_drain",
    file: "mm/swap.c",
    versions: ALL_VERSIONS,
    left_out: "the batches of other list movements; lru_add_drain_all() waits for all CPUs, which \
               is one step here",
    points: &[],
};

/// Puts what this CPU has collected on the lists.
pub fn lru_add_drain(kernel: &mut Ctx<'_>) {
    lru_add_drain_cpu(kernel, kernel.task.cpu);
}

/// Puts what a CPU has collected on the lists.
pub(crate) fn lru_add_drain_cpu(kernel: &mut Ctx<'_>, cpu: CpuId) {
    let order = kernel.scenario.policy.reclaim.order;
    for add in std::mem::take(&mut kernel.world.cpus[cpu.index()].lru_add) {
        kernel.world.lruvec(add.memcg, add.node).list_mut(add.list).push(add.run, order);
    }
}

/// Puts what every CPU has collected on the lists.
pub fn lru_add_drain_all(kernel: &mut Ctx<'_>) {
    kernel.call(Call::LruAddDrainAll, |kernel| {
        for cpu in 0..kernel.scenario.cpus.len() {
            lru_add_drain_cpu(kernel, cpu.into());
        }
        0
    });
}
