//! What a mutant goes through: many small runs of the program, so that the few that reach it are
//! enough.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A run of the program, which must print what it prints as the model.
pub(crate) struct Check {
    /// What it looks at, in a few words.
    pub(crate) kind: &'static str,
    pub(crate) args: Vec<String>,
}

/// Rows of a vector file that are run at once. Neighbours are alike, so they are dealt out.
const ROWS: usize = 16;

/// The most bytes of a recording, and how many there are of each kind and kernel.
const RECORDING: u64 = 60_000;
const RECORDINGS: usize = 3;

/// The most states of a spec that is searched under every design, and of one that is searched
/// under the newest kernel only.
const SMALL: u64 = 4_000;
const LARGE: u64 = 40_000;

/// The most states of a spec that is also searched with every step on its own.
const TINY: u64 = 500;

/// Every check there is.
pub(crate) fn all(root: &Path, scratch: &Path) -> Vec<Check> {
    let mut checks = vectors(root, scratch);
    checks.extend(recordings(root));
    checks.extend(specs(root));
    checks
}

fn conform(kind: &'static str, file: &Path) -> Check {
    Check { kind, args: vec!["conform".to_owned(), file.display().to_string()] }
}

/// The names of what is in a directory, in order.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the directory is readable");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        let name = entry.expect("the directory is readable").file_name();
        name.into_string().expect("names are text")
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

fn ends(name: &str, ending: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == ending)
}

fn vectors(root: &Path, scratch: &Path) -> Vec<Check> {
    let directory = root.join("checker/tests/vectors");
    fs::create_dir_all(scratch).expect("the target directory is writable");
    let mut checks = Vec::new();
    for name in names(&directory).iter().filter(|name| ends(name, "jsonl")) {
        let text = fs::read_to_string(directory.join(name)).expect("the vectors are text");
        let rows: Vec<&str> = text.lines().collect();
        let hands = rows.len().div_ceil(ROWS);
        for hand in 0..hands {
            let dealt: Vec<&str> = rows.iter().skip(hand).step_by(hands).copied().collect();
            let file = scratch.join(format!("{hand:03}.{name}"));
            fs::write(&file, dealt.join("\n")).expect("the target directory is writable");
            checks.push(conform("vectors", &file));
        }
    }
    checks
}

/// The smallest recordings of each kind and kernel. Those of a single reader differ in how it reads,
/// which the last part of their name says.
fn recordings(root: &Path) -> Vec<Check> {
    let directory = root.join("checker/tests/traces");
    let mut kinds: BTreeMap<String, Vec<(u64, String)>> = BTreeMap::new();
    for name in names(&directory).into_iter().filter(|name| ends(name, "csv")) {
        let size = fs::metadata(directory.join(&name)).expect("it is a file").len();
        let text = fs::read_to_string(directory.join(&name)).expect("recordings are text");
        let mut lines = text.lines();
        let kernel = lines.next().unwrap_or_default().split(' ').take(3).collect::<Vec<_>>();
        let reads = name.strip_prefix("S1.").and_then(|name| name.rsplit('.').nth(1));
        let columns = lines.next().unwrap_or_default();
        let kind = format!("{} {columns} {}", kernel.join(" "), reads.unwrap_or_default());
        if size <= RECORDING {
            kinds.entry(kind).or_default().push((size, name));
        }
    }
    let smallest = kinds.into_values().flat_map(|mut files| {
        files.sort();
        files.truncate(RECORDINGS);
        files
    });
    smallest.map(|(_, name)| conform("recordings", &directory.join(name))).collect()
}

#[derive(Deserialize)]
struct Spec {
    #[serde(default)]
    expect: BTreeMap<String, Expect>,
}

#[derive(Deserialize)]
struct Expect {
    states: Option<u64>,
}

/// The most states that one of a spec's searches has, if all of them say.
fn states(file: &Path) -> Option<u64> {
    let text = fs::read_to_string(file).expect("the specs are readable");
    let spec: Spec = toml::from_str(&text).expect("a spec is well-formed");
    let states = spec.expect.values().map(|expect| expect.states);
    states.collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max())
}

/// The specs whose searches are small. A search that finds more states than the model has is
/// stopped and fails. Counterexamples are shown because only they tell what a step announces.
fn specs(root: &Path) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut search = |kind, spec: &str, most: u64, more: &[&str]| {
        let states = format!("--max-states={most}");
        let fixed = ["check", "--engine=reference", "--progress=never", "--verbose", &states, spec];
        let args = fixed.iter().chain(more).map(ToString::to_string).collect();
        checks.push(Check { kind, args });
    };
    for directory in names(&root.join("specs")) {
        for name in names(&root.join("specs").join(&directory)) {
            let spec = format!("specs/{directory}/{name}");
            let Some(states) = states(&root.join(&spec)) else { continue };
            if states <= SMALL {
                search("specs", &spec, states, &[]);
            } else if states <= LARGE {
                search("large specs", &spec, states, &["--design=linux-7.3"]);
            }
            if states <= TINY {
                search("specs with every step on its own", &spec, SMALL, &["--no-fuse"]);
            }
        }
    }
    checks
}
