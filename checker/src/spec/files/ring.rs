//! What a file can be used for whose pages lie in a ring: by one task, which maps it for random
//! accesses, so that nothing looks at where in the file a page lies.

use super::Files;
use mm_model::ids::FileId;
use mm_model::page_cache::{Folio, FolioFlags};
use mm_model::ring::WINDOW_MOST;
use mm_model::scenario::{FilePolicy, Io, Layout, Op, VmFlags, Where};
use mm_model::units::Pages;
use mm_model::world::FileRaState;

/// Why a file can't be used as the operations do, and a hint.
pub(super) fn objection(
    files: &Files,
    all: &[&Op],
    policy: FilePolicy,
    at: usize,
) -> Option<(String, &'static str)> {
    let file = &files.open[at];
    let inode = &files.inodes[file.inode.index()];
    if inode.layout != Layout::Ring {
        return None;
    }
    let name = &file.name;
    let nr_pages = inode.last_page.map_or(Pages::ZERO, |last| Pages(last.0 + 1));
    let marked = |folio: &Folio| folio.flags.contains(FolioFlags::READAHEAD);
    let remembers =
        FileRaState { mmap_miss: file.ra.mmap_miss, ..FileRaState::default() } != file.ra;
    if file.shared || files.open.iter().filter(|other| other.inode == file.inode).count() > 1 {
        let hint = "it is turned with each access, which is one task's: a file for each";
        Some((format!("the ring `{name}` is shared"), hint))
    } else if policy.tree_nodes {
        let hint = "page 0 needs no node, and a ring has no page 0";
        Some((format!("`tree-nodes` beside the ring `{name}`"), hint))
    } else if policy.io == Io::Batch {
        let hint = "where a batch begins is told by its first page: `io` can be `file` or `page`";
        Some((format!("reads of the ring `{name}` end by batch"), hint))
    } else if inode.expands.is_some() {
        let hint = "a file system asks for blocks or ranges of a file with a start";
        Some((format!("the ring `{name}` is expanded"), hint))
    } else if file.ra_pages > WINDOW_MOST {
        let hint =
            "one of 4 has a mark, which leads to pages farther away: `ra-pages` of 3 or less";
        let message = format!("windows of the ring `{name}` have {} pages", file.ra_pages.0);
        Some((message, hint))
    } else if nr_pages < file.ra_pages.max(Pages(1)) {
        let hint = "no page is twice in a window: give it more `pages`";
        Some((format!("the ring `{name}` has no room for a window"), hint))
    } else if remembers || inode.cached.iter().any(marked) {
        let hint = "only how many faults have missed can be known before the first access";
        Some((format!("the ring `{name}` begins in the middle of readahead"), hint))
    } else {
        let mine = all.iter().filter(|op| op.file() == Some(FileId::from(at)));
        mine.into_iter().find_map(|op| misuse(op, nr_pages, name))
    }
}

/// Why an operation can't go to a ring, and a hint.
fn misuse(op: &Op, nr_pages: Pages, name: &str) -> Option<(String, &'static str)> {
    if let Op::Fault { index: Where::At(pick), vm_flags, .. }
    | Op::Access { index: Where::At(pick), vm_flags, .. } = op
        && !vm_flags.intersects(VmFlags::SEQ_READ | VmFlags::HUGEPAGE)
    {
        let hint = "the number is how many pages after the one before, fewer than the file has";
        let message = || format!("an access goes more than once round the ring `{name}`");
        return (pick.last >= nr_pages.0).then(|| (message(), hint));
    }
    let hint = "nothing but a random access looks at nearby pages only: `fault` or `access`";
    Some((format!("the ring `{name}` is not only mapped at random"), hint))
}
