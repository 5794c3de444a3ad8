//! `usage-within-max`.

use super::{Property, Transition};
use crate::ids::MemcgId;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::state::State;
use crate::units::Pages;

/// The limit is a limit.
pub(super) const PROPERTY: Property = Property {
    name: "usage-within-max",
    claim: "apart from attempts that the level is refusing, its usage rises above its max only by \
            a forced charge",
    when: "a charge has reached a counter while a level is at its max, or a level is above it",
    applies: |step| {
        let mut levels = step.to.world.memcgs.iter();
        levels.any(|memcg| memcg.memory.usage >= memcg.memory.max)
    },
    holds: |step| step.scenario.memcg_ids().all(|level| !rises_above_max(step, level)),
};

fn rises_above_max(step: &Transition<'_>, level: MemcgId) -> bool {
    let max = step.to.world.memcgs[level.index()].memory.max;
    let now = accepted(step.to, level);
    let Some((from, actor)) = step.from else { return now > max };
    let forced = from.actors[actor.index()].charging().is_some_and(TryChargeMemcg::forcing);
    now > max && now > accepted(from, level) && !forced
}

/// Usage of a level without what it is refusing. An attempt that it had room for counts from when
/// it was added: others may be forced above the limit before an ancestor has looked at it as well.
fn accepted(state: &State, level: MemcgId) -> Pages {
    let charges = state.actors.iter().filter_map(|actor| actor.charging());
    let refusing: Pages = charges.map(|charge| charge.refusing(&state.world, level)).sum();
    state.world.memcgs[level.index()].memory.usage - refusing
}
