//! Runs the program without a process.

use mm_checker::Streams;
use mm_checker::check::{Options, check};
use mm_checker::claim::Claim;
use mm_checker::cli::Engine;
use mm_checker::engine::{Budget, Quiet};
use mm_checker::spec::Spec;
use mm_model::machine::Fuse;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// What a run of the program did.
pub(crate) struct Ran {
    pub(crate) status: u8,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// All of it, for a snapshot. How long it took is left out.
    pub(crate) fn all(&self) -> String {
        let Self { status, out, err } = self;
        let out: String = out.lines().map(without_seconds).collect();
        format!("status {status}\n-- stdout\n{out}-- stderr\n{err}")
    }
}

fn without_seconds(line: &str) -> String {
    let seconds =
        |part: &&str| part.strip_suffix('s').is_some_and(|number| number.parse::<f64>().is_ok());
    let parts: Vec<&str> = line.split(", ").filter(|part| !seconds(part)).collect();
    parts.join(", ") + "\n"
}

/// Runs `mmcheck` with these arguments, and an interrupt pending or not.
pub(crate) fn run(args: &[&str], interrupted: bool) -> Ran {
    run_as(args, interrupted, false)
}

/// Runs `mmcheck` with these arguments as an automatic run does.
pub(crate) fn mmcheck_in_ci(args: &[&str]) -> Ran {
    run_as(args, false, true)
}

fn run_as(args: &[&str], interrupted: bool, ci: bool) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = ["mmcheck"].iter().chain(args).map(OsString::from);
    let streams = Streams {
        out: &mut out,
        err: &mut err,
        out_color: false,
        err_terminal: false,
        interrupts: &|| Arc::new(AtomicBool::new(interrupted)),
        ci,
    };
    let status = mm_checker::run(args, streams);
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    Ran { status, out: text(out), err: text(err) }
}

/// Runs `mmcheck` with these arguments.
pub(crate) fn mmcheck(args: &[&str]) -> Ran {
    run(args, false)
}

/// Runs `mmcheck` on files in a directory of their own, whose name is left out of the output.
/// Arguments that begin with `@` are files of it.
pub(crate) fn mmcheck_on(files: &[(&str, &[u8])], args: &[&str]) -> Ran {
    let directory = TempDir::new().expect("a temporary directory");
    for (name, content) in files {
        write(directory.path(), name, content);
    }
    let place = |arg: &&str| match arg.strip_prefix('@') {
        Some(name) => directory.path().join(name).display().to_string(),
        None => (*arg).to_owned(),
    };
    let args: Vec<String> = args.iter().map(place).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let Ran { status, out, err } = mmcheck(&args);
    let root = format!("{}/", directory.path().display());
    let bare = directory.path().display().to_string();
    let clean = |text: String| text.replace(&root, "").replace(&bare, ".");
    Ran { status, out: clean(out), err: clean(err) }
}

fn write(directory: &Path, name: &str, content: &[u8]) {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("it is created");
    fs::write(path, content).expect("the file is written");
}

/// A search of a small spec, for a claim or for all.
pub(crate) fn options(asked: Option<Claim>) -> Options {
    Options {
        fuse: Fuse::OwnLocal,
        budget: Budget::default(),
        engine: Engine::Native,
        threads: 1,
        asked,
    }
}

/// What each design of a spec answers to a claim, in a word.
pub(crate) fn answers(spec: &Spec, asked: &str) -> Vec<String> {
    let claim = Claim::parse(asked, |_| None).expect("it can be asked");
    let options = options(Some(claim));
    let of = |design| {
        let checked = check(spec, design, &spec.points[0], &options, &mut Quiet);
        let judged = checked.expect("it is searched").judged;
        judged.iter().find(|judged| judged.claim == claim).expect("it was asked").word()
    };
    spec.designs.iter().map(of).collect()
}
