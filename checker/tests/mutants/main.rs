//! Changing a constant or a branch of the model of a kernel function is noticed: by a vector of the
//! real kernel, by a recording of a running one, or by a spec.
//!
//! Every way in which a function could be slightly wrong is put into one build, whose process can
//! turn into one of these mutants after the other. A mutant that passes every check survives.
//! Survivors are listed with the reason why nothing can tell them from the model.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

mod alternatives;
mod checks;
mod hunt;
mod schemata;
mod workspace;

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

/// The listed survivors.
fn known(root: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root.join(SURVIVORS)).expect("the list is there");
    let known: Known = toml::from_str(&text).expect("the list is well-formed");
    assert!(known.survivors.iter().all(|group| !group.reason.is_empty()), "each has its reason");
    known.survivors.into_iter().flat_map(|group| group.mutants).collect()
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "what noticed how many is worth reading where it passes too"
)]
fn every_mutant_is_noticed_unless_it_is_listed_with_its_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace's root");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target directory");
    let start = Instant::now();
    let build = workspace::build(root, target);
    let (built, start) = (start.elapsed(), Instant::now());
    let checks = checks::all(root, &target.join("mutants/rows"));
    let hunted = hunt::hunt(&build, root, &checks);
    for (kind, noticed) in &hunted.noticed {
        println!("{noticed:5} noticed by {kind}");
    }
    println!(
        "{:5} survive of {}, {} of them are never run; {:.0?} to build, {:.0?} to check",
        hunted.survivors.len(),
        build.mutants.len(),
        hunted.unreached.len(),
        built,
        start.elapsed(),
    );
    let found: BTreeMap<String, String> = hunted
        .survivors
        .into_iter()
        .map(|mutant| {
            let name = format!("{} {}: {}", mutant.file, mutant.function, mutant.change);
            let run = if hunted.unreached.contains(&mutant.id) { ", never run" } else { "" };
            (name, format!("model/src/{}:{}{run}", mutant.file, mutant.line))
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
