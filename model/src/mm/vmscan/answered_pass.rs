//! A reclaim pass that the world answers for: one step, and nothing of the walk inside.
//!
//! It frees pages that are only counted and, of files, the folios that nothing keeps: not locked,
//! not dirty, and not held by a task that works with them.

use crate::actor::Actor;
use crate::env::{Ask, Event};
use crate::ids::{ActorId, InodeId, MemcgId};
use crate::mm::filemap::filemap_remove_folio::filemap_remove_folio;
use crate::mm::vmscan::try_to_free_mem_cgroup_pages::{frees_at_most, uncharge_freed};
use crate::page_cache::{Folio, FolioFlags};
use crate::scenario::{EmptyPasses, Evicts, Scenario};
use crate::step::Ctx;
use crate::units::Pages;
use crate::world::{Added, World};

/// Frees pages of the subtree, or of all memcgs, and returns how many: at least one if there is one
/// to free, unless the policy says otherwise.
pub(crate) fn pass(kernel: &mut Ctx<'_>, root: Option<MemcgId>, nr_pages: Pages) -> Pages {
    let scenario = kernel.scenario;
    let most = frees_at_most(scenario, nr_pages);
    let below = |memcg: &MemcgId| root.is_none_or(|root| scenario.in_subtree(*memcg, root));
    let memcgs: Vec<(MemcgId, Evictable)> =
        scenario.memcg_ids().filter(below).map(|id| (id, Evictable::of(kernel, id))).collect();
    // Folios that an access has mapped go only if there is nothing else.
    let protects = scenario.policy.file.evicts == Evicts::UnmappedFirst
        && memcgs.iter().any(|(_, of)| of.pages(false) > Pages::ZERO);
    let mut left: Pages = memcgs.iter().map(|(_, of)| of.pages(!protects)).sum();
    let least = left.min(Pages(1)).min(most);
    if least > Pages::ZERO && is_empty(kernel, root) {
        return Pages::ZERO;
    }
    let mut freed = Freed { pages: Pages::ZERO, largest: Pages::ZERO, most };
    for (memcg, evictable) in memcgs {
        let mine = evictable.pages(!protects);
        left -= mine;
        let least = least.saturating_sub(freed.pages + left);
        if scenario.policy.file.evicts.in_order() {
            let most = most.saturating_sub(freed.pages);
            let least = least.min(mine);
            let more = kernel.ask(Ask::PassFrees(memcg), (mine.min(most).max(least) - least).0);
            freed.pages += oldest(kernel, memcg, least + Pages(more));
        } else {
            any(kernel, memcg, &evictable, protects, (least, &mut freed));
        }
    }
    freed.pages
}

/// What a pass has freed of the most it frees, in any order: which of it went last, and so may have
/// gone beyond, is not known yet.
struct Freed {
    pages: Pages,
    /// Of the largest folio of a file.
    largest: Pages,
    most: Pages,
}

impl Freed {
    /// Whether a folio of that size can go as well: then the larger of it and the largest so far
    /// is the last, and without that there is something left to free.
    fn has_room_for(&self, folio: Pages) -> bool {
        self.pages + folio - self.largest.max(folio) < self.most
    }

    /// The most pages that can go as well, each a folio of its own.
    fn room(&self) -> Pages {
        (self.most + self.largest.max(Pages(1))).saturating_sub(self.pages + Pages(1))
    }
}

/// Whether a pass that could free something frees nothing.
fn is_empty(kernel: &mut Ctx<'_>, root: Option<MemcgId>) -> bool {
    let may_be = match kernel.scenario.policy.empty_passes {
        EmptyPasses::Never => false,
        EmptyPasses::Rationed(most) => kernel.current.empty_passes < most,
        EmptyPasses::Freely => true,
    };
    if kernel.ask(Ask::PassIsEmpty(root), may_be.into()) == 0 {
        return false;
    }
    if let EmptyPasses::Rationed(_) = kernel.scenario.policy.empty_passes {
        kernel.current.empty_passes += 1;
    }
    true
}

/// What a pass may free of a memcg.
struct Evictable {
    /// Pages that are only counted.
    counted: Pages,
    /// Folios of files, and whether a running access has mapped them.
    folios: Vec<(InodeId, Folio, bool)>,
}

impl Evictable {
    fn of(kernel: &Ctx<'_>, memcg: MemcgId) -> Self {
        let counted = kernel.world.memcgs[memcg.index()].lru;
        let mapped = |(inode, folio): (InodeId, Folio)| {
            (inode, folio, !mapped_by(kernel, inode, &folio).is_empty())
        };
        let free = free_folios(kernel.scenario, kernel.world, kernel.actors, memcg);
        Self { counted, folios: free.map(mapped).collect() }
    }

    fn pages(&self, mapped_too: bool) -> Pages {
        let folios = self.folios.iter().filter(|(_, _, mapped)| mapped_too || !mapped);
        self.counted + folios.map(|(_, folio, _)| folio.nr_pages()).sum::<Pages>()
    }
}

/// The folios of files that a pass could take from a memcg.
pub(crate) fn free_folios(
    scenario: &Scenario,
    world: &World,
    actors: &[Actor],
    memcg: MemcgId,
) -> impl Iterator<Item = (InodeId, Folio)> {
    let inodes = scenario.inodes.iter().zip(&world.inodes).enumerate();
    let mine = inodes.filter(move |(_, (config, _))| config.memcg == Some(memcg));
    mine.flat_map(move |(at, (_, inode))| {
        let id = InodeId::from(at);
        let free = inode.cache.folios().filter(move |folio| is_free(scenario, actors, id, folio));
        free.map(move |folio| (id, folio))
    })
}

/// Whether nothing keeps a folio in the cache.
fn is_free(scenario: &Scenario, actors: &[Actor], inode: InodeId, folio: &Folio) -> bool {
    let held = |pin: (InodeId, _, _)| {
        let (of, first, end) = pin;
        of == inode && first < folio.end() && folio.index < end
    };
    scenario.policy.file.evicts != Evicts::None
        && !folio.flags.intersects(FolioFlags::LOCKED | FolioFlags::DIRTY)
        && !actors.iter().any(|actor| actor.pins(scenario).is_some_and(held))
}

/// The tasks whose running access has mapped a page of the folio.
fn mapped_by(kernel: &Ctx<'_>, inode: InodeId, folio: &Folio) -> Vec<ActorId> {
    let maps = |actor: &ActorId| {
        let maps = kernel.actors[actor.index()].maps(kernel.scenario);
        maps.is_some_and(|(of, index)| of == inode && folio.index <= index && index < folio.end())
    };
    (0..kernel.actors.len()).map(ActorId::from).filter(maps).collect()
}

/// Frees any of a memcg's pages, at least so many.
fn any(
    kernel: &mut Ctx<'_>,
    memcg: MemcgId,
    evictable: &Evictable,
    protects: bool,
    (least, freed): (Pages, &mut Freed),
) {
    let folios: Vec<_> =
        evictable.folios.iter().filter(|(_, _, mapped)| !(protects && *mapped)).collect();
    let mut left: Pages = folios.iter().map(|(_, folio, _)| folio.nr_pages()).sum();
    let at_least = least.saturating_sub(left);
    let at_most = evictable.counted.min(freed.room()).max(at_least);
    let counted = at_least + Pages(kernel.ask(Ask::PassFrees(memcg), (at_most - at_least).0));
    kernel.world.memcg(memcg).lru -= counted;
    uncharge_freed(kernel, memcg, counted);
    if counted > Pages::ZERO {
        kernel.note(Event::Reclaimed(memcg, counted));
        freed.pages += counted;
    }
    let mut mine = counted;
    for (inode, folio, _) in folios {
        left -= folio.nr_pages();
        let must = mine + left < least;
        let may = freed.has_room_for(folio.nr_pages());
        if must || (may && kernel.ask(Ask::Evicts(*inode, folio.index), 1) == 1) {
            let pages = evict(kernel, memcg, *inode, folio);
            freed.pages += pages;
            freed.largest = freed.largest.max(pages);
            mine += pages;
        }
    }
}

/// Frees the pages of a memcg that were added first, until it is so many.
fn oldest(kernel: &mut Ctx<'_>, memcg: MemcgId, nr_pages: Pages) -> Pages {
    let mut freed = Pages::ZERO;
    let mut at = 0;
    while freed < nr_pages {
        // What was used goes round and is looked at once more.
        let added = kernel.world.memcg(memcg).order.get(at).copied();
        match added.expect("a pass is asked for no more than it can free") {
            Added::Counted => {
                let state = kernel.world.memcg(memcg);
                state.order.remove(at);
                state.lru -= Pages(1);
                uncharge_freed(kernel, memcg, Pages(1));
                kernel.note(Event::Reclaimed(memcg, Pages(1)));
                freed += Pages(1);
            }
            Added::Used => {
                let order = &mut kernel.world.memcg(memcg).order;
                order.remove(at);
                order.push(Added::Counted);
            }
            Added::Folio(inode, index) => {
                let folio = kernel.world.inodes[inode.index()].cache.folio(index);
                let folio = folio.expect("what is listed is cached");
                let used = folio.flags.contains(FolioFlags::REFERENCED);
                if !is_free(kernel.scenario, kernel.actors, inode, &folio) {
                    at += 1;
                } else if used && kernel.scenario.policy.file.evicts == Evicts::Lru {
                    let cache = &mut kernel.world.inodes[inode.index()].cache;
                    cache.change(index, FolioFlags::empty(), FolioFlags::REFERENCED);
                    let order = &mut kernel.world.memcg(memcg).order;
                    order.remove(at);
                    order.push(Added::Folio(inode, index));
                } else {
                    freed += evict(kernel, memcg, inode, &folio);
                }
            }
        }
    }
    freed
}

/// Takes a folio out of the cache and out of the page tables.
fn evict(kernel: &mut Ctx<'_>, memcg: MemcgId, inode: InodeId, folio: &Folio) -> Pages {
    for actor in mapped_by(kernel, inode, folio) {
        kernel.world.unmapped.insert(actor);
    }
    let pages = folio.nr_pages();
    kernel.note(Event::Reclaimed(memcg, pages));
    if !folio.flags.contains(FolioFlags::USED) {
        kernel.note(Event::Unused(memcg, pages));
    }
    filemap_remove_folio(kernel, inode, folio.index);
    pages
}
