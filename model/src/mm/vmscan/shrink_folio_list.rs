//! `shrink_folio_list()`: frees isolated folios, or says why each can't be freed and puts it back.

use crate::design::Lru;
use crate::env::Event;
use crate::ids::{MemcgId, NodeId};
use crate::lru::{FolioFlags, Isolated, LruList, Run};
use crate::mm::vmscan::try_to_free_mem_cgroup_pages::uncharge_freed;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::step::Ctx;
use crate::units::Pages;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "shrink_folio_list",
    file: "mm/vmscan.c",
    versions: ALL_VERSIONS,
    left_out: "swap that fills up or fails, writing dirty file folios by kswapd, demotion, the \
               data of file systems, executable file folios; one step for all folios of a batch, \
               and a swapped folio is freed at once",
    points: &[],
};

/// What becomes of an isolated folio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is freed.
    Freed,
    /// It goes back to where it came from, to be scanned last, in this condition.
    Kept(FolioFlags),
    /// It goes to the active list, or a younger generation, in this condition.
    Activated(FolioFlags),
}

/// The tests in the kernel's order.
fn fate(lru: Lru, from: LruList, flags: FolioFlags) -> Fate {
    if flags.contains(FolioFlags::LOCKED) {
        return Fate::Kept(flags);
    }
    if flags.contains(FolioFlags::WRITEBACK) {
        return Fate::Activated(flags);
    }
    if flags.contains(FolioFlags::YOUNG) {
        let seen = flags - FolioFlags::YOUNG;
        // MGLRU promotes at once; the classic LRU gives one more round first.
        return match lru {
            Lru::Classic if !flags.contains(FolioFlags::REFERENCED) => {
                Fate::Kept(seen | FolioFlags::REFERENCED)
            }
            Lru::Classic | Lru::Mglru => Fate::Activated(seen),
        };
    }
    if from.file() && flags.contains(FolioFlags::DIRTY) {
        return Fate::Activated(flags - FolioFlags::REFERENCED);
    }
    if flags.contains(FolioFlags::PINNED) {
        // Freezing the reference count fails.
        return Fate::Kept(flags - FolioFlags::REFERENCED);
    }
    Fate::Freed
}

/// Frees what can be freed of what the actor has isolated in a lruvec; returns the pages.
pub(crate) fn shrink_folio_list(kernel: &mut Ctx<'_>, memcg: MemcgId, node: NodeId) -> Pages {
    let (me, order, lru) =
        (kernel.me, kernel.scenario.policy.reclaim.order, kernel.scenario.design.lru);
    let lruvec = kernel.world.lruvec(memcg, node);
    let mut freed = Pages::ZERO;
    for isolated in std::mem::take(&mut lruvec.isolated) {
        let Isolated { by, from, run } = isolated;
        if by != me {
            lruvec.isolated.push(isolated);
            continue;
        }
        let put = |flags: FolioFlags| Run { flags, ..run };
        match fate(lru, from, run.flags) {
            Fate::Freed => freed += run.pages(),
            Fate::Kept(flags) => lruvec.list_mut(from).push(put(flags), order),
            Fate::Activated(flags) => {
                lruvec.list_mut(from.counterpart()).push(put(flags), order);
            }
        }
    }
    if freed > Pages::ZERO {
        uncharge_freed(kernel, memcg, freed);
        kernel.note(Event::Reclaimed(memcg, freed));
    }
    freed
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: LruList = LruList::InactiveFile;

    #[test]
    fn a_young_folio_is_kept_once_and_activated_the_next_time() {
        let once = FolioFlags::REFERENCED;
        assert_eq!(fate(Lru::Classic, FILE, FolioFlags::YOUNG), Fate::Kept(once));
        assert_eq!(fate(Lru::Classic, FILE, FolioFlags::YOUNG | once), Fate::Activated(once));
        assert_eq!(fate(Lru::Classic, FILE, once), Fate::Freed);
    }

    #[test]
    fn a_dirty_folio_of_a_file_is_activated_and_an_anonymous_one_swapped() {
        let dirty = FolioFlags::DIRTY;
        assert_eq!(fate(Lru::Classic, FILE, dirty), Fate::Activated(dirty));
        assert_eq!(fate(Lru::Classic, LruList::InactiveAnon, dirty), Fate::Freed);
    }

    #[test]
    fn a_locked_or_referenced_folio_is_kept() {
        for flags in [FolioFlags::LOCKED, FolioFlags::PINNED] {
            assert_eq!(fate(Lru::Classic, FILE, flags), Fate::Kept(flags));
        }
    }
}
