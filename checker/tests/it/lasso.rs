//! The first lasso: the uncounted retry S13 starves a charge. An independent witness finds the
//! same by other means.

use crate::scenarios::{Small, charge, explored, lru_add, two_at_the_limit, uncharge};
use mm_checker::claim::Rung;
use mm_checker::engine::{Budget, Quiet, native};
use mm_checker::ladder::standing;
use mm_checker::liveness::{Fairness, livelock, starvation};
use mm_checker::node::{Node, expand, initial};
use mm_checker::spec::library::EMBEDDED;
use mm_checker::spec::parse;
use mm_checker::verdict::Verdict;
use mm_model::design::{Changes, MarginRetry, ProgressRetry};
use mm_model::env::{Event, Operation};
use mm_model::ids::ActorId;
use mm_model::machine::Fuse;
use mm_model::scenario::Scenario;
use stateright::{Checker, Model, Property};
use std::ops::ControlFlow;

const A: ActorId = ActorId(0);

fn uncounted() -> Scenario {
    two_at_the_limit(&Changes::NONE)
}

fn counted() -> Scenario {
    two_at_the_limit(&Changes {
        margin_retry: Some(MarginRetry::Counted),
        progress_retry: Some(ProgressRetry::Counted),
        ..Changes::NONE
    })
}

fn starves(scenario: &Scenario, fuse: Fuse, fairness: Fairness) -> bool {
    let (_, graph) = explored(scenario, fuse);
    let answer = starvation(&graph, scenario, Operation::Charge, A, fairness);
    assert!(answer.applied);
    answer.verdict() == Verdict::Violated
}

#[test]
fn others_can_take_the_margin_before_every_retry_also_of_a_noretry_charge() {
    for fuse in [Fuse::No, Fuse::OwnLocal] {
        assert!(starves(&uncounted(), fuse, Fairness::Weak));
        assert!(!starves(&counted(), fuse, Fairness::Weak));
    }
}

#[test]
fn without_fairness_whoever_never_gets_to_step_starves() {
    assert!(starves(&counted(), Fuse::OwnLocal, Fairness::None));
}

#[test]
fn while_one_charge_starves_another_succeeds() {
    let (_, graph) = explored(&uncounted(), Fuse::OwnLocal);
    let answer = livelock(&graph, &uncounted(), Operation::Charge, Fairness::Weak);
    assert_eq!(answer.verdict(), Verdict::Holds);
    let answer = livelock(&graph, &uncounted(), Operation::Uncharge, Fairness::Weak);
    assert_eq!(answer.verdict(), Verdict::Vacuous);
}

#[test]
fn a_charge_that_waits_for_a_move_that_never_ends_is_a_livelock() {
    let charges = |preset| {
        let scenario = Small::job(0).preset(preset).charge_moving();
        scenario.forever("A", &[charge(1, "kernel")]).build()
    };
    for (preset, verdict) in [("linux-6.12", Verdict::Violated), ("linux-7.3", Verdict::Holds)] {
        let scenario = charges(preset);
        let (_, graph) = explored(&scenario, Fuse::OwnLocal);
        let answer = livelock(&graph, &scenario, Operation::Charge, Fairness::Weak);
        assert_eq!(answer.verdict(), verdict, "{preset}");
    }
}

/// Turns the question whether an actor's charge can stay open for ever into one about states: at any
/// time while it is open, remember the node; when the same node comes again, the charge has not
/// ended in between, and every actor has stepped or been disabled, there is a fair lasso.
struct Witness {
    scenario: Scenario,
    fuse: Fuse,
    actor: ActorId,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Watched {
    node: Node,
    /// The node remembered, and for each actor whether it got its due since.
    remembered: Option<(Node, Vec<bool>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Move {
    actor: ActorId,
    answers: Vec<u64>,
    to: Watched,
}

impl Watched {
    fn is_lasso(&self) -> bool {
        let closed = |(node, due): &(Node, Vec<bool>)| *node == self.node && !due.contains(&false);
        self.remembered.as_ref().is_some_and(closed)
    }
}

impl Witness {
    /// Whether the actor's charge is open.
    fn open(&self, node: &Node) -> bool {
        let open = node.state().actors[self.actor.index()].open();
        open.iter().any(|(operation, _)| *operation == Operation::Charge)
    }

    fn disabled(&self, node: &Node) -> Vec<bool> {
        let state = node.state();
        self.scenario.actor_ids().map(|actor| !self.scenario.enabled(&state, actor)).collect()
    }
}

impl Model for Witness {
    type State = Watched;
    type Action = Move;

    fn init_states(&self) -> Vec<Watched> {
        vec![Watched { node: initial(&self.scenario).0, remembered: None }]
    }

    fn actions(&self, at: &Watched, moves: &mut Vec<Move>) {
        // What is watched from here on: nothing, what was already, or this very node.
        let mut watches = vec![at.remembered.clone()];
        if at.remembered.is_none() && self.open(&at.node) {
            watches.push(Some((at.node.clone(), self.disabled(&at.node))));
        }
        let _ = expand(&self.scenario, &self.fuse.into(), &at.node, |edge, node| {
            let ended = edge.actor == self.actor
                && edge
                    .events
                    .iter()
                    .any(|event| matches!(event, Event::End(Operation::Charge, ..)));
            for watch in &watches {
                let mut remembered = watch.clone().filter(|_| !ended);
                if let Some((_, due)) = &mut remembered {
                    due[edge.actor.index()] = true;
                    due.iter_mut().zip(self.disabled(&node)).for_each(|(due, also)| *due |= also);
                }
                let to = Watched { node: node.clone(), remembered };
                let answers = edge.answers.answers().collect();
                let step = Move { actor: edge.actor, answers, to };
                if !moves.contains(&step) {
                    moves.push(step);
                }
            }
            ControlFlow::Continue(())
        });
    }

    fn next_state(&self, _: &Watched, action: Move) -> Option<Watched> {
        Some(action.to)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no lasso", |_, at: &Watched| !at.is_lasso()),
            Property::always("every reachable state is visited", |_, _| true),
        ]
    }
}

fn witness_starves(scenario: &Scenario, fuse: Fuse, actor: ActorId) -> bool {
    let witness = Witness { scenario: scenario.clone(), fuse, actor };
    let checker = witness.checker().spawn_bfs().join();
    let lasso = checker.discovery("no lasso");
    if let Some(path) = &lasso {
        assert!(path.last_state().is_lasso());
    }
    lasso.is_some()
}

#[test]
fn stateright_finds_a_lasso_exactly_where_the_graph_has_one() {
    let cached = [charge(1, "readahead"), lru_add(1)];
    let held = [charge(1, "readahead"), uncharge(1)];
    let scenarios = [
        ("uncounted", uncounted(), true),
        ("counted", counted(), false),
        (
            "the other stops",
            Small::job(1).lru(1).forever("A", &cached).once("B", &cached).build(),
            false,
        ),
        ("nobody else", Small::job(1).lru(1).forever("A", &cached).build(), false),
        // No pass frees anything here: the margin is what the other uncharges, and takes again.
        (
            "the other holds its page",
            Small::job(1).forever("A", &held).forever("B", &held).build(),
            true,
        ),
        ("room for both", Small::job(2).forever("A", &held).forever("B", &held).build(), false),
        (
            "with stocks",
            Small::job(2).batch(2).lru(1).forever("A", &cached).forever("B", &cached).build(),
            true,
        ),
    ];
    for (name, scenario, expected) in scenarios {
        assert_eq!(starves(&scenario, Fuse::OwnLocal, Fairness::Weak), expected, "{name}: graph");
        assert_eq!(witness_starves(&scenario, Fuse::OwnLocal, A), expected, "{name}: witness");
    }
}

#[test]
fn the_witness_needs_no_fusing() {
    assert!(witness_starves(&uncounted(), Fuse::No, A));
    assert!(!witness_starves(&counted(), Fuse::No, A));
}

/// The witness remembers one state in each: it sees the square of what there is.
const TINY: u64 = 400;

#[test]
fn the_witness_confirms_every_lasso_verdict_of_the_tiny_specs() {
    let (mut holds, mut violated) = (0, 0);
    for (file, text) in EMBEDDED {
        let spec = parse(file, text).expect("a spec of the library is sound");
        for design in &spec.designs {
            for point in &spec.points {
                let scenario = point.scenario(&design.design);
                let budget = Budget { max_states: Some(TINY), ..Budget::default() };
                let (_, graph) = native::explore(&scenario, Fuse::OwnLocal, 1, &budget, &mut Quiet);
                let Some(graph) = graph else { continue };
                for actor in scenario.actor_ids() {
                    let charge = Operation::Charge;
                    let answer = starvation(&graph, &scenario, charge, actor, Fairness::Weak);
                    let starves = answer.verdict() == Verdict::Violated;
                    let place = format!("{file}, {}: {actor:?}", design.name);
                    let witness = witness_starves(&scenario, Fuse::OwnLocal, actor);
                    assert_eq!(witness, starves, "{place}");
                    *(if starves { &mut violated } else { &mut holds }) += 1;
                }
            }
        }
    }
    assert!(holds > 20 && violated > 10, "{holds} hold, {violated} are violated");
}

#[test]
fn on_one_cpu_nobody_takes_the_margin_before_the_retry() {
    let ask = |scenario: &Scenario, fairness| {
        let (_, graph) = explored(scenario, Fuse::No);
        starvation(&graph, scenario, Operation::Charge, A, fairness).verdict()
    };
    // The retry without a count needs somebody who takes the margin in between.
    assert_eq!(ask(&uncounted(), Fairness::Strong), Verdict::Violated);
    assert_eq!(ask(&uncounted(), Fairness::RunToYield), Verdict::Holds);
    // Waiting for a move that never ends, a charge spins and keeps everybody out.
    let held = [charge(1, "kernel")];
    let moving = Small::job(0).preset("linux-6.12").charge_moving().forever("A", &held).build();
    assert_eq!(ask(&moving, Fairness::RunToYield), Verdict::Violated);
}

#[test]
fn the_ladder_says_how_high_a_charge_stands_and_under_what() {
    let standing = |scenario: &Scenario| {
        let (_, graph) = explored(scenario, Fuse::OwnLocal);
        let found = standing(&graph, scenario, Operation::Charge);
        (found.rung, found.fairness)
    };
    let alone = Small::job(1).lru(1).once("A", &[charge(1, "readahead")]).build();
    assert_eq!(standing(&alone), (Some(Rung::WaitFree), Some(Fairness::None)));
    // Counted, a charge ends within a bounded number of its own steps.
    assert_eq!(standing(&counted()), (Some(Rung::WaitFree), Some(Fairness::None)));
    // Uncounted, one charge can starve another whatever is assumed; some charge always ends.
    let (rung, _) = standing(&uncounted());
    assert_eq!(rung, Some(Rung::LivelockFree));
    let held = [charge(1, "kernel")];
    let moving = Small::job(0).preset("linux-6.12").charge_moving().forever("A", &held).build();
    assert_eq!(standing(&moving), (Some(Rung::None), None));
}
