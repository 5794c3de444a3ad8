//! What the outside world decided, in words.

use crate::render::pages;
use mm_model::env::{Ask, Question};
use mm_model::ids::InodeId;
use mm_model::scenario::{OomOutcome, Scenario};
use mm_model::units::Pages;

/// An answer to a question.
pub fn answer(scenario: &Scenario, question: &Question, answer: u64) -> String {
    let yes = answer > 0;
    let inode = |inode: InodeId| &scenario.inodes[inode.index()].name;
    match question.ask {
        Ask::PassFrees(memcg) => {
            let name = scenario.memcg_name(memcg);
            format!("the pass frees {} of {name} above the least", pages(Pages(answer)))
        }
        Ask::PassIsEmpty(_) => {
            format!("the pass frees {}", either(yes, "nothing although it could", "something"))
        }
        Ask::OomOutcome(_) => {
            let outcome = usize::try_from(answer).ok().and_then(|at| scenario.policy.oom.get(at));
            match outcome {
                Some(OomOutcome::Kill) => "the OOM killer kills a process".to_owned(),
                Some(OomOutcome::Pending) => "a victim is dying already".to_owned(),
                Some(OomOutcome::None) | None => "the OOM killer finds no victim".to_owned(),
            }
        }
        Ask::ChargeMoving => format!("{} task is moving between groups", either(yes, "a", "no")),
        Ask::Folio(memcg, node, list) => {
            let (name, list) = (scenario.memcg_name(memcg), <&str>::from(list));
            format!("next is run {} of {list} of {name} on node {}", answer + 1, node.0)
        }
        Ask::CgroupDying(memcg) => {
            format!("{} {} being removed", scenario.memcg_name(memcg), either(yes, "is", "is not"))
        }
        Ask::RestartsSyscall => {
            format!("the system call {} restarted", either(yes, "is", "is not"))
        }
        Ask::Pick(first) => format!("it picks {}", first + answer),
        Ask::Evicts(of, index) => {
            let takes = either(yes, "takes", "leaves");
            format!("the pass {takes} page {index} of {}", inode(of))
        }
        Ask::ReadEnds(_) => format!("read {} of those submitted ends", answer + 1),
        Ask::FolioAllocFails(of) => {
            format!("there is {} for a folio of {}", either(yes, "no memory", "memory"), inode(of))
        }
        Ask::NodeAllocFails(of) => {
            let memory = either(yes, "no memory", "memory");
            format!("there is {memory} for a node of the tree of {}", inode(of))
        }
        Ask::Congested(_) => {
            format!("the task's block cgroup {} congested", either(yes, "is", "is not"))
        }
        Ask::FsExpands(of) => {
            let asks = either(yes, "asks for more", "takes the batch as it is");
            format!("the file system of {} {asks}", inode(of))
        }
        Ask::FsLeaves(of) => {
            format!("the file system of {} leaves {answer} folios unread", inode(of))
        }
    }
}

const fn either(yes: bool, one: &'static str, other: &'static str) -> &'static str {
    if yes { one } else { other }
}
