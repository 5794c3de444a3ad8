//! Tasks that do the same, each with files and a CPU of its own, stand for one another.
//!
//! Of all the states that differ only in which of such tasks is which, a search then keeps one.
//! Whatever a property says about a transition it says about those that differ from it so, and
//! every path of the scenario is one of the search under other names: what holds, holds, and what
//! is violated has a counterexample of the scenario itself. But a cycle of the search may be one
//! on which tasks change places, and a task that starves is then another one each time round.
//! Therefore only safety can be asked.

use crate::node::{Node, Reduction, expand};
use crate::verdict::Choice;
use mm_model::actor::Actor;
use mm_model::ids::{ActorId, CpuId, FileId, InodeId};
use mm_model::machine::Fuse;
use mm_model::scenario::{
    ActorConfig, ActorKind, FileConfig, InodeConfig, Op, Pass, Scenario, Steps,
};
use mm_model::state::State;
use mm_model::world::{ActorSet, Added, Cpu, FileRaState, Inode, World};
use serde::Serialize;
use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;

mod rename;
use rename::{Names, renamed};

/// Which tasks of a scenario stand for one another.
#[derive(Clone, Debug)]
pub struct Symmetry {
    /// Each with two tasks at least.
    groups: Vec<Vec<Own>>,
    /// For each task of each group: what it alone uses, in the names of the first of its group.
    as_first: Vec<Vec<Names>>,
    /// Everything as it is called.
    same: Names,
}

/// A task, and what it alone uses. The same place in the lists of two tasks of a group is for the
/// same.
#[derive(Clone, Debug)]
struct Own {
    task: ActorId,
    cpu: Option<CpuId>,
    files: Vec<FileId>,
    inodes: Vec<InodeId>,
    devices: Vec<ActorId>,
}

/// Why no task stands for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asymmetry {
    /// `drain_all_stock()` goes from CPU to CPU.
    Stocks,
    /// `percpu_charge_mutex` is looked at step by step.
    Drain,
    /// Passes walk.
    Walked,
    /// A task names another.
    Signals,
    /// No two tasks are alike.
    NoneAlike,
}

impl fmt::Display for Asymmetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stocks => "drain_all_stock() goes from CPU to CPU: `memcg_charge_batch = 1`",
            Self::Drain => "drain_all_stock() goes from CPU to CPU: `drain = \"one\"`",
            Self::Walked => {
                "what CPUs have collected is put on the lists from CPU to CPU: \
                 `pass = \"answered\"`"
            }
            Self::Signals => "who sends a signal to a task knows it from others",
            Self::NoneAlike => {
                "tasks are alike that have the same memcg, flags and program, each on a CPU and \
                 with files of its own, or of all"
            }
        })
    }
}

impl Own {
    fn of(scenario: &Scenario, task: ActorId, program: &[Op]) -> Self {
        let ActorConfig { task: context, .. } = &scenario.actors[task.index()];
        let alone = scenario.tasks_on(context.cpu) == 1;
        let mut own = Self {
            task,
            cpu: alone.then_some(context.cpu),
            files: Vec::new(),
            inodes: Vec::new(),
            devices: Vec::new(),
        };
        for file in program.iter().filter_map(Op::file) {
            let config = scenario.file(file);
            if !config.shared && !own.files.contains(&file) {
                own.files.push(file);
            }
            let inode = config.inode;
            if !scenario.inodes[inode.index()].shared && !own.inodes.contains(&inode) {
                own.inodes.push(inode);
                let device = |actor: &ActorId| {
                    scenario.actors[actor.index()].kind == ActorKind::Device(inode)
                };
                own.devices.extend(scenario.actor_ids().filter(device));
            }
        }
        own
    }

    /// Whether nothing tells it from another but names.
    fn is_like(&self, other: &Self, scenario: &Scenario) -> bool {
        let program = |own: &Self| {
            let mut program = program(scenario, own.task).to_vec();
            for file in program.iter_mut().filter_map(Op::file_mut) {
                // Those of its own by their places, behind all others.
                let place = own.files.iter().position(|of_own| of_own == file);
                *file = place.map_or(*file, |place| FileId::from(scenario.files.len() + place));
            }
            program
        };
        let [one, two] = [self, other].map(|own| &scenario.actors[own.task.index()]);
        let repeats =
            |actor: &ActorConfig| matches!(actor.kind, ActorKind::Task { repeat: true, .. });
        let cpus = match (self.cpu, other.cpu) {
            (Some(one), Some(two)) => scenario.cpus[one.index()] == scenario.cpus[two.index()],
            (None, None) => one.task.cpu == two.task.cpu,
            (Some(_), None) | (None, Some(_)) => false,
        };
        cpus && one.task.memcg == two.task.memcg
            && one.task.flags == two.task.flags
            && repeats(one) == repeats(two)
            && program(self) == program(other)
            && self.devices.len() == other.devices.len()
            && self.inodes.len() == other.inodes.len()
            && self
                .files
                .iter()
                .zip(&other.files)
                .all(|(one, two)| self.alike(other, scenario, (*one, *two)))
    }

    /// Whether two files of theirs differ in their names alone.
    fn alike(&self, other: &Self, scenario: &Scenario, (one, two): (FileId, FileId)) -> bool {
        let [one, two] = [one, two].map(|file| scenario.file(file).clone());
        let place = |own: &Self, inode| own.inodes.iter().position(|of_own| *of_own == inode);
        let inodes = match (place(self, one.inode), place(other, two.inode)) {
            (Some(one), Some(two)) => one == two,
            (None, None) => one.inode == two.inode,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let [of_one, of_two] = [&one, &two].map(|file| scenario.inodes[file.inode.index()].clone());
        let renamed = InodeConfig { name: of_two.name.clone(), ..of_one };
        let file = FileConfig { name: two.name.clone(), inode: two.inode, ..one };
        inodes && renamed == of_two && file == two
    }
}

fn program(scenario: &Scenario, task: ActorId) -> &[Op] {
    match &scenario.actors[task.index()].kind {
        ActorKind::Task { program, .. } => program,
        ActorKind::DrainWorker | ActorKind::Device(_) | ActorKind::Kswapd { .. } => &[],
    }
}

/// What a state says of a task and what it alone uses, in the names of the first of its group.
#[derive(Serialize)]
struct Portrait<'a> {
    actors: Vec<&'a Actor>,
    cpu: Option<&'a Cpu>,
    files: Vec<&'a FileRaState>,
    inodes: Vec<&'a Inode>,
    drains: bool,
    sets: Vec<bool>,
    /// Where its folios are among those that are evicted in order.
    order: Vec<Option<&'a Added>>,
}

impl Symmetry {
    /// Finds the tasks that stand for one another.
    pub fn of(scenario: &Scenario) -> Result<Self, Asymmetry> {
        let refused = [
            (scenario.stocks_in_use(), Asymmetry::Stocks),
            (scenario.granularity.drain == Steps::Kernel, Asymmetry::Drain),
            (scenario.granularity.reclaim.pass == Pass::Walked, Asymmetry::Walked),
            (scenario.signals_are_sent(), Asymmetry::Signals),
        ];
        if let Some((_, why)) = refused.into_iter().find(|(refused, _)| *refused) {
            return Err(why);
        }
        let mut groups: Vec<Vec<Own>> = Vec::new();
        for task in scenario.actor_ids() {
            let program = program(scenario, task);
            if program.is_empty() {
                continue;
            }
            let own = Own::of(scenario, task, program);
            match groups.iter_mut().find(|group| group[0].is_like(&own, scenario)) {
                Some(group) => group.push(own),
                None => groups.push(vec![own]),
            }
        }
        groups.retain(|group| group.len() > 1);
        if groups.is_empty() {
            return Err(Asymmetry::NoneAlike);
        }
        let Scenario { actors, files, inodes, .. } = scenario;
        let same = Names::same(actors.len(), files.len(), inodes.len());
        let as_first = |own: &Own, first: &Own| {
            let mut names = same.clone();
            names.take(own, first);
            names
        };
        let of_group =
            |group: &Vec<Own>| group.iter().map(|own| as_first(own, &group[0])).collect();
        Ok(Self { as_first: groups.iter().map(of_group).collect(), groups, same })
    }

    /// The tasks that stand for one another.
    pub fn groups(&self) -> impl Iterator<Item = impl Iterator<Item = ActorId>> {
        self.groups.iter().map(|group| group.iter().map(|own| own.task))
    }

    /// The state that stands for all that differ from this one in which task is which.
    pub fn representative<'a>(&self, state: &'a State) -> Cow<'a, State> {
        let mut names = self.same.clone();
        let mut cpus: Vec<(CpuId, CpuId)> = Vec::new();
        let mut moves = false;
        for (group, as_first) in self.groups.iter().zip(&self.as_first) {
            let all = group.iter().zip(as_first).enumerate();
            let mut sorted: Vec<(Vec<u8>, usize)> =
                all.map(|(at, (own, names))| (portrait(state, own, names), at)).collect();
            sorted.sort();
            for (place, (_, at)) in sorted.iter().enumerate() {
                let (from, to) = (&group[*at], &group[place]);
                moves |= place != *at;
                names.take(from, to);
                cpus.extend(from.cpu.zip(to.cpu));
            }
        }
        if moves { Cow::Owned(moved(state, &names, &cpus)) } else { Cow::Borrowed(state) }
    }

    /// The path of the scenario that goes through states for which those of a search stand.
    ///
    /// # Panics
    /// If it is no path of a search.
    pub fn choices(&self, scenario: &Scenario, fuse: Fuse, path: &[Node]) -> Vec<Choice> {
        let reduction = Reduction::from(fuse);
        let mut at = crate::node::initial(scenario).0;
        let mut choices = Vec::new();
        for wanted in path {
            let mut found = None;
            let _ = expand(scenario, &reduction, &at, |edge, to| {
                let stands = Node::new(&self.representative(&to.state()), to.violated);
                if stands != *wanted {
                    return ControlFlow::Continue(());
                }
                let answers = edge.answers.answers().collect();
                found = Some((Choice { actor: edge.actor, answers }, to));
                ControlFlow::Break(())
            });
            let (choice, to) = found.expect("every path of a search is one of the scenario");
            choices.push(choice);
            at = to;
        }
        choices
    }
}

/// How a state looks from one of the tasks, in the names of the first of its group.
fn portrait(state: &State, own: &Own, names: &Names) -> Vec<u8> {
    let World {
        memcgs,
        cpus,
        percpu_charge_mutex,
        signals,
        iters,
        inodes,
        files,
        unmapped,
        free_pages: _,
    } = &state.world;
    let sets = [signals, unmapped].into_iter().chain(iters.iter().map(|iter| &iter.in_generation));
    let order = memcgs.iter().flat_map(|memcg| &memcg.order).map(|added| match added {
        Added::Folio(inode, _) => own.inodes.contains(inode).then_some(added),
        Added::Counted | Added::Used => None,
    });
    let actors = std::iter::once(&own.task).chain(&own.devices);
    let portrait = Portrait {
        actors: actors.map(|actor| &state.actors[actor.index()]).collect(),
        cpu: own.cpu.map(|cpu| &cpus[cpu.index()]),
        files: own.files.iter().map(|file| &files[file.index()]).collect(),
        inodes: own.inodes.iter().map(|inode| &inodes[inode.index()]).collect(),
        drains: *percpu_charge_mutex == Some(own.task),
        sets: sets.map(|set: &ActorSet| set.contains(own.task)).collect(),
        order: order.collect(),
    };
    renamed(&portrait, names)
}

/// The state in which tasks have changed places.
fn moved(state: &State, names: &Names, cpus: &[(CpuId, CpuId)]) -> State {
    let mut to = state.clone();
    for (from, place) in names.actors() {
        to.actors[place] = state.actors[from];
    }
    for (from, place) in names.files() {
        to.world.files[place] = state.world.files[from];
    }
    for (from, place) in names.inodes() {
        to.world.inodes[place] = state.world.inodes[from].clone();
    }
    for (from, place) in cpus {
        to.world.cpus[place.index()] = state.world.cpus[from.index()].clone();
    }
    postcard::from_bytes(&renamed(&to, names)).expect("a renamed state is one")
}

#[cfg(test)]
mod tests;
