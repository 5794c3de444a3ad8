//! `[expect.NAME]`.

use super::problem::Source;
use super::tree::{Entry, Kind, Table, names, shorten};
use super::{NamedDesign, keys, preset};
use crate::claim::{self, Claim, Rung};
use crate::cost::{Bound, Rational};
use crate::value::{Expected, Threshold, Value};
use crate::verdict::Verdict;
use mm_model::design::PRESETS;
use mm_model::ids::ActorId;
use mm_model::scenario::{ActorConfig, InodeConfig, Scenario};
use std::collections::BTreeMap;
use strum::VariantArray;

/// What is expected of a design.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectations {
    /// Verdicts and values.
    pub answers: BTreeMap<Claim, Expected>,
    /// From which value of the sweep's first parameter on something holds.
    pub thresholds: BTreeMap<Claim, Threshold>,
    /// Distinct states of the exhaustive search with local steps fused.
    pub states: Option<u64>,
    /// Its transitions.
    pub transitions: Option<u64>,
}

const VERDICTS: &[(&str, Verdict)] =
    &[("holds", Verdict::Holds), ("violated", Verdict::Violated), (VACUOUS, Verdict::Vacuous)];

pub(super) fn read(
    source: &mut Source<'_>,
    root: &Table<'_>,
    designs: &[NamedDesign],
    world: (&[ActorConfig], &[InodeConfig]),
    symmetry: Option<bool>,
) -> BTreeMap<String, Expectations> {
    let mut expectations = BTreeMap::new();
    let table = root.get("expect").and_then(|value| value.table(source, "expect"));
    for entry in table.map(|table| table.entries.as_slice()).unwrap_or_default() {
        let names = design_names(root, designs);
        if !names.contains(&entry.key.as_str()) {
            let message = format!("no design is named `{}`", shorten(&entry.key));
            source.unknown(entry.key_at, message, &entry.key, "designs", names);
        } else if preset(&entry.key).is_some() && designs.iter().all(|it| it.name != entry.key) {
            // Nothing would ever compare it, and all would seem to be as expected.
            let name = &entry.key;
            let named = designs.iter().filter(|it| it.name == it.base).map(|it| &it.name);
            let listed: Vec<String> =
                named.chain([name]).map(|name| format!("\"{name}\"")).collect();
            source.problem_with_hint(
                entry.key_at,
                format!("`{name}` is not among the designs of this spec"),
                format!("`designs = [{}]` checks it as well", listed.join(", ")),
            );
        }
        if let Some(table) = entry.value.table(source, "expect") {
            let expected = of_design(source, root, table, world);
            if symmetry == Some(true) {
                only_safety(source, table, world.0);
            }
            expectations.insert(entry.key.clone(), expected);
        }
    }
    expectations
}

/// What a key of expectations asks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Of what.
    pub claim: Claim,
    /// From which value of a sweep on it holds.
    pub threshold: bool,
}

impl Asked {
    /// The key, as it is usually spelled.
    pub fn name(self, scenario: &Scenario) -> String {
        let claim = self.claim.name(scenario);
        if self.threshold { format!("{THRESHOLD}{claim}") } else { claim }
    }
}

/// What a key asks; nothing if it is no claim.
pub fn asked(key: &str, actors: &[ActorConfig]) -> Option<Asked> {
    let (threshold, key) = match key.strip_prefix(THRESHOLD) {
        Some(claim) => (true, claim),
        None => (false, key),
    };
    let actor = |name: &str| actors.iter().position(|actor| actor.name == name);
    let claim = Claim::parse(key, |name| actor(name).map(ActorId::from))?;
    Some(Asked { claim, threshold })
}

/// Refuses what can't be asked where tasks stand for one another.
fn only_safety(source: &mut Source<'_>, table: &Table<'_>, actors: &[ActorConfig]) {
    for entry in &table.entries {
        if asked(&entry.key, actors).is_some_and(|asked| !asked.claim.is_safety()) {
            let hint = "with `symmetry`, a task may be another one from step to step: only safety \
                        can be asked";
            source.problem_with_hint(
                entry.key_at,
                format!("`{}` is not a safety property", entry.key),
                hint,
            );
        }
    }
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
    (actors, inodes): (&[ActorConfig], &[InodeConfig]),
) -> Expectations {
    let mut expected = Expectations::default();
    let mut before: Vec<(Asked, &str)> = Vec::new();
    for entry in &table.entries {
        match entry.key.as_str() {
            "states" | "transitions" if root.get("sweep").is_some() => {
                let message = format!("`{}` can't be pinned in a sweep", entry.key);
                source.problem(entry.key_at, message);
            }
            "states" => expected.states = count(source, entry),
            "transitions" => expected.transitions = count(source, entry),
            key => match asked(key, actors) {
                Some(Asked { claim, .. })
                    if claim.tells_pages_apart() && inodes.iter().any(InodeConfig::is_pooled) =>
                {
                    let message = format!("`{key}` of pages that are only counted");
                    let hint = "which of them nobody has used is known as long as a file is \
                                not `pooled`; `pages-evicted-unused per-each OPERATION` counts \
                                them when they are forgotten";
                    source.problem_with_hint(entry.key_at, message, hint);
                }
                Some(asked) => {
                    match before.iter().find(|(other, _)| *other == asked) {
                        Some((_, other)) => {
                            let message = format!("`{key}` asks what `{other}` asks above");
                            source.problem(entry.key_at, message);
                        }
                        None => before.push((asked, key)),
                    }
                    let Asked { claim, threshold } = asked;
                    if threshold {
                        let from = from(source, root, entry, claim);
                        from.and_then(|from| expected.thresholds.insert(claim, from));
                    } else {
                        let answer = answer(source, entry, claim);
                        answer.and_then(|answer| expected.answers.insert(claim, answer));
                    }
                }
                None => {
                    let key = key.strip_prefix(THRESHOLD).unwrap_or(key);
                    unknown(source, root, entry, key, actors);
                }
            },
        }
    }
    expected
}

/// What the key of a threshold begins with.
const THRESHOLD: &str = "threshold ";

const UNBOUNDED: &str = "unbounded";

/// What never applied has no value.
const VACUOUS: &str = "vacuous";

/// The answer to a claim, as a spec writes it.
fn answer(source: &mut Source<'_>, entry: &Entry<'_>, claim: Claim) -> Option<Expected> {
    let Entry { key, value, .. } = entry;
    if claim.is_verdict() {
        return value.one_of(source, key, VERDICTS).map(Expected::Verdict);
    }
    let answer = match (claim, &value.kind) {
        (Claim::Ladder(_), _) => {
            let rung = |rung: &Rung| (rung.name(), Expected::Value(Value::Rung(*rung)));
            let mut words: Vec<_> = Rung::VARIANTS.iter().map(rung).collect();
            words.push((VACUOUS, Expected::Verdict(Verdict::Vacuous)));
            return value.one_of(source, key, &words);
        }
        (_, Kind::Text(text)) if text == VACUOUS => {
            return Some(Expected::Verdict(Verdict::Vacuous));
        }
        (Claim::Ratio(..), Kind::Text(text)) if text == UNBOUNDED => {
            Some(Value::Ratio(Bound::Unbounded))
        }
        (Claim::Ratio(..), Kind::Text(text)) => {
            Rational::parse(text).map(|ratio| Value::Ratio(Bound::Most(ratio)))
        }
        (Claim::Ratio(..), _) => value
            .within(0, u64::MAX)
            .and_then(|number| Rational::new(number, 1))
            .map(|ratio| Value::Ratio(Bound::Most(ratio))),
        (_, Kind::Text(text)) if text == UNBOUNDED => Some(Value::Number(Bound::Unbounded)),
        (_, _) => value.within(0, u64::MAX).map(|most| Value::Number(Bound::Most(most))),
    };
    if answer.is_none() {
        let fraction =
            if matches!(claim, Claim::Ratio(..)) { ", a fraction `\"p/q\"`" } else { "" };
        let words = format!("`\"{UNBOUNDED}\"` or `\"{VACUOUS}\"`");
        value.wrong(source, key, &format!("a number{fraction}, {words}"));
    }
    answer.map(Expected::Value)
}

/// The threshold that a spec writes: a number, or `"never"`.
fn from(
    source: &mut Source<'_>,
    root: &Table<'_>,
    entry: &Entry<'_>,
    claim: Claim,
) -> Option<Threshold> {
    if root.get("sweep").is_none() {
        let hint = "a threshold is a value of the first parameter of `[sweep]`";
        source.problem_with_hint(entry.key_at, "a threshold needs a sweep", hint);
        return None;
    }
    if matches!(claim, Claim::Ladder(_)) {
        let hint = "ask for the threshold of a line, such as `threshold starvation-free charge`";
        source.problem_with_hint(entry.key_at, "the ladder has several thresholds", hint);
        return None;
    }
    if matches!(&entry.value.kind, Kind::Text(text) if text == "never") {
        return Some(Threshold::Never);
    }
    let number = entry.value.within(0, u64::MAX);
    if number.is_none() {
        entry.value.wrong(source, &entry.key, "a number or `\"never\"`");
    }
    number.map(Threshold::At)
}

fn count(source: &mut Source<'_>, entry: &Entry<'_>) -> Option<u64> {
    entry.value.number(source, &entry.key, 0, u64::MAX)
}

fn unknown(
    source: &mut Source<'_>,
    root: &Table<'_>,
    entry: &Entry<'_>,
    key: &str,
    actors: &[ActorConfig],
) {
    // A claim about an actor is unknown only because of the actor.
    if Claim::parse(key, |_| Some(ActorId(0))).is_some() {
        let actor = key.split_once(" of ").map_or("", |(_, actor)| actor);
        let actor = actor.split(' ').next().unwrap_or_default();
        let all = actors.iter().map(|actor| actor.name.as_str());
        // One that can't be used is a problem of its own.
        if !names(root, "actor").contains(&actor) && !names(root, "worker").contains(&actor) {
            let message = format!("no actor is named `{}`", shorten(actor));
            source.unknown(entry.key_at, message, actor, "actors", all);
        }
        return;
    }
    if let Some((name, kind, all)) = claim::not_a_claim(key) {
        let message = format!("`{}` is none of the {kind}", shorten(name));
        source.unknown(entry.key_at, message, name, kind, all.iter().map(String::as_str));
        return;
    }
    let claims = claim::names();
    let mut all: Vec<&str> = keys::EXPECT.names();
    all.extend(claims.iter().map(String::as_str));
    let message = format!("no property is named `{}`", shorten(key));
    source.unknown(entry.key_at, message, key, "properties", all);
}
