//! `[expect.NAME]`.

use super::problem::Source;
use super::tree::{Entry, Kind, Table, names, shorten};
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
        let names = design_names(root, designs);
        if !names.contains(&entry.key.as_str()) {
            let message = format!("no design is named `{}`", shorten(&entry.key));
            source.unknown(entry.key_at, message, &entry.key, "designs", names);
        }
        if let Some(table) = entry.value.table(source, "expect") {
            expectations.insert(entry.key.clone(), of_design(source, root, table, actors));
        }
    }
    expectations
}

/// Designs of the spec, also those that can't be used, and the known ones.
fn design_names<'n>(root: &'n Table<'_>, designs: &'n [NamedDesign]) -> Vec<&'n str> {
    let written = root.get("design").map(|value| &value.kind);
    let written: &[Entry<'_>] =
        if let Some(Kind::Table(table)) = written { &table.entries } else { &[] };
    let own = designs.iter().map(|design| design.name.as_str());
    let all = own
        .chain(written.iter().map(|entry| entry.key.as_str()))
        .chain(PRESETS.iter().map(|preset| preset.name));
    let mut names: Vec<&str> = Vec::new();
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn of_design(
    source: &mut Source<'_>,
    root: &Table<'_>,
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
                    None => unknown(source, root, entry, actors),
                }
            }
        }
    }
    expected
}

fn count(source: &mut Source<'_>, entry: &Entry<'_>) -> Option<u64> {
    entry.value.number(source, &entry.key, 0, u64::MAX)
}

fn unknown(source: &mut Source<'_>, root: &Table<'_>, entry: &Entry<'_>, actors: &[ActorConfig]) {
    let key = entry.key.as_str();
    // A claim about an actor is unknown only because of the actor.
    let about = key.split_once(" of ").filter(|(claim, _)| {
        Claim::parse(&format!("{claim} of ACTOR"), |_| Some(ActorId(0))).is_some()
    });
    if let Some((_, actor)) = about {
        let all = actors.iter().map(|actor| actor.name.as_str());
        // One that can't be used is a problem of its own.
        if !names(root, "actor").contains(&actor) && !names(root, "worker").contains(&actor) {
            let message = format!("no actor is named `{}`", shorten(actor));
            source.unknown(entry.key_at, message, actor, "actors", all);
        }
        return;
    }
    let claims = claim::names();
    let mut all: Vec<&str> = keys::EXPECT.names();
    all.extend(claims.iter().map(String::as_str));
    let message = format!("no property is named `{}`", shorten(key));
    source.unknown(entry.key_at, message, key, "properties", all);
}
