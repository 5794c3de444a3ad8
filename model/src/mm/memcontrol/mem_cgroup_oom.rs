//! `mem_cgroup_oom()` and `mem_cgroup_out_of_memory()`: the memcg OOM killer.

use crate::design::DyingOom;
use crate::env::{Ask, Call};
use crate::ids::MemcgId;
use crate::mm::memcontrol::mem_cgroup_margin::mem_cgroup_margin;
use crate::mm::vmscan::try_to_free_mem_cgroup_pages::uncharge_freed;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{OomOutcome, TaskFlags};
use crate::step::Ctx;
use crate::units::Pages;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "mem_cgroup_oom",
    file: "mm/memcontrol.c",
    versions: ALL_VERSIONS,
    left_out: "cgroup v1's user-space handling, oom_score, oom.group, oom_lock and its wait that a \
               fatal signal ends, the choice between processes, the reaper's delay",
    points: &[],
};

/// Whether the killer claims success, which does not mean that anything was freed.
///
/// One step: in the kernel a mutex keeps two OOM kills apart, and what a victim frees comes back
/// later; that delay is what [`OomOutcome::Pending`] stands for.
pub fn mem_cgroup_oom(kernel: &mut Ctx<'_>, memcg: MemcgId, order: u32) -> bool {
    let call = Call::MemCgroupOom { memcg, order };
    // A large charge kills nobody, whatever an environment would answer for the killer.
    if order > kernel.scenario.kernel.page_alloc_costly_order {
        kernel.returned(call, 0);
        return false;
    }
    kernel.call(call, |kernel| mem_cgroup_out_of_memory(kernel, memcg, order).into()) != 0
}

fn mem_cgroup_out_of_memory(kernel: &mut Ctx<'_>, memcg: MemcgId, order: u32) -> bool {
    if mem_cgroup_margin(kernel, memcg) >= Pages(1 << order) {
        return true;
    }
    let dying = kernel.task.flags.contains(TaskFlags::DYING);
    if dying && kernel.scenario.design.dying_oom == DyingOom::Succeeds {
        return true;
    }
    let outcomes = &kernel.scenario.policy.oom;
    let last = outcomes.len().checked_sub(1).expect("the policy allows some OOM outcome");
    let answer = kernel.ask(Ask::OomOutcome(memcg), last as u64);
    let answer = usize::try_from(answer).expect("an index into the outcomes");
    match outcomes[answer] {
        OomOutcome::Kill => kill(kernel, memcg),
        OomOutcome::Pending => true,
        OomOutcome::None => false,
    }
}

/// Kills the process outside the model that lies nearest below `root`; false if there is none.
fn kill(kernel: &mut Ctx<'_>, root: MemcgId) -> bool {
    let scenario = kernel.scenario;
    let victim = scenario.memcg_ids().find(|memcg| {
        scenario.in_subtree(*memcg, root) && kernel.world.memcgs[memcg.index()].anon > Pages::ZERO
    });
    let Some(victim) = victim else { return false };
    let freed = std::mem::take(&mut kernel.world.memcg(victim).anon);
    uncharge_freed(kernel, victim, freed);
    true
}
