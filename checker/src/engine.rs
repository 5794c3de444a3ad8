//! Engines: ways of visiting every reachable node.

use crate::node::PropertySet;
use crate::verdict::Trace;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How far a search may go. Whatever ends it early makes every verdict that is still open
/// `unknown`.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// Distinct nodes.
    pub max_states: Option<u64>,
    /// Bytes the engine may hold, by its own estimate.
    pub max_memory: Option<u64>,
    /// Wall-clock time.
    pub timeout: Option<Duration>,
    /// Set from outside to stop (Ctrl-C).
    pub interrupted: Arc<AtomicBool>,
}

/// What ended a search early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// `--max-states` was reached.
    States,
    /// `--max-memory` was reached.
    Memory,
    /// `--timeout` has passed.
    Timeout,
    /// The user interrupted it.
    Interrupted,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Explored {
    /// Distinct nodes.
    pub states: u64,
    /// Transitions between them, counted once per actor and answers.
    pub transitions: u64,
    /// Transitions to the node farthest from the start.
    pub depth: u64,
    /// What ended it early; nothing if every reachable node was visited.
    pub stopped: Option<Stopped>,
    /// Properties that said something about some transition.
    pub applied: PropertySet,
    /// Properties that some transition violated.
    pub violated: PropertySet,
    /// The shortest way into a violation of each property, by position; only the reference engine
    /// promises that it is the shortest.
    pub traces: Vec<Option<Trace>>,
}

/// Hears how far a search is.
pub trait Progress: Send {
    /// Called now and then.
    fn update(&mut self, states: u64, transitions: u64, depth: u64, waiting: u64);
}
