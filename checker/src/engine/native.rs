//! The fast engine: breadth-first over packed states in flat memory, exact, with the graph of it.
//!
//! States lie one after the other in one array of bytes. The table of those seen holds their
//! positions, is keyed by their content, and compares it whole: nothing is ever taken for
//! something else. A state costs its bytes and about forty more, an edge eight. The engine searches
//! anything that packs its states; the model is one such [`System`], and benches have another.

use super::{Budget, Meter, Progress, Stopped};
use crate::graph::{Shape, position};
use crate::label::{Label, OperationSet};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxHasher;
use std::hash::Hasher;

mod kernel;
pub use kernel::explore;

/// How many states are expanded between two updates of the progress.
const UPDATE_EVERY: usize = 4096;

/// How many transitions are added between two looks at the budget, within one state too.
const LOOK_EVERY: u64 = 1024;

/// Whatever can be searched: a transition system whose states pack into bytes.
pub trait System {
    /// How many actors it has.
    fn actors(&self) -> usize;

    /// Packs the state to start from.
    fn initial(&mut self, packed: &mut Vec<u8>);

    /// Says what is open in a state ([`Space::begin`]) and then every transition out of it, in a
    /// fixed order ([`Space::found`]).
    fn expand(&mut self, packed: &[u8], into: &mut Space);
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

    /// Says what each actor has open in the state that is being expanded.
    pub fn begin(&mut self, open: &[OperationSet]) {
        self.shape.begin(open);
    }

    /// Adds a transition out of it. Returns the position of the state it leads to if that is new.
    pub fn found(&mut self, label: &Label, packed: &[u8]) -> Option<u32> {
        let (to, new) = self.find(packed, Some(self.at));
        self.shape.push_edge(to, label);
        if self.shape.count_edges().is_multiple_of(LOOK_EVERY) {
            self.spent();
        }
        new.then_some(to)
    }

    /// Whether transitions that have not been added may be left out, as the search has been
    /// stopped: one state can have more of them than anybody can wait for.
    pub const fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// The position of a state, which is stored if it is new.
    fn find(&mut self, packed: &[u8], parent: Option<u32>) -> (u32, bool) {
        let Self { shape, nodes, seen, .. } = self;
        let same = |at: &u32| nodes.get(*at) == packed;
        match seen.entry(hash(packed), same, |at| hash(nodes.get(*at))) {
            Entry::Occupied(entry) => (*entry.get(), false),
            Entry::Vacant(entry) => {
                let at = position(nodes.len());
                entry.insert(at);
                nodes.push(packed);
                shape.push_parent(parent);
                (at, true)
            }
        }
    }

    /// Bytes it takes.
    pub fn bytes(&self) -> u64 {
        // The table has a byte of its own for each place.
        let table = self.seen.capacity() * 8 / 7 * (size_of::<u32>() + 1);
        table as u64 + self.nodes.bytes() + self.shape.bytes()
    }
}

/// Visits every reachable state: what was found, transitions to the farthest state, and what ended
/// the search early.
pub fn search(
    system: &mut impl System,
    budget: &Budget,
    progress: &mut dyn Progress,
) -> (Space, u64, Option<Stopped>) {
    let mut space = Space::new(system.actors(), budget);
    let mut packed = Vec::new();
    system.initial(&mut packed);
    space.find(&packed, None);
    let (mut depth, mut level_ends, mut at) = (0, 1, 0);
    while at < space.nodes.len() {
        if at == level_ends {
            depth += 1;
            level_ends = space.nodes.len();
        }
        let states = space.nodes.len() as u64;
        if let Some(stopped) = space.spent() {
            return (space, depth, Some(stopped));
        }
        if at.is_multiple_of(UPDATE_EVERY) {
            progress.update(states, space.shape.count_edges(), depth, states - at as u64);
        }
        space.at = position(at);
        packed.clear();
        packed.extend_from_slice(space.nodes.get(space.at));
        system.expand(&packed, &mut space);
        at += 1;
    }
    let stopped = space.stopped;
    (space, depth, stopped)
}
