//! Tries every answer: runs a step once per combination of answers, like an odometer.

use crate::env::{Call, Env, Event, Question};
use crate::world::World;

/// An environment that remembers what it answered and, between runs, moves on to the next
/// combination. After the last one [`Choose::advance`] says so.
#[derive(Default)]
pub struct Choose {
    /// (answer, last answer) of each question, in the order asked.
    answers: Vec<(u64, u64)>,
    asked: usize,
    events: Vec<Event>,
    /// How many events there were at the end of each step.
    steps: Vec<usize>,
}

impl Choose {
    /// Moves to the next combination of answers, the last question first. False after the last.
    pub fn advance(&mut self) -> bool {
        self.asked = 0;
        self.events.clear();
        self.steps.clear();
        while let Some((answer, last)) = self.answers.pop() {
            if answer < last {
                self.answers.push((answer + 1, last));
                return true;
            }
        }
        false
    }

    /// Forgets everything, as if new.
    pub fn reset(&mut self) {
        self.answers.clear();
        self.advance();
    }

    /// The answers given in this run.
    pub fn answers(&self) -> impl Iterator<Item = u64> {
        self.answers[..self.asked].iter().map(|(answer, _)| *answer)
    }

    /// What happened in this run, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// What happened in each step of this run, in order.
    pub fn steps(&self) -> impl Iterator<Item = &[Event]> {
        let starts = std::iter::once(0).chain(self.steps.iter().copied());
        starts.zip(&self.steps).map(|(start, end)| &self.events[start..*end])
    }
}

impl Env for Choose {
    fn answer(&mut self, question: Question) -> u64 {
        if self.asked == self.answers.len() {
            self.answers.push((0, question.last));
        }
        let (answer, last) = self.answers[self.asked];
        assert_eq!(
            last, question.last,
            "a step must ask the same questions after the same answers"
        );
        self.asked += 1;
        answer
    }

    fn note(&mut self, event: Event) {
        self.events.push(event);
    }

    fn stepped(&mut self) {
        self.steps.push(self.events.len());
    }

    fn stub(&mut self, _: &mut World, _: Call) -> Option<i64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Ask;

    #[test]
    fn every_combination_of_answers_is_tried_once() {
        let mut choose = Choose::default();
        let mut seen = Vec::new();
        loop {
            let first = choose.answer(Question { ask: Ask::ChargeMoving, last: 2 });
            let second =
                (first == 1).then(|| choose.answer(Question { ask: Ask::ChargeMoving, last: 1 }));
            seen.push((first, second));
            if !choose.advance() {
                break;
            }
        }
        assert_eq!(seen, [(0, None), (1, Some(0)), (1, Some(1)), (2, None)]);
    }
}
