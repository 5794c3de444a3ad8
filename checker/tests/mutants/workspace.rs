//! A copy of the workspace whose model holds every mutant.

use crate::schemata::{Mutant, Schemata};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Directories of the charge path, below the model's sources.
const DIRECTORIES: &[&str] = &["mm/memcontrol", "mm/page_counter"];

/// Constants of the charge path.
const CONSTANTS: &[&str] = &[
    "memcg_charge_batch",
    "nr_memcg_stock",
    "max_reclaim_retries",
    "swap_cluster_max",
    "page_alloc_costly_order",
    "hz",
];

/// What selects a mutant, for the steps of the copied model.
const SELECTOR: &str = r#"
//! Which mutant this process is.

use std::sync::OnceLock;

/// Whether this process is that mutant.
pub(crate) fn is(id: usize) -> bool {
    static ACTIVE: OnceLock<usize> = OnceLock::new();
    let read = || std::env::var("MMCHECK_MUTANT").map_or(0, |id| id.parse().expect("a number"));
    *ACTIVE.get_or_init(read) == id
}
"#;

/// The binary that is any mutant, and the mutants.
pub(crate) struct Build {
    pub(crate) binary: PathBuf,
    pub(crate) mutants: Vec<Mutant>,
}

/// Copies the workspace at `root` below `target`, puts the mutants in, and builds it.
pub(crate) fn build(root: &Path, target: &Path) -> Build {
    let mut files = BTreeMap::new();
    read_tree(root, Path::new(""), &mut files);
    let mutants = mutate(&mut files);
    let copy = target.join("ws");
    write_tree(&copy, &files);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--offline", "--quiet", "--bin", "mmcheck"])
        .current_dir(&copy)
        .env("CARGO_TARGET_DIR", target.join("target"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
        .env("CARGO_INCREMENTAL", "0")
        .env("RUSTFLAGS", "--cap-lints=allow")
        .status();
    assert!(status.expect("cargo runs").success(), "the workspace with its mutants builds");
    Build { binary: target.join("target/debug/mmcheck"), mutants }
}

/// Every file of the workspace by its path in it; what is built or hidden is none of it.
fn read_tree(root: &Path, inside: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(root.join(inside)).expect("the workspace is readable") {
        let entry = entry.expect("the workspace is readable");
        let name = entry.file_name();
        if name == "target" || name.to_string_lossy().starts_with('.') {
            continue;
        }
        let path = inside.join(name);
        if entry.file_type().expect("a file has a type").is_dir() {
            read_tree(root, &path, files);
        } else {
            files.insert(path, fs::read(entry.path()).expect("the workspace is readable"));
        }
    }
}

/// Puts every mutant into the model's files.
fn mutate(files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Vec<Mutant> {
    let sources = Path::new("model/src");
    let mut schemata = Schemata::default();
    for (path, content) in files.iter_mut() {
        let Ok(path) = path.strip_prefix(sources) else { continue };
        let name = path.to_string_lossy().into_owned();
        let source = std::str::from_utf8(content).expect("sources are text");
        if DIRECTORIES.iter().any(|directory| path.starts_with(directory)) {
            *content = schemata.rewrite(&name, source).into_bytes();
        } else if name == "kernel.rs" {
            *content = schemata.rewrite_constants(&name, source, CONSTANTS).into_bytes();
        }
    }
    files.insert(sources.join("mutant.rs"), SELECTOR.as_bytes().to_vec());
    let lib = files.get_mut(&sources.join("lib.rs")).expect("the model has a lib.rs");
    lib.extend_from_slice(b"\nmod mutant;\n");
    schemata.mutants
}

/// Makes the copy equal to `files`. A file that is equal already keeps its time, so that cargo
/// builds only what has changed.
fn write_tree(copy: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) {
    let mut before = BTreeMap::new();
    fs::create_dir_all(copy).expect("the target directory is writable");
    read_tree(copy, Path::new(""), &mut before);
    for gone in before.keys().filter(|path| !files.contains_key(*path)) {
        fs::remove_file(copy.join(gone)).expect("the target directory is writable");
    }
    for (path, content) in
        files.iter().filter(|(path, content)| before.get(*path) != Some(*content))
    {
        let path = copy.join(path);
        fs::create_dir_all(path.parent().expect("a file is in a directory"))
            .expect("the target directory is writable");
        fs::write(path, content).expect("the target directory is writable");
    }
}
