//! The kernel functions that an entry of a program calls.

use super::access::Access;
use crate::actor::OpenOperations;
use crate::env::{Ask, Errno, Event, Operation};
use crate::gfp::Gfp;
use crate::ids::{FileId, MemcgId};
use crate::mm::filemap::filemap_read::FilemapRead;
use crate::mm::madvise::madvise_stockpile::MadviseStockpile;
use crate::mm::memcontrol::memcg_uncharge::MemcgUncharge;
use crate::mm::memcontrol::memory_high_write::MemoryHighWrite;
use crate::mm::memcontrol::memory_max_write::MemoryMaxWrite;
use crate::mm::memcontrol::memory_reclaim::MemoryReclaim;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::force_page_cache_ra::ForcePageCacheRa;
use crate::mm::readahead::page_cache_ra_order::PageCacheRaOrder;
use crate::page_cache::Pin;
use crate::scenario::{ActorConfig, Scenario};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};

/// The kernel function an entry of the program has called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Entry {
    /// A charge.
    Charge(TryChargeMemcg),
    /// An uncharge.
    Uncharge(MemcgUncharge),
    /// A write to memory.reclaim.
    WriteReclaim(MemoryReclaim),
    /// A write to memory.high.
    WriteHigh(MemoryHighWrite),
    /// A write to memory.max.
    WriteMax(MemoryMaxWrite),
    /// madvise(MADV_STOCKPILE).
    Stockpile(MadviseStockpile),
    /// A read.
    Read(FilemapRead),
    /// An access to a mapped page, or one fault of it.
    Access(Access),
    /// Pages that will be needed.
    WillNeed(ForcePageCacheRa),
    /// A window.
    Window(PageCacheRaOrder),
}

impl Entry {
    pub(super) fn step(self, kernel: &mut Ctx<'_>) -> Next<Self, ()> {
        match self {
            Self::Charge(frame) => frame.step(kernel).within(Self::Charge, |charged| {
                let result = match charged {
                    Ok(()) => {
                        kernel.world.allocate(frame.nr_pages());
                        kernel.current.held += frame.nr_pages();
                        0
                    }
                    Err(errno) => errno as i64,
                };
                kernel.note(Event::End(Operation::Charge, frame.gfp(), result));
                Next::Return(())
            }),
            Self::Uncharge(frame) => frame
                .step(kernel)
                .within(Self::Uncharge, |()| end(kernel, Operation::Uncharge, Ok(()))),
            Self::WriteReclaim(frame) => frame.step(kernel).within(Self::WriteReclaim, |result| {
                // Seen by nobody: the signal's handling chooses between -EINTR and a new start.
                if result != Err(Errno::ERESTARTSYS) {
                    return end(kernel, Operation::ReclaimWrite, result);
                }
                let may_restart = u64::from(kernel.scenario.policy.reclaim.syscalls_restart);
                if kernel.ask(Ask::RestartsSyscall, may_restart) == 0 {
                    return end(kernel, Operation::ReclaimWrite, Err(Errno::EINTR));
                }
                kernel.world.signals.remove(kernel.me);
                kernel.note(Event::Restarted(Operation::ReclaimWrite));
                let (memcg, nr_pages) = (frame.memcg(), frame.nr_to_reclaim());
                let again = MemoryReclaim::enter(kernel.scenario, memcg, nr_pages);
                Next::Goto(Self::WriteReclaim(again))
            }),
            Self::WriteHigh(frame) => frame
                .step(kernel)
                .within(Self::WriteHigh, |()| end(kernel, Operation::HighWrite, Ok(()))),
            Self::WriteMax(frame) => frame
                .step(kernel)
                .within(Self::WriteMax, |()| end(kernel, Operation::MaxWrite, Ok(()))),
            Self::Stockpile(frame) => frame
                .step(kernel)
                .within(Self::Stockpile, |result| end(kernel, Operation::Stockpile, result)),
            Self::Read(frame) => frame.step(kernel).within(Self::Read, |result| {
                let result = result.map_or_else(|errno| errno as i64, |()| 0);
                kernel.note(Event::End(Operation::Read, Gfp::KERNEL, result));
                Next::Return(())
            }),
            Self::Access(frame) => frame.step(kernel).within(Self::Access, Next::Return),
            Self::WillNeed(frame) => frame.step(kernel).within(Self::WillNeed, |ractl| {
                ractl.end(kernel);
                Next::Return(())
            }),
            Self::Window(frame) => frame.step(kernel).within(Self::Window, |ractl| {
                ractl.end(kernel);
                Next::Return(())
            }),
        }
    }

    /// The operations that are open, outermost first: a read and a fault may read ahead.
    pub(super) fn open(&self) -> OpenOperations {
        let ahead = (Operation::Readahead, Gfp::READAHEAD);
        let (outer, within) = match self {
            Self::Charge(frame) => ((Operation::Charge, frame.gfp()), None),
            Self::Uncharge(_) => ((Operation::Uncharge, Gfp::empty()), None),
            Self::WriteReclaim(_) => ((Operation::ReclaimWrite, Gfp::empty()), None),
            Self::WriteHigh(_) => ((Operation::HighWrite, Gfp::empty()), None),
            Self::WriteMax(_) => ((Operation::MaxWrite, Gfp::empty()), None),
            Self::Stockpile(_) => ((Operation::Stockpile, Gfp::empty()), None),
            Self::Read(frame) => {
                ((Operation::Read, Gfp::KERNEL), frame.reads_ahead().then_some(ahead))
            }
            Self::Access(frame) => return frame.open(),
            Self::WillNeed(_) | Self::Window(_) => (ahead, None),
        };
        std::iter::once(outer).chain(within).collect()
    }

    /// The folios it holds.
    pub(super) fn pins(&self) -> Option<Pin> {
        match self {
            Self::Read(frame) => frame.pins(),
            Self::Access(frame) => frame.pins(),
            Self::Charge(_)
            | Self::Uncharge(_)
            | Self::WriteReclaim(_)
            | Self::WriteHigh(_)
            | Self::WriteMax(_)
            | Self::Stockpile(_)
            | Self::WillNeed(_)
            | Self::Window(_) => None,
        }
    }

    /// The page an access has mapped and not yet used.
    pub(super) const fn maps(&self) -> Option<(FileId, PageIndex)> {
        if let Self::Access(frame) = self { frame.maps() } else { None }
    }

    pub(super) fn charging(&self) -> Option<&TryChargeMemcg> {
        match self {
            Self::Charge(frame) => Some(frame),
            Self::Uncharge(_)
            | Self::WriteReclaim(_)
            | Self::WriteHigh(_)
            | Self::WriteMax(_)
            | Self::Stockpile(_) => None,
            Self::Read(frame) => frame.charging(),
            Self::Access(frame) => frame.charging(),
            Self::WillNeed(frame) => frame.charging(),
            Self::Window(frame) => frame.charging(),
        }
    }

    pub(super) fn locality(self, config: &ActorConfig, scenario: &Scenario) -> Locality {
        match self {
            Self::Charge(frame) => frame.locality(scenario, &config.task),
            Self::Uncharge(frame) => frame.locality(scenario, &config.task),
            Self::WriteReclaim(frame) => frame.locality(scenario, &config.task),
            Self::WriteHigh(frame) => frame.locality(scenario, &config.task),
            Self::WriteMax(frame) => frame.locality(scenario, &config.task),
            Self::Stockpile(frame) => frame.locality(scenario, &config.task),
            Self::Read(frame) => frame.locality(scenario, &config.task),
            Self::Access(frame) => frame.locality(scenario, &config.task),
            Self::WillNeed(frame) => frame.locality(scenario, &config.task),
            Self::Window(frame) => frame.locality(scenario, &config.task),
        }
    }

    pub(super) fn in_flight(self, scenario: &Scenario, level: MemcgId) -> Pages {
        match self {
            Self::Charge(frame) => frame.in_flight(scenario, level),
            Self::Uncharge(frame) => frame.in_flight(scenario, level),
            Self::WriteReclaim(frame) => frame.in_flight(scenario, level),
            Self::WriteHigh(frame) => frame.in_flight(scenario, level),
            Self::WriteMax(frame) => frame.in_flight(scenario, level),
            Self::Stockpile(frame) => frame.in_flight(scenario, level),
            Self::Read(frame) => frame.in_flight(scenario, level),
            Self::Access(frame) => frame.in_flight(scenario, level),
            Self::WillNeed(frame) => frame.in_flight(scenario, level),
            Self::Window(frame) => frame.in_flight(scenario, level),
        }
    }

    pub(super) fn stack(self, into: &mut Vec<(&'static str, &'static str)>) {
        match self {
            Self::Charge(frame) => frame.stack(into),
            Self::Uncharge(frame) => frame.stack(into),
            Self::WriteReclaim(frame) => frame.stack(into),
            Self::WriteHigh(frame) => frame.stack(into),
            Self::WriteMax(frame) => frame.stack(into),
            Self::Stockpile(frame) => frame.stack(into),
            Self::Read(frame) => frame.stack(into),
            Self::Access(frame) => frame.stack(into),
            Self::WillNeed(frame) => frame.stack(into),
            Self::Window(frame) => frame.stack(into),
        }
    }
}

/// Ends an operation other than a charge.
fn end(kernel: &mut Ctx<'_>, operation: Operation, result: Result<(), Errno>) -> Next<Entry, ()> {
    let result = result.map_or_else(|errno| errno as i64, |()| 0);
    kernel.note(Event::End(operation, Gfp::empty(), result));
    Next::Return(())
}
