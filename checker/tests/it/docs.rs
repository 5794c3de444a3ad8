//! What the documents say is what the program says.

use crate::support::{mmcheck, mmcheck_on};
use mm_checker::claim;
use mm_checker::liveness::Fairness;
use mm_checker::spec::keys::{SECTIONS, Section};
use mm_checker::spec::{FLAGS, OPS};
use mm_model::design::{Design, PRESETS};
use mm_model::gfp::Gfp;
use mm_model::kernel::Kernel;
use mm_model::measure::{Amount, MEASURES};
use mm_model::property::PROPERTIES;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use strum::VariantArray;

/// Set it to write the tables in place of comparing them.
const UPDATE: &str = "UPDATE_DOCS";

pub(crate) fn table(head: &str, rows: impl IntoIterator<Item = Vec<String>>) -> String {
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
        let values = match field.least {
            Some(least) => format!("a number from {least}"),
            None => values.join(", "),
        };
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
    let fairness =
        Fairness::VARIANTS.iter().map(|it| vec![code(it.name()), it.meaning().to_owned()]);
    let costs = MEASURES.iter().map(|it| {
        let asked = match it.amount {
            Amount::Sum(_) => "`per`, `per-each`",
            Amount::Level(_) => "`peak`",
        };
        vec![code(it.name), it.summary.to_owned(), asked.to_owned()]
    });
    let mut parts = vec![
        ("[kernel]".to_owned(), kernel()),
        ("decisions".to_owned(), decisions()),
        ("designs".to_owned(), table("name | what it is", designs)),
        ("classes".to_owned(), table("class | what it is", classes)),
        ("operations".to_owned(), table("operation | what it does", ops)),
        ("flags".to_owned(), table("flag | meaning", flags)),
        ("safety".to_owned(), table("property | claim | when it applies", safety)),
        ("progress".to_owned(), table("property", ladder)),
        ("fairness".to_owned(), table("assumption | meaning", fairness)),
        ("costs".to_owned(), table("measure | what it counts | asked as", costs)),
    ];
    parts.extend(SECTIONS.iter().map(|it| (it.name.to_owned(), section(it))));
    parts
}

#[test]
fn the_reference_of_specs_has_every_key_the_parser_accepts() {
    fresh("docs/spec.md", parts());
}

/// Makes sure that these parts of a document, by name, are what is written there.
pub(crate) fn fresh(document: &str, parts: impl IntoIterator<Item = (String, String)>) {
    let path = root().join(document);
    let written = std::fs::read_to_string(&path).expect("the document is there");
    let mut fresh = written.clone();
    for (name, text) in parts {
        let (begin, end) = (format!("<!-- generated: {name} -->\n"), "<!-- end -->");
        let start =
            fresh.find(&begin).unwrap_or_else(|| panic!("{begin} is missing")) + begin.len();
        let length = fresh[start..].find(end).unwrap_or_else(|| panic!("{name} has no end"));
        fresh.replace_range(start..start + length, &text);
    }
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, fresh).expect("the document is written");
    } else {
        assert!(written == fresh, "{document} is stale: run this test with {UPDATE}=1");
    }
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// A document's parts that are the output of a command named in them.
fn output_of(command: &str, run: impl Fn(&[&str]) -> String) -> (String, String) {
    (command.to_owned(), run(&command.split(' ').collect::<Vec<_>>()))
}

#[test]
fn every_spec_is_as_expected_and_the_results_are_written_down() {
    fresh(
        "docs/results.md",
        [output_of("check --format markdown", |args| {
            let ran = mmcheck(args);
            assert_eq!(ran.status, 0, "{}", ran.all());
            ran.out
        })],
    );
}

#[test]
fn the_readme_shows_what_its_commands_print() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the README is there");
    let commands = readme.lines().filter_map(|line| {
        line.strip_prefix("<!-- generated: ").and_then(|rest| rest.strip_suffix(" -->"))
    });
    let parts: Vec<_> = commands
        .map(|command| {
            output_of(command, |args| {
                let args: Vec<String> = args.iter().map(|arg| from_root(arg)).collect();
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                let ran = mmcheck(&args);
                assert_eq!(ran.status, 0, "{}", ran.all());
                let out = ran.out.replace(&format!("{}/", root().display()), "");
                if out.starts_with('|') { out } else { format!("```text\n{out}```\n") }
            })
        })
        .collect();
    assert!(!parts.is_empty());
    fresh("README.md", parts);
}

/// A path of the workspace as it is seen from anywhere.
fn from_root(arg: &str) -> String {
    // Specs are in the binary and keep their names.
    let vectors = arg.starts_with("checker/");
    if vectors { root().join(arg).display().to_string() } else { arg.to_owned() }
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

/// (design, property, verdict) of everything a spec says that is a verdict.
fn verdicts(spec: &str) -> BTreeSet<(String, String, String)> {
    let ran = mmcheck(&["check", spec, "--format", "json"]);
    let json: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    let text = |value: &Value| value.as_str().expect("it is text").to_owned();
    let of = |result: &Value| {
        let design = text(&result["design"]);
        let properties = result["properties"].as_array().expect("properties").clone();
        properties
            .into_iter()
            .filter(|it| it["kind"] == "safety" || it["kind"] == "progress")
            .map(move |it| (design.clone(), text(&it["name"]), text(&it["verdict"])))
    };
    json["results"].as_array().expect("results").iter().flat_map(of).collect()
}

#[test]
fn counters_in_the_kernels_steps_change_two_verdicts_and_no_other() {
    let one = verdicts("specs/charge/two-chargers-at-limit.toml");
    let kernel = verdicts("specs/charge/two-chargers-at-limit-kernel-steps.toml");
    let changed: BTreeSet<_> =
        kernel.difference(&one).map(|(_, name, verdict)| (&**name, &**verdict)).collect();
    let expected = [("no-spurious-refusal", "violated"), ("no-transient-excess", "violated")];
    assert_eq!(changed, BTreeSet::from(expected));
    assert_eq!(one.len(), kernel.len());
}

#[test]
fn every_dependency_says_why_it_is_there() {
    let reasons = std::fs::read_to_string(root().join("deny.toml")).expect("deny.toml is there");
    for manifest in ["model/Cargo.toml", "checker/Cargo.toml"] {
        let text = std::fs::read_to_string(root().join(manifest)).expect("the manifest is there");
        let manifest: toml::Table = text.parse().expect("the manifest is TOML");
        for section in ["dependencies", "dev-dependencies"] {
            let names = manifest.get(section).and_then(toml::Value::as_table).into_iter().flatten();
            for (name, _) in names.filter(|(name, _)| *name != "mm-model") {
                let line = |line: &str| {
                    let mut words = line.split([' ', ',', '#']).filter(|word| !word.is_empty());
                    line.starts_with("#   ") && words.any(|word| word == name)
                };
                assert!(reasons.lines().any(line), "deny.toml has no reason for `{name}`");
            }
        }
    }
}
