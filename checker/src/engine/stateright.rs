//! stateright behind the model: the engine that decides the safety properties, and its Explorer.
//!
//! What stateright 0.31 does not do by itself is done here. It stops expanding where every
//! property is decided, so one more that always holds keeps it going. Its time limit has no
//! effect on one thread and leaves no sign, so the model itself runs dry when a budget is spent,
//! and completeness is recorded here. Its counterexamples are not always the shortest.

use super::{Budget, Explored, Meter, Progress, Stopped};
use crate::check::Counterexample;
use crate::explain::Walk;
use crate::explain::svg::{Theme, svg};
use crate::node::{Node, PropertySet, Reduction, expand, initial};
use crate::render;
use crate::replay::{Step, replay};
use crate::verdict::{Choice, Trace};
use indexmap::IndexSet;
use mm_model::ids::ActorId;
use mm_model::property::PROPERTIES;
use mm_model::scenario::Scenario;
use mm_model::state::State;
use rustc_hash::FxBuildHasher;
use stateright::{Checker, Model, Path, Property};
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

mod explorer;
pub use explorer::{ServeError, Served, complete, deep_link, serve};

/// The property that keeps a search going.
const VISITED: &str = "every reachable state is visited";

/// Bytes of a fingerprint in the table of those seen, with its parent and the table's free room.
const SEEN_BYTES: u64 = 32;

/// From how many transitions of one node on they are looked at.
const LOOK_FROM: usize = 1024;

/// The model, and what it finds out about itself while it is searched.
struct Searched {
    scenario: Scenario,
    reduction: Reduction,
    /// Nothing is counted and no budget applies: paths are walked again, or a person explores.
    walking: AtomicBool,
    /// Whether actions carry their text.
    readable: bool,
    /// Further properties, each with the node that breaks it: where the loop of a lasso begins.
    lassos: Vec<(&'static str, Node)>,
    meter: Meter,
    stopped: OnceLock<Stopped>,
    /// Whether some node was not expanded: a budget that runs out after the last one is enough.
    left_out: AtomicBool,
    expanded: AtomicU64,
    applied: AtomicU32,
}

/// A transition, with the node it leads to. No two out of one node are equal, since the answers
/// differ.
#[derive(Clone, Debug, PartialEq)]
struct Action {
    actor: ActorId,
    answers: Vec<u64>,
    to: Node,
    text: String,
}

fn unbroken<const AT: usize>(_: &Searched, node: &Node) -> bool {
    !node.violated.contains(AT)
}

macro_rules! unbroken {
    ($($at:literal)+) => { [$(unbroken::<$at>),+] };
}

/// Whether a node is free of violations of the property at each position: stateright takes plain
/// functions only.
const UNBROKEN: [fn(&Searched, &Node) -> bool; 32] = unbroken!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
);

fn loopless<const AT: usize>(model: &Searched, node: &Node) -> bool {
    model.lassos.get(AT).is_none_or(|(_, entry)| entry.state() != node.state())
}

macro_rules! loopless {
    ($($at:literal)+) => { [$(loopless::<$at>),+] };
}

/// Whether a node is not where the lasso at each position begins to go round.
const LOOPLESS: [fn(&Searched, &Node) -> bool; 8] = loopless!(0 1 2 3 4 5 6 7);

const _: () = assert!(PROPERTIES.len() <= UNBROKEN.len(), "every property needs its function");

impl Searched {
    fn new(scenario: &Scenario, reduction: Reduction, budget: &Budget, readable: bool) -> Self {
        Self {
            scenario: scenario.clone(),
            reduction,
            walking: AtomicBool::new(readable),
            readable,
            lassos: Vec::new(),
            meter: Meter::start(budget),
            stopped: OnceLock::new(),
            left_out: AtomicBool::new(false),
            expanded: AtomicU64::new(0),
            applied: AtomicU32::new(initial(scenario).1.bits()),
        }
    }

    /// Counts a node that is about to be expanded; true if it must not be.
    fn spent(&self) -> bool {
        if self.stopped.get().is_none() {
            let expanded = self.expanded.fetch_add(1, Ordering::Relaxed) + 1;
            match self.meter.spent(expanded, expanded * SEEN_BYTES) {
                Some(stopped) => self.stop(stopped),
                None => return false,
            }
        }
        self.left_out.store(true, Ordering::Relaxed);
        true
    }

    /// Whether the transitions of one node alone use up a budget. That is looked at whenever their
    /// number has doubled.
    fn spent_on(&self, actions: &[Action]) -> bool {
        let count = actions.len();
        if count < LOOK_FROM || !count.is_power_of_two() || self.walking.load(Ordering::Relaxed) {
            return false;
        }
        let distinct: IndexSet<&Node, FxBuildHasher> = actions.iter().map(|it| &it.to).collect();
        let each = size_of::<Action>() + actions[0].to.bytes();
        let Some(stopped) = self.meter.spent(distinct.len() as u64, (count * each) as u64) else {
            return false;
        };
        self.stop(stopped);
        self.left_out.store(true, Ordering::Relaxed);
        true
    }

    fn stop(&self, stopped: Stopped) {
        // Another thread may have been first; any of the reasons will do.
        let _ = self.stopped.set(stopped);
    }

    /// Bytes the search holds: fingerprints, and the nodes that wait, each with its whole path.
    fn bytes(&self, states: u64, depth: u64) -> u64 {
        let waiting = states.saturating_sub(self.expanded.load(Ordering::Relaxed));
        let node = (size_of::<Node>() + 2 * size_of::<Vec<usize>>()) as u64;
        let packed = initial(&self.scenario).0.bytes() as u64;
        states * SEEN_BYTES + waiting * (node + packed + depth * size_of::<usize>() as u64)
    }
}

impl Searched {
    /// A path, to be taken again.
    fn choices(&self, path: Vec<Action>) -> Vec<Choice> {
        let Self { scenario, reduction, .. } = self;
        if let Some(symmetry) = &reduction.symmetry {
            let path: Vec<Node> = path.into_iter().map(|action| action.to).collect();
            return symmetry.choices(scenario, reduction.fuse, &path);
        }
        let choice = |Action { actor, answers, .. }| Choice { actor, answers };
        path.into_iter().map(choice).collect()
    }
}

impl Model for Searched {
    type State = Node;
    type Action = Action;

    fn init_states(&self) -> Vec<Node> {
        vec![initial(&self.scenario).0]
    }

    fn actions(&self, node: &Node, actions: &mut Vec<Action>) {
        if !self.walking.load(Ordering::Relaxed) && self.spent() {
            return;
        }
        let from = self.readable.then(|| node.state());
        let mut applied = PropertySet::default();
        let _ = expand(&self.scenario, &self.reduction, node, |edge, to| {
            applied = applied.union(edge.applied);
            let text = from.as_ref().map_or_else(String::new, |from| {
                render::step(&self.scenario, from, edge.actor, edge.events)
            });
            let answers = edge.answers.answers().collect();
            actions.push(Action { actor: edge.actor, answers, to, text });
            if self.spent_on(actions) {
                // A path through this node could only be walked again past all of them.
                actions.clear();
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        self.applied.fetch_or(applied.bits(), Ordering::Relaxed);
    }

    fn next_state(&self, _: &Node, action: Action) -> Option<Node> {
        Some(action.to)
    }

    fn format_action(&self, action: &Action) -> String {
        action.text.clone()
    }

    fn format_step(&self, _: &Node, action: Action) -> Option<String> {
        Some(render::state(&self.scenario, &action.to.state()))
    }

    fn as_svg(&self, path: Path<Node, Action>) -> Option<String> {
        let choices = self.choices(path.into_actions());
        let steps = replay(&self.scenario, self.reduction.fuse, &choices).ok()?;
        let cycle_from = comes_back(&self.scenario.initial(), &steps);
        let path = Counterexample { steps, cycle_from, stuck: Vec::new(), identity: None };
        Some(svg(&Walk::new(&self.scenario, &path), "the path so far", Theme::Light))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let always = |(at, property): (usize, &&mm_model::property::Property)| {
            Property::always(property.name, UNBROKEN[at])
        };
        let lassos = self.lassos.iter().zip(LOOPLESS);
        let lassos = lassos.map(|((name, _), loopless)| Property::always(name, loopless));
        let visited = Property::always(VISITED, |_, _| true);
        PROPERTIES.iter().enumerate().map(always).chain(lassos).chain([visited]).collect()
    }
}

/// Where a path that ends where it was before has been there.
fn comes_back(initial: &State, steps: &[Step]) -> Option<usize> {
    let (last, before) = steps.split_last()?;
    let states = std::iter::once(initial).chain(before.iter().map(|step| &step.state));
    states.into_iter().position(|state| *state == last.state)
}

/// Visits every reachable node on that many threads. With more than one, `depth` may be larger
/// than the shortest way to the farthest node.
///
/// # Panics
/// If a step of the model panics.
pub fn explore(
    scenario: &Scenario,
    reduction: impl Into<Reduction>,
    budget: &Budget,
    threads: usize,
    progress: &mut dyn Progress,
) -> Explored {
    let model = Searched::new(scenario, reduction.into(), budget, false);
    let mut checker = model.checker().threads(threads.max(1)).spawn_bfs();
    let mut workers = checker.handles();
    let mut pause = Duration::from_micros(50);
    while !workers.iter().all(JoinHandle::is_finished) {
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
        let (states, depth) = (checker.unique_state_count() as u64, checker.max_depth() as u64);
        let model = checker.model();
        let expanded = model.expanded.load(Ordering::Relaxed);
        let transitions = (checker.state_count() as u64).saturating_sub(1);
        let waiting = states.saturating_sub(expanded);
        progress.update(states, transitions, depth.saturating_sub(1), waiting);
        // The nodes that wait are known here only.
        if let Some(stopped) = model.meter.spent(0, model.bytes(states, depth)) {
            model.stop(stopped);
        }
    }
    for worker in workers.drain(..) {
        if let Err(panic) = worker.join() {
            std::panic::resume_unwind(panic);
        }
    }
    report(&checker)
}

fn report(checker: &impl Checker<Searched>) -> Explored {
    let model = checker.model();
    let left_out = model.left_out.load(Ordering::Relaxed);
    let stopped = model.stopped.get().copied().filter(|_| left_out);
    model.walking.store(true, Ordering::Relaxed);
    let mut discoveries = checker.discoveries();
    let traces: Vec<Option<Trace>> = PROPERTIES
        .iter()
        .map(|property| {
            let actions = discoveries.remove(property.name)?.into_actions();
            Some(Trace { choices: model.choices(actions), cycle_from: None })
        })
        .collect();
    Explored {
        states: checker.unique_state_count() as u64,
        // The initial node was generated as well.
        transitions: checker.state_count() as u64 - 1,
        depth: checker.max_depth().saturating_sub(1) as u64,
        stopped,
        applied: PropertySet::from_bits(model.applied.load(Ordering::Relaxed)),
        violated: PropertySet::select(|at| traces[at].is_some()),
        traces,
    }
}
