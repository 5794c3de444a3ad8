//! stateright behind the model: the engine that decides the safety properties, and its Explorer.
//!
//! What stateright 0.31 does not do by itself is done here. It stops expanding where every
//! property is decided, so one more that always holds keeps it going. Its time limit has no
//! effect on one thread and leaves no sign, so the model itself runs dry when a budget is spent,
//! and completeness is recorded here. Its counterexamples are not always the shortest.

use super::{Budget, Explored, Meter, Progress, Stopped};
use crate::node::{Node, PropertySet, expand, initial};
use crate::render;
use crate::verdict::{Choice, Trace};
use indexmap::IndexSet;
use mm_model::ids::ActorId;
use mm_model::machine::Fuse;
use mm_model::property::PROPERTIES;
use mm_model::scenario::Scenario;
use rustc_hash::FxBuildHasher;
use stateright::{Checker, Model, Property};
use std::fmt::{self, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The property that keeps a search going.
const VISITED: &str = "every reachable state is visited";

/// Bytes of a fingerprint in the table of those seen, with its parent and the table's free room.
const SEEN_BYTES: u64 = 32;

/// From how many transitions of one node on they are looked at.
const LOOK_FROM: usize = 1024;

/// The model, and what it finds out about itself while it is searched.
struct Searched {
    scenario: Scenario,
    fuse: Fuse,
    /// Nothing is counted and no budget applies: paths are walked again, or a person explores.
    walking: AtomicBool,
    /// Whether actions carry their text.
    readable: bool,
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

const _: () = assert!(PROPERTIES.len() <= UNBROKEN.len(), "every property needs its function");

impl Searched {
    fn new(scenario: &Scenario, fuse: Fuse, budget: &Budget, readable: bool) -> Self {
        Self {
            scenario: scenario.clone(),
            fuse,
            walking: AtomicBool::new(readable),
            readable,
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
        let _ = expand(&self.scenario, self.fuse, node, |edge, to| {
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

    fn properties(&self) -> Vec<Property<Self>> {
        let always = |(at, property): (usize, &&mm_model::property::Property)| {
            Property::always(property.name, UNBROKEN[at])
        };
        let visited = Property::always(VISITED, |_, _| true);
        PROPERTIES.iter().enumerate().map(always).chain([visited]).collect()
    }
}

/// Visits every reachable node on that many threads. With more than one, `depth` may be larger
/// than the shortest way to the farthest node.
///
/// # Panics
/// If a step of the model panics.
pub fn explore(
    scenario: &Scenario,
    fuse: Fuse,
    budget: &Budget,
    threads: usize,
    progress: &mut dyn Progress,
) -> Explored {
    let model = Searched::new(scenario, fuse, budget, false);
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
            let choice = |Action { actor, answers, .. }| Choice { actor, answers };
            Some(Trace { choices: actions.into_iter().map(choice).collect(), cycle_from: None })
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

/// The place of a path in the Explorer: `#/steps/` and the position of each step among those of
/// its state, after that of the initial state. Nothing if it is no path of the scenario.
pub fn deep_link(scenario: &Scenario, fuse: Fuse, choices: &[Choice]) -> Option<String> {
    let mut node = initial(scenario).0;
    let mut link = "#/steps/0".to_owned();
    for choice in choices {
        let (mut ordinal, mut taken) = (0, None);
        let _ = expand(scenario, fuse, &node, |edge, to| {
            if edge.actor == choice.actor
                && edge.answers.answers().eq(choice.answers.iter().copied())
            {
                taken = Some((ordinal, to));
                return ControlFlow::Break(());
            }
            ordinal += 1;
            ControlFlow::Continue(())
        });
        let (at, to) = taken?;
        node = to;
        let _ = write!(link, "/{at}");
    }
    Some(link)
}

/// Why the Explorer can't be served.
#[derive(Debug)]
pub enum ServeError {
    /// The address can't be listened on.
    Bind(SocketAddr, std::io::Error),
    /// stateright would serve the files of a folder `ui` in place of its own.
    UiFolder,
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind(addr, error) => write!(f, "can't listen on {addr}: {error}"),
            Self::UiFolder => f.write_str(
                "the current directory has a folder `ui`, whose files would replace the \
                 Explorer's own\n\nhint: run it from another directory",
            ),
        }
    }
}

impl std::error::Error for ServeError {}

/// Serves the Explorer until the process ends. Port 0 stands for any free one; `announce` hears
/// the address before the first request is answered.
pub fn serve(
    scenario: &Scenario,
    fuse: Fuse,
    addr: SocketAddr,
    announce: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    own_files_only(Path::new("."))?;
    // stateright panics on an address it can't have, and does not say which port it got.
    let bound = TcpListener::bind(addr).and_then(|listener| listener.local_addr());
    let addr = bound.map_err(|error| ServeError::Bind(addr, error))?;
    announce(addr);
    let model = Searched::new(scenario, fuse, &Budget::default(), true);
    let _never_returns = model.checker().serve(addr);
    Ok(())
}

/// stateright reads its pages from `./ui/` before it takes its own.
fn own_files_only(current_dir: &Path) -> Result<(), ServeError> {
    if current_dir.join("ui").exists() { Err(ServeError::UiFolder) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_would_replace_the_explorers_pages_is_refused() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        assert!(own_files_only(dir.path()).is_ok());
        std::fs::create_dir(dir.path().join("ui")).expect("it is writable");
        assert!(matches!(own_files_only(dir.path()), Err(ServeError::UiFolder)));
    }
}
