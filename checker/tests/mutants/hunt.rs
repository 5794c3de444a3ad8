//! Runs the checks on every mutant, and finds those that pass them all.

use crate::schemata::Mutant;
use crate::workspace::Build;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A check: a run of the binary in the workspace, which must exit with 0.
pub(crate) struct Check {
    pub(crate) args: &'static [&'static str],
}

/// A mutant that has run this many times as long as the model itself, and at least
/// [`PATIENCE`], will not end.
const SLOWER: u32 = 30;
const PATIENCE: Duration = Duration::from_secs(3);

impl Check {
    /// Whether the check passes before the limit.
    fn passes(&self, build: &Build, root: &Path, mutant: usize, limit: Option<Duration>) -> bool {
        let mut process = Command::new(&build.binary)
            .args(self.args)
            .current_dir(root)
            .env("MMCHECK_MUTANT", mutant.to_string())
            // A mutant may panic in every case, and a backtrace takes longer than the case.
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary with the mutants runs");
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
}

/// The mutants that pass every check.
pub(crate) fn survivors<'a>(build: &'a Build, root: &Path, checks: &[Check]) -> Vec<&'a Mutant> {
    let limits: Vec<Duration> = checks
        .iter()
        .map(|check| {
            let start = Instant::now();
            assert!(check.passes(build, root, 0, None), "the model itself passes {:?}", check.args);
            PATIENCE.max(start.elapsed() * SLOWER)
        })
        .collect();
    let next = AtomicUsize::new(0);
    let survivors = Mutex::new(Vec::new());
    let hunt = || {
        while let Some(mutant) = build.mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut checks = checks.iter().zip(&limits);
            if checks.all(|(check, limit)| check.passes(build, root, mutant.id, Some(*limit))) {
                survivors.lock().expect("no hunter panics").push(mutant);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(hunt);
        }
    });
    let mut survivors = survivors.into_inner().expect("no hunter panics");
    survivors.sort_by_key(|mutant| mutant.id);
    survivors
}
