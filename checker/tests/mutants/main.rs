//! Changing a constant or a branch of the charge path is noticed: by a vector of the real kernel,
//! or by a spec.
//!
//! Every way in which the charge path could be slightly wrong is put into one build, which an
//! environment variable turns into one of these mutants. A mutant that passes every check survives.
//! Survivors are listed with the reason why nothing can tell them from the model.

use hunt::Check;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

mod alternatives;
mod hunt;
mod schemata;
mod specs;
mod workspace;

/// Vectors of the functions that are mutated.
const VECTORS: &[&str] =
    &["checker/tests/vectors/charge.jsonl", "checker/tests/vectors/charge_sim.jsonl"];

/// Directories of the specs that the mutants must differ in.
const SPECS: &[&str] = &["specs/charge", "specs/controls"];

/// The most states of the searches that a mutant goes through, one size after the other.
const TINY: u64 = 500;
const SMALL: u64 = 4_000;
const LARGE: u64 = 40_000;

/// The mutants that nothing notices, below the workspace.
const SURVIVORS: &str = "model/mutants-survivors.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    survivors: Vec<Group>,
}

/// Survivors for one reason, as `file function: change`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    reason: String,
    mutants: Vec<String>,
}

/// What every mutant goes through, the fastest first.
///
/// A search that finds more states than the model has is stopped and fails. Counterexamples are
/// shown because only they tell what a step announces.
fn checks(root: &Path) -> Vec<Check> {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let search = |name, specs: Vec<String>, most: u64, more: &[&str]| {
        let most = most.to_string();
        let mut args = words(&["check", "--engine=reference", "--progress=never", "--verbose"]);
        args.extend(words(&["--max-states", &most]));
        args.extend(words(more));
        args.extend(specs);
        Check { name, args }
    };
    let tiny = specs::of_size(root, SPECS, 0..=TINY);
    let small = specs::of_size(root, SPECS, TINY + 1..=SMALL);
    let large = specs::of_size(root, SPECS, SMALL + 1..=LARGE);
    vec![
        Check { name: "vectors", args: words(&[&["conform"], VECTORS].concat()) },
        search("tiny specs", tiny.clone(), TINY, &[]),
        search("tiny specs with every step on its own", tiny, SMALL, &["--no-fuse"]),
        search("small specs", small, SMALL, &[]),
        search("large specs", large, LARGE, &["--design=linux-7.3"]),
    ]
}

/// The listed survivors.
fn known(root: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root.join(SURVIVORS)).expect("the list is there");
    let known: Known = toml::from_str(&text).expect("the list is well-formed");
    assert!(known.survivors.iter().all(|group| !group.reason.is_empty()), "each has its reason");
    known.survivors.into_iter().flat_map(|group| group.mutants).collect()
}

#[test]
fn every_mutant_of_the_charge_path_is_noticed_unless_it_is_listed_with_its_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace's root");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
    let build = workspace::build(root, &target.join("mutants"));
    let checks = checks(root);
    let hunted = hunt::hunt(&build, root, &checks);
    for (check, noticed) in checks.iter().zip(&hunted.noticed) {
        println!("{noticed:5} noticed by {}", check.name);
    }
    println!("{:5} survive of {}", hunted.survivors.len(), build.mutants.len());
    let found: BTreeMap<String, String> = hunted
        .survivors
        .into_iter()
        .map(|mutant| {
            let name = format!("{} {}: {}", mutant.file, mutant.function, mutant.change);
            (name, format!("model/src/{}:{}", mutant.file, mutant.line))
        })
        .collect();
    let known = known(root);
    let new: Vec<_> = found
        .iter()
        .filter(|(name, _)| !known.contains(*name))
        .map(|(name, place)| format!("    # {place}\n    '''{name}''',\n"))
        .collect();
    let gone: Vec<_> = known.iter().filter(|name| !found.contains_key(*name)).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "of {} mutants, {} survive\nthat are not in {SURVIVORS}:\n{}\nlisted there, but noticed or \
         gone:\n{gone:#?}",
        build.mutants.len(),
        found.len(),
        new.concat(),
    );
}
