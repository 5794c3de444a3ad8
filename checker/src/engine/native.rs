//! The fast engine: breadth-first over packed states in flat memory, exact, with the graph of it.
//!
//! States lie one after the other in one array of bytes. The table of those seen holds their
//! positions, is keyed by their content, and compares it whole: nothing is ever taken for
//! something else. A state costs its bytes and about forty more, an edge eight. The engine searches
//! anything that packs its states; the model is one such [`System`], and benches have another.
//!
//! With more threads than one, the states found so far are expanded in parallel and what they lead
//! to is added in the order of the states: positions, the graph and where a budget ends the search
//! are the same for any number of threads.

use super::{Budget, Meter, Progress, Stopped};
use crate::graph::{Shape, position};
use crate::label::{Label, OperationSet};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxHasher;
use std::hash::Hasher;

mod batch;
mod kernel;
#[cfg(test)]
mod tests;
use batch::expand_all;
pub use kernel::explore;

/// How many states are expanded between two updates of the progress.
const UPDATE_EVERY: usize = 4096;

/// How many transitions are added between two looks at the budget, within one state too.
const LOOK_EVERY: u64 = 1024;

/// How many states a thread expands at once, at the most: enough to be worth a thread.
const SHARE: usize = 2048;

/// With fewer states to expand than this, threads are not worth it.
const ALONE: usize = 256;

/// Whatever can be searched: a transition system whose states pack into bytes. Each thread has one
/// of its own.
pub trait System: Send {
    /// How many actors it has.
    fn actors(&self) -> usize;

    /// Packs the state to start from.
    fn initial(&mut self, packed: &mut Vec<u8>);

    /// Says what is open in a state ([`Sink::begin`]) and then every transition out of it, in a
    /// fixed order ([`Sink::found`]).
    fn expand(&mut self, packed: &[u8], into: &mut impl Sink);
}

/// Where the transitions out of states go.
pub trait Sink {
    /// Says what each actor has open in the state that is being expanded.
    fn begin(&mut self, open: &[OperationSet]);

    /// Adds a transition out of it, to a packed state.
    fn found(&mut self, label: &Label, packed: &[u8]);

    /// Whether transitions that have not been added may be left out: one state can have more of
    /// them than anybody can wait for.
    fn is_full(&self) -> bool;
}

/// Packed states, by position.
#[derive(Debug, Default)]
pub struct Nodes {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Nodes {
    /// A state.
    pub fn get(&self, at: u32) -> &[u8] {
        let at = at as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[at]]
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes they take.
    pub fn bytes(&self) -> u64 {
        (self.bytes.len() + size_of_val(&*self.ends)) as u64
    }

    /// Adds a state.
    pub(crate) fn push(&mut self, packed: &[u8]) {
        self.bytes.extend_from_slice(packed);
        self.ends.push(self.bytes.len());
    }
}

/// What was found so far.
#[derive(Debug)]
pub struct Space {
    /// The graph.
    pub shape: Shape,
    /// Its states.
    pub nodes: Nodes,
    seen: HashTable<u32>,
    /// The state that is being expanded.
    at: u32,
    meter: Meter,
    stopped: Option<Stopped>,
}

fn hash(packed: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(packed);
    hasher.finish()
}

impl Space {
    fn new(actors: usize, budget: &Budget) -> Self {
        Self {
            shape: Shape::new(actors),
            nodes: Nodes::default(),
            seen: HashTable::new(),
            at: 0,
            meter: Meter::start(budget),
            stopped: None,
        }
    }

    /// Whether the budget is spent, and if so what ends the search.
    fn spent(&mut self) -> Option<Stopped> {
        if self.stopped.is_none() {
            self.stopped = self.meter.spent(self.nodes.len() as u64, self.bytes());
        }
        self.stopped
    }

    /// The position of a state, which is stored if it is new.
    fn find(&mut self, packed: &[u8], hashed: u64, parent: Option<u32>) -> u32 {
        let Self { shape, nodes, seen, .. } = self;
        let same = |at: &u32| nodes.get(*at) == packed;
        match seen.entry(hashed, same, |at| hash(nodes.get(*at))) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let at = position(nodes.len());
                entry.insert(at);
                nodes.push(packed);
                shape.push_parent(parent);
                at
            }
        }
    }

    /// Adds a transition to a state with that hash.
    fn add(&mut self, label: &Label, packed: &[u8], hashed: u64) {
        let to = self.find(packed, hashed, Some(self.at));
        self.shape.push_edge(to, label);
        if self.shape.count_edges().is_multiple_of(LOOK_EVERY) {
            self.spent();
        }
    }

    /// Bytes it takes.
    pub fn bytes(&self) -> u64 {
        // The table has a byte of its own for each place.
        let table = self.seen.capacity() * 8 / 7 * (size_of::<u32>() + 1);
        table as u64 + self.nodes.bytes() + self.shape.bytes()
    }
}

impl Sink for Space {
    fn begin(&mut self, open: &[OperationSet]) {
        self.shape.begin(open);
    }

    fn found(&mut self, label: &Label, packed: &[u8]) {
        self.add(label, packed, hash(packed));
    }

    fn is_full(&self) -> bool {
        self.stopped.is_some()
    }
}

/// How far a search is.
struct Search<'a> {
    space: Space,
    depth: u64,
    /// Where the states of the present depth end.
    level_ends: usize,
    progress: &'a mut dyn Progress,
}

impl Search<'_> {
    /// Begins with the next state, unless the budget is spent.
    fn next(&mut self, at: u32) -> bool {
        let Self { space, depth, level_ends, progress } = self;
        if at as usize == *level_ends {
            *depth += 1;
            *level_ends = space.nodes.len();
        }
        if space.spent().is_some() {
            return false;
        }
        if (at as usize).is_multiple_of(UPDATE_EVERY) {
            let states = space.nodes.len() as u64;
            progress.update(states, space.shape.count_edges(), *depth, states - u64::from(at));
        }
        space.at = at;
        true
    }

    /// Expands states here.
    fn expand(&mut self, system: &mut impl System, states: std::ops::Range<usize>) {
        let mut packed = Vec::new();
        for at in states {
            if !self.next(position(at)) {
                return;
            }
            packed.clear();
            packed.extend_from_slice(self.space.nodes.get(self.space.at));
            system.expand(&packed, &mut self.space);
        }
    }
}

/// Visits every reachable state, alone or with a thread for each worker: what was found,
/// transitions to the farthest state, and what ended the search early.
pub fn search<S: System>(
    system: &mut S,
    workers: &mut [S],
    budget: &Budget,
    progress: &mut dyn Progress,
) -> (Space, u64, Option<Stopped>) {
    let mut space = Space::new(system.actors(), budget);
    let mut packed = Vec::new();
    system.initial(&mut packed);
    space.find(&packed, hash(&packed), None);
    let mut search = Search { space, depth: 0, level_ends: 1, progress };
    let (mut at, mut expanded) = (0, Vec::new());
    while search.space.stopped.is_none() {
        let states = search.space.nodes.len();
        if workers.is_empty() || states - at < ALONE {
            for batch in std::mem::take(&mut expanded) {
                search.merge(system, &batch);
            }
            let end = search.space.nodes.len().min(at + ALONE);
            search.expand(system, at..end);
            at = end;
            if at == search.space.nodes.len() {
                break;
            }
        } else {
            let end = states.min(at + SHARE * workers.len());
            expanded = expand_all((&mut *system, &mut *workers), &mut search, at..end, &expanded);
            at = end;
        }
    }
    let Search { space, depth, .. } = search;
    let stopped = space.stopped;
    (space, depth, stopped)
}
