//! `mem_cgroup_handle_over_high()`: reclaims what a task charged over memory.high, and makes it
//! sleep if that was not enough. Runs on the return to user space, or inside a charge.

use crate::design::DyingOverHigh;
use crate::env::Call;
use crate::ids::MemcgId;
use crate::kernel::Kernel;
use crate::mm::memcontrol::reclaim_high::ReclaimHigh;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext, TaskFlags};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "mem_cgroup_handle_over_high",
    file: "mm/memcontrol.c",
    versions: ALL_VERSIONS,
    left_out: "the swap part of the penalty, pressure stall accounting",
    points: At::VARIANTS,
};

/// `MEMCG_DELAY_PRECISION_SHIFT` and `MEMCG_DELAY_SCALING_SHIFT`.
const PRECISION_SHIFT: u32 = 20;
const SCALING_SHIFT: u32 = 14;

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemCgroupHandleOverHigh {
    nr_pages: Pages,
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
    /// Takes over what the task has to answer for.
    Enter,
    /// In reclaim_high().
    ReclaimHigh { nr_retries: u8, callee: ReclaimHigh },
    /// Compares usage with memory.high on each level; no progress costs a retry.
    CalculateHighDelay { nr_retries: u8, progress: bool },
    /// Sleeps, once.
    ScheduleTimeout { jiffies: u64 },
}

impl MemCgroupHandleOverHigh {
    /// The call.
    pub const fn enter() -> Self {
        Self { nr_pages: Pages::ZERO, at: At::Enter }
    }

    fn returned(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        let call = Call::MemCgroupHandleOverHigh { nr_pages: self.nr_pages };
        kernel.returned(call, 0);
        Next::Return(())
    }

    fn reclaim(self, kernel: &mut Ctx<'_>, nr_retries: u8, in_retry: bool) -> Next<Self, ()> {
        let dying = kernel.task.flags.contains(TaskFlags::DYING);
        if dying && kernel.scenario.design.dying_over_high == DyingOverHigh::Leaves {
            return self.returned(kernel);
        }
        let ask = if in_retry { kernel.scenario.kernel.swap_cluster_max } else { self.nr_pages };
        let callee = ReclaimHigh::enter(kernel.task.memcg, ask);
        Next::Goto(Self { at: At::ReclaimHigh { nr_retries, callee }, ..self })
    }

    /// The penalty in timer ticks, clamped to two seconds.
    fn penalty(self, kernel: &mut Ctx<'_>) -> u64 {
        let scenario = kernel.scenario;
        let overage = |memcg: &crate::world::Memcg| {
            let over = memcg.memory.usage.saturating_sub(memcg.high).0;
            (over << PRECISION_SHIFT) / memcg.high.0.max(1)
        };
        let worst = scenario
            .lineage(kernel.task.memcg)
            .map(|level| overage(kernel.world.memcg(level)))
            .max()
            .unwrap_or(0);
        calculate_high_delay(&scenario.kernel, self.nr_pages, worst).min(2 * scenario.kernel.hz)
    }
}

/// Timer ticks for that overage. The kernel multiplies in 64 bits: from about 270 times memory.high
/// on the product wraps, and the penalty can be anything, also none.
fn calculate_high_delay(constants: &Kernel, nr_pages: Pages, max_overage: u64) -> u64 {
    let squared = max_overage.wrapping_mul(max_overage);
    let delay = squared.wrapping_mul(constants.hz) >> (PRECISION_SHIFT + SCALING_SHIFT);
    delay.wrapping_mul(nr_pages.0) / constants.memcg_charge_batch.0
}

impl Frame for MemCgroupHandleOverHigh {
    type Output = ();

    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        match self.at {
            At::Enter => {
                let nr_pages = std::mem::take(&mut kernel.current.memcg_nr_pages_over_high);
                let entered = Self { nr_pages, ..self };
                if nr_pages == Pages::ZERO
                    || kernel.stub(Call::MemCgroupHandleOverHigh { nr_pages }).is_some()
                {
                    return Next::Return(());
                }
                entered.reclaim(kernel, kernel.scenario.kernel.max_reclaim_retries, false)
            }
            At::ReclaimHigh { nr_retries, callee } => match callee.step(kernel) {
                Next::Goto(callee) => {
                    Next::Goto(Self { at: At::ReclaimHigh { nr_retries, callee }, ..self })
                }
                Next::Return(freed) => {
                    let progress = freed > Pages::ZERO;
                    Next::Goto(Self { at: At::CalculateHighDelay { nr_retries, progress }, ..self })
                }
            },
            At::CalculateHighDelay { nr_retries, progress } => {
                let penalty = self.penalty(kernel);
                if penalty <= kernel.scenario.kernel.hz / 100 {
                    return self.returned(kernel);
                }
                match nr_retries.checked_sub(1) {
                    // Progress costs nothing: this loop has no bound.
                    _ if progress => self.reclaim(kernel, nr_retries, true),
                    Some(left) => self.reclaim(kernel, left, true),
                    None => {
                        Next::Goto(Self { at: At::ScheduleTimeout { jiffies: penalty }, ..self })
                    }
                }
            }
            At::ScheduleTimeout { jiffies } => {
                kernel.returned(Call::ScheduleTimeoutKillable { jiffies }, 0);
                self.returned(kernel)
            }
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Enter | At::ScheduleTimeout { .. } => Locality::Local,
            At::CalculateHighDelay { .. } => Locality::Shared,
            At::ReclaimHigh { callee, .. } => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::ReclaimHigh { callee, .. } => callee.in_flight(scenario, level),
            At::Enter | At::CalculateHighDelay { .. } | At::ScheduleTimeout { .. } => Pages::ZERO,
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::ReclaimHigh { callee, .. } => callee.stack(into),
            At::Enter | At::CalculateHighDelay { .. } | At::ScheduleTimeout { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_penalty_wraps_as_the_kernels_does() {
        let delay = |overage| calculate_high_delay(&Kernel::default(), Pages(64), overage);
        // Twice memory.high: 2^40 * 250 / 2^34.
        assert_eq!(delay(1 << 20), 16_000);
        // 4097 times memory.high: 2^64 is 0.
        assert_eq!(delay(1 << 32), 0);
    }
}
