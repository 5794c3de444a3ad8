//! The answers that are told apart: what the world may decide, and what kernel functions return.

use mm_model::env::{Ask, Call, Errno, Question};
use mm_model::scenario::{OomOutcome, Scenario};

/// An answer that matters to whoever reads a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Answer {
    /// Whose it is.
    pub by: By,
    /// The answer.
    pub words: &'static str,
}

/// Whose answer it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// What a kernel function returns.
    Function(&'static str),
    /// The world's, where that key of a spec lets it.
    World(&'static str),
}

const fn world(key: &'static str, words: &'static str) -> Answer {
    Answer { by: By::World(key), words }
}

const fn function(name: &'static str, words: &'static str) -> Answer {
    Answer { by: By::Function(name), words }
}

const COVERED: Answer = function("consume_stock", "covers the charge");
const NOT_COVERED: Answer = function("consume_stock", "has too little");
const CHARGED: Answer = function("page_counter_try_charge", "charges");
const REFUSED: Answer = function("page_counter_try_charge", "refuses");
const FREED: Answer = function("try_to_free_mem_cgroup_pages", "frees something");
const FREED_NOTHING: Answer = function("try_to_free_mem_cgroup_pages", "frees nothing");
const ROOM: Answer = function("mem_cgroup_margin", "some room");
const NO_ROOM: Answer = function("mem_cgroup_margin", "no room");
const OOM_TRUE: Answer = function("mem_cgroup_oom", "success");
const OOM_FALSE: Answer = function("mem_cgroup_oom", "no success");
const BATCH_YES: Answer = function("mem_cgroup_reclaim_for_batch", "yes");
const BATCH_NO: Answer = function("mem_cgroup_reclaim_for_batch", "no");
const ADDED: Answer = function("filemap_add_folio", "adds");
const NOT_CHARGED: Answer = function("filemap_add_folio", "-ENOMEM");
const THERE_ALREADY: Answer = function("filemap_add_folio", "-EEXIST");

const EMPTY: Answer = world("pass-may-fail", "a pass frees nothing although it could");
const WHICH_PAGE: Answer = world("evicts", "a pass chooses which page goes");
const BEYOND: Answer = world("pass-frees", "a pass frees more than it is asked for");
const KILLS: Answer = world("oom", "the OOM killer kills a process");
const PENDING: Answer = world("oom", "a victim of the OOM killer is dying already");
const MOVING: Answer = world("charge-moving", "a task is being moved between groups");
const LIST_ORDER: Answer = world("eviction-order", "a pass takes folios of a list out of order");
const DYING: Answer = world("cgroup-may-die", "the cgroup is being removed");
const RESTARTS: Answer = world("syscalls-restart", "a system call begins anew");
const PICKS: Answer = world("does", "a task chooses the page");
const READ_ENDS: Answer = world("io", "of several reads a later one ends first");
const FOLIO_FAILS: Answer = world("folio-alloc-fails", "there is no memory for a folio");
const NODE_FAILS: Answer = world("node-alloc-fails", "there is no memory for a node of the tree");
const CONGESTED: Answer = world("congested", "the block device cgroup is congested");
const EXPANDS: Answer = world("expands", "the file system asks for more than its batch");
const LEAVES: Answer = world("fs-leaves", "the file system leaves the end of a batch unread");

/// Every answer that is told apart.
pub const ANSWERS: &[Answer] = &[
    COVERED,
    NOT_COVERED,
    CHARGED,
    REFUSED,
    FREED,
    FREED_NOTHING,
    ROOM,
    NO_ROOM,
    OOM_TRUE,
    OOM_FALSE,
    BATCH_YES,
    BATCH_NO,
    ADDED,
    NOT_CHARGED,
    THERE_ALREADY,
    EMPTY,
    WHICH_PAGE,
    BEYOND,
    KILLS,
    PENDING,
    MOVING,
    LIST_ORDER,
    DYING,
    RESTARTS,
    PICKS,
    READ_ENDS,
    FOLIO_FAILS,
    NODE_FAILS,
    CONGESTED,
    EXPANDS,
    LEAVES,
];

/// The answer to a question; nothing if it is what happens anyway.
pub(super) fn of_question(scenario: &Scenario, question: Question, number: u64) -> Option<Answer> {
    let unusual = |answer| (number > 0).then_some(answer);
    match question.ask {
        Ask::PassIsEmpty(_) => unusual(EMPTY),
        Ask::PassFrees(_) | Ask::Evicts(..) => Some(WHICH_PAGE),
        Ask::OomOutcome(_) => {
            let outcome =
                usize::try_from(number).ok().and_then(|at| scenario.policy.oom.get(at))?;
            match outcome {
                OomOutcome::Kill => Some(KILLS),
                OomOutcome::Pending => Some(PENDING),
                OomOutcome::None => None,
            }
        }
        Ask::ChargeMoving => unusual(MOVING),
        Ask::Folio(..) => unusual(LIST_ORDER),
        Ask::CgroupDying(_) => unusual(DYING),
        Ask::RestartsSyscall => unusual(RESTARTS),
        Ask::Pick(_) => Some(PICKS),
        Ask::ReadEnds(_) => unusual(READ_ENDS),
        Ask::FolioAllocFails(_) => unusual(FOLIO_FAILS),
        Ask::NodeAllocFails(_) => unusual(NODE_FAILS),
        Ask::Congested(_) => unusual(CONGESTED),
        Ask::FsExpands(_) => unusual(EXPANDS),
        Ask::FsLeaves(_) => unusual(LEAVES),
    }
}

/// What a call returns, of those that are told apart.
pub(super) fn of_call(call: Call, value: i64) -> impl Iterator<Item = Answer> {
    let yes = |yes, no| Some(if value == 0 { no } else { yes });
    let beyond = matches!(call, Call::TryToFreeMemCgroupPages { nr_pages, .. }
        if value > nr_pages.raw());
    let answer = match call.name() {
        "consume_stock" => yes(COVERED, NOT_COVERED),
        "page_counter_try_charge" => Some(if value < 0 { CHARGED } else { REFUSED }),
        "try_to_free_mem_cgroup_pages" => yes(FREED, FREED_NOTHING),
        "mem_cgroup_margin" => yes(ROOM, NO_ROOM),
        "mem_cgroup_oom" => yes(OOM_TRUE, OOM_FALSE),
        "mem_cgroup_reclaim_for_batch" => yes(BATCH_YES, BATCH_NO),
        "filemap_add_folio" => match Errno::from_raw(value) {
            Some(Errno::EEXIST) => Some(THERE_ALREADY),
            Some(_) => Some(NOT_CHARGED),
            None => Some(ADDED),
        },
        _ => None,
    };
    answer.into_iter().chain(beyond.then_some(BEYOND))
}
