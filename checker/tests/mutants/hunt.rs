//! Runs the checks on every mutant, and finds those that pass them all.

use crate::checks::Check;
use crate::schemata::Mutant;
use crate::workspace::Build;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// A mutant that has made so many times as many choices as the model itself, and [`MORE`], will
/// not end. Choices are counted, not seconds: they are the same on a machine that is busy.
const SLOWER: u64 = 3;
const MORE: u64 = 100_000;

/// A run that makes no choice for so long doesn't end either.
const PATIENCE: Duration = Duration::from_secs(20);

/// A check that is longer than this, in choices, is not worth its time.
const LONGEST: u64 = 2_000_000;

/// What all mutants came to.
pub(crate) struct Hunted<'a> {
    /// Those that pass every check.
    pub(crate) survivors: Vec<&'a Mutant>,
    /// Those of them that no check runs.
    pub(crate) unreached: BTreeSet<usize>,
    /// How many each kind of check noticed.
    pub(crate) noticed: BTreeMap<&'static str, usize>,
}

/// What a run came to.
#[derive(Clone, PartialEq)]
struct Answer {
    choices: u64,
    printed: String,
    reached: Vec<usize>,
}

/// A process that is one mutant after the other.
struct Worker {
    binary: PathBuf,
    root: PathBuf,
    running: Option<Running>,
}

struct Running {
    process: Child,
    asks: ChildStdin,
    answers: Receiver<String>,
}

impl Running {
    fn start(binary: &Path, root: &Path) -> Self {
        let mut process = Command::new(binary)
            .current_dir(root)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary with the mutants runs");
        let asks = process.stdin.take().expect("it is a pipe");
        let stdout = process.stdout.take().expect("it is a pipe");
        let (sender, answers) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { process, asks, answers }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Worker {
    fn new(build: &Build, root: &Path) -> Self {
        Self { binary: build.binary.clone(), root: root.to_owned(), running: None }
    }

    /// Runs a check as a mutant; nothing if the process ends or takes too long.
    fn run(&mut self, check: &Check, mutant: usize, most: u64) -> Option<Answer> {
        let mut running =
            self.running.take().unwrap_or_else(|| Running::start(&self.binary, &self.root));
        let line = format!("{mutant}\t{most}\t{}\n", check.args.join("\t"));
        running.asks.write_all(line.as_bytes()).expect("the process waits for it");
        let answer = running.answers.recv_timeout(PATIENCE).ok()?;
        self.running = Some(running);
        let mut words = answer.split('\t');
        let mut word = || words.next().expect("a word");
        let choices = word().parse().expect("a number");
        let printed = word().to_owned();
        let reached = words.map(|id| id.parse().expect("a number")).collect();
        Some(Answer { choices, printed, reached })
    }
}

/// What the checks come to for the model itself, the shortest first.
struct Model<'a> {
    runs: Vec<(&'a Check, Answer)>,
    /// Which runs reach each mutant.
    reaching: Vec<Vec<usize>>,
}

/// Does something for each number below a limit, on every CPU.
fn spread<T: Send>(most: usize, new: impl Fn() -> T + Sync, each: impl Fn(&mut T, usize) + Sync) {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut own = new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= most {
                break;
            }
            each(&mut own, at);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(run);
        }
    });
}

fn model<'a>(build: &Build, root: &Path, checks: &'a [Check]) -> Model<'a> {
    let runs = Mutex::new(Vec::new());
    spread(
        checks.len(),
        || Worker::new(build, root),
        |worker, at| {
            let check = &checks[at];
            if let Some(answer) = worker.run(check, 0, LONGEST) {
                runs.lock().expect("no hunter panics").push((at, check, answer));
            }
        },
    );
    let mut runs = runs.into_inner().expect("no hunter panics");
    runs.sort_by_key(|(at, _, answer)| (answer.choices, *at));
    let mut reaching = vec![Vec::new(); build.mutants.len() + 1];
    for (run, (_, _, answer)) in runs.iter().enumerate() {
        answer.reached.iter().for_each(|mutant| reaching[*mutant].push(run));
    }
    let runs = runs.into_iter().map(|(_, check, answer)| (check, answer)).collect();
    Model { runs, reaching }
}

impl Model<'_> {
    /// The run that notices a mutant: of those that reach it, the one that noticed its neighbour,
    /// then the shortest.
    fn notices(
        &self,
        worker: &mut Worker,
        mutant: usize,
        neighbour: Option<usize>,
    ) -> Option<usize> {
        let reaching = &self.reaching[mutant];
        let first = neighbour.filter(|run| reaching.contains(run));
        let rest = reaching.iter().copied().filter(|run| Some(*run) != first);
        first.into_iter().chain(rest).find(|run| {
            let (check, model) = &self.runs[*run];
            let answer = worker.run(check, mutant, model.choices * SLOWER + MORE);
            answer.is_none_or(|answer| answer.printed != model.printed)
        })
    }
}

/// Runs the checks on every mutant.
pub(crate) fn hunt<'a>(build: &'a Build, root: &Path, checks: &[Check]) -> Hunted<'a> {
    let model = model(build, root, checks);
    let ids = build.mutants.iter().map(|mutant| mutant.id);
    let unreached = ids.filter(|id| model.reaching[*id].is_empty()).collect();
    let found = Mutex::new(Hunted { survivors: Vec::new(), unreached, noticed: BTreeMap::new() });
    spread(
        build.mutants.len(),
        || (Worker::new(build, root), None),
        |(worker, neighbour), at| {
            let mutant = &build.mutants[at];
            let noticed = model.notices(worker, mutant.id, *neighbour);
            let mut found = found.lock().expect("no hunter panics");
            if let Some(run) = noticed {
                *found.noticed.entry(model.runs[run].0.kind).or_default() += 1;
                *neighbour = Some(run);
            } else {
                found.survivors.push(mutant);
            }
        },
    );
    let mut found = found.into_inner().expect("no hunter panics");
    found.survivors.sort_by_key(|mutant| mutant.id);
    found
}
