//! The anchor protocol: tasks that fault at a limit, each with a window of speculative charges and
//! then one for the page it needs. Small, regular, and counted by four independent encodings, so
//! that a count can be trusted and a speed compared.
//!
//! A task charges speculatively as long as there is room. Without room it reclaims: one to R pages,
//! any of those that nobody has mapped, or that others have. If that left no room, it gives the
//! window up. Then it charges the page it needs, reclaiming as often as it takes, maps what it has,
//! and starts over.

use crate::engine::native::{Sink, System};
use crate::label::{Label, Mark, OperationSet};
use mm_model::env::Operation;
use mm_model::ids::ActorId;
use std::fmt;

/// Its size.
#[derive(Clone, Copy, Debug)]
pub struct Anchor {
    /// Tasks, at most 8.
    pub tasks: u8,
    /// Speculative charges of a fault, at most 15.
    pub window: u8,
    /// The limit, at most 15 pages.
    pub limit: u8,
    /// The most that one pass frees.
    pub pass_frees: u8,
}

impl Anchor {
    /// The size whose counts are known: 3,056,419 states and 24,178,664 transitions.
    pub const KNOWN: Self = Self { tasks: 4, window: 2, limit: 4, pass_frees: 2 };

    pub(super) fn system(self) -> Protocol {
        let quiet = Label::quiet(ActorId(0));
        let none = OperationSet::EMPTY;
        Protocol { size: self, packed: Vec::new(), label: quiet, open: vec![none; 8] }
    }
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tasks, window, limit, pass_frees } = self;
        write!(f, "anchor N={tasks} W={window} L={limit} R={pass_frees}")
    }
}

/// A reclaim pass; the measure is of no matter here.
const PASS: Mark = Mark::Cost(0, 1);

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Idle,
    Speculate,
    Reclaim,
    Margin,
    Demand,
    DemandReclaim,
    DemandMargin,
    Done,
}

const PLACES: [At; 8] = [
    At::Idle,
    At::Speculate,
    At::Reclaim,
    At::Margin,
    At::Demand,
    At::DemandReclaim,
    At::DemandMargin,
    At::Done,
];

/// A task: where it is, how far in its window, and its pages.
#[derive(Clone, Copy, Debug)]
struct Task {
    at: At,
    index: u8,
    unmapped: u8,
    mapped: u8,
}

type Tasks = [Task; 8];

pub(super) struct Protocol {
    size: Anchor,
    packed: Vec<u8>,
    label: Label,
    open: Vec<OperationSet>,
}

impl Task {
    const START: Self = Self { at: At::Idle, index: 0, unmapped: 0, mapped: 0 };

    const fn pack(self) -> [u8; 2] {
        [(self.at as u8) << 4 | self.index, self.unmapped << 4 | self.mapped]
    }

    const fn unpack(packed: [u8; 2]) -> Self {
        let [place, pages] = packed;
        Self {
            at: PLACES[(place >> 4) as usize],
            index: place & 15,
            unmapped: pages >> 4,
            mapped: pages & 15,
        }
    }
}

impl Protocol {
    fn tasks(&self) -> usize {
        usize::from(self.size.tasks)
    }

    /// Adds a transition of one task.
    fn found(&mut self, into: &mut impl Sink, tasks: &Tasks, me: usize, marks: &[Mark]) {
        self.packed.clear();
        for task in &tasks[..self.tasks()] {
            self.packed.extend_from_slice(&task.pack());
        }
        self.label.actor = ActorId::from(me);
        self.label.marks.clear();
        self.label.marks.extend_from_slice(marks);
        into.found(&self.label, &self.packed);
    }

    /// The one transition of a task that does not reclaim.
    fn step(&mut self, into: &mut impl Sink, mut tasks: Tasks, me: usize) {
        let all = &tasks[..self.tasks()];
        let usage: u8 = all.iter().map(|task| task.unmapped + task.mapped).sum();
        let room = usage < self.size.limit;
        let task = &mut tasks[me];
        let mut marks: &[Mark] = &[];
        match task.at {
            At::Idle => {
                (task.at, marks) = (At::Speculate, &[Mark::Begin(Operation::Charge)]);
            }
            At::Speculate if room => {
                task.unmapped += 1;
                task.index += 1;
                if task.index == self.size.window {
                    (task.at, task.index) = (At::Demand, 0);
                }
            }
            At::Speculate => task.at = At::Reclaim,
            At::Margin if room => task.at = At::Speculate,
            At::Margin => (task.at, task.index) = (At::Demand, 0),
            At::Demand if room => {
                task.unmapped += 1;
                task.at = At::Done;
            }
            At::Demand => task.at = At::DemandReclaim,
            At::DemandMargin => task.at = At::Demand,
            At::Done => {
                task.mapped += task.unmapped;
                task.unmapped = 0;
                (task.at, marks) = (At::Idle, &[Mark::End(Operation::Charge)]);
            }
            At::Reclaim | At::DemandReclaim => unreachable!("a pass has its own transitions"),
        }
        self.found(into, &tasks, me, marks);
    }

    /// Every way to free one to `left` pages from the places from `first` on: of each task what is
    /// not mapped, and of others what is.
    fn reclaim(&mut self, into: &mut impl Sink, tasks: &Tasks, me: usize, first: usize, left: u8) {
        for place in first..2 * self.tasks() {
            let (owner, mapped) = (place / 2, place % 2 == 1);
            if mapped && owner == me {
                continue;
            }
            let mut tasks = *tasks;
            let pages = if mapped { &mut tasks[owner].mapped } else { &mut tasks[owner].unmapped };
            let Some(fewer) = pages.checked_sub(1) else { continue };
            *pages = fewer;
            self.found(into, &tasks, me, &[PASS]);
            if left > 1 {
                self.reclaim(into, &tasks, me, place, left - 1);
            }
        }
    }
}

impl System for Protocol {
    fn actors(&self) -> usize {
        self.tasks()
    }

    fn initial(&mut self, packed: &mut Vec<u8>) {
        for _ in 0..self.size.tasks {
            packed.extend_from_slice(&Task::START.pack());
        }
    }

    fn expand(&mut self, packed: &[u8], into: &mut impl Sink) {
        let mut tasks = [Task::START; 8];
        for (task, bytes) in tasks.iter_mut().zip(packed.chunks_exact(2)) {
            *task = Task::unpack([bytes[0], bytes[1]]);
        }
        let charging = OperationSet::EMPTY.with(Operation::Charge);
        for (open, task) in self.open.iter_mut().zip(&tasks) {
            *open = if task.at == At::Idle { OperationSet::EMPTY } else { charging };
        }
        into.begin(&self.open[..self.tasks()]);
        for me in 0..self.tasks() {
            let next = match tasks[me].at {
                At::Reclaim => At::Margin,
                At::DemandReclaim => At::DemandMargin,
                At::Idle
                | At::Speculate
                | At::Margin
                | At::Demand
                | At::DemandMargin
                | At::Done => {
                    self.step(into, tasks, me);
                    continue;
                }
            };
            let mut after = tasks;
            after[me].at = next;
            let all = tasks[..self.tasks()].iter().enumerate();
            let others =
                all.map(|(at, task)| task.unmapped + if at == me { 0 } else { task.mapped });
            if others.sum::<u8>() == 0 {
                self.found(into, &after, me, &[PASS]);
            } else {
                self.reclaim(into, &after, me, 0, self.size.pass_frees);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::native::search;
    use crate::engine::{Budget, Quiet};

    #[test]
    fn the_counts_are_those_of_four_other_encodings() {
        let known = [((2, 2, 4), (3_366, 9_384)), ((3, 2, 4), (117_580, 608_454))];
        for ((tasks, window, limit), counts) in known {
            let anchor = Anchor { tasks, window, limit, pass_frees: 2 };
            let (space, _, stopped) =
                search(&mut anchor.system(), &mut [], &Budget::default(), &mut Quiet);
            assert!(stopped.is_none());
            assert_eq!((space.nodes.len(), space.shape.count_edges()), counts);
        }
    }

    #[test]
    fn a_state_takes_less_than_a_hundred_bytes_and_a_transition_less_than_twelve() {
        let anchor = Anchor { tasks: 3, window: 2, limit: 4, pass_frees: 2 };
        let (space, ..) = search(&mut anchor.system(), &mut [], &Budget::default(), &mut Quiet);
        let most = 100 * space.nodes.len() as u64 + 12 * space.shape.count_edges();
        assert!(space.bytes() < most, "{} of {most}", space.bytes());
    }
}
