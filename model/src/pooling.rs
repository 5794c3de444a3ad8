//! Pages of a large file that no running access names are only counted.
//!
//! An access to a page of such a file goes to a part of it that nobody has used before. Then the
//! older pages differ from each other in nothing that any step can see, as long as reclaim can free
//! them: a count will do. Those that are still locked keep what their reads need until these end.
//!
//! A task that goes through such a file in order comes back to no page that lies farther behind than
//! a window, or a look for what was read before, reaches: half or all of `ra_pages`. The others keep
//! their place relative to the task, and the file moves past it, which is the middle of a large
//! file, away from its start and its end.

use crate::env::Event;
use crate::ids::{FileId, InodeId};
use crate::page_cache::{Folio, FolioFlags};
use crate::scenario::{Evicts, Io};
use crate::step::Ctx;
use crate::units::{PageIndex, Pages};
use crate::world::{Added, FileRaState};

/// Old folios whose reads have not ended lie from here on, whatever their index was.
const OLD: PageIndex = PageIndex(64);

/// The pages that such a file can have at the most.
pub const POOLED_MOST: Pages = Pages(OLD.0);

/// From where a task goes through a file in order.
pub const HERE: PageIndex = PageIndex(32);

/// The longest window of such a file: two of them, one after the other, lie between [`HERE`] and
/// the end.
pub const WINDOW_MOST: Pages = Pages(8);

/// Bytes of a page.
const PAGE_SIZE: i64 = 4096;

/// Goes on to the next page of the file, and returns where it lies.
///
/// Windows may be cut to whole blocks of `ra_pages`, or of the largest power of two that divides
/// it. So the task passes the pages of one block, and then the file moves back by a block.
pub(crate) fn advance(kernel: &mut Ctx<'_>, file: FileId) -> PageIndex {
    let config = kernel.scenario.file(file);
    let (inode, block) = (config.inode, Pages(1 << config.ra_pages.0.trailing_zeros().min(3)));
    let passed = &mut kernel.world.inodes[inode.index()].passed;
    *passed = if *passed + Pages(1) == block { Pages::ZERO } else { *passed + Pages(1) };
    let here = HERE + *passed;
    let by = if *passed == Pages::ZERO { block } else { Pages::ZERO };
    let seen = PageIndex(here.0 + by.0 - config.ra_pages.0);
    let cache = &mut kernel.world.inodes[inode.index()].cache;
    let (near, far): (Vec<Folio>, Vec<Folio>) =
        cache.folios().partition(|folio| folio.index >= seen && folio.index < OLD);
    for folio in &near {
        cache.remove(folio.index);
    }
    let unlocked = |folio: &&Folio| !folio.flags.contains(FolioFlags::LOCKED);
    far.iter().filter(unlocked).for_each(|folio| pool(kernel, inode, folio));
    settle(kernel, inode);
    let cache = &mut kernel.world.inodes[inode.index()].cache;
    for folio in &near {
        cache.insert(Folio { index: PageIndex(folio.index.0 - by.0), ..*folio });
    }
    if let Some(memcg) = kernel.scenario.inodes[inode.index()].memcg {
        for added in &mut kernel.world.memcg(memcg).order {
            match added {
                Added::Folio(of, index) if *of == inode && *index < OLD => index.0 -= by.0,
                Added::Folio(..) | Added::Counted | Added::Used => {}
            }
        }
    }
    move_window(kernel.ra(file), here, by);
    here
}

/// Moves the last window with the file. One that ends before the page is never asked for again.
fn move_window(ra: &mut FileRaState, here: PageIndex, by: Pages) {
    ra.start = PageIndex(ra.start.0.saturating_sub(by.0));
    if ra.start + ra.size < here {
        let (mmap_miss, prev_pos) = (ra.mmap_miss, ra.prev_pos);
        *ra = FileRaState { mmap_miss, prev_pos, ..FileRaState::default() };
    }
    if ra.prev_pos >= 0 {
        ra.prev_pos -= by.0.cast_signed() * PAGE_SIZE;
    }
}

/// Forgets which pages of the file are cached, because a new access begins.
pub(crate) fn forget(kernel: &mut Ctx<'_>, file: FileId) {
    let inode = kernel.scenario.file(file).inode;
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
    if !kernel.scenario.inodes[inode.index()].is_pooled() {
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
    if !folio.flags.contains(FolioFlags::USED) {
        // Nobody comes back to it: it will be freed unused, whenever that is.
        kernel.note(Event::Unused(memcg, folio.nr_pages()));
    }
    // A page that an access has used goes round once more, whoever comes after it.
    let goes_round = kernel.scenario.policy.file.evicts == Evicts::Lru
        && folio.flags.contains(FolioFlags::REFERENCED);
    let counted = if goes_round { Added::Used } else { Added::Counted };
    let memcg = kernel.world.memcg(memcg);
    memcg.lru += folio.nr_pages();
    let listed = Added::Folio(inode, folio.index);
    if let Some(at) = memcg.order.iter().position(|added| *added == listed) {
        memcg.order.remove(at);
        (0..folio.nr_pages().0).for_each(|_| memcg.order.insert(at, counted));
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
