//! One spec under one design: searches it, and judges every claim about it.

use crate::claim::{self, Claim};
use crate::cli::Engine;
use crate::engine::{Budget, Explored, Progress, Stopped, reference, stateright};
use crate::graph::Graph;
use crate::liveness::{Answer, Fairness, livelock, starvation};
use crate::replay::{Step, replay};
use crate::spec::{NamedDesign, Spec};
use crate::verdict::{Trace, Verdict};
use mm_model::ids::ActorId;
use mm_model::machine::Fuse;
use mm_model::property::PROPERTIES;
use mm_model::scenario::Scenario;
use std::collections::BTreeSet;
use std::time::Instant;

/// What every question about progress assumes.
const FAIRNESS: Fairness = Fairness::Weak;

/// How to search.
pub struct Options {
    /// Whether local steps are fused.
    pub fuse: Fuse,
    /// How far.
    pub budget: Budget,
    /// With which engines.
    pub engine: Engine,
    /// Threads of the fast engine.
    pub threads: usize,
}

/// What checking found.
pub struct Checked {
    /// The file of the spec.
    pub spec: String,
    /// What happens in it.
    pub title: String,
    /// The design.
    pub design: NamedDesign,
    /// The scenario that was searched.
    pub scenario: Scenario,
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
    /// The verdict.
    pub verdict: Verdict,
    /// The one expected.
    pub expected: Option<Verdict>,
    /// What progress assumes.
    pub fairness: Option<Fairness>,
    /// How it is violated.
    pub counterexample: Option<Counterexample>,
}

/// A path into a violation, as it went when it was taken again.
pub struct Counterexample {
    /// Its steps.
    pub steps: Vec<Step>,
    /// Steps before the cycle; nothing if there is no cycle.
    pub cycle_from: Option<usize>,
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
    /// Whether the verdict is the expected one; nothing if none is expected.
    pub fn ok(&self) -> Option<bool> {
        self.expected.map(|expected| expected == self.verdict)
    }
}

/// Searches a spec under a design. An error is one of mmcheck itself.
pub fn check(
    spec: &Spec,
    design: &NamedDesign,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Checked, String> {
    let started = Instant::now();
    let scenario = spec.scenario(&design.design);
    let Options { fuse, budget, engine, threads } = options;
    let (slow, graph) = match engine {
        Engine::Both | Engine::Reference => {
            let (slow, graph) = reference::explore(&scenario, *fuse, budget, progress, true);
            (Some(slow), graph)
        }
        Engine::Stateright => (None, None),
    };
    let fast = match engine {
        Engine::Both | Engine::Stateright => {
            Some(stateright::explore(&scenario, *fuse, budget, *threads, progress))
        }
        Engine::Reference => None,
    };
    let engines = compare(slow.as_ref(), fast.as_ref())?;
    let searches = Searches { slow, fast, graph };
    let best = searches.best();
    let judged = judge(spec, design, &scenario, *fuse, &searches)?;
    Ok(Checked {
        spec: spec.file.clone(),
        title: spec.title.clone(),
        stopped: best.stopped,
        states: best.states,
        transitions: best.transitions,
        depth: best.depth,
        seconds: started.elapsed().as_secs_f64(),
        engines,
        pinned: pinned(spec, design, *fuse, best),
        judged,
        design: design.clone(),
        scenario,
    })
}

/// What each engine found, of those that searched.
struct Searches {
    slow: Option<Explored>,
    fast: Option<Explored>,
    graph: Option<Graph>,
}

impl Searches {
    fn all(&self) -> impl Iterator<Item = &Explored> {
        self.slow.iter().chain(&self.fast)
    }

    /// The one that came to its end, or else farther; the oracle where they are alike.
    fn best(&self) -> &Explored {
        let reach = |explored: &&Explored| (explored.stopped.is_none(), explored.states);
        let mut all = self.all();
        let first = all.next().expect("some engine has searched");
        all.fold(first, |best, next| if reach(&next) > reach(&best) { next } else { best })
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

/// Whether two engines that came to their ends found the same.
fn compare(slow: Option<&Explored>, fast: Option<&Explored>) -> Result<Vec<EngineReport>, String> {
    let mut engines = Vec::new();
    if let Some(slow) = slow {
        engines.push(EngineReport { name: "reference", states: slow.states, agrees: None });
    }
    let Some(fast) = fast else { return Ok(engines) };
    let both = slow.filter(|slow| slow.stopped.is_none() && fast.stopped.is_none());
    if let Some(slow) = both {
        let found = |explored: &Explored| {
            (explored.states, explored.transitions, explored.violated, explored.applied)
        };
        if found(slow) != found(fast) {
            let (slow, fast) = (found(slow), found(fast));
            return Err(format!("the engines disagree: reference {slow:?}, stateright {fast:?}"));
        }
    }
    let agrees = both.map(|_| true);
    engines.push(EngineReport { name: "stateright", states: fast.states, agrees });
    Ok(engines)
}

fn judge(
    spec: &Spec,
    design: &NamedDesign,
    scenario: &Scenario,
    fuse: Fuse,
    searches: &Searches,
) -> Result<Vec<Judged>, String> {
    let expected = spec.expectations.get(&design.name);
    let named = spec.expectations.values().flat_map(|expected| expected.verdicts.keys().copied());
    let claims: BTreeSet<Claim> = Claim::of_every(scenario).into_iter().chain(named).collect();
    let mut judged = Vec::new();
    for claim in claims {
        let (verdict, trace) = match claim {
            Claim::Safety(at) => (searches.safety(at), searches.trace(at).cloned()),
            Claim::LivelockFree(_) | Claim::StarvationFree(..) => match &searches.graph {
                Some(graph) => {
                    let answer = progress(graph, scenario, claim);
                    (answer.verdict(), answer.lasso)
                }
                None => (Verdict::Unknown, None),
            },
        };
        let counterexample = match trace {
            Some(trace) => Some(retake(scenario, fuse, &trace).map_err(|why| {
                format!(
                    "the counterexample of {} can't be taken again: {why}",
                    claim.name(scenario)
                )
            })?),
            None => None,
        };
        let fairness = match claim {
            Claim::Safety(_) => None,
            Claim::LivelockFree(_) | Claim::StarvationFree(..) => Some(FAIRNESS),
        };
        let expected = expected.and_then(|expected| expected.verdicts.get(&claim)).copied();
        judged.push(Judged { claim, verdict, expected, fairness, counterexample });
    }
    Ok(judged)
}

/// Asks about progress. Of any actor is of each that does it.
fn progress(graph: &Graph, scenario: &Scenario, claim: Claim) -> Answer {
    match claim {
        Claim::Safety(at) => unreachable!("{} is no line of the ladder", PROPERTIES[at].name),
        Claim::LivelockFree(operation) => livelock(graph, scenario, operation, FAIRNESS),
        Claim::StarvationFree(operation, Some(actor)) => {
            starvation(graph, scenario, operation, actor, FAIRNESS)
        }
        Claim::StarvationFree(operation, None) => {
            let mut any = Answer { applied: false, lasso: None };
            let does = |actor: &ActorId| claim::does(scenario, *actor, operation);
            for actor in scenario.actor_ids().filter(does) {
                let one = starvation(graph, scenario, operation, actor, FAIRNESS);
                any.applied |= one.applied;
                any.lasso = shorter(any.lasso, one.lasso);
            }
            any
        }
    }
}

fn shorter(one: Option<Trace>, other: Option<Trace>) -> Option<Trace> {
    match (one, other) {
        (Some(one), Some(other)) if other.choices.len() < one.choices.len() => Some(other),
        (one, other) => one.or(other),
    }
}

/// Takes a path again, step by step, through the model.
fn retake(scenario: &Scenario, fuse: Fuse, trace: &Trace) -> Result<Counterexample, String> {
    let steps = replay(scenario, fuse, &trace.choices).map_err(|diverged| diverged.to_string())?;
    if let Some(from) = trace.cycle_from {
        let initial = scenario.initial();
        let entry = from.checked_sub(1).map_or(&initial, |at| &steps[at].state);
        if steps.last().map(|step| &step.state) != Some(entry) {
            return Err("its cycle does not close".to_owned());
        }
    }
    Ok(Counterexample { steps, cycle_from: trace.cycle_from })
}

/// Compares pinned numbers, which are those of finished searches with local steps fused.
fn pinned(spec: &Spec, design: &NamedDesign, fuse: Fuse, found: &Explored) -> Option<Pinned> {
    let expected = spec.expectations.get(&design.name)?;
    let (states, transitions) = (expected.states, expected.transitions);
    let comparable = fuse == Fuse::OwnLocal && found.stopped.is_none();
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

    #[test]
    fn engines_that_count_differently_are_an_internal_error() {
        assert!(compare(Some(&explored(1, None)), Some(&explored(2, None))).is_err());
        assert!(compare(Some(&explored(2, None)), Some(&explored(2, None))).is_ok());
    }

    #[test]
    fn engines_are_not_compared_where_one_was_stopped() {
        let stopped = explored(1, Some(Stopped::States));
        let engines = compare(Some(&stopped), Some(&explored(2, None))).expect("no disagreement");
        assert_eq!(engines[1].agrees, None);
    }

    #[test]
    fn a_search_that_was_stopped_leaves_the_verdict_open_unless_another_came_to_its_end() {
        let stopped = explored(1, Some(Stopped::States));
        let mut searches = Searches { slow: Some(stopped.clone()), fast: None, graph: None };
        assert_eq!(searches.safety(0), Verdict::Unknown);
        searches.fast = Some(explored(2, None));
        assert_eq!(searches.safety(0), Verdict::Vacuous);
    }
}
