//! How high an operation stands, and under which assumption.

use crate::claim::{Rung, does};
use crate::graph::Graph;
use crate::liveness::{Answer, Fairness, livelock, starvation, waiting};
use crate::verdict::Trace;
use mm_model::env::Operation;
use mm_model::ids::ActorId;
use mm_model::scenario::Scenario;

/// How high an operation stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The highest rung that it reaches; nothing if there is no such operation.
    pub rung: Option<Rung>,
    /// The weakest assumption that suffices.
    pub fairness: Option<Fairness>,
    /// Why it stands no higher, even under the strongest assumption.
    pub why: Option<Trace>,
}

/// The assumptions that can lift an operation, from the weakest on. One CPU is no stronger than
/// many, but another matter.
const WEAKEST_FIRST: [Fairness; 3] = [Fairness::None, Fairness::Weak, Fairness::Strong];

/// What holds of any actor if it holds of each.
pub fn of_each(
    scenario: &Scenario,
    operation: Operation,
    ask: impl Fn(ActorId) -> Answer,
) -> Answer {
    let does = |actor: &ActorId| does(scenario, *actor, operation);
    scenario.actor_ids().filter(does).map(ask).fold(Answer::NONE, Answer::and)
}

/// Finds out.
pub fn standing(graph: &Graph, scenario: &Scenario, operation: Operation) -> Standing {
    let wait = of_each(scenario, operation, |actor| waiting(graph, scenario, operation, actor));
    if !wait.applied {
        return Standing { rung: None, fairness: None, why: None };
    }
    let Some(mut why) = wait.lasso else {
        let fairness = Some(Fairness::None);
        return Standing { rung: Some(Rung::WaitFree), fairness, why: None };
    };
    let starves = |fairness| {
        of_each(scenario, operation, |actor| {
            starvation(graph, scenario, operation, actor, fairness)
        })
    };
    let locks = |fairness| livelock(graph, scenario, operation, fairness);
    let rungs: [(Rung, &dyn Fn(Fairness) -> Answer); 2] =
        [(Rung::StarvationFree, &starves), (Rung::LivelockFree, &locks)];
    for (rung, ask) in rungs {
        for fairness in WEAKEST_FIRST {
            match ask(fairness).lasso {
                None => {
                    let fairness = Some(fairness);
                    return Standing { rung: Some(rung), fairness, why: Some(why) };
                }
                Some(lasso) if fairness == Fairness::Strong => why = lasso,
                Some(_) => {}
            }
        }
    }
    Standing { rung: Some(Rung::None), fairness: None, why: Some(why) }
}
