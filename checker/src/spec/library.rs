//! Where specs come from: files, directories, and those compiled into the binary.

use super::problem::{Problems, place};
use super::{Spec, parse};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Name and text of every spec that the binary carries, sorted.
pub const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/specs.rs"));

/// A spec, and whether it was named rather than found.
pub struct Found {
    /// The spec.
    pub spec: Spec,
    /// It was named itself, so it is meant whatever its tier.
    pub named: bool,
}

/// Reads the specs of the given files and directories, or all that the binary carries. A path that
/// is not on disk may be that of a carried one.
pub fn load(paths: &[PathBuf]) -> Result<Vec<Found>, Problems> {
    let mut specs = Vec::new();
    let mut problems = Problems::default();
    let mut add = |file: &str, text: Result<&str, Problems>, named| match text
        .and_then(|text| parse(file, text))
    {
        Ok(spec) => specs.push(Found { spec, named }),
        Err(more) => problems += more,
    };
    if paths.is_empty() {
        for (file, text) in EMBEDDED {
            add(file, Ok(text), false);
        }
    }
    for path in paths {
        for (file, text, named) in at(path) {
            add(&file, text.as_deref().map_err(Clone::clone), named);
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut seen = std::collections::BTreeSet::new();
    specs.retain(|found| seen.insert(found.spec.file.clone()));
    Ok(specs)
}

/// Reads a file as text, or says where it is none.
pub fn read(path: &Path) -> Result<String, Problems> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| unreadable(&name, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let bad = error.as_bytes()[valid];
        let start = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        let place = place(&name, &start, valid);
        Problems::of_file(&place, format!("the byte `{bad:#04x}` is not UTF-8"), None)
    })
}

/// The text of a spec, from the disk or from what the binary carries.
pub fn text(file: &str) -> Result<String, Problems> {
    let carried = EMBEDDED.iter().find(|(name, _)| *name == file && !Path::new(file).exists());
    carried.map_or_else(|| read(Path::new(file)), |(_, text)| Ok((*text).to_owned()))
}

type Text = (String, Result<String, Problems>, bool);

/// The specs at a path.
fn at(path: &Path) -> Vec<Text> {
    let name = path.display().to_string();
    let mut files = Vec::new();
    if path.is_dir() {
        if let Err(error) = collect(path, &mut files) {
            return vec![(name.clone(), Err(unreadable(&name, &error)), true)];
        }
        files.sort();
        if files.is_empty() {
            let hint = "a spec is a file whose name ends in `.toml`".to_owned();
            let problem =
                Problems::of_file(&name, "there is no spec in this directory", Some(hint));
            return vec![(name, Err(problem), true)];
        }
        return files
            .into_iter()
            .map(|file| (file.display().to_string(), read(&file), false))
            .collect();
    }
    let carried: Vec<Text> = EMBEDDED
        .iter()
        .filter(|(file, _)| !path.exists() && Path::new(file).starts_with(path))
        .map(|(file, text)| ((*file).to_owned(), Ok((*text).to_owned()), Path::new(file) == path))
        .collect();
    if carried.is_empty() { vec![(name, read(path), true)] } else { carried }
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        // A symbolic link to a directory is not followed: it could lead round in a ring.
        if entry.file_type()?.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    Ok(())
}

fn unreadable(name: &str, error: &io::Error) -> Problems {
    if error.kind() == io::ErrorKind::NotFound {
        let hint = "`mmcheck list specs` names those that the binary carries".to_owned();
        return Problems::of_file(name, "there is no such file", Some(hint));
    }
    Problems::of_file(name, format!("it can't be read: {error}"), None)
}
