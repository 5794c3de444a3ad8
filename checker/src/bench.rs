//! How fast the engines are, and how much memory a state takes.

use crate::engine::{Budget, Progress, native, reference, stateright};
use crate::liveness::{Fairness, livelocked};
use mm_model::env::Operation;
use mm_model::machine::Fuse;
use mm_model::scenario::Scenario;
use serde::Serialize;
use std::time::Instant;

mod anchor;

pub use anchor::Anchor;

/// What was measured.
#[derive(Debug, Serialize)]
pub struct Row {
    /// On what.
    pub name: String,
    /// By what.
    pub engine: &'static str,
    /// Distinct states.
    pub states: u64,
    /// Transitions.
    pub transitions: u64,
    /// Seconds of CPU time, of all threads.
    pub cpu_seconds: f64,
    /// Bytes a state, with its transitions; of engines that know.
    pub bytes_per_state: Option<f64>,
    /// What was found.
    pub found: Option<String>,
}

/// Seconds of CPU time that the process has used; wall-clock time where that is not known.
fn cpu_seconds(since: Instant) -> f64 {
    // In /proc/self/stat the 14th and 15th fields are ticks in user and kernel mode; the second
    // field is the name, which may hold spaces, in parentheses. A tick is a hundredth of a second.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u32>().ok());
    match (ticks(11), ticks(12)) {
        (Some(user), Some(system)) => f64::from(user + system) / 100.0,
        _ => since.elapsed().as_secs_f64(),
    }
}

/// Runs something, and says how much CPU time it took.
fn timed<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let before = cpu_seconds(started);
    let made = run();
    (made, cpu_seconds(started) - before)
}

#[expect(clippy::cast_precision_loss, reason = "a rate needs few digits")]
const fn per(bytes: u64, states: u64) -> f64 {
    bytes as f64 / states as f64
}

/// The anchor protocol, by the fast engine; then questions to its graph.
pub fn anchor(anchor: &Anchor, budget: &Budget, progress: &mut dyn Progress) -> Vec<Row> {
    let mut system = anchor.system();
    let ((space, _, stopped), cpu) =
        timed(|| native::search(&mut system, &mut [], budget, progress));
    let (states, transitions) = (space.nodes.len() as u64, space.shape.count_edges());
    let row = |engine, cpu_seconds, bytes: Option<u64>, found| Row {
        name: anchor.to_string(),
        engine,
        states,
        transitions,
        cpu_seconds,
        bytes_per_state: bytes.map(|bytes| per(bytes, states)),
        found,
    };
    let stopped = stopped.map(|stopped| format!("stopped: {stopped:?}"));
    let complete = stopped.is_none();
    let mut rows = vec![row("native, with its graph", cpu, Some(space.bytes()), stopped)];
    let queries =
        [("livelock-free, weak", Fairness::Weak), ("livelock-free, strong", Fairness::Strong)];
    for (name, fairness) in queries.into_iter().filter(|_| complete) {
        let ask = || livelocked(&space.shape, Operation::Charge, fairness);
        let (cycle, cpu) = timed(ask);
        let found = cycle.map_or_else(|| "holds".to_owned(), |len| format!("a cycle of {len}"));
        rows.push(row(name, cpu, None, Some(found)));
    }
    rows
}

/// A scenario, by each engine.
pub fn engines(
    name: &str,
    scenario: &Scenario,
    fuse: Fuse,
    budget: &Budget,
    progress: &mut dyn Progress,
) -> Vec<Row> {
    let row = |engine, cpu_seconds, explored: &crate::engine::Explored, bytes: Option<u64>| Row {
        name: name.to_owned(),
        engine,
        states: explored.states,
        transitions: explored.transitions,
        cpu_seconds,
        bytes_per_state: bytes.map(|bytes| per(bytes, explored.states)),
        found: explored.stopped.map(|stopped| format!("stopped: {stopped:?}")),
    };
    let ((explored, graph), cpu) = timed(|| native::explore(scenario, fuse, 1, budget, progress));
    let bytes = graph.as_ref().map(crate::graph::Graph::bytes);
    let mut rows = vec![row("native, with its graph", cpu, &explored, bytes)];
    drop(graph);
    let (explored, cpu) = timed(|| stateright::explore(scenario, fuse, budget, 1, progress));
    rows.push(row("stateright, one thread", cpu, &explored, None));
    let ((explored, _), cpu) =
        timed(|| reference::explore(scenario, fuse, budget, progress, false));
    rows.push(row("reference", cpu, &explored, None));
    rows
}
