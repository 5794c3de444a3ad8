//! `docs/reach.md`: what of the model the kernel's own results go through.

use crate::docs::{fresh, root, table};
use crate::traces::{kind, ran};
use mm_checker::cli::Format;
use mm_checker::conform::{Reached, reached, run};
use mm_model::mm::{FUNCTIONS, KernelFn};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// What each vector file reaches, by its name without the ending.
fn vectors() -> BTreeMap<String, Reached> {
    let entries = fs::read_dir(root().join("checker/tests/vectors")).expect("the vectors");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let files = paths.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    let reach = |file: std::path::PathBuf| {
        let files = std::slice::from_ref(&file);
        let (_, reached) = reached(|| run(files, Format::Json, &mut Vec::new(), &mut Vec::new()));
        let name = file.file_stem().and_then(|name| name.to_str()).expect("a name");
        (name.to_owned(), reached)
    };
    files.map(reach).collect()
}

/// What each kind of recordings reaches.
fn recordings() -> BTreeMap<String, Reached> {
    let mut kinds: BTreeMap<String, Reached> = BTreeMap::new();
    for (name, recording) in ran() {
        let together = kinds.entry(kind(name).0.to_owned()).or_default();
        for (function, points) in &recording.reached {
            together.entry(function).or_default().extend(points);
        }
    }
    kinds
}

fn entering(function: &KernelFn, sources: &BTreeMap<String, Reached>) -> String {
    let entering = sources.iter().filter(|(_, reached)| reached.contains_key(function.name));
    entering.map(|(source, _)| source.clone()).collect::<Vec<_>>().join("; ")
}

fn row(
    function: &KernelFn,
    vectors: &BTreeMap<String, Reached>,
    recordings: &BTreeMap<String, Reached>,
) -> Vec<String> {
    let all = vectors.values().chain(recordings.values());
    let points: BTreeSet<&str> =
        all.filter_map(|reached| reached.get(function.name)).flatten().copied().collect();
    let missed: Vec<String> = function
        .points
        .iter()
        .filter(|point| !points.contains(**point))
        .map(|point| format!("`{point}`"))
        .collect();
    let mut by = [entering(function, vectors), entering(function, recordings)];
    if function.points.is_empty() && by.iter().all(String::is_empty) {
        by = ["in its callers", "in its callers"].map(str::to_owned);
    }
    let reached = function.points.len() - missed.len();
    let of = format!("{reached} of {}", function.points.len());
    let of = if function.points.is_empty() { String::new() } else { of };
    let [vectors, recordings] = by;
    vec![format!("`{}`", function.name), vectors, recordings, of, missed.join(", ")]
}

#[test]
fn what_the_kernels_results_go_through_is_written_down() {
    let (vectors, recordings) = (vectors(), recordings());
    let rows = FUNCTIONS.iter().map(|function| row(function, &vectors, &recordings));
    let text = table("function | vectors | recordings | points reached | points not reached", rows);
    fresh("docs/reach.md", [("reach".to_owned(), text)]);
}
