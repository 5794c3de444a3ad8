//! The specs a mutant is searched in: those whose pinned number of states is small enough.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

#[derive(Deserialize)]
struct Spec {
    #[serde(default)]
    expect: BTreeMap<String, Expect>,
}

#[derive(Deserialize)]
struct Expect {
    states: Option<u64>,
}

/// The specs of these directories whose largest search has so many states, in order. A spec with
/// an expectation that pins no number is none of them.
pub(crate) fn of_size(root: &Path, directories: &[&str], size: RangeInclusive<u64>) -> Vec<String> {
    let mut found = Vec::new();
    for directory in directories {
        for entry in fs::read_dir(root.join(directory)).expect("the specs are readable") {
            let name = entry.expect("the specs are readable").file_name();
            let path = format!("{directory}/{}", name.to_string_lossy());
            let text = fs::read_to_string(root.join(&path)).expect("the specs are readable");
            let spec: Spec = toml::from_str(&text).expect("a spec is well-formed");
            let states = spec.expect.values().map(|expect| expect.states);
            let largest = states.collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max());
            if largest.is_some_and(|largest| size.contains(&largest)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
