//! Whether a state with identity is one that the pooled run's state stands for.

use super::scene::{Possible, Scene, in_pooled, is_near};
use mm_model::ids::{InodeId, MemcgId};
use mm_model::page_cache::{Folio, FolioFlags};
use mm_model::scenario::{Evicts, Scenario};
use mm_model::state::State;
use mm_model::units::{PageIndex, Pages};
use mm_model::world::Added;

/// What can be told of a page that the memcg lists, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listed {
    /// A folio, by the names of the pooled scenario.
    Folio(InodeId, PageIndex),
    /// One of an older access, which is locked.
    Locked(InodeId),
    /// One that the pooled run only counts.
    Counted,
    /// One of those that goes round once more.
    Used,
}

/// What a pooled file has in memory.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    /// Folios that the running access may still need.
    near: Vec<Folio>,
    /// Those of older accesses that are locked.
    locked: Vec<(u8, FolioFlags)>,
}

/// Compares all but what no step of the pooled run has looked at.
pub(super) fn alike(pooled: &Scenario, of: &State, scene: &Scene, one: &Possible) -> bool {
    actors(pooled, of, &one.state)
        && memcgs(pooled, of, scene, one)
        && files(pooled, of, scene, one)
        && rest(of, &one.state)
}

/// Where everybody is.
fn actors(pooled: &Scenario, of: &State, one: &State) -> bool {
    pooled.actor_ids().all(|actor| {
        let [of, one] = [of, one].map(|state| &state.actors[actor.index()]);
        of.current == one.current
            && of.op() == one.op()
            && of.stack() == one.stack()
            && of.open() == one.open()
    })
}

/// What is shared beside memcgs and files.
fn rest(of: &State, one: &State) -> bool {
    let (of, one) = (&of.world, &one.world);
    of.cpus == one.cpus
        && of.percpu_charge_mutex == one.percpu_charge_mutex
        && of.signals == one.signals
        && of.iters == one.iters
        && of.free_pages == one.free_pages
        && of.unmapped == one.unmapped
}

fn memcgs(pooled: &Scenario, of: &State, scene: &Scene, one: &Possible) -> bool {
    pooled.memcg_ids().all(|memcg| {
        let folios = counted(pooled, of, scene, one, memcg);
        let [of, one] = [of, &one.state].map(|state| &state.world.memcgs[memcg.index()]);
        of.memory == one.memory
            && of.memsw == one.memsw
            && of.high == one.high
            && of.anon == one.anon
            && of.lruvecs == one.lruvecs
            && of.lru == one.lru + folios
    }) && pooled.memcg_ids().all(|memcg| order(pooled, of, scene, one, memcg))
}

/// Pages of folios with identity that the pooled run counts.
fn counted(pooled: &Scenario, of: &State, scene: &Scene, one: &Possible, memcg: MemcgId) -> Pages {
    let mut pages = Pages::ZERO;
    for (at, config) in pooled.inodes.iter().enumerate() {
        let Some(place) = one.places[at].filter(|_| config.memcg == Some(memcg)) else { continue };
        for inode in scene.inodes(InodeId::from(at)) {
            let old = one.state.world.inodes[inode.index()].cache.folios().filter(|folio| {
                !folio.flags.contains(FolioFlags::LOCKED)
                    && in_pooled(&of.world.inodes[at].cache, &place, (inode, folio)).is_none()
            });
            pages += old.map(|folio| folio.nr_pages()).sum();
        }
    }
    pages
}

/// Whether pages were added in the same order, where that matters.
fn order(pooled: &Scenario, of: &State, scene: &Scene, one: &Possible, memcg: MemcgId) -> bool {
    let in_run = |added: &Added| match *added {
        Added::Counted => Listed::Counted,
        Added::Used => Listed::Used,
        Added::Folio(inode, index) => {
            let folio = of.world.inodes[inode.index()].cache.folio(index);
            let near = folio.is_none_or(|folio| is_near(&folio));
            if !pooled.inodes[inode.index()].is_pooled() || near {
                Listed::Folio(inode, index)
            } else {
                Listed::Locked(inode)
            }
        }
    };
    let goes_round = pooled.policy.file.evicts == Evicts::Lru;
    let identified = |added: &Added| match *added {
        Added::Counted => Listed::Counted,
        Added::Used => Listed::Used,
        Added::Folio(inode, index) => {
            let of_run = scene.stands_for(inode);
            let Some(place) = &one.places[of_run.index()] else {
                return Listed::Folio(inode, index);
            };
            let folio = one.state.world.inodes[inode.index()].cache.folio(index);
            let folio = folio.expect("what is listed is cached");
            let cache = &of.world.inodes[of_run.index()].cache;
            match in_pooled(cache, place, (inode, &folio)) {
                Some(known) => Listed::Folio(of_run, known.index),
                None if folio.flags.contains(FolioFlags::LOCKED) => Listed::Locked(of_run),
                None if goes_round && folio.flags.contains(FolioFlags::REFERENCED) => Listed::Used,
                None => Listed::Counted,
            }
        }
    };
    let [of, one] = [of, &one.state].map(|state| &state.world.memcgs[memcg.index()].order);
    of.iter().map(in_run).eq(one.iter().map(identified))
}

fn files(pooled: &Scenario, of: &State, scene: &Scene, one: &Possible) -> bool {
    let pages = (0..pooled.inodes.len()).all(|at| {
        let state = &of.world.inodes[at];
        match one.places[at] {
            None => *state == one.state.world.inodes[at],
            Some(_) => run(state.cache.folios()) == identified(of, scene, one, at),
        }
    });
    // What a pooled file remembers of readahead is forgotten with each access.
    let states = pooled.files.iter().zip(of.world.files.iter().zip(&one.state.world.files));
    let mut states = states.filter(|(file, _)| !pooled.inodes[file.inode.index()].is_pooled());
    pages && states.all(|(_, (of, one))| of == one)
}

fn run(folios: impl Iterator<Item = Folio>) -> Seen {
    let (near, old): (Vec<Folio>, Vec<Folio>) = folios.partition(is_near);
    let mut locked: Vec<_> = old.iter().map(|folio| (folio.order, folio.flags)).collect();
    locked.sort_unstable_by_key(|(order, flags)| (*order, flags.bits()));
    Seen { near, locked }
}

fn identified(of: &State, scene: &Scene, one: &Possible, at: usize) -> Seen {
    let mut seen = Seen::default();
    let Some(place) = one.places[at] else { return seen };
    for inode in scene.inodes(InodeId::from(at)) {
        for folio in one.state.world.inodes[inode.index()].cache.folios() {
            match in_pooled(&of.world.inodes[at].cache, &place, (inode, &folio)) {
                Some(known) => seen.near.push(Folio { index: known.index, ..folio }),
                None if folio.flags.contains(FolioFlags::LOCKED) => {
                    seen.locked.push((folio.order, folio.flags));
                }
                None => {}
            }
        }
    }
    seen.near.sort_unstable_by_key(|folio| folio.index);
    seen.locked.sort_unstable_by_key(|(order, flags)| (*order, flags.bits()));
    seen
}
