//! What is known of a transition: who steps, which operations begin and end in it, and what it costs.
//!
//! A graph has many transitions and few labels, so a label can afford to say it all in order. That
//! matters: in one fused transition a charge can end and the next one begin, and a cost belongs to
//! the one that is open at that moment.

use mm_model::actor::OpenOperations;
use mm_model::choose::Choose;
use mm_model::env::{Call, Event, Operation};
use mm_model::ids::ActorId;
use mm_model::measure::{Amount, MEASURES, Moment, What};

/// A set of kinds of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OperationSet(u16);

impl OperationSet {
    /// No kind.
    pub const EMPTY: Self = Self(0);

    /// Whether that kind is in the set.
    pub const fn contains(self, operation: Operation) -> bool {
        self.0 & (1 << operation as u16) != 0
    }

    /// The set with that kind.
    #[must_use]
    pub const fn with(self, operation: Operation) -> Self {
        Self(self.0 | (1 << operation as u16))
    }
}

impl FromIterator<Operation> for OperationSet {
    fn from_iter<I: IntoIterator<Item = Operation>>(operations: I) -> Self {
        operations.into_iter().fold(Self::EMPTY, Self::with)
    }
}

/// Something that happens in a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// An operation begins.
    Begin(Operation),
    /// An operation ends.
    End(Operation),
    /// That much of the measure at that position of [`MEASURES`].
    Cost(u8, u64),
}

/// What is known of a transition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// Who steps.
    pub actor: ActorId,
    /// Whether it goes to sleep in it.
    pub slept: bool,
    /// What happens, in order.
    pub marks: Vec<Mark>,
}

/// What a transition means to one kind of operation of the actor that steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Cost of the operation that was open before, as far as it goes.
    pub head: u64,
    /// Whether that one ends.
    pub ends: bool,
    /// The largest cost of one that begins and ends here.
    pub inner: Option<u64>,
    /// Cost so far of one that begins here and goes on.
    pub tail: Option<u64>,
}

impl Label {
    /// A step in which nothing happens.
    pub fn quiet(actor: ActorId) -> Self {
        Self { actor, slept: false, marks: Vec::new() }
    }

    /// A step with those marks.
    pub fn new(actor: ActorId, marks: &[Mark]) -> Self {
        Self { actor, slept: false, marks: marks.to_vec() }
    }

    /// Whether such an operation begins.
    pub fn begins(&self, operation: Operation) -> bool {
        self.marks.contains(&Mark::Begin(operation))
    }

    /// Whether such an operation ends.
    pub fn ends(&self, operation: Operation) -> bool {
        self.marks.contains(&Mark::End(operation))
    }

    /// How many such operations end.
    pub fn count_ended(&self, operation: Operation) -> u64 {
        self.marks.iter().filter(|mark| **mark == Mark::End(operation)).count() as u64
    }

    /// Whether the actor lets others run: an operation ends, or it goes to sleep.
    pub fn yields(&self) -> bool {
        self.slept || self.marks.iter().any(|mark| matches!(mark, Mark::End(_)))
    }

    /// All it costs, whatever is open.
    pub fn total(&self, measure: u8) -> u64 {
        let cost = |mark: &Mark| match mark {
            Mark::Cost(of, amount) if *of == measure => *amount,
            Mark::Cost(..) | Mark::Begin(_) | Mark::End(_) => 0,
        };
        self.marks.iter().map(cost).sum()
    }

    /// What it costs operations of one kind, if one is `open` before or not.
    pub fn share(&self, operation: Operation, measure: u8, open: bool) -> Share {
        let mut share = Share::default();
        // The cost of the one that is open, and whether it was so before.
        let mut running = open.then_some((0, true));
        for mark in &self.marks {
            match (*mark, &mut running) {
                (Mark::Begin(begun), None) if begun == operation => running = Some((0, false)),
                (Mark::End(ended), Some((cost, before))) if ended == operation => {
                    if *before {
                        (share.head, share.ends) = (*cost, true);
                    } else {
                        share.inner = share.inner.max(Some(*cost));
                    }
                    running = None;
                }
                (Mark::Cost(of, amount), Some((cost, _))) if of == measure => *cost += amount,
                (Mark::Begin(_) | Mark::End(_) | Mark::Cost(..), _) => {}
            }
        }
        match running {
            Some((cost, true)) => share.head = cost,
            Some((cost, false)) => share.tail = Some(cost),
            None => {}
        }
        share
    }

    /// Takes down what an actor did that had those operations open before.
    pub fn read(&mut self, actor: ActorId, open: &OpenOperations, did: &Choose) {
        self.actor = actor;
        self.slept = false;
        self.marks.clear();
        let mut reader = Reader { open: open.clone(), costs: [0; MEASURES.len()], label: self };
        for events in did.steps() {
            reader.count(What::Step);
            for event in events {
                reader.event(event);
            }
        }
        reader.write_costs();
    }
}

/// Takes down a transition.
struct Reader<'a> {
    open: OpenOperations,
    costs: [u64; MEASURES.len()],
    label: &'a mut Label,
}

impl Reader<'_> {
    fn count(&mut self, what: What<'_>) {
        let moment = Moment { open: &self.open, what };
        for (measure, cost) in MEASURES.iter().zip(&mut self.costs) {
            if let Amount::Sum(of) = measure.amount {
                *cost += of(&moment);
            }
        }
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Begin(operation, gfp) => {
                self.write_costs();
                self.label.marks.push(Mark::Begin(*operation));
                self.open.push((*operation, *gfp));
                self.count(What::Event(event));
            }
            Event::End(operation, ..) => {
                self.count(What::Event(event));
                self.write_costs();
                self.label.marks.push(Mark::End(*operation));
                let at = self.open.iter().rposition(|(open, _)| open == operation);
                self.open.truncate(at.unwrap_or(self.open.len()));
            }
            Event::Returned(call, _) => {
                self.label.slept |= matches!(call, Call::ScheduleTimeoutKillable { .. });
                self.count(What::Event(event));
            }
            Event::AboveMax(..)
            | Event::Requested(_)
            | Event::Fulfilled(..)
            | Event::Reclaimed(..)
            | Event::Unused(..)
            | Event::Restarted(_)
            | Event::Signalled(_)
            | Event::Turned(..)
            | Event::Wrapped(_)
            | Event::ReadAhead(_) => self.count(What::Event(event)),
        }
    }

    fn write_costs(&mut self) {
        for (measure, cost) in (0..).zip(&mut self.costs) {
            if *cost > 0 {
                self.label.marks.push(Mark::Cost(measure, *cost));
                *cost = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Mark::{Begin, Cost, End};

    const CHARGE: Operation = Operation::Charge;

    #[test]
    fn a_cost_belongs_to_the_operation_that_is_open_at_that_moment() {
        let marks = [Cost(0, 1), End(CHARGE), Cost(0, 2), Begin(CHARGE), Cost(0, 4), Cost(1, 9)];
        let label = Label::new(ActorId(0), &marks);
        let share = |open| label.share(CHARGE, 0, open);
        assert_eq!(share(true), Share { head: 1, ends: true, inner: None, tail: Some(4) });
        assert_eq!(share(false), Share { head: 0, ends: false, inner: None, tail: Some(4) });
        assert_eq!((label.total(0), label.total(1)), (7, 9));
    }

    #[test]
    fn an_operation_within_one_transition_counts() {
        let marks =
            [Begin(CHARGE), Cost(0, 3), End(CHARGE), Begin(CHARGE), Cost(0, 2), End(CHARGE)];
        let label = Label::new(ActorId(0), &marks);
        let share = label.share(CHARGE, 0, false);
        assert_eq!(share, Share { head: 0, ends: false, inner: Some(3), tail: None });
    }

    #[test]
    fn an_operation_that_lies_in_another_costs_both() {
        let marks = [Begin(Operation::Uncharge), Cost(0, 3), End(Operation::Uncharge)];
        let label = Label::new(ActorId(0), &marks);
        assert_eq!(label.share(CHARGE, 0, true).head, 3);
        assert_eq!(label.share(Operation::Uncharge, 0, false).inner, Some(3));
    }
}
