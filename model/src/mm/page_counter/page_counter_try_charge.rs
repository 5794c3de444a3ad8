//! `page_counter_try_charge()`: charges a counter and its ancestors, or none of them.

use crate::design::{CounterTest, CounterUndo};
use crate::env::{Call, Counter, Event};
use crate::ids::MemcgId;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next, one_or_all};
use crate::units::Pages;
use crate::world::{PageCounter, World};
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "page_counter_try_charge",
    file: "mm/page_counter.c",
    versions: ALL_VERSIONS,
    left_out: "failcnt, watermarks, memory.min and memory.low propagation",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PageCounterTryCharge {
    counter: Counter,
    memcg: MemcgId,
    nr_pages: Pages,
    at: At,
}

/// Program points.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr, VariantNames,
)]
enum At {
    /// On entry: adds to the lowest level.
    Enter,
    /// Adds to a level: from here on everybody sees the charge, whether it will stand or not.
    Add { level: MemcgId },
    /// Compares what the addition returned with the limit.
    Compare { level: MemcgId, new: Pages },
    /// Takes back from the level that refused.
    Refuse { level: MemcgId },
    /// Takes back from a level below the one that refused.
    Undo { level: MemcgId, refused: MemcgId },
    /// Reads and compares before adding (only in a design that does so).
    CompareFirst { level: MemcgId },
    /// Adds without comparing again (only in a design that compares first).
    AddUnchecked { level: MemcgId },
}

impl PageCounterTryCharge {
    /// The call.
    pub const fn enter(counter: Counter, memcg: MemcgId, nr_pages: Pages) -> Self {
        Self { counter, memcg, nr_pages, at: At::Enter }
    }

    /// Pages it has added to the memory usage of `level` and is certain to take back, as a level has
    /// refused. What has passed a level's comparison counts as charged there until then.
    pub fn doomed(&self, scenario: &Scenario, world: &World, level: MemcgId) -> Pages {
        let refused = match self.at {
            At::Compare { level, new } => {
                let memcg = &world.memcgs[level.index()];
                // Memory+swap has no part in the memory usage, whatever its limit.
                new > memcg.memory.max
            }
            At::Refuse { .. } | At::Undo { .. } => true,
            At::Enter | At::Add { .. } | At::CompareFirst { .. } | At::AddUnchecked { .. } => false,
        };
        if refused { self.in_flight(scenario, level) } else { Pages::ZERO }
    }

    const fn call(self) -> Call {
        Call::PageCounterTryCharge {
            counter: self.counter,
            memcg: self.memcg,
            nr_pages: self.nr_pages,
        }
    }

    const fn goto(self, at: At) -> Next<Self, Result<(), MemcgId>> {
        Next::Goto(Self { at, ..self })
    }

    fn done(
        self,
        kernel: &mut Ctx<'_>,
        refused: Option<MemcgId>,
    ) -> Next<Self, Result<(), MemcgId>> {
        kernel.returned(self.call(), refused.map_or(-1, |level| i64::from(level.0)));
        Next::Return(refused.map_or(Ok(()), Err))
    }

    /// After a level was charged: on to its parent, or done.
    fn charged(self, kernel: &mut Ctx<'_>, level: MemcgId) -> Next<Self, Result<(), MemcgId>> {
        match kernel.scenario.memcgs[level.index()].parent {
            Some(level) => self.begin_level(kernel, level),
            None => self.done(kernel, None),
        }
    }

    fn begin_level(self, kernel: &Ctx<'_>, level: MemcgId) -> Next<Self, Result<(), MemcgId>> {
        self.goto(match kernel.scenario.design.counter_test {
            CounterTest::AddThenCompare => At::Add { level },
            CounterTest::CompareThenAdd => At::CompareFirst { level },
        })
    }

    /// After a level refused and holds nothing of this charge: the levels below it give back.
    fn refused(self, kernel: &mut Ctx<'_>, refused: MemcgId) -> Next<Self, Result<(), MemcgId>> {
        match kernel.scenario.design.counter_undo {
            CounterUndo::AllLevels if self.memcg != refused => {
                self.goto(At::Undo { level: self.memcg, refused })
            }
            CounterUndo::AllLevels | CounterUndo::RefusingLevel => self.done(kernel, Some(refused)),
        }
    }

    fn one_step(self, kernel: &mut Ctx<'_>) -> Next<Self, Result<(), MemcgId>> {
        let Self { counter, nr_pages, .. } = self;
        match self.at {
            At::Enter => match kernel.stub(self.call()) {
                Some(level) => Next::Return(match usize::try_from(level) {
                    Ok(level) => Err(MemcgId::from(level)),
                    Err(_) => Ok(()),
                }),
                None => match self.begin_level(kernel, self.memcg) {
                    Next::Goto(begun) => begun.one_step(kernel),
                    done @ Next::Return(_) => done,
                },
            },
            At::Add { level } => {
                let PageCounter { usage, max } = kernel.world.memcg(level).counter(counter);
                *usage += nr_pages;
                let (new, max) = (*usage, *max);
                if counter == Counter::Memory && new > max {
                    kernel.note(Event::AboveMax(level, nr_pages));
                }
                self.goto(At::Compare { level, new })
            }
            At::Compare { level, new } => {
                if new > kernel.world.memcg(level).counter(counter).max {
                    self.goto(At::Refuse { level })
                } else {
                    self.charged(kernel, level)
                }
            }
            At::Refuse { level } => {
                kernel.world.memcg(level).counter(counter).usage -= nr_pages;
                self.refused(kernel, level)
            }
            At::Undo { level, refused } => {
                kernel.world.memcg(level).counter(counter).usage -= nr_pages;
                let parent = kernel.scenario.memcgs[level.index()].parent;
                match parent.filter(|parent| *parent != refused) {
                    Some(level) => self.goto(At::Undo { level, refused }),
                    None => self.done(kernel, Some(refused)),
                }
            }
            At::CompareFirst { level } => {
                let counter = *kernel.world.memcg(level).counter(counter);
                if counter.usage + nr_pages > counter.max {
                    self.refused(kernel, level)
                } else {
                    self.goto(At::AddUnchecked { level })
                }
            }
            At::AddUnchecked { level } => {
                kernel.world.memcg(level).counter(counter).usage += nr_pages;
                self.charged(kernel, level)
            }
        }
    }
}

impl Frame for PageCounterTryCharge {
    type Output = Result<(), MemcgId>;

    /// `Err` is the level nearest the task that refused.
    fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, Self::Output> {
        one_or_all(kernel.scenario.granularity.counter, self, kernel, Self::stack, Self::one_step)
    }

    fn locality(&self, scenario: &Scenario, _: &TaskContext) -> Locality {
        match self.at {
            // While nobody changes a limit: `new` is this task's own.
            At::Compare { .. } if !scenario.max_is_written() => Locality::Local,
            At::Compare { .. }
            | At::Enter
            | At::Add { .. }
            | At::Refuse { .. }
            | At::Undo { .. }
            | At::CompareFirst { .. }
            | At::AddUnchecked { .. } => Locality::Shared,
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        if self.counter == Counter::Memsw {
            return Pages::ZERO;
        }
        // Whether `level` is one of those from `from` up to, but not including, `end`.
        let below = |from: MemcgId, end: MemcgId| {
            scenario.lineage(from).take_while(|at| *at != end).any(|at| at == level)
        };
        let holds = match self.at {
            At::Enter => false,
            At::Add { level: end }
            | At::CompareFirst { level: end }
            | At::AddUnchecked { level: end } => below(self.memcg, end),
            At::Compare { level: end, .. } | At::Refuse { level: end } => {
                end == level || below(self.memcg, end)
            }
            At::Undo { level: from, refused } => below(from, refused),
        };
        if holds { self.nr_pages } else { Pages::ZERO }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
    }
}
