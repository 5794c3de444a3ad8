//! Safety properties: what no reachable state and no step may do.

use crate::actor::Actor;
use crate::env::Event;
use crate::ids::{ActorId, MemcgId};
use crate::scenario::Scenario;
use crate::state::State;
use crate::units::Pages;

mod charges_conserved;
mod deadlock_free;
mod eagain_tells_the_truth;
mod errors_legitimate;
mod high_write_reached;
mod no_spurious_refusal;
mod no_transient_excess;
mod no_wrap;
mod nothing_leaked;
mod one_mark_per_window;
mod overreclaim_within_bound;
mod readahead_reclaim_cap;
mod speculative_charge_never_ooms;
mod stockpile_enomem_tells_the_truth;
mod stockpile_stays_in_scope;
mod usage_within_max;
mod window_not_overrun;

pub use overreclaim_within_bound::{overreclaim_bound, pass_bound};

/// A transition to be judged; at the start there is only the state it leads to.
pub struct Transition<'a> {
    /// The configuration.
    pub scenario: &'a Scenario,
    /// The state before, and the actor that steps; neither at the start.
    pub from: Option<(&'a State, ActorId)>,
    /// The state after.
    pub to: &'a State,
    /// What happened, in order.
    pub events: &'a [Event],
}

/// A safety property.
pub struct Property {
    /// Its name in a spec.
    pub name: &'static str,
    /// What it claims, in one sentence.
    pub claim: &'static str,
    /// When it says something about a transition. A property that never does is vacuous.
    pub when: &'static str,
    /// Whether it says something about this transition.
    pub applies: fn(&Transition<'_>) -> bool,
    /// Whether the transition, where it applies, is as claimed.
    pub holds: fn(&Transition<'_>) -> bool,
}

/// Every safety property.
pub const PROPERTIES: &[&Property] = &[
    &charges_conserved::PROPERTY,
    &usage_within_max::PROPERTY,
    &no_transient_excess::PROPERTY,
    &no_spurious_refusal::PROPERTY,
    &speculative_charge_never_ooms::PROPERTY,
    &errors_legitimate::PROPERTY,
    &nothing_leaked::PROPERTY,
    &deadlock_free::PROPERTY,
    &eagain_tells_the_truth::PROPERTY,
    &overreclaim_within_bound::PROPERTY,
    &high_write_reached::PROPERTY,
    &stockpile_enomem_tells_the_truth::PROPERTY,
    &no_wrap::PROPERTY,
    &one_mark_per_window::PROPERTY,
    &window_not_overrun::PROPERTY,
    &readahead_reclaim_cap::PROPERTY,
    &stockpile_stays_in_scope::PROPERTY,
];

/// Those that speak of files.
const OF_FILES: &[&Property] = &[
    &no_wrap::PROPERTY,
    &one_mark_per_window::PROPERTY,
    &window_not_overrun::PROPERTY,
    &readahead_reclaim_cap::PROPERTY,
];

/// Those that speak of MADV_STOCKPILE alone.
const OF_STOCKPILES: &[&Property] = &[&stockpile_stays_in_scope::PROPERTY];

impl Property {
    /// Whether the scenario has anything the property speaks of.
    pub fn concerns(&self, scenario: &Scenario) -> bool {
        let is_of = |these: &[&Self]| these.iter().any(|other| other.name == self.name);
        (!is_of(OF_FILES) || !scenario.files.is_empty())
            && (!is_of(OF_STOCKPILES) || scenario.pages_are_stockpiled())
    }
}

impl Transition<'_> {
    /// What a level's usage must be: pages on the LRU and of other processes, held by tasks,
    /// stocked by CPUs, and in the hands of running kernel functions.
    fn accounted(&self, level: MemcgId) -> Pages {
        let Self { scenario, to, .. } = self;
        let below = |memcg: MemcgId| scenario.in_subtree(memcg, level);
        let memcgs = scenario.memcg_ids().filter(|memcg| below(*memcg));
        let resident: Pages = memcgs.map(|id| to.world.memcgs[id.index()].resident()).sum();
        let collected = to.world.cpus.iter().flat_map(|cpu| &cpu.lru_add);
        let collected: Pages =
            collected.filter(|add| below(add.memcg)).map(|add| add.run.pages()).sum();
        let slots = to.world.cpus.iter().flat_map(|cpu| cpu.slots.iter().flatten());
        let stocked: Pages = slots.filter(|slot| below(slot.memcg)).map(|slot| slot.nr_pages).sum();
        let held: Pages = scenario
            .actor_ids()
            .filter(|actor| below(scenario.actors[actor.index()].task.memcg))
            .map(|actor| to.actors[actor.index()].current.held)
            .sum();
        let in_flight: Pages = to.actors.iter().map(|actor| actor.in_flight(scenario, level)).sum();
        let inodes = scenario.inodes.iter().zip(&to.world.inodes);
        let cached: Pages = inodes
            .filter(|(config, _)| config.memcg.is_some_and(below))
            .map(|(_, inode)| inode.cache.nr_pages() + inode.nodes)
            .sum();
        resident + collected + cached + stocked + held + in_flight
    }

    /// Usage of a level without what refused attempts have added and are about to take back.
    fn settled(&self, state: &State, level: MemcgId) -> Pages {
        let charges = state.actors.iter().filter_map(Actor::charging);
        let doomed: Pages =
            charges.map(|charge| charge.doomed(self.scenario, &state.world, level)).sum();
        state.world.memcgs[level.index()].memory.usage - doomed
    }

    /// Whether every level's usage is what it must be.
    fn conserved(&self) -> bool {
        self.scenario
            .memcg_ids()
            .all(|level| self.to.world.memcgs[level.index()].memory.usage == self.accounted(level))
    }
}
