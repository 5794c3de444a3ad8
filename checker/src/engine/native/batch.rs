//! States that are expanded side by side, and what they lead to, to be added in their order.

use super::{Search, Sink, System, hash};
use crate::label::{Label, OperationSet};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::ops::Range;

/// How many transitions a thread keeps at the most. A state that has more of them is expanded
/// again where they are added.
pub(super) const KEPT: usize = 1 << 17;

/// What some states in a row lead to.
#[derive(Default)]
pub(super) struct Batch {
    states: Range<usize>,
    /// What is open in each state, one actor after the other.
    open: Vec<OperationSet>,
    /// Where the transitions of each state begin.
    first: Vec<usize>,
    edges: Vec<Kept>,
    labels: IndexSet<Label, FxBuildHasher>,
    /// The states that they lead to, one after the other.
    bytes: Vec<u8>,
}

/// A transition.
struct Kept {
    label: usize,
    /// Where the state it leads to ends.
    end: usize,
    hashed: u64,
}

impl Sink for Batch {
    fn begin(&mut self, open: &[OperationSet]) {
        self.open.extend_from_slice(open);
        self.first.push(self.edges.len());
    }

    fn found(&mut self, label: &Label, packed: &[u8]) {
        let label = self
            .labels
            .get_index_of(label)
            .unwrap_or_else(|| self.labels.insert_full(label.clone()).0);
        self.bytes.extend_from_slice(packed);
        self.edges.push(Kept { label, end: self.bytes.len(), hashed: hash(packed) });
    }

    fn is_full(&self) -> bool {
        self.edges.len() >= KEPT
    }
}

impl Batch {
    /// Expands states until the batch is full; the last one may then lack transitions.
    fn of(system: &mut impl System, states: Range<usize>, packed: &[Vec<u8>]) -> Self {
        let mut batch = Self { states, ..Self::default() };
        for packed in packed {
            if batch.is_full() {
                break;
            }
            system.expand(packed, &mut batch);
        }
        batch
    }

    /// How many of its states have all their transitions here.
    fn complete(&self) -> usize {
        self.first.len() - usize::from(self.is_full())
    }
}

impl Search<'_> {
    /// Adds what the states of a batch lead to.
    pub(super) fn merge(&mut self, system: &mut impl System, batch: &Batch) {
        let actors = system.actors();
        let complete = batch.complete();
        for nth in 0..complete {
            let at = batch.states.start + nth;
            if !self.next(super::position(at)) {
                return;
            }
            self.space.begin(&batch.open[nth * actors..(nth + 1) * actors]);
            let first = batch.first[nth];
            let end = batch.first.get(nth + 1).copied().unwrap_or(batch.edges.len());
            let mut start = first.checked_sub(1).map_or(0, |before| batch.edges[before].end);
            for edge in &batch.edges[first..end] {
                let packed = &batch.bytes[start..edge.end];
                start = edge.end;
                self.space.add(&batch.labels[edge.label], packed, edge.hashed);
                if self.space.is_full() {
                    return;
                }
            }
        }
        self.expand(system, batch.states.start + complete..batch.states.end);
    }
}

/// Expands states, each worker some of them on a thread of its own; meanwhile adds what was
/// expanded before.
pub(super) fn expand_all<S: System>(
    (system, workers): (&mut S, &mut [S]),
    search: &mut Search<'_>,
    states: Range<usize>,
    before: &[Batch],
) -> Vec<Batch> {
    let share = states.len().div_ceil(workers.len());
    // What is known now: adding to the states may move them.
    let packed: Vec<Vec<u8>> =
        states.clone().map(|at| search.space.nodes.get(super::position(at)).to_vec()).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = workers
            .iter_mut()
            .zip(packed.chunks(share))
            .enumerate()
            .map(|(nth, (worker, packed))| {
                let start = states.start + nth * share;
                scope.spawn(move || Batch::of(worker, start..start + packed.len(), packed))
            })
            .collect();
        for batch in before {
            search.merge(system, batch);
        }
        let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined.map(|batch| batch.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}
