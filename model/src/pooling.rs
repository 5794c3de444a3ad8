//! Pages of a large file that no running access names are only counted.
//!
//! An access to a page of such a file goes to a part of it that nobody has used before. Then the
//! older pages differ from each other in nothing that any step can see, as long as reclaim can free
//! them: a count will do. Those that are still locked keep what their reads need until these end.

use crate::ids::{FileId, InodeId};
use crate::page_cache::{Folio, FolioFlags};
use crate::scenario::Io;
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
    for folio in kernel.world.inodes[inode.index()].cache.folios().collect::<Vec<_>>() {
        let ended = kernel.scenario.policy.file.io == Io::File;
        if ended || !folio.flags.contains(FolioFlags::LOCKED) {
            pool(kernel, inode, &folio);
        }
    }
    settle(kernel, inode);
    *kernel.ra(file) = FileRaState::default();
}

/// After a read has ended: what it has unlocked of older accesses is only counted from now on.
pub(crate) fn pool_old(kernel: &mut Ctx<'_>, inode: InodeId) {
    if !kernel.scenario.inodes[inode.index()].pooled {
        return;
    }
    let cache = &kernel.world.inodes[inode.index()].cache;
    let unlocked = |folio: &Folio| !folio.flags.contains(FolioFlags::LOCKED);
    let (old, new): (Vec<Folio>, Vec<Folio>) = cache.folios().partition(|folio| folio.index >= OLD);
    old.iter().filter(|folio| unlocked(folio)).for_each(|folio| pool(kernel, inode, folio));
    // Those of the running access stay where they are.
    let cache = &mut kernel.world.inodes[inode.index()].cache;
    for folio in &new {
        cache.remove(folio.index);
    }
    settle(kernel, inode);
    let cache = &mut kernel.world.inodes[inode.index()].cache;
    for folio in new {
        cache.insert(folio);
    }
}

/// From now on its pages are only counted.
fn pool(kernel: &mut Ctx<'_>, inode: InodeId, folio: &Folio) {
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

/// Puts all folios of the inode, which are locked, where they are in nobody's way. Nobody can tell
/// reads that have as much to end from each other, so these lie by their size.
fn settle(kernel: &mut Ctx<'_>, inode: InodeId) {
    let io = kernel.scenario.policy.file.io;
    let cache = &mut kernel.world.inodes[inode.index()].cache;
    let mut reads: Vec<Vec<Folio>> = Vec::new();
    for folio in cache.folios().collect::<Vec<_>>() {
        cache.remove(folio.index);
        let by_itself = io == Io::Page || folio.flags.contains(FolioFlags::BIO);
        match reads.last_mut().filter(|_| !by_itself) {
            Some(read) => read.push(folio),
            None => reads.push(vec![folio]),
        }
    }
    reads.sort_by_key(|read| read.iter().map(|folio| folio.order).collect::<Vec<_>>());
    let mut index = OLD;
    let mut moved = Vec::new();
    for folio in reads.into_iter().flatten() {
        index = index.wrapping_align_up(folio.order);
        cache.insert(Folio { index, ..folio });
        moved.push((Added::Folio(inode, folio.index), Added::Folio(inode, index)));
        index += folio.nr_pages();
    }
    let Some(memcg) = kernel.scenario.inodes[inode.index()].memcg else { return };
    for added in &mut kernel.world.memcg(memcg).order {
        if let Some((_, to)) = moved.iter().find(|(from, _)| from == added) {
            *added = *to;
        }
    }
}
