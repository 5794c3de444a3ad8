//! One spec under one design: searches it, and judges every claim about it.

use crate::claim::{Claim, Rung};
use crate::cli::Engine;
use crate::cost::{self, Bound, Cost};
use crate::engine::{Budget, Explored, Progress, Quiet, Stopped, native, reference, stateright};
use crate::graph::Graph;
use crate::identity::{Identity, identify};
use crate::ladder::{of_each, standing};
use crate::liveness::{Answer, Fairness, livelock, starvation, waiting};
use crate::node::Reduction;
use crate::replay::{Step, replay};
use crate::spec::{Asked, NamedDesign, Point, Spec};
use crate::symmetry::Symmetry;
use crate::value::{Expected, Value};
use crate::verdict::{Trace, Verdict};
use mm_model::ids::ActorId;
use mm_model::machine::Fuse;
use mm_model::property::PROPERTIES;
use mm_model::scenario::{FileConfig, Layout, Scenario};
use mm_model::step::Guard;
use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

mod sweep;
pub use sweep::{Swept, sweep};

/// How to search.
pub struct Options {
    /// Whether local steps are fused.
    pub fuse: Fuse,
    /// How far.
    pub budget: Budget,
    /// With which engines.
    pub engine: Engine,
    /// Threads of an engine, and of the answers it has a graph for.
    pub threads: usize,
    /// What to judge beside what is asked of every scenario.
    pub asked: Option<Claim>,
}

/// What checking found.
pub struct Checked {
    /// The file of the spec.
    pub spec: String,
    /// What happens in it.
    pub title: String,
    /// The design.
    pub design: NamedDesign,
    /// The point of the sweep.
    pub point: Point,
    /// The scenario that was searched.
    pub scenario: Scenario,
    /// Which of its tasks stand for one another.
    pub symmetry: Option<Arc<Symmetry>>,
    /// What ended the search early; nothing if the numbers are those of all reachable states.
    pub stopped: Option<Stopped>,
    /// Distinct states.
    pub states: u64,
    /// Transitions between them.
    pub transitions: u64,
    /// Transitions to the state farthest from the start.
    pub depth: u64,
    /// How long it took.
    pub seconds: f64,
    /// What each engine found.
    pub engines: Vec<EngineReport>,
    /// The verdicts.
    pub judged: Vec<Judged>,
    /// Numbers that the spec pins, where they can be compared.
    pub pinned: Option<Pinned>,
}

/// What an engine found.
pub struct EngineReport {
    /// Its name.
    pub name: &'static str,
    /// Distinct states.
    pub states: u64,
    /// Whether it agrees with the oracle; nothing if only one of them came to its end.
    pub agrees: Option<bool>,
}

/// Pinned numbers, each with what was found instead if it differs.
pub struct Pinned {
    /// Pinned states.
    pub states: Option<u64>,
    /// Pinned transitions.
    pub transitions: Option<u64>,
    /// Whether they are what was found.
    pub ok: bool,
}

/// A verdict.
pub struct Judged {
    /// About what.
    pub claim: Claim,
    /// Whether it is about the point of a sweep from which on the claim holds.
    pub threshold: bool,
    /// The verdict. Where there is a value, it holds if the value is none other than expected.
    pub verdict: Verdict,
    /// The value, where a verdict is not all.
    pub value: Option<Value>,
    /// What is expected.
    pub expected: Option<Expected>,
    /// What progress assumes; for the ladder, what suffices; for an unbounded cost, what a run that
    /// drives it up still grants.
    pub fairness: Option<Fairness>,
    /// How it is violated, or how the value comes about.
    pub counterexample: Option<Counterexample>,
}

/// A path into a violation, as it went when it was taken again.
pub struct Counterexample {
    /// Its steps.
    pub steps: Vec<Step>,
    /// Steps before the cycle; nothing if there is no cycle.
    pub cycle_from: Option<usize>,
    /// Actors that never step on the cycle and are not where they may rest.
    pub stuck: Vec<Stuck>,
    /// What came of taking it with the identity of its pages; nothing if it has no pooled files.
    pub identity: Option<Identity>,
}

/// An actor that never steps on a cycle.
pub struct Stuck {
    /// Who.
    pub actor: ActorId,
    /// What it waits for all along; if it waits for nothing, it is passed over.
    pub guards: Vec<Guard>,
}

impl Checked {
    /// The names of the tasks that stand for one another.
    pub fn interchangeable(&self) -> impl Iterator<Item = Vec<&str>> {
        let groups = self.symmetry.iter().flat_map(|symmetry| symmetry.groups());
        let name = |task: ActorId| self.scenario.actors[task.index()].name.as_str();
        groups.map(move |group| group.map(name).collect())
    }

    /// The files of whose pages most are only counted.
    pub fn pooled(&self) -> impl Iterator<Item = &str> {
        self.files(Layout::Pooled)
    }

    /// The files without a start and an end.
    pub fn rings(&self) -> impl Iterator<Item = &str> {
        self.files(Layout::Ring)
    }

    fn files(&self, layout: Layout) -> impl Iterator<Item = &str> {
        let is =
            move |file: &&FileConfig| self.scenario.inodes[file.inode.index()].layout == layout;
        self.scenario.files.iter().filter(is).map(|file| file.name.as_str())
    }
}

impl Counterexample {
    /// Steps before the cycle.
    pub fn stem(&self) -> usize {
        self.cycle_from.unwrap_or(self.steps.len())
    }

    /// Steps of the cycle.
    pub fn cycle(&self) -> usize {
        self.steps.len() - self.stem()
    }
}

impl Judged {
    /// Whether the answer is the expected one; nothing if none is expected.
    pub fn ok(&self) -> Option<bool> {
        self.expected.map(|expected| match expected {
            Expected::Verdict(verdict) => verdict == self.verdict,
            Expected::Value(value) => Some(value) == self.value,
        })
    }

    /// Its name in a spec.
    pub fn name(&self, scenario: &Scenario) -> String {
        Asked { claim: self.claim, threshold: self.threshold }.name(scenario)
    }

    /// The answer in one word.
    pub fn word(&self) -> String {
        let word = || crate::report::word(self.verdict).to_owned();
        self.value.map_or_else(word, |value| value.to_string())
    }
}

/// Searches one point of a spec under a design. An error is one of mmcheck itself.
pub fn check(
    spec: &Spec,
    design: &NamedDesign,
    point: &Point,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Checked, String> {
    let started = Instant::now();
    let scenario = point.scenario(&design.design);
    let symmetry = symmetry(spec, &scenario, options);
    let reduction = Reduction { fuse: options.fuse, symmetry: symmetry.clone() };
    let searches = search(&scenario, options, &reduction, progress);
    let engines = searches.compare()?;
    let best = searches.best();
    let judged = judge(spec, design, &scenario, options, &searches, &reduction)?;
    Ok(Checked {
        spec: spec.file.clone(),
        title: spec.title.clone(),
        point: point.clone(),
        stopped: best.stopped,
        states: best.states,
        transitions: best.transitions,
        depth: best.depth,
        seconds: started.elapsed().as_secs_f64(),
        engines,
        pinned: pinned(spec, design, &reduction, best),
        judged,
        design: design.clone(),
        scenario,
        symmetry,
    })
}

/// The most states that all engines search. Beyond them the others take minutes to say what they
/// have said of hundreds of smaller searches.
const COMPARED: u64 = 50_000;

/// Which tasks stand for one another. Where every step is one of its own, or something else than
/// safety is asked, none does.
fn symmetry(spec: &Spec, scenario: &Scenario, options: &Options) -> Option<Arc<Symmetry>> {
    let safety = options.asked.is_none_or(Claim::is_safety);
    if !spec.symmetry || options.fuse == Fuse::No || !safety {
        return None;
    }
    Symmetry::of(scenario).ok().map(Arc::new)
}

/// Runs the engines asked for. The oracle comes first: of like results its own count.
fn search(
    scenario: &Scenario,
    options: &Options,
    reduction: &Reduction,
    progress: &mut dyn Progress,
) -> Searches {
    let Options { budget, engine, threads, .. } = options;
    let fast = match engine {
        Engine::Auto | Engine::All | Engine::Native => {
            Some(native::explore(scenario, reduction.clone(), *threads, budget, progress))
        }
        Engine::Reference | Engine::Stateright => None,
    };
    let small = fast.as_ref().is_none_or(|(explored, _)| explored.states <= COMPARED);
    let compares = *engine == Engine::All || (*engine == Engine::Auto && small);
    let by_stateright = |progress: &mut dyn Progress| {
        stateright::explore(scenario, reduction.clone(), budget, *threads, progress)
    };
    let alone = fast.is_none();
    let (oracle, independent) = std::thread::scope(|scope| {
        let independent = compares.then(|| scope.spawn(|| by_stateright(&mut Quiet)));
        let oracle = (compares || *engine == Engine::Reference).then(|| {
            reference::explore(scenario, reduction.clone(), budget, &mut *progress, alone)
        });
        let joined = independent.map(std::thread::ScopedJoinHandle::join);
        (oracle, joined.map(|found| found.unwrap_or_else(|panic| resume_unwind(panic))))
    });
    let asked = *engine == Engine::Stateright;
    let independent = independent.or_else(|| asked.then(|| by_stateright(progress)));
    let mut searches = Searches { found: Vec::new(), graph: None };
    if let Some((explored, graph)) = oracle {
        searches.add("reference", explored, graph);
    }
    if let Some((explored, graph)) = fast {
        searches.add("native", explored, graph);
    }
    if let Some(explored) = independent {
        searches.add("stateright", explored, None);
    }
    searches
}

/// What each engine found, of those that searched.
struct Searches {
    found: Vec<(&'static str, Explored)>,
    graph: Option<Graph>,
}

impl Searches {
    fn add(&mut self, name: &'static str, explored: Explored, graph: Option<Graph>) {
        self.found.push((name, explored));
        self.graph = self.graph.take().or(graph);
    }

    fn all(&self) -> impl Iterator<Item = &Explored> {
        self.found.iter().map(|(_, explored)| explored)
    }

    /// The one that came to its end, or else farther; the oracle where they are alike.
    fn best(&self) -> &Explored {
        let reach = |explored: &&Explored| (explored.stopped.is_none(), explored.states);
        let mut all = self.all();
        let first = all.next().expect("some engine has searched");
        all.fold(first, |best, next| if reach(&next) > reach(&best) { next } else { best })
    }

    /// Whether those that came to their ends found the same.
    fn compare(&self) -> Result<Vec<EngineReport>, String> {
        let found = |explored: &Explored| {
            (explored.states, explored.transitions, explored.violated, explored.applied)
        };
        let mut ended = self.found.iter().filter(|(_, explored)| explored.stopped.is_none());
        let oracle = ended.next();
        let mut engines = Vec::new();
        for (name, explored) in &self.found {
            let other = oracle.filter(|(other, _)| other != name && explored.stopped.is_none());
            if let Some((other, oracle)) =
                other.filter(|(_, other)| found(other) != found(explored))
            {
                let (one, two) = (found(oracle), found(explored));
                return Err(format!("the engines disagree: {other} {one:?}, {name} {two:?}"));
            }
            let agrees = other.map(|_| true);
            engines.push(EngineReport { name, states: explored.states, agrees });
        }
        Ok(engines)
    }

    fn safety(&self, property: usize) -> Verdict {
        if self.all().any(|explored| explored.violated.contains(property)) {
            return Verdict::Violated;
        }
        self.best().verdict(property)
    }

    /// The oracle's way into a violation, which is a shortest one, or else the other engine's.
    fn trace(&self, property: usize) -> Option<&Trace> {
        self.all().find_map(|explored| explored.traces[property].as_ref())
    }
}

/// An answer, before it is compared with what is expected.
struct Found {
    verdict: Verdict,
    value: Option<Value>,
    fairness: Option<Fairness>,
    trace: Option<Trace>,
}

fn judge(
    spec: &Spec,
    design: &NamedDesign,
    scenario: &Scenario,
    options: &Options,
    searches: &Searches,
    reduction: &Reduction,
) -> Result<Vec<Judged>, String> {
    let expected = spec.expectations.get(&design.name);
    let every = Claim::of_every(scenario).into_iter();
    let claims: BTreeSet<Claim> = every.chain(spec.claims()).chain(options.asked).collect();
    let asked = |claim: &Claim| reduction.symmetry.is_none() || claim.is_safety();
    let claims: Vec<Claim> = claims.into_iter().filter(asked).collect();
    let found = answers(&claims, scenario, searches, options.threads);
    let mut judged = Vec::new();
    for (claim, found) in claims.into_iter().zip(found) {
        let Found { verdict, value, fairness, trace } = found;
        let again = |trace: &Trace| {
            let name = || format!("the counterexample of {}", claim.name(scenario));
            let mut path = retake(scenario, options.fuse, trace)
                .map_err(|why| format!("{} can't be taken again: {why}", name()))?;
            path.identity = identify(scenario, options.fuse, &path).map_err(|step| {
                format!("{} can't be taken with the identity of its pages: step {step}", name())
            })?;
            Ok::<_, String>(path)
        };
        let counterexample = trace.as_ref().map(again).transpose()?;
        let expected = expected.and_then(|expected| expected.answers.get(&claim)).copied();
        let differs = matches!(expected, Some(Expected::Value(wanted)) if Some(wanted) != value);
        let verdict = match verdict {
            Verdict::Holds if differs => Verdict::Violated,
            Verdict::Holds | Verdict::Violated | Verdict::Vacuous | Verdict::Unknown => verdict,
        };
        let threshold = false;
        judged.push(Judged {
            claim,
            threshold,
            verdict,
            value,
            expected,
            fairness,
            counterexample,
        });
    }
    Ok(judged)
}

/// An answer to each claim, in order; from a large graph several at once.
fn answers(
    claims: &[Claim],
    scenario: &Scenario,
    searches: &Searches,
    threads: usize,
) -> Vec<Found> {
    let answer = |claim: Claim| match (claim, &searches.graph) {
        (Claim::Safety(at), _) => Found {
            verdict: searches.safety(at),
            value: None,
            fairness: None,
            trace: searches.trace(at).cloned(),
        },
        (_, Some(graph)) => answer(graph, scenario, claim),
        (_, None) => Found {
            verdict: Verdict::Unknown,
            value: None,
            fairness: claim.fairness(),
            trace: None,
        },
    };
    if searches.best().states < ANSWERED_ALONE {
        return claims.iter().map(|claim| answer(*claim)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(claim) = claims.get(at) else { return found };
            found.push((at, answer(*claim)));
        }
    };
    let mut found: Vec<(usize, Found)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined.flat_map(|found| found.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, found)| found).collect()
}

/// A graph of fewer states answers everything in less time than it takes to begin a thread.
const ANSWERED_ALONE: u64 = 2_000;

/// Answers from the graph.
fn answer(graph: &Graph, scenario: &Scenario, claim: Claim) -> Found {
    let progress = |answer: Answer| Found {
        verdict: answer.verdict(),
        value: None,
        fairness: claim.fairness(),
        trace: answer.lasso,
    };
    let each = |operation, one: Option<ActorId>, ask: &dyn Fn(ActorId) -> Answer| match one {
        Some(actor) => ask(actor),
        None => of_each(scenario, operation, ask),
    };
    match claim {
        Claim::Safety(at) => unreachable!("{} needs no graph", PROPERTIES[at].name),
        Claim::LivelockFree(operation, fairness) => {
            progress(livelock(graph, scenario, operation, fairness))
        }
        Claim::StarvationFree(operation, actor, fairness) => {
            progress(each(operation, actor, &|actor| {
                starvation(graph, scenario, operation, actor, fairness)
            }))
        }
        Claim::WaitFree(operation, actor) => {
            progress(each(operation, actor, &|actor| waiting(graph, scenario, operation, actor)))
        }
        Claim::Ladder(operation) => {
            let found = standing(graph, scenario, operation);
            let fairness = found.fairness.filter(|_| found.rung != Some(Rung::None));
            valued(found.rung.map(Value::Rung), fairness, found.why)
        }
        Claim::Cost(measure, operation) => {
            number(cost::worst(graph, scenario, measure, operation), Value::Number)
        }
        Claim::Peak(measure) => number(cost::peak(graph, scenario, measure), Value::Number),
        Claim::Ratio(measure, operation) => {
            number(cost::ratio(graph, scenario, measure, operation), Value::Ratio)
        }
    }
}

fn number<T>(cost: Cost<T>, value: impl Fn(Bound<T>) -> Value) -> Found {
    valued(cost.bound.map(value), cost.fairness, cost.trace)
}

/// A value is as it is: it holds, until something else is expected.
const fn valued(value: Option<Value>, fairness: Option<Fairness>, trace: Option<Trace>) -> Found {
    let verdict = if value.is_some() { Verdict::Holds } else { Verdict::Vacuous };
    Found { verdict, value, fairness, trace }
}

/// Takes a path again, step by step, through the model.
pub fn retake(scenario: &Scenario, fuse: Fuse, trace: &Trace) -> Result<Counterexample, String> {
    let steps = replay(scenario, fuse, &trace.choices).map_err(|diverged| diverged.to_string())?;
    if let Some(from) = trace.cycle_from {
        let initial = scenario.initial();
        let entry = from.checked_sub(1).map_or(&initial, |at| &steps[at].state);
        if steps.last().map(|step| &step.state) != Some(entry) {
            return Err("its cycle does not close".to_owned());
        }
    }
    let stuck = trace.cycle_from.map(|from| stuck(scenario, &steps[from..])).unwrap_or_default();
    Ok(Counterexample { steps, cycle_from: trace.cycle_from, stuck, identity: None })
}

/// Who never steps on a cycle, and what each of them waits for.
fn stuck(scenario: &Scenario, cycle: &[Step]) -> Vec<Stuck> {
    let mut found = Vec::new();
    for actor in scenario.actor_ids() {
        let steps = cycle.iter().any(|step| step.actor == actor);
        // Where it does not step, it is the same all along.
        let rests = cycle.iter().all(|step| step.state.actors[actor.index()].may_rest());
        if steps || rests {
            continue;
        }
        let waits = cycle.iter().map(|step| scenario.blocked(&step.state, actor));
        let mut guards: Vec<Guard> = Vec::new();
        for guard in waits.clone().flatten() {
            if !guards.contains(&guard) {
                guards.push(guard);
            }
        }
        // Somewhere on the cycle it could step.
        if waits.into_iter().any(|guard| guard.is_none()) {
            guards.clear();
        }
        found.push(Stuck { actor, guards });
    }
    found
}

/// Compares pinned numbers, which are those of finished searches that leave out what they can.
fn pinned(
    spec: &Spec,
    design: &NamedDesign,
    Reduction { fuse, symmetry }: &Reduction,
    found: &Explored,
) -> Option<Pinned> {
    let expected = spec.expectations.get(&design.name)?;
    let (states, transitions) = (expected.states, expected.transitions);
    let reduced = *fuse == Fuse::OwnLocal && symmetry.is_some() == spec.symmetry;
    let comparable = reduced && found.stopped.is_none() && spec.points.len() == 1;
    if !comparable || (states.is_none() && transitions.is_none()) {
        return None;
    }
    let ok = states.is_none_or(|states| states == found.states)
        && transitions.is_none_or(|transitions| transitions == found.transitions);
    Some(Pinned { states, transitions, ok })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::PropertySet;

    fn explored(states: u64, stopped: Option<Stopped>) -> Explored {
        Explored {
            states,
            transitions: 1,
            depth: 1,
            stopped,
            applied: PropertySet::default(),
            violated: PropertySet::default(),
            traces: vec![None; PROPERTIES.len()],
        }
    }

    fn searches(found: Vec<(&'static str, Explored)>) -> Searches {
        Searches { found, graph: None }
    }

    #[test]
    fn engines_that_count_differently_are_an_internal_error() {
        let both =
            |other| searches(vec![("one", explored(2, None)), ("two", explored(other, None))]);
        assert!(both(1).compare().is_err());
        assert!(both(2).compare().is_ok());
    }

    #[test]
    fn engines_are_not_compared_where_one_was_stopped() {
        let stopped = explored(1, Some(Stopped::States));
        let both = searches(vec![("one", stopped), ("two", explored(2, None))]);
        let engines = both.compare().expect("no disagreement");
        assert!(engines.iter().all(|engine| engine.agrees.is_none()));
    }

    #[test]
    fn a_search_that_was_stopped_leaves_the_verdict_open_unless_another_came_to_its_end() {
        let stopped = explored(1, Some(Stopped::States));
        let mut searches = searches(vec![("one", stopped)]);
        assert_eq!(searches.safety(0), Verdict::Unknown);
        searches.add("two", explored(2, None), None);
        assert_eq!(searches.safety(0), Verdict::Vacuous);
    }
}
