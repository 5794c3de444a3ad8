//! `designs`, `[design.NAME]`, and design files.

use super::problem::{Problems, Source};
use super::tree::{Table, parse as parse_tree, shorten};
use super::world::word;
use super::{NamedDesign, keys};
use mm_model::design::{Changes, Design, PRESETS, Preset};
use serde_json::{Map, Value as Json};
use std::path::Path;

/// The largest number of a design.
const NUMBER_MOST: u64 = u8::MAX as u64;

/// The design of a spec that names none.
const DEFAULT: &str = "linux-7.3";

/// A design of the model's own.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// It, as a design of a spec.
pub fn from_preset(preset: &Preset) -> NamedDesign {
    NamedDesign {
        name: preset.name.to_owned(),
        base: preset.name.to_owned(),
        design: preset.design.clone(),
    }
}

pub(super) fn read(source: &mut Source<'_>, root: &Table<'_>) -> Vec<NamedDesign> {
    let mut designs: Vec<NamedDesign> = Vec::new();
    let shorthand = root.get("designs").and_then(|value| value.list(source, "designs"));
    for item in shorthand.unwrap_or_default() {
        let Some(name) = item.text(source, "designs") else { continue };
        let Some(preset) = known(source, item.at, name) else { continue };
        if designs.iter().any(|design| design.name == name) {
            source.problem(item.at, format!("`designs` has `{name}` twice"));
            continue;
        }
        designs.push(from_preset(preset));
    }
    let own = root.get("design").and_then(|value| value.table(source, "design"));
    for entry in own.map(|table| table.entries.as_slice()).unwrap_or_default() {
        if preset(&entry.key).is_some() {
            let message = format!("`{}` is the name of a design that is known already", entry.key);
            source.problem(entry.key_at, message);
        }
        let section = format!("[design.{}]", shorten(&entry.key));
        let Some(table) = entry.value.table(source, "design") else { continue };
        if let Some((base, design)) = decide(source, table, &section, keys::DESIGN.names()) {
            designs.push(NamedDesign { name: entry.key.clone(), base, design });
        }
    }
    if designs.is_empty() {
        designs.extend(preset(DEFAULT).map(from_preset));
    }
    designs
}

/// A known design, by the name at that place.
fn known(source: &mut Source<'_>, at: usize, name: &str) -> Option<&'static Preset> {
    let found = preset(name);
    if found.is_none() {
        let message = format!("no design is named `{}`", shorten(name));
        source.unknown(at, message, name, "designs", PRESETS.iter().map(|preset| preset.name));
    }
    found
}

/// The base, and it with the decisions of a table.
fn decide(
    source: &mut Source<'_>,
    table: &Table<'_>,
    section: &str,
    beside: Vec<&'static str>,
) -> Option<(String, Design)> {
    let fields: Vec<String> = Design::FIELDS.iter().map(mm_model::design::Field::name).collect();
    let mut allowed: Vec<&str> = beside;
    allowed.extend(fields.iter().map(String::as_str));
    table.only(source, section, &allowed);
    let mut changes = Map::new();
    for (field, name) in Design::FIELDS.iter().zip(&fields) {
        let Some(value) = table.get(name) else { continue };
        let values: Vec<_> = field.values.iter().map(|value| (*value, *value)).collect();
        let decision = match field.least {
            Some(least) => value.number(source, name, least.into(), NUMBER_MOST).map(Json::from),
            None => value.one_of(source, name, &values).map(Json::from),
        };
        if let Some(decision) = decision {
            changes.insert(name.clone(), decision);
        }
    }
    let base = table.require(source, section, "base")?;
    let base_name = base.text(source, "base")?;
    let preset = known(source, base.at, base_name)?;
    match serde_json::from_value::<Changes>(Json::Object(changes)) {
        Ok(changes) => Some((base_name.to_owned(), preset.design.clone().with(&changes))),
        Err(error) => {
            source.problem(table.at, format!("{section} can't be used: {error}"));
            None
        }
    }
}

/// Reads a design file.
pub fn design_file(file: &str, text: &str) -> Result<NamedDesign, Problems> {
    let mut source = Source::new(file, text);
    let named = parse_tree(&mut source).and_then(|table| {
        let beside = keys::DESIGN_FILE.names();
        let name = match table.get("name") {
            Some(value) => word(&mut source, value, "name")?,
            None => Path::new(file).file_stem()?.to_string_lossy().into_owned(),
        };
        let (base, design) = decide(&mut source, &table, keys::DESIGN_FILE.name, beside)?;
        Some(NamedDesign { name, base, design })
    });
    match named {
        Some(named) if source.is_clean() => Ok(named),
        Some(_) | None => Err(source.finish()),
    }
}
