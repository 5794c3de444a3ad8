//! A copy of the workspace whose model holds every mutant.

use crate::schemata::{Mutant, Schemata};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is mutated below the model's sources: every kernel function.
const MUTATED: &str = "mm";

/// The program that becomes one mutant after the other.
const DRIVER: &str = include_str!("driver.rs");

/// What selects a mutant, for the steps of the copied model.
const SELECTOR: &str = r"
//! Which mutant this process is at the moment.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

static ACTIVE: AtomicUsize = AtomicUsize::new(0);
static CHOICES: AtomicU64 = AtomicU64::new(0);
static MOST: AtomicU64 = AtomicU64::new(u64::MAX);
static REACHED: [AtomicBool; MUTANTS + 1] = [const { AtomicBool::new(false) }; MUTANTS + 1];

/// Whether this process is that mutant. Who goes on choosing without end is stopped.
#[inline]
pub fn is(id: usize) -> bool {
    // Counting is not worth a locked instruction: there is one thread.
    let choices = CHOICES.load(Relaxed) + 1;
    CHOICES.store(choices, Relaxed);
    if choices > MOST.load(Relaxed) {
        std::process::exit(1);
    }
    REACHED[id].store(true, Relaxed);
    ACTIVE.load(Relaxed) == id
}

/// Turns into that mutant, for so many choices at most.
pub fn turn(id: usize, most: u64) {
    ACTIVE.store(id, Relaxed);
    MOST.store(most, Relaxed);
    CHOICES.store(0, Relaxed);
    for reached in &REACHED {
        reached.store(false, Relaxed);
    }
}

/// How many choices were made since then, and where.
pub fn made() -> (u64, Vec<usize>) {
    let reached = REACHED.iter().enumerate().filter(|(_, reached)| reached.load(Relaxed));
    (CHOICES.load(Relaxed), reached.map(|(id, _)| id).collect())
}
";

/// What a wrong sign means where the model has only one of the two.
const SIGNS: &str = r"
use crate::lru::FolioFlags;
use crate::mm::vmscan::scan_control::ScanFlags;
use crate::units::{PageIndex, Pages};
use std::ops::{Add, AddAssign, Sub, SubAssign};

impl Add for PageIndex {
    type Output = Pages;

    fn add(self, other: Self) -> Pages {
        Pages(self.0 + other.0)
    }
}

impl Sub<Pages> for PageIndex {
    type Output = Self;

    fn sub(self, pages: Pages) -> Self {
        Self(self.0 - pages.0)
    }
}

impl SubAssign<Pages> for PageIndex {
    fn sub_assign(&mut self, pages: Pages) {
        self.0 -= pages.0;
    }
}

impl Add for FolioFlags {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self | other
    }
}

impl AddAssign for ScanFlags {
    fn add_assign(&mut self, other: Self) {
        *self |= other;
    }
}
";

/// How the members are built in place of how the workspace says; what they depend on is as ever.
const PROFILE: &str = "
[profile.dev.package.mm-model]
debug = false

[profile.dev.package.mm-checker]
debug = false
";

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
    let copy = target.join("mutants/ws");
    write_tree(&copy, &files);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--offline", "--quiet", "--bin", "mutants"])
        .current_dir(&copy)
        // What the workspace depends on is built there already.
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_INCREMENTAL", "0")
        .status();
    assert!(status.expect("cargo runs").success(), "the workspace with its mutants builds");
    Build { binary: target.join("debug/mutants"), mutants }
}

/// A member's manifest without lints, as mutants are not well written. What only its tests depend on
/// the member itself depends on: with other features than those the tests are built with, half of
/// what both depend on would be built anew.
fn member(manifest: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(manifest).expect("a manifest is text");
    let mut manifest: toml::Table = text.parse().expect("a manifest is TOML");
    manifest.remove("lints");
    if let Some(toml::Value::Table(more)) = manifest.remove("dev-dependencies") {
        let own = manifest.get_mut("dependencies").and_then(toml::Value::as_table_mut);
        own.expect("a member has dependencies").extend(more);
    }
    manifest.to_string().into_bytes()
}

/// Adds to the end of a file.
fn append(files: &mut BTreeMap<PathBuf, Vec<u8>>, name: &str, text: &str) {
    let content = files.get_mut(Path::new(name)).expect("the workspace has it");
    content.extend_from_slice(text.as_bytes());
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
        if path.starts_with(MUTATED) {
            *content = schemata.rewrite(&name, source).into_bytes();
        } else if name == "kernel.rs" {
            *content = schemata.rewrite_constants(&name, source).into_bytes();
        }
    }
    let selector = SELECTOR.replace("MUTANTS", &schemata.mutants.len().to_string()) + SIGNS;
    files.insert(sources.join("mutant.rs"), selector.into_bytes());
    files.insert(PathBuf::from("checker/src/bin/mutants.rs"), DRIVER.as_bytes().to_vec());
    let lib = files.get_mut(&sources.join("lib.rs")).expect("the model has a lib.rs");
    lib.splice(..0, *b"#![allow(warnings)]\n");
    append(files, "model/src/lib.rs", "\npub mod mutant;\n");
    append(files, "Cargo.toml", PROFILE);
    for name in ["model/Cargo.toml", "checker/Cargo.toml"] {
        let manifest = files.get_mut(Path::new(name)).expect("a member has a manifest");
        *manifest = member(manifest);
    }
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
