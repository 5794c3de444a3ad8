//! `mem_cgroup_margin()`: how much one level could still charge.

use crate::env::Call;
use crate::ids::MemcgId;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::step::Ctx;
use crate::units::Pages;
use crate::world::PageCounter;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "mem_cgroup_margin",
    file: "mm/memcontrol.c",
    versions: ALL_VERSIONS,
    left_out: "",
    points: &[],
};

/// Pages between usage and limit of this one level; its ancestors are not looked at.
///
/// One step: usage is read before the limit, which only a writer of memory.max changes.
pub fn mem_cgroup_margin(kernel: &mut Ctx<'_>, memcg: MemcgId) -> Pages {
    let usage = kernel.world.memcg(memcg).memory.usage;
    mem_cgroup_margin_of(kernel, memcg, usage)
}

/// The rest of it, once the usage of memory has been read.
///
/// # Panics
/// If the environment answers for the call with a negative number.
pub(crate) fn mem_cgroup_margin_of(kernel: &mut Ctx<'_>, memcg: MemcgId, usage: Pages) -> Pages {
    let margin = kernel.call(Call::MemCgroupMargin { memcg }, |kernel| {
        let memcg = kernel.world.memcg(memcg);
        let room = |counter: &PageCounter| counter.max.saturating_sub(counter.usage);
        let memory = room(&PageCounter { usage, ..memcg.memory });
        memcg.memsw.as_ref().map_or(memory, |memsw| memory.min(room(memsw))).raw()
    });
    Pages(u64::try_from(margin).expect("a margin is not negative"))
}
