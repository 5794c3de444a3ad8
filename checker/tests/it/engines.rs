//! The engines say the same, with and without fusing.

use crate::scenarios::{all, explored};
use crate::support::mmcheck;
use mm_checker::cost::{self, Bound};
use mm_checker::engine::{Budget, Explored, Quiet, native, stateright};
use mm_checker::graph::{Edge, Graph, Shape};
use mm_checker::liveness::{Fairness, livelock, starvation};
use mm_checker::replay::replay;
use mm_checker::verdict::Verdict;
use mm_model::env::Operation;
use mm_model::ids::ActorId;
use mm_model::machine::Fuse;
use mm_model::measure::{Amount, MEASURES};
use mm_model::property::PROPERTIES;
use mm_model::scenario::{ActorKind, Scenario};

fn by_stateright(scenario: &Scenario, fuse: Fuse) -> Explored {
    stateright::explore(scenario, fuse, &Budget::default(), 1, &mut Quiet)
}

#[test]
fn the_engines_agree_on_states_transitions_and_verdicts() {
    for (name, scenario) in all() {
        for fuse in [Fuse::No, Fuse::OwnLocal] {
            let (exact, _) = explored(&scenario, fuse);
            let found = by_stateright(&scenario, fuse);
            let said = |explored: &Explored| {
                let Explored { states, transitions, depth, stopped, applied, violated, .. } =
                    explored;
                (*states, *transitions, *depth, *stopped, *applied, *violated)
            };
            assert_eq!(said(&exact), said(&found), "{name}, {fuse:?}");
            assert!(exact.states > 1 && exact.stopped.is_none());
        }
    }
}

#[test]
fn the_fast_engine_finds_the_graph_and_the_traces_of_the_oracle() {
    for (name, scenario) in all() {
        for fuse in [Fuse::No, Fuse::OwnLocal] {
            let (exact, oracle) = explored(&scenario, fuse);
            let (found, graph) =
                native::explore(&scenario, fuse, 1, &Budget::default(), &mut Quiet);
            let graph = graph.expect("a search without a budget is complete");
            let said = |explored: &Explored| {
                let Explored { states, transitions, depth, stopped, applied, violated, .. } =
                    explored;
                (*states, *transitions, *depth, *stopped, *applied, *violated)
            };
            assert_eq!(said(&exact), said(&found), "{name}, {fuse:?}");
            assert_eq!(exact.traces, found.traces, "{name}, {fuse:?}");
            let (one, other) = (oracle.shape(), graph.shape());
            assert_eq!(one.len(), other.len());
            for node in 0..one.len() {
                assert_eq!(oracle.node(node), graph.node(node), "{name}, {fuse:?}");
                let edges = |shape: &Shape| {
                    let edge = |edge: &Edge| (edge.to, shape.label(edge).clone());
                    shape.edges(node).iter().map(edge).collect::<Vec<_>>()
                };
                assert_eq!(edges(one), edges(other), "{name}, {fuse:?}");
                let open =
                    |shape: &Shape| scenario.actor_ids().map(|a| shape.open(node, a)).collect();
                let (mine, theirs): (Vec<_>, Vec<_>) = (open(one), open(other));
                assert_eq!(mine, theirs);
            }
        }
    }
}

#[test]
fn fusing_changes_no_cost_and_no_ratio() {
    let (mut bounded, mut unbounded) = (0, 0);
    for (name, scenario) in all() {
        let [single, fused] = [Fuse::No, Fuse::OwnLocal].map(|fuse| explored(&scenario, fuse).1);
        for (at, measure) in MEASURES.iter().enumerate() {
            let place = format!("{name}: {}", measure.name);
            if let Amount::Level(_) = measure.amount {
                let [one, other] =
                    [&single, &fused].map(|graph| cost::peak(graph, &scenario, at).bound);
                assert!(one >= other, "{place}: what is between fused steps is not seen");
                continue;
            }
            for operation in [Operation::Charge, Operation::Uncharge] {
                let [one, other] = [&single, &fused].map(|graph| {
                    let worst = cost::worst(graph, &scenario, at, operation);
                    (worst.bound, worst.fairness)
                });
                assert_eq!(one, other, "{place} per {operation}");
                bounded += u32::from(matches!(one.0, Some(Bound::Most(most)) if most > 0));
                unbounded += u32::from(one.0 == Some(Bound::Unbounded));
                let [one, other] = [&single, &fused].map(|graph| {
                    let ratio = cost::ratio(graph, &scenario, at, operation);
                    (ratio.bound, ratio.fairness)
                });
                assert_eq!(one, other, "{place} per-each {operation}");
            }
        }
    }
    assert!(bounded > 20 && unbounded > 20, "{bounded} {unbounded}");
}

#[test]
fn the_scenarios_break_what_their_designs_are_made_to_break() {
    let mut broken = Vec::new();
    for (name, scenario) in all() {
        let (found, _) = explored(&scenario, Fuse::OwnLocal);
        broken.extend(found.violated.positions().map(|at| (name, PROPERTIES[at].name)));
    }
    let expected = [
        ("held and cached, in the kernel's steps", "no-transient-excess"),
        ("held and cached, in the kernel's steps", "no-spurious-refusal"),
        ("stocks and drains, in the kernel's steps", "no-transient-excess"),
        ("stocks and drains, in the kernel's steps", "no-spurious-refusal"),
        ("compares before it adds", "usage-within-max"),
        ("undoes one level", "charges-conserved"),
        ("undoes one level", "usage-within-max"),
        ("undoes one level", "no-transient-excess"),
        ("undoes one level", "no-spurious-refusal"),
        ("undoes one level", "nothing-leaked"),
        ("refuses what must not fail", "errors-legitimate"),
        ("room for one, in the kernel's steps", "no-transient-excess"),
        ("room for one and one is forced, in the kernel's steps", "no-transient-excess"),
        ("readahead kills", "speculative-charge-never-ooms"),
    ];
    assert_eq!(broken, expected);
}

#[test]
fn drain_workers_have_work_where_there_are_stocks() {
    for (name, scenario) in all() {
        let (_, graph) = explored(&scenario, Fuse::No);
        let works = |actor: ActorId| scenario.actors[actor.index()].kind == ActorKind::DrainWorker;
        let mut edges = (0..graph.shape().len()).flat_map(|node| graph.shape().edges(node));
        assert_eq!(
            edges.any(|edge| works(graph.shape().actor(edge))),
            name.contains("drains"),
            "{name}"
        );
    }
}

#[test]
fn fusing_changes_no_verdict_and_saves_states() {
    for (name, scenario) in all() {
        let (fused, _) = explored(&scenario, Fuse::OwnLocal);
        let (single, _) = explored(&scenario, Fuse::No);
        let verdicts =
            |explored: &Explored| (0..PROPERTIES.len()).map(|at| explored.verdict(at)).collect();
        let (fused_says, single_says): (Vec<_>, Vec<_>) = (verdicts(&fused), verdicts(&single));
        assert_eq!(fused_says, single_says, "{name}");
        assert!(fused.states < single.states, "{name}");
    }
}

#[test]
fn fusing_changes_no_verdict_of_a_spec_with_forced_charges_levels_or_stocks() {
    let specs = [
        "specs/charge/drain-reaches-every-cpu.toml",
        "specs/charge/failing-level-is-the-parent.toml",
        "specs/charge/forced-charge-of-two-levels.toml",
        "specs/charge/forced-charges-exceed-max.toml",
        "specs/charge/memsw-stock.toml",
        "specs/charge/stock-slots.toml",
    ];
    let ran = mmcheck(&[&["check", "--engine=reference", "--no-fuse"], &specs[..]].concat());
    assert_eq!(ran.status, 0, "{}", ran.out);
}

#[test]
fn fusing_changes_no_answer_about_progress() {
    let mut lassos = 0;
    for (name, scenario) in all() {
        let [single, fused] = [Fuse::No, Fuse::OwnLocal].map(|fuse| explored(&scenario, fuse).1);
        for operation in [Operation::Charge, Operation::Uncharge] {
            for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
                let ask = |graph: &Graph| {
                    let starve = |actor| starvation(graph, &scenario, operation, actor, fairness);
                    let mut answers: Vec<_> =
                        scenario.actor_ids().map(|actor| starve(actor).verdict()).collect();
                    answers.push(livelock(graph, &scenario, operation, fairness).verdict());
                    answers
                };
                let answers = ask(&single);
                assert_eq!(answers, ask(&fused), "{name}: {operation}, {fairness}");
                lassos += answers.iter().filter(|answer| **answer == Verdict::Violated).count();
            }
        }
    }
    assert!(lassos > 10, "there are lassos to compare");
}

#[test]
fn two_threads_find_what_one_finds() {
    for (name, scenario) in all() {
        let [one, two] = [1, 2].map(|threads| {
            let budget = Budget::default();
            let found =
                stateright::explore(&scenario, Fuse::OwnLocal, &budget, threads, &mut Quiet);
            (found.states, found.transitions, found.applied, found.violated)
        });
        assert_eq!(one, two, "{name}");
    }
}

#[test]
fn a_trace_replays_into_its_violation_and_the_reference_engines_is_shortest() {
    for (name, scenario) in all() {
        let (exact, graph) = explored(&scenario, Fuse::OwnLocal);
        let found = by_stateright(&scenario, Fuse::OwnLocal);
        for (at, property) in PROPERTIES.iter().enumerate() {
            let violated = exact.verdict(at) == Verdict::Violated;
            assert_eq!(exact.traces[at].is_some(), violated);
            let (Some(trace), Some(other)) = (&exact.traces[at], &found.traces[at]) else {
                continue;
            };
            let shortest = distance(&graph, |node| graph.node(node).violated.contains(at));
            assert_eq!(trace.choices.len(), shortest, "{name}: {}", property.name);
            assert!(other.choices.len() >= shortest);
            for trace in [trace, other] {
                let steps =
                    replay(&scenario, Fuse::OwnLocal, &trace.choices).expect("it is a path");
                let end =
                    steps.last().map_or_else(|| scenario.initial(), |step| step.state.clone());
                let ends = |node: u32| {
                    graph.node(node).violated.contains(at) && graph.node(node).state() == end
                };
                assert!((0..graph.shape().len()).any(ends), "{name}: {}", property.name);
            }
        }
    }
}

/// How far the nearest such node is from the start, level by level.
fn distance(graph: &Graph, wanted: impl Fn(u32) -> bool) -> usize {
    let mut seen = vec![false; graph.shape().len() as usize];
    let mut level = vec![0];
    for steps in 0.. {
        if level.iter().any(|node| wanted(*node)) {
            return steps;
        }
        assert!(!level.is_empty(), "there is such a node");
        let next = level.iter().flat_map(|node| graph.shape().edges(*node)).map(|edge| edge.to);
        level = next.filter(|to| !std::mem::replace(&mut seen[*to as usize], true)).collect();
    }
    unreachable!("a graph has an end")
}
