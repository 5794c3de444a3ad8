//! Runs the checks on every mutant, and finds those that pass them all.

use crate::schemata::Mutant;
use crate::workspace::Build;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A check: a run of the binary in the workspace, which must exit with 0 and print what the model
/// itself prints.
pub(crate) struct Check {
    /// What it looks at, in a few words.
    pub(crate) name: &'static str,
    pub(crate) args: Vec<String>,
}

/// A mutant that has run this many times as long as the model itself, and at least
/// [`PATIENCE`], will not end.
const SLOWER: u32 = 30;
const PATIENCE: Duration = Duration::from_secs(3);

/// What all mutants came to.
pub(crate) struct Hunted<'a> {
    /// Those that pass every check.
    pub(crate) survivors: Vec<&'a Mutant>,
    /// How many each check noticed that no earlier one did.
    pub(crate) noticed: Vec<usize>,
}

impl Check {
    /// What the binary prints, without times; nothing if it exits with an error or doesn't end
    /// before the limit.
    fn run(
        &self,
        build: &Build,
        root: &Path,
        mutant: usize,
        limit: Option<Duration>,
    ) -> Option<String> {
        let mut process = Command::new(&build.binary)
            .args(&self.args)
            .current_dir(root)
            .env("MMCHECK_MUTANT", mutant.to_string())
            // A mutant may panic in every case, and a backtrace takes longer than the case.
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary with the mutants runs");
        let mut stdout = process.stdout.take().expect("it is a pipe");
        let reader = thread::spawn(move || {
            let mut printed = Vec::new();
            stdout.read_to_end(&mut printed).expect("a pipe is readable");
            printed
        });
        let passed = ends_well(&mut process, limit);
        let printed = reader.join().expect("reading does not panic");
        passed.then(|| without_times(&String::from_utf8_lossy(&printed)))
    }
}

/// Waits for a process; one that takes longer than the limit is ended.
fn ends_well(process: &mut Child, limit: Option<Duration>) -> bool {
    let start = Instant::now();
    loop {
        if let Some(status) = process.try_wait().expect("the process is ours") {
            return status.success();
        }
        if limit.is_some_and(|limit| start.elapsed() > limit) {
            process.kill().expect("the process is ours");
            process.wait().expect("the process is ours");
            return false;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// A text without words such as `0.1s`.
fn without_times(text: &str) -> String {
    let is_time = |word: &&str| {
        let number = word.trim_end_matches(',').strip_suffix('s');
        number.is_some_and(|number| number.parse::<f64>().is_ok())
    };
    let words = text.split(' ').filter(|word| !is_time(&word.trim_end_matches('\n')));
    words.collect::<Vec<_>>().join(" ")
}

/// Runs the checks on every mutant.
pub(crate) fn hunt<'a>(build: &'a Build, root: &Path, checks: &[Check]) -> Hunted<'a> {
    let models: Vec<(String, Duration)> = checks
        .iter()
        .map(|check| {
            let start = Instant::now();
            let printed = check.run(build, root, 0, None);
            let printed = printed.unwrap_or_else(|| panic!("the model passes: {}", check.name));
            (printed, PATIENCE.max(start.elapsed() * SLOWER))
        })
        .collect();
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Hunted { survivors: Vec::new(), noticed: vec![0; checks.len()] });
    let run = || {
        while let Some(mutant) = build.mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
            let noticed = checks.iter().zip(&models).position(|(check, (model, limit))| {
                check.run(build, root, mutant.id, Some(*limit)).as_ref() != Some(model)
            });
            let mut found = found.lock().expect("no hunter panics");
            match noticed {
                Some(check) => found.noticed[check] += 1,
                None => found.survivors.push(mutant),
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(run);
        }
    });
    let mut found = found.into_inner().expect("no hunter panics");
    found.survivors.sort_by_key(|mutant| mutant.id);
    found
}
