//! A file whose pages lie in a ring, turned so that each access goes to the same place of it.
//!
//! To turn a file changes nothing that a step can see, as long as steps only look at how its pages
//! lie to each other, and not at where they lie: at no start, no end and no alignment. So of all
//! states that differ in that alone one is enough, for safety, for progress and for costs, since no
//! actor becomes another.

use crate::env::Event;
use crate::ids::FileId;
use crate::page_cache::Folio;
use crate::step::Ctx;
use crate::units::{PageIndex, Pages};
use crate::world::{Added, FileRaState};

/// The longest window of such a file: a longer one has a mark, and the next one lies farther away
/// than the pages around it.
pub const WINDOW_MOST: Pages = Pages(3);

/// Where accesses of a file with such windows go: what a window holds before their page begins with
/// the first page of the file, and the rest of it has room in as many pages as it holds.
pub const fn here(ra_pages: Pages) -> PageIndex {
    PageIndex(ra_pages.0 / 2)
}

/// Turns the file until the page that comes so many after the one of the last access is where that
/// was, and returns where that is.
pub(crate) fn turn(kernel: &mut Ctx<'_>, file: FileId, by: Pages) -> PageIndex {
    let config = kernel.scenario.file(file);
    let (inode, here) = (config.inode, here(config.ra_pages));
    kernel.note(Event::Turned(file, by));
    let last = kernel.scenario.inode(file).last_page.expect("a ring has pages");
    let nr_pages = last.0 + 1;
    let turned = |PageIndex(index): PageIndex| PageIndex((index + nr_pages - by.0) % nr_pages);
    let cache = &mut kernel.world.inodes[inode.index()].cache;
    let folios: Vec<Folio> = cache.folios().collect();
    for folio in &folios {
        cache.remove(folio.index);
    }
    for folio in folios {
        cache.insert(Folio { index: turned(folio.index), ..folio });
    }
    if let Some(memcg) = kernel.scenario.inodes[inode.index()].memcg {
        for added in &mut kernel.world.memcg(memcg).order {
            match added {
                Added::Folio(of, index) if *of == inode => *index = turned(*index),
                Added::Folio(..) | Added::Counted | Added::Used => {}
            }
        }
    }
    // The last window is over, and without a mark nobody asks where it was.
    let ra = kernel.ra(file);
    *ra = FileRaState { mmap_miss: ra.mmap_miss, ..FileRaState::default() };
    here
}
