//! The reference of specs is generated from what the parser accepts.

use crate::support::mmcheck_on;
use mm_checker::claim;
use mm_checker::spec::keys::{SECTIONS, Section};
use mm_checker::spec::{FLAGS, OPS};
use mm_model::design::{Design, PRESETS};
use mm_model::gfp::Gfp;
use mm_model::kernel::Kernel;
use mm_model::property::PROPERTIES;
use std::fmt::Write as _;
use std::path::Path;

/// Set it to write the tables in place of comparing them.
const UPDATE: &str = "UPDATE_DOCS";

fn table(head: &str, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let columns: Vec<&str> = head.split('|').map(str::trim).collect();
    let mut text = format!("| {} |\n|{}\n", columns.join(" | "), "---|".repeat(columns.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn section(section: &Section) -> String {
    let rows = section.keys.iter().map(|key| vec![code(key.name), key.summary.to_owned()]);
    format!("{}\n\n{}", section.summary, table("key | meaning", rows))
}

fn kernel() -> String {
    let real = serde_json::to_value(Kernel::default()).expect("constants are plain");
    let rows = Kernel::FIELDS
        .iter()
        .map(|(name, doc)| vec![code(name), real[name].to_string(), doc.trim().to_owned()]);
    table("constant | real value | meaning", rows)
}

fn decisions() -> String {
    let rows = Design::FIELDS.iter().map(|field| {
        let values: Vec<String> = field.values.iter().map(|value| code(value)).collect();
        let values = if values.is_empty() { "a number".to_owned() } else { values.join(", ") };
        vec![code(&field.name()), field.summary.trim().to_owned(), values]
    });
    table("decision | what it decides | values", rows)
}

/// Every generated part of the reference, by name.
fn parts() -> Vec<(String, String)> {
    let designs = PRESETS.iter().map(|it| vec![code(it.name), it.summary.to_owned()]);
    let classes = Gfp::CLASSES.iter().map(|it| vec![code(it.name), it.summary.to_owned()]);
    let ops = OPS.iter().map(|op| vec![code(op.usage), op.summary.to_owned()]);
    let flags = FLAGS.iter().map(|flag| vec![code(flag.name), flag.summary.to_owned()]);
    let safety =
        PROPERTIES.iter().map(|it| vec![code(it.name), it.claim.to_owned(), it.when.to_owned()]);
    let ladder = claim::names().into_iter().skip(PROPERTIES.len()).map(|name| vec![code(&name)]);
    let mut parts = vec![
        ("[kernel]".to_owned(), kernel()),
        ("decisions".to_owned(), decisions()),
        ("designs".to_owned(), table("name | what it is", designs)),
        ("classes".to_owned(), table("class | what it is", classes)),
        ("operations".to_owned(), table("operation | what it does", ops)),
        ("flags".to_owned(), table("flag | meaning", flags)),
        ("safety".to_owned(), table("property | claim | when it applies", safety)),
        ("progress".to_owned(), table("property", ladder)),
    ];
    parts.extend(SECTIONS.iter().map(|it| (it.name.to_owned(), section(it))));
    parts
}

#[test]
fn the_reference_of_specs_has_every_key_the_parser_accepts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/spec.md");
    let written = std::fs::read_to_string(&path).expect("the reference is there");
    let mut fresh = written.clone();
    for (name, text) in parts() {
        let (begin, end) = (format!("<!-- generated: {name} -->\n"), "<!-- end -->");
        let start =
            fresh.find(&begin).unwrap_or_else(|| panic!("{begin} is missing")) + begin.len();
        let length = fresh[start..].find(end).unwrap_or_else(|| panic!("{name} has no end"));
        fresh.replace_range(start..start + length, &text);
    }
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, fresh).expect("the reference is written");
    } else {
        assert!(written == fresh, "docs/spec.md is stale: run this test with {UPDATE}=1");
    }
}

#[test]
fn the_example_of_the_reference_meets_its_own_expectations() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/spec.md");
    let written = std::fs::read_to_string(&path).expect("the reference is there");
    let examples: Vec<&str> = written
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .filter(|example| example.contains("title"))
        .collect();
    assert!(!examples.is_empty());
    for example in examples {
        let ran = mmcheck_on(&[("example.toml", example.as_bytes())], &["check", "@example.toml"]);
        assert_eq!(ran.status, 0, "{}", ran.all());
    }
}
