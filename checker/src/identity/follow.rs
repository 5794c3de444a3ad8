//! Follows the pooled run with all states with identity that it can be in.

use super::alike::alike;
use super::guided::Guided;
use super::named::{Account, Identified};
use super::scene::{Access, Possible, Scene, go_to};
use crate::replay::Step;
use mm_model::actor::At;
use mm_model::actor::task::Task;
use mm_model::choose::Choose;
use mm_model::env::Ask;
use mm_model::ids::{ActorId, InodeId};
use mm_model::pooling::HERE;
use mm_model::scenario::{Io, Op, Scenario, Where};
use mm_model::state::State;
use mm_model::units::PageIndex;

/// The most states with identity that are kept. They differ in which pages are left that nobody
/// will use again.
const MOST: usize = 8;

/// The most combinations of answers that are tried from one of them.
const ANSWERS_MOST: usize = 4_096;

/// Follows a pooled run.
pub(super) struct Follower<'a> {
    pooled: &'a Scenario,
    scene: Scene,
    possible: Vec<Possible>,
    /// Accesses of pooled files at random that have begun.
    accesses: u64,
}

/// An access of a pooled file that begins.
struct Begins {
    op: u8,
    inode: InodeId,
    access: Access,
}

impl<'a> Follower<'a> {
    pub(super) fn new(pooled: &'a Scenario) -> Self {
        let scene = Scene::new(pooled);
        let possible = vec![scene.initial()];
        Self { pooled, scene, possible, accesses: 0 }
    }

    /// Takes an atomic step of the pooled run from a state. False if that can't be done.
    pub(super) fn step(&mut self, before: &State, step: &Step) -> bool {
        let begins = self.begins(before, step);
        let wanted = Account::of_pooled(self.pooled, before, step, begins.is_some());
        let mut next = Vec::new();
        for mut one in std::mem::take(&mut self.possible) {
            if let Some(begins) = &begins
                && !self.begin(&mut one, step.actor, begins)
            {
                continue;
            }
            for actor in self.scene.actors(step.actor) {
                self.take(&one, (before, step), actor, &wanted, begins.is_some(), &mut next);
            }
        }
        self.possible = next;
        !self.possible.is_empty()
    }

    /// Whether the step begins an access of a pooled file, and where.
    fn begins(&mut self, before: &State, step: &Step) -> Option<Begins> {
        let At::Task(Task::User(at)) = before.actors[step.actor.index()].at else { return None };
        let op = self.pooled.actors[step.actor.index()].op(at);
        let inode = self.pooled.file(op.file()?).inode;
        if !self.pooled.inodes[inode.index()].is_pooled() {
            return None;
        }
        let access = if op.goes_on() {
            Access::Next(HERE + step.state.world.inodes[inode.index()].passed)
        } else {
            self.accesses += 1;
            Access::AtRandom { index: picked(op, step), nth: self.accesses }
        };
        Some(Begins { op: at, inode, access })
    }

    /// Gets ready for an access: older reads of the file have ended where they end all together,
    /// and the task's program goes on at a place of its own.
    fn begin(&mut self, one: &mut Possible, actor: ActorId, begins: &Begins) -> bool {
        let Begins { op, inode, access } = begins;
        let forgets = matches!(access, Access::AtRandom { .. });
        if forgets && self.pooled.policy.file.io == Io::File {
            for device in self.scene.devices(*inode) {
                while self.scene.scenario.enabled(&one.state, *device) {
                    self.scene.scenario.step(&mut one.state, *device, &mut Choose::default());
                }
            }
        }
        let Some(place) = self.scene.place(one, *inode, *access) else { return false };
        one.places[inode.index()] = Some(place);
        go_to(&mut self.scene.scenario, actor, *op, &place);
        true
    }

    /// Takes a step from one state in all ways that do what the pooled run did.
    fn take(
        &self,
        one: &Possible,
        (before, step): (&State, &Step),
        actor: ActorId,
        wanted: &Account,
        begins: bool,
        next: &mut Vec<Possible>,
    ) {
        let scenario = &self.scene.scenario;
        if !scenario.enabled(&one.state, actor) {
            return;
        }
        let names = Identified { scene: &self.scene, places: &one.places, pooled: before };
        let mut guided = Guided::new(wanted, &names, scenario);
        for _ in 0..ANSWERS_MOST {
            let mut state = one.state.clone();
            scenario.step(&mut state, actor, &mut guided);
            let account = Account::new(&names, &guided.asked, guided.events(), begins);
            let to = Possible { state, places: one.places.clone() };
            let same = account == *wanted && alike(self.pooled, &step.state, &self.scene, &to);
            if same && !next.contains(&to) {
                next.push(to);
            }
            if next.len() >= MOST || !guided.advance() {
                return;
            }
        }
    }
}

/// The page of an access at random, which is asked for if there are several.
fn picked(op: Op, step: &Step) -> PageIndex {
    let (Op::Fault { index, .. } | Op::Access { index, .. }) = op else {
        unreachable!("a pooled file is mapped for random accesses")
    };
    let Where::At(range) = index else { unreachable!("it does not go on") };
    let pick = step.asked.iter().find(|(question, _)| matches!(question.ask, Ask::Pick(_)));
    PageIndex(range.first.min(range.last) + pick.map_or(0, |(_, above)| *above))
}
