//! The world as items with facts. A new part of the world is one more function in [`items`].

use mm_model::scenario::Scenario;
use mm_model::state::State;
use serde::Serialize;
use std::borrow::Cow;

mod files;
mod parts;
pub use files::{Folio, Strip, Window};
pub use parts::place;

/// Something in the world, or an actor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    /// Which part of the world it belongs to.
    pub part: &'static str,
    /// Its name.
    pub name: String,
    /// How deep it lies in a tree.
    pub depth: usize,
    /// How full it is.
    pub bar: Option<Bar>,
    /// Its pages, for a file.
    pub strip: Option<Strip>,
    /// What can be said about it.
    pub facts: Vec<Fact>,
}

/// Something that can be said about an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// About what.
    pub name: Cow<'static, str>,
    /// What.
    pub value: String,
}

/// How full something is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bar {
    /// What is used.
    pub used: u64,
    /// The most it may be, if there is a limit.
    pub max: Option<u64>,
    /// A mark below the limit.
    pub high: Option<u64>,
}

/// A fact that is different after a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Which part of the world the item belongs to.
    pub part: &'static str,
    /// Of which item.
    pub item: String,
    /// Which fact.
    pub fact: Cow<'static, str>,
    /// Before.
    pub from: String,
    /// After.
    pub to: String,
}

/// Where an actor is. It changes with every step, and so is no news.
pub const PLACE: &str = "is";
/// What an actor waits for. That others changed it is told with what they changed.
const WAITS: &str = "waits until";

impl Item {
    /// Something that lies in no tree and is neither full nor empty.
    fn plain(part: &'static str, name: String, facts: Vec<Fact>) -> Self {
        Self { part, name, depth: 0, bar: None, strip: None, facts }
    }
}

fn fact(name: impl Into<Cow<'static, str>>, value: String) -> Fact {
    Fact { name: name.into(), value }
}

/// Everything in a state.
pub fn items(scenario: &Scenario, state: &State) -> Vec<Item> {
    let parts = [
        parts::memcgs,
        files::inodes,
        files::windows,
        parts::lists,
        parts::walks,
        parts::machine,
        parts::cpus,
        parts::locks,
        parts::actors,
    ];
    parts.into_iter().flat_map(|part| part(scenario, state)).collect()
}

/// The parts that can differ between two states, as far as they do.
pub fn changes(before: &[Item], after: &[Item]) -> Vec<Change> {
    let mut changes = Vec::new();
    for new in after {
        let old = before.iter().find(|old| (old.part, &old.name) == (new.part, &new.name));
        let old: &[Fact] = old.map_or(&[], |old| &old.facts);
        let value = |facts: &[Fact], name: &str| {
            let fact = facts.iter().find(|fact| fact.name == name);
            fact.map_or_else(|| "none".to_owned(), |fact| fact.value.clone())
        };
        let gone = old.iter().filter(|fact| !new.facts.iter().any(|new| new.name == fact.name));
        for fact in new.facts.iter().chain(gone) {
            let (from, to) = (value(old, &fact.name), value(&new.facts, &fact.name));
            if from != to && fact.name != PLACE && fact.name != WAITS {
                let (item, fact) = (new.name.clone(), fact.name.clone());
                changes.push(Change { part: new.part, item, fact, from, to });
            }
        }
    }
    changes
}
