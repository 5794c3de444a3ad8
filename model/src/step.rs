//! What every modelled kernel function is made of: program points, one atomic step at a time.

use crate::actor::Actor;
use crate::env::{Ask, Call, Env, Event, Question, Returns, Stack};
use crate::ids::{ActorId, CpuId, FileId, InodeId, MemcgId};
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::page_cache::{FolioFlags, PageCache};
use crate::scenario::{Scenario, Steps, TaskContext};
use crate::state::Current;
use crate::units::{PageIndex, Pages};
use crate::world::{DrainWork, FileRaState, World};

/// Where a step leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<F, R> {
    /// To another program point of the function.
    Goto(F),
    /// Back to the caller.
    Return(R),
}

impl<F, R> Next<F, R> {
    /// Puts a callee's outcome into its caller: the caller stays at the point that holds the
    /// callee, or goes on where the returned value sends it. Returning costs no step of its own.
    pub fn within<G, Q>(
        self,
        inside: impl FnOnce(F) -> G,
        returned: impl FnOnce(R) -> Next<G, Q>,
    ) -> Next<G, Q> {
        match self {
            Self::Goto(callee) => Next::Goto(inside(callee)),
            Self::Return(value) => returned(value),
        }
    }
}

/// How far a program point's next step reaches, which decides what an engine may fuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locality {
    /// It reads and writes only what no other actor can change to another outcome.
    Local,
    /// Other actors can tell when it happens.
    Shared,
    /// As local, while the guard holds; and once it holds, no other actor can end it.
    LocalIf(Guard),
    /// It can't happen before the guard holds.
    BlockedUntil(Guard),
}

/// A condition on what is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The CPU's stock holds nothing of that memcg. No other actor can refill it as long as only
    /// one task runs on the CPU.
    StockEmpty(CpuId, MemcgId),
    /// No CPU has drain work that is queued or has begun.
    NoDrainPending,
    /// The CPU has drain work queued.
    DrainQueued(CpuId),
    /// Fewer pages of the machine are free.
    FreePagesBelow(Pages),
    /// No page of the block of that order is in the inode's page cache. If one actor alone uses
    /// the inode, no other can add one.
    RangeAbsent(InodeId, PageIndex, u8),
    /// The folio that holds the page is up to date and not locked. If one actor alone uses the
    /// inode and holds the folio, no other can change that.
    FolioRead(InodeId, PageIndex),
    /// The folio that holds the page is not locked, or gone.
    FolioUnlocked(InodeId, PageIndex),
    /// A read of folios of the inode has been submitted and has not ended.
    ReadSubmitted(InodeId),
}

impl Guard {
    /// Whether it holds now.
    pub fn holds(self, scenario: &Scenario, world: &World) -> bool {
        match self {
            Self::StockEmpty(cpu, memcg) => {
                scenario.tasks_on(cpu) == 1 && world.cpus[cpu.index()].stocked(memcg) == Pages::ZERO
            }
            Self::NoDrainPending => world
                .cpus
                .iter()
                .all(|cpu| !matches!(cpu.drain, DrainWork::Queued | DrainWork::Running)),
            Self::DrainQueued(cpu) => world.cpus[cpu.index()].drain == DrainWork::Queued,
            Self::FreePagesBelow(low) => world.free_pages.is_some_and(|free| free < low),
            Self::RangeAbsent(inode, index, order) => {
                !scenario.inodes[inode.index()].shared
                    && !world.inodes[inode.index()].cache.overlaps(index, order)
            }
            Self::FolioRead(inode, index) => {
                let folio = world.inodes[inode.index()].cache.folio(index);
                let read = |flags: FolioFlags| {
                    flags.contains(FolioFlags::UPTODATE) && !flags.contains(FolioFlags::LOCKED)
                };
                !scenario.inodes[inode.index()].shared
                    && folio.is_some_and(|folio| read(folio.flags))
            }
            Self::FolioUnlocked(inode, index) => world.inodes[inode.index()]
                .cache
                .folio(index)
                .is_none_or(|folio| !folio.flags.contains(FolioFlags::LOCKED)),
            Self::ReadSubmitted(inode) => world.inodes[inode.index()]
                .cache
                .folios()
                .any(|folio| folio.flags.contains(FolioFlags::READING)),
        }
    }

    /// In words, for whoever is stuck at it.
    pub fn describe(self, scenario: &Scenario) -> String {
        match self {
            Self::StockEmpty(cpu, memcg) => {
                format!("CPU {} has no stock of {}", cpu.0, scenario.memcg_name(memcg))
            }
            Self::NoDrainPending => "no CPU has a stock drain that is queued or running".to_owned(),
            Self::FreePagesBelow(low) => format!("fewer than {low} pages are free"),
            Self::DrainQueued(cpu) => format!("a stock drain is queued on CPU {}", cpu.0),
            Self::RangeAbsent(inode, index, order) => {
                let name = &scenario.inodes[inode.index()].name;
                format!("no page of {index}+{} of {name} is cached", Pages::of_order(order))
            }
            Self::FolioRead(inode, index) => {
                format!("page {index} of {} is read", scenario.inodes[inode.index()].name)
            }
            Self::FolioUnlocked(inode, index) => {
                format!("page {index} of {} is not locked", scenario.inodes[inode.index()].name)
            }
            Self::ReadSubmitted(inode) => {
                format!("a read of {} is submitted", scenario.inodes[inode.index()].name)
            }
        }
    }
}

impl Locality {
    /// Whether the step may be fused with the one before it.
    pub fn is_local(self, scenario: &Scenario, world: &World) -> bool {
        match self {
            Self::Local => true,
            Self::Shared | Self::BlockedUntil(_) => false,
            Self::LocalIf(guard) => guard.holds(scenario, world),
        }
    }
}

/// One activation of a modelled kernel function: its program point with the locals that are live
/// there. A callee's frame lies inside the point that calls it, so the type of a frame says which
/// callees can be active under it.
pub trait Frame: Copy {
    /// What the function returns.
    type Output;

    /// Takes one atomic step.
    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, Self::Output>;

    /// How far the next step reaches.
    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality;

    /// Pages this activation has added to the memory usage of `level` and not yet handed on.
    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages;

    /// The charge that runs under this frame, if one does.
    fn charging(&self) -> Option<&TryChargeMemcg> {
        None
    }

    /// Adds (function, program point) of this frame and of its active callees, outermost first.
    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>);
}

/// Takes one step of a function, or all of them at once where the scenario makes the whole
/// function one atomic step.
pub fn one_or_all<F: Copy, R>(
    steps: Steps,
    frame: F,
    kernel: &mut Ctx<'_>,
    stack: impl Fn(&F, &mut Stack),
    step: impl Fn(F, &mut Ctx<'_>) -> Next<F, R>,
) -> Next<F, R> {
    let mut next = step(frame, kernel);
    while let (Steps::One, Next::Goto(frame)) = (steps, &next) {
        kernel.env.at(&|into| stack(frame, into));
        next = step(*frame, kernel);
    }
    next
}

/// Takes one step of a function, and where the scenario asks for it the steps after it that
/// `belong`: a run of accesses that then is one atomic step.
pub fn one_or_run<F: Frame, R>(
    steps: Steps,
    frame: F,
    kernel: &mut Ctx<'_>,
    belongs: impl Fn(&F) -> bool,
    step: impl Fn(F, &mut Ctx<'_>) -> Next<F, R>,
) -> Next<F, R> {
    let together = steps == Steps::One && belongs(&frame);
    let mut next = step(frame, kernel);
    while let Next::Goto(frame) = &next {
        if !together || !belongs(frame) {
            break;
        }
        kernel.env.at(&|stack| frame.stack(stack));
        next = step(*frame, kernel);
    }
    next
}

/// Runs a function alone until it returns: all its steps, one after the other.
pub fn run_alone<F: Frame>(mut frame: F, kernel: &mut Ctx<'_>) -> F::Output {
    loop {
        match frame.step(kernel) {
            Next::Goto(next) => {
                kernel.env.at(&|stack| next.stack(stack));
                frame = next;
            }
            Next::Return(value) => return value,
        }
    }
}

/// What a step may touch: the shared world, its own task, and the environment.
pub struct Ctx<'a> {
    /// The configuration, which no step changes.
    pub scenario: &'a Scenario,
    /// What all actors share.
    pub world: &'a mut World,
    /// Where all actors are, as before this step.
    pub actors: &'a [Actor],
    /// The actor that takes the step.
    pub me: ActorId,
    /// Where it runs and under which flags.
    pub task: &'a TaskContext,
    /// The part of its `task_struct` that lasts beyond one kernel call.
    pub current: &'a mut Current,
    /// Who answers.
    pub env: &'a mut dyn Env,
}

impl Ctx<'_> {
    /// Asks for a number in `0..=last`; nothing is asked where there is no choice.
    ///
    /// # Panics
    /// If the environment answers beyond `last`.
    pub fn ask(&mut self, ask: Ask, last: u64) -> u64 {
        if last == 0 {
            return 0;
        }
        let answer = self.env.answer(Question { ask, last });
        assert!(answer <= last, "{ask:?} was answered {answer}, beyond {last}");
        answer
    }

    /// `signal_pending()`: whether the task has a signal to handle. Announced only if it has.
    pub fn signal_pending(&mut self) -> bool {
        let call = Call::SignalPending;
        let pending = match self.env.stub(self.world, call) {
            Some(value) => value != 0,
            None => self.world.signals.contains(self.me),
        };
        if pending {
            self.returned(call, 1);
        }
        pending
    }

    /// The page cache of an open file.
    pub fn cache(&mut self, file: FileId) -> &mut PageCache {
        let inode = self.scenario.file(file).inode;
        &mut self.world.inodes[inode.index()].cache
    }

    /// The readahead state of an open file.
    pub fn ra(&mut self, file: FileId) -> &mut FileRaState {
        &mut self.world.files[file.index()]
    }

    /// Announces what happened.
    pub fn note(&mut self, event: Event) {
        self.env.note(event);
    }

    /// Announces that a kernel call returned.
    ///
    /// # Panics
    /// In debug builds, if a call that returns nothing returned something.
    pub fn returned(&mut self, call: Call, value: i64) {
        debug_assert!(
            call.returns() != Returns::Nothing || value == 0,
            "{call:?} returned {value}"
        );
        self.note(Event::Returned(call, value));
    }

    /// The environment's answer for a whole kernel call, already announced, if it has one.
    pub fn stub(&mut self, call: Call) -> Option<i64> {
        let value = self.env.stub(self.world, call)?;
        self.returned(call, value);
        Some(value)
    }

    /// Makes a kernel call that takes effect within this step.
    pub fn call(&mut self, call: Call, body: impl FnOnce(&mut Self) -> i64) -> i64 {
        if let Some(value) = self.stub(call) {
            return value;
        }
        let value = body(self);
        self.returned(call, value);
        value
    }
}
