//! How near the specs of memory.reclaim come to the bound of `overreclaim-within-bound`.

use crate::docs::table;
use mm_checker::claim::Claim;
use mm_checker::cost::Bound;
use mm_checker::spec::{Spec, library};
use mm_checker::value::{Expected, Value};
use mm_checker::verdict::Verdict;
use mm_model::design::{Lru, MemcgWalk, ReclaimBatch};
use mm_model::property::overreclaim_bound;
use mm_model::scenario::{ActorKind, Op, Pass, Scenario};

/// What a spec pins for a design, and the bound at its constants.
struct Maximum {
    file: String,
    design: String,
    scenario: Scenario,
    exact: u64,
    bound: u64,
    /// The spec says that the bound does not hold.
    beyond: bool,
}

impl Maximum {
    fn share(&self) -> u64 {
        self.exact * 100 / self.bound
    }

    /// The rule, and how its passes walk.
    fn rule(&self) -> (&'static str, &'static str) {
        let design = &self.scenario.design;
        let rule = match design.reclaim_batch {
            ReclaimBatch::Whole => "whole",
            ReclaimBatch::Clipped => "at most 32",
            ReclaimBatch::Fraction => "a fraction",
        };
        let walk = match (design.lru, design.memcg_walk) {
            (Lru::Classic, MemcgWalk::Shared) => "classic, stops at the goal",
            (Lru::Classic, MemcgWalk::Full) => "classic, visits all",
            (Lru::Mglru, MemcgWalk::Shared) => "MGLRU, stops at the goal",
            (Lru::Mglru, MemcgWalk::Full) => "MGLRU, visits all",
        };
        (rule, walk)
    }
}

/// The worst of the requests that the actors of a scenario make.
fn bound(scenario: &Scenario) -> u64 {
    let programs = scenario.actors.iter().flat_map(|actor| match &actor.kind {
        ActorKind::Task { program, .. } => program.as_slice(),
        ActorKind::DrainWorker | ActorKind::Device(_) | ActorKind::Kswapd { .. } => &[],
    });
    let bounds = programs.filter_map(|op| match op {
        Op::WriteReclaim { memcg, nr_pages } => {
            Some(overreclaim_bound(scenario, *memcg, *nr_pages).0)
        }
        Op::Charge { .. }
        | Op::Uncharge { .. }
        | Op::LruAdd { .. }
        | Op::WriteHigh { .. }
        | Op::WriteMax { .. }
        | Op::Stockpile { .. }
        | Op::Signal { .. }
        | Op::Mark { .. }
        | Op::Read { .. }
        | Op::Fault { .. }
        | Op::Access { .. }
        | Op::WillNeed { .. }
        | Op::Window { .. } => None,
    });
    bounds.max().expect("there is a request")
}

/// The exact maxima that specs pin.
fn maxima() -> Vec<Maximum> {
    let claim = Claim::parse("overreclaim per reclaim-write", |_| None).expect("it can be asked");
    let within = Claim::parse("overreclaim-within-bound", |_| None).expect("it is a property");
    let mut maxima = Vec::new();
    for found in library::load(&[]).expect("specs are good") {
        let spec: Spec = found.spec;
        for named in &spec.designs {
            let Some(expected) = spec.expectations.get(&named.name) else { continue };
            let answers = &expected.answers;
            let Some(Expected::Value(Value::Number(Bound::Most(exact)))) = answers.get(&claim)
            else {
                continue;
            };
            let scenario = spec.scenario(&named.design);
            let maximum = Maximum {
                file: spec.file.clone(),
                design: named.name.clone(),
                exact: *exact,
                bound: bound(&scenario),
                beyond: answers.get(&within) == Some(&Expected::Verdict(Verdict::Violated)),
                scenario,
            };
            if maximum.bound > 0 {
                maxima.push(maximum);
            }
        }
    }
    maxima
}

/// Every maximum beside its bound.
pub(crate) fn against_bounds() -> String {
    let rows = maxima().into_iter().map(|it| {
        assert_eq!(it.exact > it.bound, it.beyond, "{} {}", it.file, it.design);
        vec![
            format!("`{}`", it.file),
            it.design.clone(),
            it.exact.to_string(),
            it.bound.to_string(),
            format!("{} %", it.share()),
        ]
    });
    table("spec | design | exact maximum | bound | of it", rows)
}

/// For each rule and walk, the passes that walk and come nearest to the bound without exceeding it.
fn nearest() -> Vec<Maximum> {
    let mut nearest: Vec<Maximum> = Vec::new();
    let walked = |it: &Maximum| it.scenario.granularity.reclaim.pass == Pass::Walked;
    for it in maxima().into_iter().filter(|it| walked(it) && !it.beyond) {
        match nearest.iter_mut().find(|best| best.rule() == it.rule()) {
            Some(best) if (best.share(), best.exact) >= (it.share(), it.exact) => {}
            Some(best) => *best = it,
            None => nearest.push(it),
        }
    }
    nearest.sort_by_key(Maximum::rule);
    nearest
}

/// How near each rule comes.
pub(crate) fn margins() -> String {
    let rows = nearest().into_iter().map(|it| {
        let (rule, walk) = it.rule();
        vec![
            rule.to_owned(),
            walk.to_owned(),
            format!("{} of {}", it.exact, it.bound),
            format!("{} %", it.share()),
            format!("`{}`", it.file),
        ]
    });
    table("batch | LRU, walk | exact maximum | of the bound | spec", rows)
}

#[test]
fn a_walk_that_stops_at_the_goal_reaches_its_bound_under_each_rule() {
    let of = |rule: &str, walk: &str| {
        nearest().iter().find(|it| it.rule() == (rule, walk)).map(Maximum::share)
    };
    for rule in ["whole", "at most 32", "a fraction"] {
        assert_eq!(of(rule, "classic, stops at the goal"), Some(100), "{rule}");
        let least = if rule == "whole" { 100 } else { 94 };
        assert_eq!(of(rule, "classic, visits all"), Some(least), "{rule}");
    }
    assert_eq!(of("a fraction", "MGLRU, stops at the goal"), Some(100));
}
