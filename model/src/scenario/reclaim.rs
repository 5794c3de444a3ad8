//! What only reclaim needs to know of a scenario. The defaults are those of a scenario that looks at
//! nothing but charges.

use crate::lru::{EvictionOrder, LruList, Run};
use crate::scenario::Steps;
use crate::units::Pages;
use serde::{Deserialize, Serialize};

/// The memory of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ram {
    /// `totalram_pages()`.
    pub total: Pages,
    /// `totalreserve_pages`.
    pub reserve: Pages,
    /// Free pages at the start.
    pub free: Pages,
}

/// What reclaim knows of a memcg at the start beside its pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reclaim {
    /// `memory.min`: passes from above leave it alone while its usage is no more.
    pub min: Pages,
    /// `memory.low`: as `min`, unless nothing else can be freed.
    pub low: Pages,
    /// Its lists on each node, from the end that is scanned first, where passes walk them.
    pub nodes: Vec<Vec<(LruList, Run)>>,
}

/// What the outside world may answer to a reclaimer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReclaimPolicy {
    /// In which order passes that walk take folios.
    pub order: EvictionOrder,
    /// Whether anonymous folios can be swapped out.
    pub swap: bool,
    /// Whether a cgroup may be found dying.
    pub cgroup_may_die: bool,
    /// Whether a system call that a signal interrupted may begin anew.
    pub syscalls_restart: bool,
}

/// How finely reclaim passes are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReclaimSteps {
    /// Who says what a pass frees.
    pub pass: Pass,
    /// A pass that walks: as one step, or a step for each visit.
    pub walk: Steps,
    /// The shared iterator of a walk that is several steps.
    pub iterator: Steps,
    /// A visit of a walk that is several steps.
    pub visit: Steps,
}

/// Who says what a reclaim pass frees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pass {
    /// The world answers, for each memcg.
    #[default]
    Answered,
    /// The kernel's walk over memcgs, nodes and lists.
    Walked,
}
