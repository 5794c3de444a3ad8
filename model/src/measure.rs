//! Costs: numbers that a schedule can drive up.
//!
//! An amount belongs to every operation that the acting actor has open at that moment: a reclaim
//! pass of a charge within a read is one of the charge and one of the read.

use crate::env::{Call, Event, FileCall, Operation};
use crate::gfp::Gfp;
use crate::page_cache::{Folio, FolioFlags};
use crate::scenario::Scenario;
use crate::state::State;
use crate::units::Pages;
use crate::world::Memcg;

/// Something that can be counted.
pub struct Measure {
    /// Its name in a spec.
    pub name: &'static str,
    /// What it counts.
    pub summary: &'static str,
    /// How.
    pub amount: Amount,
}

/// How a measure counts.
#[derive(Clone, Copy)]
pub enum Amount {
    /// It adds up over the moments of an operation, or of a run.
    Sum(fn(&Moment<'_>) -> u64),
    /// It is what it is in a state.
    Level(fn(&Scenario, &State) -> u64),
}

/// Something an actor does.
pub struct Moment<'a> {
    /// Operations the actor has open, outermost first.
    pub open: &'a [(Operation, Gfp)],
    /// What it does.
    pub what: What<'a>,
}

/// What an actor does.
#[derive(Clone, Copy)]
pub enum What<'a> {
    /// It begins a step.
    Step,
    /// Something happens in its step.
    Event(&'a Event),
}

/// Every measure.
pub const MEASURES: &[Measure] = &[
    sum("own-steps", "atomic steps of the actor itself, after the one that enters", |moment| {
        u64::from(matches!(moment.what, What::Step))
    }),
    sum("counter-attempts", "calls of page_counter_try_charge()", |moment| {
        let attempt = |call: &Call| matches!(call, Call::PageCounterTryCharge { .. });
        u64::from(moment.returned().is_some_and(|(call, _)| attempt(call)))
    }),
    sum("reclaim-passes", "reclaim passes over a memcg", |moment| {
        u64::from(moment.pass().is_some())
    }),
    sum("speculative-passes", "reclaim passes for what nobody asked for yet", |moment| {
        u64::from(moment.speculative() && moment.pass().is_some())
    }),
    sum("productive-passes", "reclaim passes that free something", |moment| {
        u64::from(moment.pass().is_some_and(|(_, freed)| freed > Pages::ZERO))
    }),
    sum("fruitless-passes", "reclaim passes that free nothing", |moment| {
        u64::from(moment.pass().is_some_and(|(_, freed)| freed == Pages::ZERO))
    }),
    sum(
        "pages-beyond-request",
        "pages that passes free beyond what they are asked for",
        |moment| moment.pass().map_or(0, |(asked, freed)| freed.saturating_sub(asked).0),
    ),
    sum("overreclaim", "pages that memory.reclaim gets beyond its request", |moment| match moment
        .what
    {
        What::Event(Event::Fulfilled(_, asked, got)) => (*got - *asked).0,
        What::Event(_) | What::Step => 0,
    }),
    sum("pages-reclaimed", "pages that reclaim frees", |moment| match moment.what {
        What::Event(Event::Reclaimed(_, pages)) => pages.0,
        What::Event(_) | What::Step => 0,
    }),
    sum("readaheads", "requests to read ahead", |moment| {
        u64::from(matches!(moment.what, What::Event(Event::Begin(Operation::Readahead, _))))
    }),
    sum("batch-reclaims", "calls of mem_cgroup_reclaim_for_batch()", |moment| {
        let batch = |call| matches!(call, FileCall::MemCgroupReclaimForBatch { .. });
        u64::from(moment.file_call().is_some_and(|(call, _)| batch(call)))
    }),
    sum("folios-added", "folios that filemap_add_folio() puts into a page cache", |moment| {
        let add = |call| matches!(call, FileCall::FilemapAddFolio { .. });
        u64::from(moment.file_call().is_some_and(|(call, value)| add(call) && value == 0))
    }),
    sum("folios-refused", "calls of filemap_add_folio() that fail", |moment| {
        let add = |call| matches!(call, FileCall::FilemapAddFolio { .. });
        u64::from(moment.file_call().is_some_and(|(call, value)| add(call) && value != 0))
    }),
    sum("marks", "folios that are marked to start the next window", |moment| {
        let mark = |call| matches!(call, FileCall::FolioSetReadahead { .. });
        u64::from(moment.file_call().is_some_and(|(call, _)| mark(call)))
    }),
    sum(
        "pages-evicted-unused",
        "pages of files that reclaim frees before anybody has used them",
        |moment| match moment.what {
            What::Event(Event::Unused(_, pages)) => pages.0,
            What::Event(_) | What::Step => 0,
        },
    ),
    sum("oom-invocations", "calls of the memcg OOM killer", |moment| {
        let killer = |call: &Call| matches!(call, Call::MemCgroupOom { .. });
        u64::from(moment.returned().is_some_and(|(call, _)| killer(call)))
    }),
    level("speculative-pages", "cached pages of files that nobody has used yet", |_, state| {
        let unused = |folio: &Folio| !folio.flags.contains(FolioFlags::USED);
        let cached = state.world.inodes.iter().flat_map(|inode| inode.cache.folios());
        cached.filter(unused).map(|folio| folio.nr_pages().0).sum()
    }),
    level("excess-over-high", "pages a memcg has above its memory.high", |scenario, state| {
        let over = |memcg: &Memcg| memcg.memory.usage.saturating_sub(memcg.high).0;
        scenario.memcg_ids().map(|id| over(&state.world.memcgs[id.index()])).max().unwrap_or(0)
    }),
    level("room-below-max", "pages that a memcg's usage is below its memory.max", room_below_max),
    level(
        "room-left-over",
        "the same while nobody has an operation open: pages freed for nobody, if it began full",
        |scenario, state| {
            let idle = state.actors.iter().all(|actor| actor.open().is_empty());
            if idle { room_below_max(scenario, state) } else { 0 }
        },
    ),
];

fn room_below_max(scenario: &Scenario, state: &State) -> u64 {
    let limited = |memcg: &&Memcg| memcg.memory.max < Pages::UNLIMITED;
    let room = |memcg: &Memcg| memcg.memory.max.saturating_sub(memcg.memory.usage).0;
    let memcgs = scenario.memcg_ids().map(|id| &state.world.memcgs[id.index()]);
    memcgs.filter(limited).map(room).max().unwrap_or(0)
}

const fn sum(name: &'static str, summary: &'static str, of: fn(&Moment<'_>) -> u64) -> Measure {
    Measure { name, summary, amount: Amount::Sum(of) }
}

const fn level(
    name: &'static str,
    summary: &'static str,
    of: fn(&Scenario, &State) -> u64,
) -> Measure {
    Measure { name, summary, amount: Amount::Level(of) }
}

impl Moment<'_> {
    /// The kernel call that returns, with its value.
    pub const fn returned(&self) -> Option<(&Call, i64)> {
        match self.what {
            What::Event(Event::Returned(call, value)) => Some((call, *value)),
            What::Event(
                Event::AboveMax(..)
                | Event::Begin(..)
                | Event::Requested(_)
                | Event::Fulfilled(..)
                | Event::Reclaimed(..)
                | Event::Unused(..)
                | Event::Restarted(_)
                | Event::Signalled(_)
                | Event::Turned(..)
                | Event::End(..)
                | Event::Wrapped(_)
                | Event::ReadAhead(_),
            )
            | What::Step => None,
        }
    }

    /// The kernel call on a file that returns, with its value.
    const fn file_call(&self) -> Option<(FileCall, i64)> {
        match self.returned() {
            Some((Call::File(call), value)) => Some((*call, value)),
            Some(_) | None => None,
        }
    }

    /// Pages asked for and freed by the reclaim pass that returns.
    pub fn pass(&self) -> Option<(Pages, Pages)> {
        let (call, freed) = self.returned()?;
        let Call::TryToFreeMemCgroupPages { nr_pages, .. } = call else { return None };
        Some((*nr_pages, Pages(u64::try_from(freed).unwrap_or(0))))
    }

    /// Whether the innermost operation is for something nobody asked for yet.
    pub fn speculative(&self) -> bool {
        self.open.last().is_some_and(|(_, gfp)| gfp.speculative())
    }
}
