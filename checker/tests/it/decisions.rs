//! `docs/decisions.md`, the table of what the kernels decide differently, against the presets.

use crate::docs::root;
use mm_checker::spec::preset;
use mm_model::design::{Design, Field};
use mm_model::mm;
use serde_json::Value;
use std::collections::BTreeSet;

/// The columns of the table that are kernels, and the presets that are these kernels.
const KERNELS: [(&str, &str); 5] = [
    ("6.1", "linux-6.1"),
    ("6.12", "linux-6.12"),
    ("7.2", "linux-7.2"),
    ("7.3", "linux-7.3"),
    ("batch", "readahead-batch-reclaim"),
];

/// One decision of the table.
struct Row {
    decision: String,
    function: String,
    /// What each kernel does, as it is written.
    values: Vec<String>,
    /// The key in code, or a dash and the reason why there is none.
    key: String,
}

/// A cell that is a name in code.
fn code(cell: &str) -> Option<&str> {
    cell.strip_prefix('`')?.strip_suffix('`').filter(|name| !name.contains('`'))
}

fn rows() -> Vec<Row> {
    let path = root().join("docs/decisions.md");
    let text = std::fs::read_to_string(path).expect("the table is there");
    let kernels: Vec<&str> = KERNELS.iter().map(|(column, _)| *column).collect();
    let head = format!("| decision | function | {} | key |", kernels.join(" | "));
    let lines = text.lines().filter(|line| line.starts_with("| ") && *line != head);
    let row = |line: &str| {
        let cells = line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned());
        let cells: Vec<String> = cells.collect();
        let [decision, function, values @ .., key] = &cells[..] else { panic!("no row: {line}") };
        assert_eq!(values.len(), KERNELS.len(), "{line}");
        let function = code(function).unwrap_or_else(|| panic!("no function: {line}")).to_owned();
        Row { decision: decision.clone(), function, values: values.to_vec(), key: key.clone() }
    };
    lines.map(row).collect()
}

/// What a preset decides, as a spec writes it.
fn decided(preset_name: &str, key: &str) -> String {
    let design = &preset(preset_name).expect("the preset is there").design;
    let decisions = serde_json::to_value(design).expect("a design is plain");
    match &decisions[key] {
        Value::String(value) => value.clone(),
        Value::Number(value) => value.to_string(),
        other @ (Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
            panic!("`{key}` is no decision: {other}")
        }
    }
}

#[test]
fn every_kernel_decides_as_the_table_says() {
    for row in rows() {
        let Some(key) = code(&row.key) else { continue };
        for ((column, name), written) in KERNELS.iter().zip(&row.values) {
            let written = code(written).unwrap_or_else(|| panic!("{}: {written}", row.decision));
            let decided = decided(name, key);
            assert_eq!(decided, written, "{} ({key}) in {column}, {name}", row.decision);
        }
    }
}

#[test]
fn every_key_of_a_design_has_a_row_and_every_row_a_key_or_a_reason() {
    let keys: BTreeSet<String> = Design::FIELDS.iter().map(Field::name).collect();
    let mut named = BTreeSet::new();
    for row in rows() {
        if let Some(key) = code(&row.key) {
            assert!(keys.contains(key), "{}: no design has `{key}`", row.decision);
            named.insert(key.to_owned());
        } else {
            let reason = row.key.strip_prefix("- ").unwrap_or_default();
            assert!(reason.len() > 20, "{}: neither a key nor a reason", row.decision);
        }
    }
    let missing: Vec<_> = keys.difference(&named).collect();
    assert!(missing.is_empty(), "no row has {missing:?}");
}

#[test]
fn every_decision_is_one_of_a_modelled_function() {
    let functions: BTreeSet<&str> = mm::FUNCTIONS.iter().map(|function| function.name).collect();
    for row in rows() {
        assert!(functions.contains(&*row.function), "{}: {}", row.decision, row.function);
    }
}
