//! Steps and states as a person reads them.

use crate::scenarios::two_at_the_limit;
use crate::support::mmcheck;
use mm_checker::render;
use mm_checker::replay::{replay, step};
use mm_checker::verdict::Choice;
use mm_model::design::Changes;
use mm_model::ids::ActorId;
use mm_model::machine::Fuse;
use std::fmt::Write as _;

#[test]
fn a_charge_at_the_limit_reads_like_the_kernel() {
    let scenario = two_at_the_limit(&Changes::NONE);
    let mut state = scenario.initial();
    let mut text = String::new();
    for _ in 0..7 {
        let choice = Choice { actor: ActorId(0), answers: Vec::new() };
        let step = step(&scenario, Fuse::No, &state, &choice).expect("A can step");
        writeln!(text, "{}", render::step(&scenario, &state, ActorId(0), &step.events))
            .expect("a string takes all");
        state = step.state;
    }
    insta::assert_snapshot!(text + "\n" + &render::state(&scenario, &state));
}

#[test]
fn a_choice_that_can_not_be_made_is_an_error() {
    let scenario = two_at_the_limit(&Changes::NONE);
    let failing = |actor, answers: &[u64]| {
        let choices = [0, actor].map(|actor| Choice {
            actor: ActorId(actor),
            answers: if actor == 0 { Vec::new() } else { answers.to_vec() },
        });
        replay(&scenario, Fuse::No, &choices).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(failing(1, &[]), Ok(()));
    assert_eq!(failing(7, &[]), Err("step 2: there is no such actor".to_owned()));
    assert_eq!(failing(1, &[3]), Err("step 2: the step asks for fewer answers".to_owned()));
}

/// The counterexample of a design of a spec, which shows what steps announce and no verdict tells.
fn counterexample(spec: &str) -> String {
    let ran = mmcheck(&["check", "--engine=reference", "--verbose", "--design=refuses", spec]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let start = ran.out.find("    how ").expect("there is a counterexample");
    ran.out[start..].to_owned()
}

#[test]
fn who_stays_over_memory_high_is_seen_to_sleep_as_long_as_the_kernel_makes_it() {
    insta::assert_snapshot!(counterexample("specs/charge/memory-high-penalty.toml"));
}

#[test]
fn what_a_drain_and_an_interrupt_announce_is_seen() {
    insta::assert_snapshot!(counterexample("specs/controls/nofail-refused-after-a-drain.toml"));
}
