//! The end of `ondemand_readahead()`: a window is set, and is filled from here.

use crate::design::{ReadaheadOrder, WindowRules};
use crate::ids::MemcgId;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::get_next_ra_size::get_next_ra_size;
use crate::mm::readahead::page_cache_ra_order::PageCacheRaOrder;
use crate::mm::readahead::{ReadaheadControl, ra_locality, ractl_max_pages};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next, one_or_run};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The rest of an activation, from the label on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Submit {
    ractl: ReadaheadControl,
    max_pages: Pages,
    found: Option<u8>,
    at: At,
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
    /// Stores ra->order after a miss: windows begin with base pages again.
    ResetOrder,
    /// Loads ra->start, to see whether this window would find its own mark at once.
    OwnStart,
    /// Loads ra->size.
    OwnSize,
    /// Loads ra->async_size, and compares.
    OwnAsyncSize { size: Pages },
    /// Stores ra->async_size of the window that is merged with the next.
    StoreAsyncSize { size: Pages, async_size: Pages },
    /// Stores its ra->size.
    StoreSize { size: Pages },
    /// Loads ra->start: the control begins there.
    Start,
    /// In page_cache_ra_order().
    Order(PageCacheRaOrder),
}

type ToNext = Next<Submit, ReadaheadControl>;

impl Submit {
    pub(super) fn enter(
        scenario: &Scenario,
        ractl: ReadaheadControl,
        req_count: Pages,
        found: Option<u8>,
    ) -> Self {
        let design = &scenario.design;
        let at = match (design.window_rules, design.readahead_order) {
            (WindowRules::Split | WindowRules::Ondemand, ReadaheadOrder::State)
                if found.is_none() =>
            {
                At::ResetOrder
            }
            (WindowRules::Ondemand, _) => At::OwnStart,
            (WindowRules::Split, _) => At::Start,
        };
        let max_pages = ractl_max_pages(scenario, ractl.file, req_count);
        Self { ractl, max_pages, found, at }
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    /// Merges a window that is all mark with the one after it, if both fit.
    fn merged(self, size: Pages) -> At {
        let next = get_next_ra_size(size, self.max_pages);
        if size + next <= self.max_pages {
            At::StoreAsyncSize { size: size + next, async_size: next }
        } else {
            let async_size = Pages(self.max_pages.0 / 2);
            At::StoreAsyncSize { size: self.max_pages, async_size }
        }
    }

    fn one_step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let file = self.ractl.file;
        let ra = *kernel.ra(file);
        self.goto(match self.at {
            At::ResetOrder => {
                kernel.ra(file).order = 0;
                match kernel.scenario.design.window_rules {
                    WindowRules::Ondemand => At::OwnStart,
                    WindowRules::Split => At::Start,
                }
            }
            At::OwnStart if ra.start == self.ractl.index => At::OwnSize,
            At::OwnSize => At::OwnAsyncSize { size: ra.size },
            At::OwnAsyncSize { size } if size == ra.async_size => self.merged(size),
            At::OwnStart | At::OwnAsyncSize { .. } => At::Start,
            At::StoreAsyncSize { size, async_size } => {
                kernel.ra(file).async_size = async_size;
                At::StoreSize { size }
            }
            At::StoreSize { size } => {
                kernel.ra(file).size = size;
                At::Start
            }
            At::Start => {
                let ractl = ReadaheadControl { index: ra.start, ..self.ractl };
                let order = self.found.unwrap_or(0);
                At::Order(PageCacheRaOrder::enter(kernel, ractl, order))
            }
            At::Order(callee) => {
                let inside = |callee| Self { at: At::Order(callee), ..self };
                return callee.step(kernel).within(inside, Next::Return);
            }
        })
    }

    const fn accesses(&self) -> bool {
        !matches!(self.at, At::Order(_))
    }
}

impl Frame for Submit {
    type Output = ReadaheadControl;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let steps = kernel.scenario.granularity.file_ra_state;
        one_or_run(steps, self, kernel, Self::accesses, Self::one_step)
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Order(callee) => callee.locality(scenario, task),
            At::ResetOrder
            | At::OwnStart
            | At::OwnSize
            | At::OwnAsyncSize { .. }
            | At::StoreAsyncSize { .. }
            | At::StoreSize { .. }
            | At::Start => ra_locality(scenario, self.ractl.file),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        if let At::Order(callee) = &self.at {
            callee.in_flight(scenario, level)
        } else {
            Pages::ZERO
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::Order(callee) = &self.at { callee.charging() } else { None }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push(("ondemand_readahead: readit", self.at.into()));
        if let At::Order(callee) = &self.at {
            callee.stack(into);
        }
    }
}
