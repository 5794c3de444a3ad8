use super::*;
use crate::engine::native::explore;
use crate::engine::reference;
use crate::engine::{Budget, Explored, Quiet};
use crate::replay::replay;
use crate::spec::library;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The most states of a search that is made with and without symmetry.
const SMALL: u64 = 7_000;

/// Every scenario of a spec in which tasks stand for one another, with its name.
fn scenarios() -> Vec<(String, Scenario)> {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs");
    let found = library::load(&[specs]).expect("the specs are good");
    let mut scenarios = Vec::new();
    for library::Found { spec, .. } in &found {
        for design in &spec.designs {
            let point = spec.points.iter().map(|point| point.scenario(&design.design));
            scenarios.extend(point.map(|point| (format!("{} {}", spec.file, design.name), point)));
        }
    }
    scenarios.retain(|(_, scenario)| Symmetry::of(scenario).is_ok());
    scenarios
}

/// How many states differ from this one in which task is which.
fn orbit(symmetry: &Symmetry, state: &State) -> u64 {
    let mut orbit = 1;
    for (group, as_first) in symmetry.groups.iter().zip(&symmetry.as_first) {
        let all = group.iter().zip(as_first);
        let mut portraits: Vec<Vec<u8>> =
            all.map(|(own, names)| portrait(state, own, names)).collect();
        portraits.sort();
        let same = portraits.chunk_by(|one, two| one == two).map(|same| factorial(same.len()));
        orbit *= factorial(group.len()) / same.product::<u64>();
    }
    orbit
}

fn factorial(number: usize) -> u64 {
    (1..=number as u64).product()
}

/// Every state of a search, packed with what was broken on the way to it; nothing of a large one.
fn search(scenario: &Scenario, reduction: Reduction) -> Option<(Explored, Vec<Node>)> {
    let budget = Budget { max_states: Some(SMALL), ..Budget::default() };
    let (explored, graph) = explore(scenario, reduction, 1, &budget, &mut Quiet);
    let graph = graph?;
    Some((explored, (0..graph.shape().len()).map(|at| graph.node(at)).collect()))
}

fn packed(node: &Node) -> Vec<u8> {
    let mut packed = Vec::new();
    node.pack(&mut packed);
    packed
}

#[test]
fn what_is_left_out_of_a_search_are_the_states_that_differ_in_which_task_is_which() {
    let (mut compared, mut broken) = (0, 0);
    for (name, scenario) in scenarios() {
        let symmetry = Arc::new(Symmetry::of(&scenario).expect("its tasks are alike"));
        let fuse = Fuse::OwnLocal;
        let reduction = Reduction { fuse, symmetry: Some(Arc::clone(&symmetry)) };
        let Some((all, states)) = search(&scenario, fuse.into()) else { continue };
        let (reduced, left) = search(&scenario, reduction.clone()).expect("it is no larger");
        let orbits = left.iter().map(|node| orbit(&symmetry, &node.state()));
        assert_eq!(orbits.sum::<u64>(), all.states, "{name}");
        let stands = |node: &Node| {
            packed(&Node::new(&symmetry.representative(&node.state()), node.violated))
        };
        let stand: BTreeSet<Vec<u8>> = states.iter().map(stands).collect();
        assert_eq!(stand, left.iter().map(packed).collect(), "{name}");
        assert_eq!((all.applied, all.violated), (reduced.applied, reduced.violated), "{name}");
        let steps = |found: &Explored| -> Vec<Option<usize>> {
            let ways = found.traces.iter();
            ways.map(|way| way.as_ref().map(|way| way.choices.len())).collect()
        };
        assert_eq!(steps(&all), steps(&reduced), "{name}");
        let (oracle, _) =
            reference::explore(&scenario, reduction, &Budget::default(), &mut Quiet, false);
        for way in reduced.traces.iter().chain(&oracle.traces).flatten() {
            assert!(replay(&scenario, fuse, &way.choices).is_ok(), "{name}");
            broken += 1;
        }
        compared += 1;
    }
    assert!(compared > 25 && broken > 5, "{compared} searches, {broken} counterexamples");
}
