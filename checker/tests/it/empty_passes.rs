//! Passes that free nothing although they could: none, so many within each operation, or any.

use crate::support::answers;
use mm_checker::engine::{Budget, Quiet, native};
use mm_checker::spec::{Spec, parse};
use mm_model::machine::Fuse;
use mm_model::state::State;

/// The flagship with that in place of its ration.
fn spec(may_fail: &str) -> Spec {
    let text = include_str!("../../../specs/faults/empty-passes.toml");
    let ration = "pass-may-fail = 2";
    assert!(text.contains(ration));
    parse("empty.toml", &text.replace(ration, &format!("pass-may-fail = {may_fail}")))
        .expect("the spec is right")
}

/// The answer of both designs, which is the same.
fn answer(spec: &Spec, asked: &str) -> String {
    let answers = answers(spec, asked);
    assert_eq!(answers[0], answers[1], "{asked}");
    answers[0].clone()
}

#[test]
fn a_fault_comes_to_the_oom_killer_with_as_many_empty_passes_as_it_has_retries_and_one() {
    let answers = ["false", "1", "2", "true"].map(|may_fail| {
        let spec = spec(may_fail);
        ["oom-invocations per access", "livelock-free access"].map(|asked| answer(&spec, asked))
    });
    let expected = [["0", "holds"], ["0", "holds"], ["1", "holds"], ["unbounded", "violated"]];
    assert_eq!(answers, expected);
}

#[test]
fn empty_passes_are_counted_up_to_the_ration_and_within_operations_only() {
    let spec = spec("1");
    for design in &spec.designs {
        let scenario = spec.scenario(&design.design);
        let explored = native::explore(&scenario, Fuse::No, 1, &Budget::default(), &mut Quiet);
        let graph = explored.1.expect("nothing stops the search");
        let mut counted = 0_u64;
        for at in 0..graph.shape().len() {
            let State { actors, .. } = graph.node(at).state();
            for actor in &actors {
                let empty = actor.current.empty_passes;
                assert!(empty <= 1);
                assert!(empty == 0 || !actor.open().is_empty(), "{actor:?}");
                counted += u64::from(empty);
            }
        }
        assert!(counted > 0, "some operations meet one");
    }
}
