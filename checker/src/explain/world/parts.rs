//! Memcgs, lists, CPUs, locks and actors.

use super::{Bar, Fact, Item, PLACE, WAITS, fact};
use crate::render;
use mm_model::ids::{ActorId, MemcgId};
use mm_model::lru::LruList;
use mm_model::scenario::Scenario;
use mm_model::state::State;
use mm_model::units::Pages;
use mm_model::world::{Cpu, DrainWork, Memcg, ReclaimIter};

pub(super) fn memcgs(scenario: &Scenario, state: &State) -> Vec<Item> {
    let item = |id: MemcgId| {
        let Memcg { memory, memsw, high, lru, anon, lruvecs, order } =
            &state.world.memcgs[id.index()];
        let mut facts = vec![fact("usage", format!("{}/{}", memory.usage, memory.max))];
        if let Some(memsw) = memsw {
            facts.push(fact("with swap", format!("{}/{}", memsw.usage, memsw.max)));
        }
        if *high < Pages::UNLIMITED {
            facts.push(fact("high", high.to_string()));
        }
        // Where passes walk lists, those are shown one by one.
        if lruvecs.is_empty() {
            facts.push(fact("reclaimable", lru.to_string()));
        }
        if !order.is_empty() {
            let next: Vec<String> =
                order.iter().map(|added| render::added(scenario, *added)).collect();
            facts.push(fact("next to go", next.join(", ")));
        }
        if scenario.memcgs[id.index()].anon > Pages::ZERO {
            facts.push(fact("anonymous", anon.to_string()));
        }
        let limit = |pages: Pages| (pages < Pages::UNLIMITED).then_some(pages.0);
        Item {
            part: "memcg",
            name: scenario.memcg_name(id).to_owned(),
            depth: scenario.lineage(id).count() - 1,
            bar: Some(Bar { used: memory.usage.0, max: limit(memory.max), high: limit(*high) }),
            strip: None,
            facts,
        }
    };
    scenario.memcg_ids().map(item).collect()
}

/// The lists of each memcg, where passes walk them, from the end that is scanned first.
pub(super) fn lists(scenario: &Scenario, state: &State) -> Vec<Item> {
    let mut items = Vec::new();
    for id in scenario.memcg_ids() {
        for (node, lruvec) in state.world.memcgs[id.index()].lruvecs.iter().enumerate() {
            let list = |list: LruList| {
                let runs = lruvec.list(list).runs();
                let runs: Vec<String> = runs.iter().map(|run| render::folios(*run)).collect();
                (!runs.is_empty()).then(|| fact(<&str>::from(list), runs.join(", ")))
            };
            let mut facts: Vec<Fact> = LruList::ALL.into_iter().filter_map(list).collect();
            let isolated: Vec<String> = lruvec
                .isolated
                .iter()
                .map(|isolated| {
                    let by = &scenario.actors[isolated.by.index()].name;
                    format!("{} by {by}", render::folios(isolated.run))
                })
                .collect();
            if !isolated.is_empty() {
                facts.push(fact("isolated", isolated.join(", ")));
            }
            let name = format!("{} on node {node}", scenario.memcg_name(id));
            items.push(Item::plain("LRU lists", name, facts));
        }
    }
    items
}

/// Where walkers that share an iterator are.
pub(super) fn walks(scenario: &Scenario, state: &State) -> Vec<Item> {
    let item = |(index, iter): (usize, &ReclaimIter)| {
        let (target, node) = (index / scenario.nr_nodes(), index % scenario.nr_nodes());
        let target = scenario.memcgs.get(target).map_or("the root", |memcg| &memcg.name);
        let after = iter.position.map(|at| fact("after", scenario.memcg_name(at).to_owned()));
        let name = format!("walk of {target} on node {node}");
        Item::plain("walk", name, after.into_iter().collect())
    };
    state.world.iters.iter().enumerate().map(item).collect()
}

/// What the machine has.
pub(super) fn machine(_: &Scenario, state: &State) -> Vec<Item> {
    let item = |free: Pages| {
        let facts = vec![fact("free", render::pages(free))];
        Item::plain("machine", "machine".to_owned(), facts)
    };
    state.world.free_pages.map(item).into_iter().collect()
}

pub(super) fn cpus(scenario: &Scenario, state: &State) -> Vec<Item> {
    let item = |(id, cpu): (usize, &Cpu)| {
        let mut stock: Vec<String> = Vec::new();
        for slot in cpu.slots.iter().flatten() {
            stock.push(format!("{} of {}", slot.nr_pages, scenario.memcg_name(slot.memcg)));
        }
        let stock = if stock.is_empty() { "empty".to_owned() } else { stock.join(", ") };
        let mut facts = vec![fact("stock", stock)];
        match cpu.drain {
            DrainWork::Clear => {}
            DrainWork::Queued => facts.push(fact("drain work", "queued".to_owned())),
            DrainWork::Running => facts.push(fact("drain work", "running".to_owned())),
            DrainWork::Set => facts.push(fact("drain work", "flagged, not queued".to_owned())),
        }
        let collected = cpu.lru_add.iter().map(|add| {
            let name = scenario.memcg_name(add.memcg);
            format!("{} of {name}", render::folios(add.run))
        });
        let collected: Vec<String> = collected.collect();
        if !collected.is_empty() {
            facts.push(fact("not yet on a list", collected.join(", ")));
        }
        Item::plain("CPU", format!("CPU {id}"), facts)
    };
    state.world.cpus.iter().enumerate().map(item).collect()
}

pub(super) fn locks(scenario: &Scenario, state: &State) -> Vec<Item> {
    let owner = state.world.percpu_charge_mutex;
    let owner = owner.map_or("nobody", |owner| &scenario.actors[owner.index()].name);
    let facts = vec![fact("held by", owner.to_owned())];
    vec![Item::plain("lock", "percpu_charge_mutex".to_owned(), facts)]
}

pub(super) fn actors(scenario: &Scenario, state: &State) -> Vec<Item> {
    let item = |id: ActorId| {
        let actor = &state.actors[id.index()];
        let mut facts = vec![fact(PLACE, place(scenario, state, id))];
        if actor.current.held > Pages::ZERO {
            facts.push(fact("holds", render::pages(actor.current.held)));
        }
        let over_high = actor.current.memcg_nr_pages_over_high;
        if over_high > Pages::ZERO {
            facts.push(fact("over high", render::pages(over_high)));
        }
        if state.world.signals.contains(id) {
            facts.push(fact("signal", "pending".to_owned()));
        }
        if let Some(guard) = scenario.blocked(state, id) {
            facts.push(fact(WAITS, guard.describe(scenario)));
        }
        let name = scenario.actors[id.index()].name.clone();
        Item::plain("actor", name, facts)
    };
    scenario.actor_ids().map(item).collect()
}

/// Where an actor is: its active functions with their program points, outermost first.
pub fn place(scenario: &Scenario, state: &State, id: ActorId) -> String {
    let actor = &state.actors[id.index()];
    let stack = actor.stack();
    if stack.is_empty() {
        let idle = actor.may_rest() || scenario.blocked(state, id).is_some();
        return if idle { "at rest" } else { "in user space" }.to_owned();
    }
    let frames = stack.iter().map(|(function, point)| format!("{function}: {point}"));
    format!("at {}", frames.collect::<Vec<_>>().join(" > "))
}
