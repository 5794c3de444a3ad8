//! Pages of a large file that no running access names are only counted.
//!
//! An access to a page of such a file goes to a part of it that nobody has used before. Then the
//! older pages differ from each other in nothing that any step can see, as long as reclaim can free
//! them: a count will do. Those that are still locked keep what their reads need until these end.

use crate::ids::{FileId, InodeId};
use crate::page_cache::{Folio, FolioFlags};
use crate::scenario::Scenario;
use crate::step::Ctx;
use crate::units::{PageIndex, Pages};
use crate::world::{Added, FileRaState};

/// Old folios whose reads have not ended lie from here on, whatever their index was.
const OLD: PageIndex = PageIndex(64);

/// The pages that such a file can have at the most.
pub const POOLED_MOST: Pages = Pages(OLD.0);

/// Forgets which pages of the file are cached, because a new access begins.
pub(crate) fn forget(kernel: &mut Ctx<'_>, file: FileId) {
    let inode = kernel.scenario.file(file).inode;
    if !kernel.scenario.inodes[inode.index()].pooled {
        return;
    }
    let cache = &kernel.world.inodes[inode.index()].cache;
    let folios: Vec<Folio> = cache.folios().filter(|folio| folio.index < OLD).collect();
    for folio in folios {
        if folio.flags.contains(FolioFlags::LOCKED) {
            set_aside(kernel, inode, &folio);
        } else {
            pool(kernel, inode, &folio);
        }
    }
    *kernel.ra(file) = FileRaState::default();
}

/// Whether a folio is of an access that is over.
pub(crate) fn is_old(scenario: &Scenario, inode: InodeId, folio: &Folio) -> bool {
    scenario.inodes[inode.index()].pooled && folio.index >= OLD
}

/// From now on its pages are only counted.
pub(crate) fn pool(kernel: &mut Ctx<'_>, inode: InodeId, folio: &Folio) {
    kernel.world.inodes[inode.index()].cache.remove(folio.index);
    let memcg = kernel.scenario.inodes[inode.index()].memcg.expect("pages that count are paid for");
    let memcg = kernel.world.memcg(memcg);
    memcg.lru += folio.nr_pages();
    let listed = Added::Folio(inode, folio.index);
    if let Some(at) = memcg.order.iter().position(|added| *added == listed) {
        memcg.order.remove(at);
        (0..folio.nr_pages().0).for_each(|_| memcg.order.insert(at, Added::Counted));
    }
}

/// Puts a folio where it is in nobody's way.
fn set_aside(kernel: &mut Ctx<'_>, inode: InodeId, folio: &Folio) {
    let cache = &mut kernel.world.inodes[inode.index()].cache;
    cache.remove(folio.index);
    let size = folio.nr_pages();
    let mut places = std::iter::successors(Some(OLD), |at| Some(*at + size));
    let free = |at: &PageIndex| !cache.overlaps(*at, folio.order);
    let index = places.find(free).expect("some place is free");
    cache.insert(Folio { index, ..*folio });
    let memcg = kernel.scenario.inodes[inode.index()].memcg.expect("pages that count are paid for");
    let order = &mut kernel.world.memcg(memcg).order;
    for added in order.iter_mut().filter(|added| **added == Added::Folio(inode, folio.index)) {
        *added = Added::Folio(inode, index);
    }
}
