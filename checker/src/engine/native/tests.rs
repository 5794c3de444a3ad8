use super::batch::KEPT;
use super::{Sink, System, search};
use crate::engine::{Budget, Quiet};
use crate::graph::Shape;
use crate::label::{Label, OperationSet};
use mm_model::ids::ActorId;

/// Numbers: the first leads to all others, and one of these to itself as often as is asked for.
#[derive(Clone)]
struct Star {
    states: u32,
    one: u32,
    loops: usize,
}

impl System for Star {
    fn actors(&self) -> usize {
        1
    }

    fn initial(&mut self, packed: &mut Vec<u8>) {
        packed.extend_from_slice(&0_u32.to_le_bytes());
    }

    fn expand(&mut self, packed: &[u8], into: &mut impl Sink) {
        let at = u32::from_le_bytes(packed.try_into().expect("it is a number"));
        into.begin(&[OperationSet::EMPTY]);
        let label = Label::quiet(ActorId(0));
        if at == 0 {
            (1..self.states).for_each(|to| into.found(&label, &to.to_le_bytes()));
        }
        if at == self.one {
            (0..self.loops).for_each(|_| into.found(&label, packed));
        }
        into.found(&label, &(at / 2).to_le_bytes());
    }
}

fn graph(shape: &Shape) -> Vec<Vec<u32>> {
    (0..shape.len()).map(|at| shape.edges(at).iter().map(|edge| edge.to).collect()).collect()
}

#[test]
fn any_number_of_threads_finds_the_same() {
    // A state has more transitions than a thread keeps, and is the first, or some, or the last of
    // those that a thread expands.
    for one in [1, 700, 1500, 2999] {
        let mut star = Star { states: 3000, one, loops: KEPT + 3 };
        let alone = search(&mut star.clone(), &mut [], &Budget::default(), &mut Quiet);
        assert_eq!(alone.0.shape.count_edges(), 2999 + 3000 + KEPT as u64 + 3);
        for threads in [2, 3] {
            let mut workers = vec![star.clone(); threads];
            let many = search(&mut star, &mut workers, &Budget::default(), &mut Quiet);
            assert_eq!(graph(&alone.0.shape), graph(&many.0.shape), "{threads} threads, {one}");
            assert_eq!((alone.1, alone.2), (many.1, many.2));
        }
    }
}

#[test]
fn any_number_of_threads_stops_at_the_same_state() {
    let star = Star { states: 3000, one: 700, loops: KEPT };
    for most in [10, 999, 2999] {
        let budget = Budget { max_states: Some(most), ..Budget::default() };
        let alone = search(&mut star.clone(), &mut [], &budget, &mut Quiet);
        let many =
            search(&mut star.clone(), &mut [star.clone(), star.clone()], &budget, &mut Quiet);
        assert!(alone.2.is_some());
        assert_eq!(alone.2, many.2);
        assert_eq!(alone.0.nodes.len(), many.0.nodes.len());
    }
}
