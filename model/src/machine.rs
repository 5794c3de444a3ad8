//! The transition system of a scenario: its initial state, and one atomic step of one actor.

use crate::actor::Actor;
use crate::choose::Choose;
use crate::design::MemcgWalk;
use crate::env::Env;
use crate::ids::{ActorId, InodeId, MemcgId};
use crate::lru::{LruList, Lruvec, Run};
use crate::mm::memcontrol::refill_stock::slots;
use crate::page_cache::PageCache;
use crate::scenario::{InodeConfig, MemcgConfig, Pass, Scenario, Store};
use crate::state::State;
use crate::step::{Ctx, Guard, Locality};
use crate::units::Pages;
use crate::world::{ActorSet, Added, Cpu, Inode, Memcg, PageCounter, ReclaimIter, World};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// Whether an engine runs local steps together with the step before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fuse {
    /// Every step is a transition of its own.
    No,
    /// A transition is one step and the actor's local steps after it.
    OwnLocal,
}

/// A local step never repeats without a shared one in between; more than this many in a row mean
/// that a program point wrongly says it is local.
const MAX_LOCAL_STEPS: usize = 1 << 20;

impl Scenario {
    /// The state before any step.
    pub fn initial(&self) -> State {
        let slots = usize::from(slots(self));
        let memcgs = self.memcg_ids().map(|id| {
            let config = &self.memcgs[id.index()];
            let usage = self
                .memcg_ids()
                .filter(|below| self.in_subtree(*below, id))
                .map(|below| self.memcgs[below.index()].pages() + self.cached(below))
                .sum();
            let walked = self.granularity.reclaim.pass == Pass::Walked;
            Memcg {
                memory: PageCounter { usage, max: config.max },
                memsw: config.memsw_max.map(|max| PageCounter { usage, max }),
                high: config.high,
                lru: if walked { Pages::ZERO } else { config.pages() - config.anon },
                lruvecs: if walked { self.lruvecs(config) } else { SmallVec::new() },
                anon: config.anon,
                order: self.added_before(id),
            }
        });
        let cpu = |_| Cpu { slots: smallvec::smallvec![None; slots], ..Cpu::default() };
        let inode = |inode: &InodeConfig| {
            let mut cache = match inode.store {
                Store::Bits => PageCache::bits(),
                Store::Tree => PageCache::tree(),
            };
            inode.cached.iter().for_each(|folio| cache.insert(*folio));
            Inode { cache, nodes: Pages::ZERO, passed: Pages::ZERO }
        };
        State {
            world: World {
                memcgs: memcgs.collect(),
                cpus: self.cpus.iter().map(cpu).collect(),
                percpu_charge_mutex: None,
                signals: ActorSet::EMPTY,
                iters: smallvec::smallvec![ReclaimIter::default(); self.nr_iters()],
                free_pages: self.ram.map(|ram| ram.free),
                inodes: self.inodes.iter().map(inode).collect(),
                files: self.files.iter().map(|file| file.ra).collect(),
                unmapped: ActorSet::EMPTY,
            },
            actors: self.actors.iter().map(Actor::start).collect(),
        }
    }

    /// The pages of a memcg at the start, where the order matters: those that are only counted came
    /// first.
    fn added_before(&self, memcg: MemcgId) -> SmallVec<[Added; 0]> {
        if !self.policy.file.evicts.in_order() {
            return SmallVec::new();
        }
        let counted = (0..self.memcgs[memcg.index()].lru.0).map(|_| Added::Counted);
        let inodes = self.inodes.iter().enumerate();
        let folios =
            inodes.filter(|(_, inode)| inode.memcg == Some(memcg)).flat_map(|(at, inode)| {
                inode.cached.iter().map(move |folio| Added::Folio(InodeId::from(at), folio.index))
            });
        counted.chain(folios).collect()
    }

    fn lruvecs(&self, config: &MemcgConfig) -> SmallVec<[Lruvec; 1]> {
        let mut lruvecs: SmallVec<[Lruvec; 1]> =
            smallvec::smallvec![Lruvec::default(); self.nr_nodes()];
        let order = self.policy.reclaim.order;
        for (lruvec, runs) in lruvecs.iter_mut().zip(&config.reclaim.nodes) {
            for (list, run) in runs {
                lruvec.list_mut(*list).push(*run, order);
            }
        }
        lruvecs[0].list_mut(LruList::InactiveFile).push(Run::base_pages(config.lru), order);
        lruvecs
    }

    /// How many shared iterators there are: one for each target, the root among them, and node.
    fn nr_iters(&self) -> usize {
        let shared = self.granularity.reclaim.pass == Pass::Walked
            && self.design.memcg_walk == MemcgWalk::Shared;
        if shared { (self.memcgs.len() + 1) * self.nr_nodes() } else { 0 }
    }

    /// The guard an actor waits for; nothing if it can step or has ended.
    pub fn blocked(&self, state: &State, actor: ActorId) -> Option<Guard> {
        match self.locality(state, actor)? {
            Locality::BlockedUntil(guard) if !guard.holds(self, &state.world) => Some(guard),
            Locality::BlockedUntil(_)
            | Locality::Local
            | Locality::Shared
            | Locality::LocalIf(_) => None,
        }
    }

    /// Whether an actor can take a step.
    pub fn enabled(&self, state: &State, actor: ActorId) -> bool {
        self.locality(state, actor).is_some() && self.blocked(state, actor).is_none()
    }

    fn locality(&self, state: &State, actor: ActorId) -> Option<Locality> {
        state.actors[actor.index()].locality(&self.actors[actor.index()], self)
    }

    /// Whether the actor's next step is local now.
    fn local_now(&self, state: &State, actor: ActorId) -> bool {
        self.locality(state, actor).is_some_and(|at| at.is_local(self, &state.world))
    }

    /// Takes one atomic step of an enabled actor.
    pub fn step(&self, state: &mut State, me: ActorId, env: &mut dyn Env) {
        let config = &self.actors[me.index()];
        let Actor { mut current, at } = state.actors[me.index()];
        env.at(&|stack| at.stack(stack));
        let mut kernel = Ctx {
            scenario: self,
            world: &mut state.world,
            actors: &state.actors,
            me,
            task: &config.task,
            current: &mut current,
            env: &mut *env,
        };
        let at = Actor::step(at, config, &mut kernel);
        state.actors[me.index()] = Actor { current, at };
        env.stepped();
    }

    /// Takes one transition of an enabled actor: a step, and the local ones after it.
    ///
    /// # Panics
    /// If local steps never end, which means that a program point wrongly says it is local.
    pub fn transition(&self, state: &mut State, me: ActorId, fuse: Fuse, env: &mut dyn Env) {
        self.step(state, me, env);
        if fuse == Fuse::OwnLocal {
            let mut rounds = 0;
            for _ in 0..MAX_LOCAL_STEPS {
                // A program without a step that anybody could see goes round by itself for ever.
                rounds += u8::from(state.actors[me.index()].begins_program());
                if rounds > 1 || !self.local_now(state, me) {
                    return;
                }
                self.step(state, me, env);
            }
            panic!("actor {} loops in local steps", self.actors[me.index()].name);
        }
    }

    /// Calls `found` with the actor, the answers and the state of every transition from `state`,
    /// in a fixed order: by actor, then by answers; until it breaks. A state can have more
    /// transitions than anybody can wait for.
    pub fn successors(
        &self,
        state: &State,
        fuse: Fuse,
        mut found: impl FnMut(ActorId, &Choose, State) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut choose = Choose::default();
        for actor in self.actor_ids().filter(|actor| self.enabled(state, *actor)) {
            choose.reset();
            loop {
                let mut next = state.clone();
                self.transition(&mut next, actor, fuse, &mut choose);
                found(actor, &choose, next)?;
                if !choose.advance() {
                    break;
                }
            }
        }
        ControlFlow::Continue(())
    }
}
