//! Who answers for the memcg of a recording.

use super::Round;
use mm_model::env::{Call, Env, Event, Question};
use mm_model::ids::MemcgId;
use mm_model::units::Pages;
use mm_model::world::World;
use std::collections::VecDeque;

/// Answers for passes as they were recorded, and hears what they are asked for.
pub(super) struct Script {
    pub(super) level: usize,
    pub(super) rounds: VecDeque<Round>,
    /// Passes after which enough was seen.
    pub(super) most: usize,
    pub(super) asked: Vec<Pages>,
}

impl Script {
    pub(super) fn new(level: usize, rounds: &[Round], most: usize) -> Self {
        Self { level, rounds: rounds.iter().copied().collect(), most, asked: Vec::new() }
    }
}

impl Env for Script {
    fn answer(&mut self, _: Question) -> u64 {
        0
    }

    fn note(&mut self, _: Event) {}

    fn stub(&mut self, world: &mut World, call: Call) -> Option<i64> {
        let Call::TryToFreeMemCgroupPages { nr_pages, .. } = call else { return None };
        self.asked.push(nr_pages);
        let Some(round) = self.rounds.pop_front() else { return Some(0) };
        world.memcgs[self.level].memory.usage = round.usage;
        Some(round.freed.raw())
    }
}

/// Lets a charge be refused until it has made so many passes.
pub(super) struct Charge {
    pub(super) level: MemcgId,
    pub(super) passes: usize,
    pub(super) ok: bool,
    /// A bit for each pass: whether it leaves enough.
    pub(super) margins: u64,
    pub(super) done: usize,
}

impl Env for Charge {
    fn answer(&mut self, _: Question) -> u64 {
        0
    }

    fn note(&mut self, _: Event) {}

    fn stub(&mut self, _: &mut World, call: Call) -> Option<i64> {
        let free = |enough| if enough { Pages::UNLIMITED.0.cast_signed() >> 12 } else { 0 };
        Some(match call {
            Call::PageCounterTryCharge { .. } if self.ok && self.done == self.passes => -1,
            Call::PageCounterTryCharge { .. } => self.level.0.into(),
            Call::TryToFreeMemCgroupPages { .. } => {
                self.done += 1;
                1
            }
            Call::MemCgroupMargin { .. } => {
                let enough = self.margins.checked_shr(u32::try_from(self.done).unwrap_or(64) - 1);
                free(enough.unwrap_or(0) & 1 == 1)
            }
            Call::ConsumeStock { .. }
            | Call::MemCgroupOom { .. }
            | Call::RefillStock { .. }
            | Call::DrainAllStock { .. }
            | Call::PageCounterCharge { .. }
            | Call::PageCounterUncharge { .. }
            | Call::MemCgroupHandleOverHigh { .. } => 0,
            Call::MemcgMemoryEventMax { .. }
            | Call::DrainLocalStock { .. }
            | Call::SetNotifyResume
            | Call::QueueHighWork { .. }
            | Call::TryToFreePages
            | Call::BalancePgdat
            | Call::SignalPending
            | Call::LruAddDrainAll
            | Call::MemcgMemoryEventOom { .. }
            | Call::MemcgMemoryEventHigh { .. }
            | Call::ScheduleTimeoutKillable { .. }
            | Call::File(_) => return None,
        })
    }
}
