//! Engines: ways of visiting every reachable node.

use crate::node::PropertySet;
use crate::verdict::{Trace, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub mod native;
pub mod reference;
pub mod stateright;

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

impl Explored {
    /// What the search says about the property at that position.
    pub const fn verdict(&self, property: usize) -> Verdict {
        if self.violated.contains(property) {
            Verdict::Violated
        } else if self.stopped.is_some() {
            Verdict::Unknown
        } else if self.applied.contains(property) {
            Verdict::Holds
        } else {
            Verdict::Vacuous
        }
    }
}

/// A budget being spent.
#[derive(Debug)]
struct Meter {
    budget: Budget,
    started: Instant,
}

impl Meter {
    fn start(budget: &Budget) -> Self {
        Self { budget: budget.clone(), started: Instant::now() }
    }

    /// Which part of the budget is used up, if that many nodes were found and take that many
    /// bytes. Every engine that finds one node more than allowed asks with that number, so that
    /// all stop on the same scenarios.
    fn spent(&self, states: u64, bytes: u64) -> Option<Stopped> {
        let Budget { max_states, max_memory, timeout, interrupted } = &self.budget;
        if interrupted.load(Ordering::Relaxed) {
            Some(Stopped::Interrupted)
        } else if max_states.is_some_and(|most| states > most) {
            Some(Stopped::States)
        } else if max_memory.is_some_and(|most| bytes > most) {
            Some(Stopped::Memory)
        } else if timeout.is_some_and(|most| self.started.elapsed() >= most) {
            Some(Stopped::Timeout)
        } else {
            None
        }
    }
}

/// Hears nothing.
pub struct Quiet;

impl Progress for Quiet {
    fn update(&mut self, _: u64, _: u64, _: u64, _: u64) {}
}

/// Hears how far a search is.
pub trait Progress: Send {
    /// Called now and then.
    fn update(&mut self, states: u64, transitions: u64, depth: u64, waiting: u64);
}
