//! Which of the kernel's functions, and which of their program points, the cases of a file go
//! through.

use mm_model::env::{Call, Env, Event, Question, Stack};
use mm_model::step::Frame;
use mm_model::world::World;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The program points that were reached, by function. A function that has none, or that a case
/// answers for, is there if a call of it was announced.
pub type Reached = BTreeMap<&'static str, BTreeSet<&'static str>>;

thread_local! {
    /// Nothing while nobody wants to know, as it costs a part of a run's time.
    static REACHED: RefCell<Option<Reached>> = const { RefCell::new(None) };
}

/// Does something, and says what it reached on this thread.
pub fn reached<R>(work: impl FnOnce() -> R) -> (R, Reached) {
    let before = REACHED.replace(Some(Reached::new()));
    let result = work();
    (result, REACHED.replace(before).unwrap_or_default())
}

/// A step is taken at this point.
pub(super) fn at<F: Frame>(frame: &F) {
    points(&|into| frame.stack(into));
}

fn points(stack: &dyn Fn(&mut Stack)) {
    REACHED.with_borrow_mut(|reached| {
        let Some(reached) = reached else { return };
        let mut points = Stack::new();
        stack(&mut points);
        for (function, point) in points {
            reached.entry(function).or_default().insert(point);
        }
    });
}

/// Hears of calls in passing.
pub(super) struct Hearing<'a>(pub(super) &'a mut dyn Env);

impl Env for Hearing<'_> {
    fn answer(&mut self, question: Question) -> u64 {
        self.0.answer(question)
    }

    fn note(&mut self, event: Event) {
        if let Event::Returned(call, _) = event {
            REACHED.with_borrow_mut(|reached| {
                if let Some(reached) = reached {
                    reached.entry(call.name()).or_default();
                }
            });
        }
        self.0.note(event);
    }

    fn at(&mut self, stack: &dyn Fn(&mut Stack)) {
        points(stack);
    }

    fn stepped(&mut self) {
        self.0.stepped();
    }

    fn stub(&mut self, world: &mut World, call: Call) -> Option<i64> {
        self.0.stub(world, call)
    }
}
