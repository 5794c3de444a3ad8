//! `ondemand_readahead()`: the next window, after a miss or after a mark was found.
//!
//! No lock protects the state of the file: every load and every store of a field is a step, in
//! the order of the code.

use crate::design::WindowRules;
use crate::ids::MemcgId;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::get_init_ra_size::get_init_ra_size;
use crate::mm::readahead::get_next_ra_size::get_next_ra_size;
use crate::mm::readahead::page_cache_ra_unbounded::PageCacheRaUnbounded;
use crate::mm::readahead::{ReadaheadControl, ra_locality, ractl_max_pages};
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next, one_or_run};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

mod sizes;
mod starts;
mod submit;
use submit::Submit;

/// The modelled function; in 6.12 and 7.3 its halves stand in page_cache_sync_ra() and
/// page_cache_async_ra().
pub const KERNEL: KernelFn = KernelFn {
    name: "ondemand_readahead",
    file: "mm/readahead.c",
    versions: ALL_VERSIONS,
    left_out: "values of a field that the next statement overwrites; a reload of a field that a \
               compiler would keep",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OndemandReadahead {
    ractl: ReadaheadControl,
    req_count: Pages,
    /// The order of the folio whose mark was found.
    found: Option<u8>,
    at: At,
}

/// What a new window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Window {
    /// The first of a stream.
    Initial,
    /// That of a stream found in the cache.
    Context,
    /// That after a gap, behind a mark of another stream.
    Gap,
    /// The one after the last.
    Advanced,
}

/// Program points.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    VariantNames,
)]
enum At {
    /// Loads ra->start, to see whether this access is the expected one.
    ExpectedStart,
    /// Loads ra->size.
    ExpectedSize { start: PageIndex },
    /// Loads ra->async_size, and compares.
    ExpectedAsyncSize { start: PageIndex, size: Pages },
    /// Loads ra->start again, to advance it.
    AdvanceStart,
    /// Loads ra->size.
    AdvanceSize { start: PageIndex },
    /// Looks for the next gap in the cache.
    NextMiss,
    /// Loads ra->prev_pos, to see whether this access follows the last read.
    PrevPos,
    /// Looks back in the cache for the start of a stream.
    PrevMiss,
    /// Stores ra->start.
    StoreStart { window: Window, start: PageIndex, size: Pages },
    /// Loads ra->size, to let it grow.
    GrowSize,
    /// Stores ra->size.
    StoreSize { window: Window, size: Pages },
    /// Loads ra->order, to raise it.
    LoadOrder,
    /// Stores it.
    StoreOrder { order: u8 },
    /// Loads ra->start, to align the window's end.
    AlignStart { order: u8 },
    /// Loads ra->size.
    AlignSize { order: u8, start: PageIndex },
    /// Stores ra->size.
    StoreAligned { size: Pages },
    /// Loads ra->size, of which ra->async_size is a part.
    SizeOfAsync { window: Window },
    /// Stores ra->async_size.
    StoreAsyncSize { async_size: Pages },
    /// `readit:` submits the window.
    Submit(Submit),
    /// In page_cache_ra_unbounded(): reads what was asked for and leaves the state alone.
    Standalone(PageCacheRaUnbounded),
}

type ToNext = Next<OndemandReadahead, ReadaheadControl>;

impl OndemandReadahead {
    /// The call, after the mark of a folio of order `found` was found or after a miss.
    pub fn enter(
        scenario: &Scenario,
        ractl: ReadaheadControl,
        req_count: Pages,
        found: Option<u8>,
    ) -> Self {
        let this = Self { ractl, req_count, found, at: At::ExpectedStart };
        let at = match (scenario.design.window_rules, found) {
            (WindowRules::Ondemand, _) if ractl.index == PageIndex(0) => this.initial(scenario),
            (WindowRules::Ondemand, _) | (WindowRules::Split, Some(_)) => At::ExpectedStart,
            (WindowRules::Split, None) => this.missed(scenario),
        };
        Self { at, ..this }
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    fn max_pages(self, scenario: &Scenario) -> Pages {
        ractl_max_pages(scenario, self.ractl.file, self.req_count)
    }

    fn initial(self, scenario: &Scenario) -> At {
        let size = get_init_ra_size(self.req_count, self.max_pages(scenario));
        At::StoreStart { window: Window::Initial, start: self.ractl.index, size }
    }

    fn one_step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let file = self.ractl.file;
        let scenario = kernel.scenario;
        let ra = *kernel.ra(file);
        let at = match self.at {
            At::ExpectedStart => At::ExpectedSize { start: ra.start },
            At::ExpectedSize { start } => At::ExpectedAsyncSize { start, size: ra.size },
            At::ExpectedAsyncSize { start, size } => {
                self.expected(kernel, (start, size, ra.async_size))
            }
            At::AdvanceStart => At::AdvanceSize { start: ra.start },
            At::AdvanceSize { start } => {
                let start = start.wrapping_add(ra.size);
                At::StoreStart { window: Window::Advanced, start, size: Pages::ZERO }
            }
            At::NextMiss => return self.next_miss(kernel),
            At::PrevPos => {
                let previous = PageIndex(ra.prev_pos.cast_unsigned() >> 12);
                // Unsigned: only the page of the last byte read and the one after it are near.
                let near = self.ractl.index.wrapping_since(previous) <= Pages(1);
                if near { self.initial(scenario) } else { At::PrevMiss }
            }
            At::PrevMiss => return self.prev_miss(kernel),
            At::StoreStart { window, start, size } => {
                kernel.ra(file).start = start;
                match window {
                    Window::Advanced => At::GrowSize,
                    Window::Initial | Window::Context | Window::Gap => {
                        At::StoreSize { window, size }
                    }
                }
            }
            At::GrowSize => {
                let size = ra.size.max(get_next_ra_size(ra.size, self.max_pages(scenario)));
                At::StoreSize { window: Window::Advanced, size }
            }
            At::StoreSize { window, size } => {
                kernel.ra(file).size = size;
                self.stored_size(scenario, window)
            }
            At::LoadOrder => At::StoreOrder { order: ra.order + 2 },
            At::StoreOrder { order } => {
                kernel.ra(file).order = order;
                Self::align(scenario, order)
            }
            At::AlignStart { order } => At::AlignSize { order, start: ra.start },
            At::AlignSize { order, start } => self.aligned(scenario, order, start, ra.size),
            At::StoreAligned { size } => {
                kernel.ra(file).size = size;
                At::SizeOfAsync { window: Window::Advanced }
            }
            At::SizeOfAsync { window } => {
                At::StoreAsyncSize { async_size: self.async_size(scenario, window, ra.size) }
            }
            At::StoreAsyncSize { async_size } => {
                kernel.ra(file).async_size = async_size;
                At::Submit(Submit::enter(scenario, self.ractl, self.req_count, self.found))
            }
            At::Submit(callee) => {
                let inside = |callee| Self { at: At::Submit(callee), ..self };
                return callee.step(kernel).within(inside, Next::Return);
            }
            At::Standalone(callee) => {
                let inside = |callee| Self { at: At::Standalone(callee), ..self };
                return callee.step(kernel).within(inside, Next::Return);
            }
        };
        self.goto(at)
    }

    /// Whether the next step is an access to the readahead state, and to nothing else.
    const fn accesses(&self) -> bool {
        !matches!(self.at, At::Submit(_) | At::Standalone(_) | At::NextMiss | At::PrevMiss)
    }
}

impl Frame for OndemandReadahead {
    type Output = ReadaheadControl;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let steps = kernel.scenario.granularity.file_ra_state;
        one_or_run(steps, self, kernel, Self::accesses, Self::one_step)
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Submit(callee) => callee.locality(scenario, task),
            At::Standalone(callee) => callee.locality(scenario, task),
            // Reclaim makes gaps, also in a file that only this actor uses.
            At::NextMiss | At::PrevMiss => Locality::Shared,
            At::ExpectedStart
            | At::ExpectedSize { .. }
            | At::ExpectedAsyncSize { .. }
            | At::AdvanceStart
            | At::AdvanceSize { .. }
            | At::PrevPos
            | At::StoreStart { .. }
            | At::GrowSize
            | At::StoreSize { .. }
            | At::LoadOrder
            | At::StoreOrder { .. }
            | At::AlignStart { .. }
            | At::AlignSize { .. }
            | At::StoreAligned { .. }
            | At::SizeOfAsync { .. }
            | At::StoreAsyncSize { .. } => ra_locality(scenario, self.ractl.file),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        if let At::Submit(callee) = &self.at {
            callee.in_flight(scenario, level)
        } else if let At::Standalone(callee) = &self.at {
            callee.in_flight(scenario, level)
        } else {
            Pages::ZERO
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::Submit(callee) = &self.at {
            callee.charging()
        } else if let At::Standalone(callee) = &self.at {
            callee.charging()
        } else {
            None
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        if let At::Submit(callee) = &self.at {
            callee.stack(into);
        } else if let At::Standalone(callee) = &self.at {
            callee.stack(into);
        }
    }
}
