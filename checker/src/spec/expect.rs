//! `[expect.NAME]`.

use super::problem::Source;
use super::tree::{Entry, Table, shorten};
use super::{NamedDesign, keys};
use crate::claim::{self, Claim};
use crate::verdict::Verdict;
use mm_model::design::PRESETS;
use mm_model::ids::ActorId;
use mm_model::scenario::ActorConfig;
use std::collections::BTreeMap;

/// What is expected of a design.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectations {
    /// Verdicts.
    pub verdicts: BTreeMap<Claim, Verdict>,
    /// Distinct states of the exhaustive search with local steps fused.
    pub states: Option<u64>,
    /// Its transitions.
    pub transitions: Option<u64>,
}

const VERDICTS: &[(&str, Verdict)] =
    &[("holds", Verdict::Holds), ("violated", Verdict::Violated), ("vacuous", Verdict::Vacuous)];

pub(super) fn read(
    source: &mut Source<'_>,
    root: &Table<'_>,
    designs: &[NamedDesign],
    actors: &[ActorConfig],
) -> BTreeMap<String, Expectations> {
    let mut expectations = BTreeMap::new();
    let table = root.get("expect").and_then(|value| value.table(source, "expect"));
    for entry in table.map(|table| table.entries.as_slice()).unwrap_or_default() {
        let own = designs.iter().map(|design| design.name.as_str());
        let presets = PRESETS.iter().map(|preset| preset.name);
        let mut names: Vec<&str> = own.collect();
        names.extend(presets.filter(|preset| !designs.iter().any(|own| own.name == *preset)));
        if !names.contains(&entry.key.as_str()) {
            let message = format!("no design is named `{}`", shorten(&entry.key));
            source.unknown(entry.key_at, message, &entry.key, "designs", names);
        }
        if let Some(table) = entry.value.table(source, "expect") {
            expectations.insert(entry.key.clone(), of_design(source, table, actors));
        }
    }
    expectations
}

fn of_design(
    source: &mut Source<'_>,
    table: &Table<'_>,
    actors: &[ActorConfig],
) -> Expectations {
    let mut expected = Expectations::default();
    for entry in &table.entries {
        match entry.key.as_str() {
            "states" => expected.states = count(source, entry),
            "transitions" => expected.transitions = count(source, entry),
            key => {
                let actor = |name: &str| actors.iter().position(|actor| actor.name == name);
                match Claim::parse(key, |name| actor(name).map(ActorId::from)) {
                    Some(claim) => {
                        let verdict = entry.value.one_of(source, key, VERDICTS);
                        verdict.and_then(|verdict| expected.verdicts.insert(claim, verdict));
                    }
                    None => unknown(source, entry, actors),
                }
            }
        }
    }
    expected
}

fn count(source: &mut Source<'_>, entry: &Entry<'_>) -> Option<u64> {
    entry.value.number(source, &entry.key, 0, u64::MAX)
}

fn unknown(source: &mut Source<'_>, entry: &Entry<'_>, actors: &[ActorConfig]) {
    let key = shorten(&entry.key);
    if let Some((before, actor)) = entry.key.split_once(" of ") {
        if Claim::parse(&format!("{before} of A"), |_| Some(ActorId(0))).is_some() {
            let message = format!("no actor is named `{}`", shorten(actor.trim()));
            let names = actors.iter().map(|actor| actor.name.as_str());
            source.unknown(entry.key_at, message, actor.trim(), "actors", names);
            return;
        }
    }
    let claims = claim::names();
    let mut names: Vec<&str> = keys::EXPECT.names().collect();
    names.extend(claims.iter().map(String::as_str));
    let message = format!("no property is named `{key}`");
    source.unknown(entry.key_at, message, &entry.key, "properties", names);
}
