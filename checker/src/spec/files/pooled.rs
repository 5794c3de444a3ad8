//! What a pooled file can be used for: by one task, which either maps it for random accesses, where
//! nothing that a later access does depends on an earlier one, or goes through it in order.

use super::Files;
use mm_model::ids::FileId;
use mm_model::kernel::Kernel;
use mm_model::pooling::{POOLED_MOST, WINDOW_MOST};
use mm_model::scenario::{Evicts, FilePolicy, Io, Op, VmFlags};
use mm_model::units::{PageIndex, Pages};
use mm_model::world::FileRaState;

/// What else of a spec matters to a pooled file.
#[derive(Clone, Copy)]
pub(in crate::spec) struct Around {
    /// What may happen to files.
    pub(super) policy: FilePolicy,
    /// Whether faults that miss can be too many.
    counts_misses: bool,
}

impl Around {
    /// With constants that can't be used every fault may miss.
    pub(in crate::spec) fn new(policy: FilePolicy, kernel: Option<&Kernel>) -> Self {
        Self { policy, counts_misses: kernel.is_none_or(|kernel| kernel.mmap_lotsamiss > 0) }
    }
}

/// Why a file can't be used as the operations do, and a hint.
pub(super) fn objection(
    files: &Files,
    all: &[&Op],
    Around { policy, counts_misses }: Around,
    at: usize,
) -> Option<(String, &'static str)> {
    let file = &files.open[at];
    let inode = &files.inodes[file.inode.index()];
    let name = &file.name;
    let mine: Vec<&Op> =
        all.iter().copied().filter(|op| op.file() == Some(FileId::from(at))).collect();
    let goes_on = mine.iter().any(|op| op.goes_on());
    if !inode.is_pooled() {
        let hint = "where `next` is there is no end: give the file `pooled = true`";
        return goes_on.then(|| (format!("`next` of `{name}`, which is not pooled"), hint));
    }
    if file.shared || files.open.iter().filter(|other| other.inode == file.inode).count() > 1 {
        let hint = "its pages are told apart only while one access of one task runs";
        return Some((format!("the pooled file `{name}` is shared"), hint));
    }
    if policy.tree_nodes {
        let hint = "a node goes with the last page of a file, and counted pages are of no file";
        return Some((format!("`tree-nodes` beside the pooled file `{name}`"), hint));
    }
    if policy.evicts == Evicts::None {
        let hint = "a pass takes what is only counted: `evicts` can be `any` or an order";
        return Some((format!("`evicts = \"none\"` beside the pooled file `{name}`"), hint));
    }
    if !inode.cached.is_empty() {
        let hint = "nobody comes back to pages that were there before: `lru` counts them";
        return Some((format!("the pooled file `{name}` has pages at the start"), hint));
    }
    if file.ra_pages == Pages::ZERO {
        let hint = "without readahead nothing is gained: leave `pooled` out";
        return Some((format!("the pooled file `{name}` is not read ahead"), hint));
    }
    if file.ra != FileRaState::default() {
        let hint = "what it remembers of readahead is of pages that nobody comes back to";
        return Some((format!("the pooled file `{name}` does not begin as just opened"), hint));
    }
    if goes_on {
        return in_order(files, &mine, policy, at);
    }
    if counts_misses {
        let hint = "an access at random forgets how many have missed: `mmap_lotsamiss = 0`";
        return Some((format!("faults of the pooled file `{name}` may miss too often"), hint));
    }
    let at_random = |op: &&Op| vm_flags(op).is_some_and(|of| !of.contains(VmFlags::SEQ_READ));
    let hint = "a random access forgets the one before: `fault`, `access`, or go on with `next`";
    let message = || format!("the pooled file `{name}` is not only mapped at random");
    (!mine.iter().all(at_random)).then(|| (message(), hint))
}

/// Why a pooled file can't be used in order, and a hint.
fn in_order(
    files: &Files,
    mine: &[&Op],
    policy: FilePolicy,
    at: usize,
) -> Option<(String, &'static str)> {
    let file = &files.open[at];
    let inode = &files.inodes[file.inode.index()];
    let name = &file.name;
    let huge = |op: &&Op| vm_flags(op).is_some_and(|of| of.contains(VmFlags::HUGEPAGE));
    let whole = inode.last_page == Some(PageIndex(POOLED_MOST.0 - 1));
    if !mine.iter().all(|op| op.goes_on()) {
        let hint = "a task that goes on with `next` has no other place in the file";
        Some((format!("the pooled file `{name}` is not only used in order"), hint))
    } else if mine.iter().any(huge) {
        let hint = "only base pages are pooled: leave the word out, or write `seq` or `rand`";
        Some((format!("`{name}` is used in order, by huge pages"), hint))
    } else if policy.fs_leaves {
        let hint =
            "a window that was cut to nothing is nowhere, and the file moves with its windows";
        Some((format!("`fs-leaves` beside `{name}`, which is used in order"), hint))
    } else if policy.io == Io::Batch {
        let hint =
            "the file moves past the task, and a batch with it: `io` can be `file` or `page`";
        Some((format!("reads of `{name}`, which is used in order, end by batch"), hint))
    } else if !whole {
        let hint = "it stands for the middle of a large file: `pages = 64`";
        Some((format!("`{name}` is used in order, and has a start or an end"), hint))
    } else if file.ra_pages > WINDOW_MOST {
        let hint = "two of them and what lies behind must have room: at most 8 pages";
        Some((format!("the windows of `{name}`, which is used in order, are too long"), hint))
    } else {
        None
    }
}

/// How the mapping is used that it accesses.
const fn vm_flags(op: &Op) -> Option<VmFlags> {
    if let Op::Fault { vm_flags, .. } | Op::Access { vm_flags, .. } = op {
        Some(*vm_flags)
    } else {
        None
    }
}
