//! `usage-within-max`.

use super::{Property, Transition};
use crate::ids::MemcgId;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;

/// The limit is a limit.
pub(super) const PROPERTY: Property = Property {
    name: "usage-within-max",
    claim: "apart from refused attempts about to be taken back, a level's usage rises above its max \
            only by a forced charge",
    when: "a charge has reached a counter while a level is at its max, or a level is above it, and \
           nobody writes memory.max: an attempt that passed the old limit may stand under the new",
    applies: |step| {
        if step.scenario.max_is_written() {
            return false;
        }
        let mut levels = step.to.world.memcgs.iter();
        levels.any(|memcg| memcg.memory.usage >= memcg.memory.max)
    },
    holds: |step| step.scenario.memcg_ids().all(|level| !rises_above_max(step, level)),
};

fn rises_above_max(step: &Transition<'_>, level: MemcgId) -> bool {
    let max = step.to.world.memcgs[level.index()].memory.max;
    let now = step.settled(step.to, level);
    let Some((from, actor)) = step.from else { return now > max };
    let forced = from.actors[actor.index()].charging().is_some_and(TryChargeMemcg::forcing);
    now > max && now > step.settled(from, level) && !forced
}
