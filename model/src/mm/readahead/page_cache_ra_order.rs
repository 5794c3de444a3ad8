//! `page_cache_ra_order()`: a window of large folios, with base pages where they fail.

use crate::design::{BaseWindows, EofMark, PastEnd, ReadaheadOrder};
use crate::env::{Ask, Call, Errno, FileCall, Wrap};
use crate::ids::MemcgId;
use crate::mm::filemap::mapping_min_folio_order;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::mark::{is_marked, mark_index};
use crate::mm::readahead::page_cache_ra_unbounded::PageCacheRaUnbounded;
use crate::mm::readahead::read_pages::ReadPages;
use crate::mm::readahead::readahead_add_folio::{Added, ReadaheadAddFolio, Rest};
use crate::mm::readahead::{ReadaheadControl, ra_locality, wraps};
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next, one_or_run};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

mod fallback;
mod orders;
use orders::{folio_order, window_order};

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "page_cache_ra_order",
    file: "mm/readahead.c",
    versions: ALL_VERSIONS,
    left_out: "the invalidate lock; ra->size is loaded once before the folios are added; in 6.1 \
               the two fields of a window that begins beyond the end of the file are one access",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PageCacheRaOrder {
    /// Where the window begins; the first folio may begin before.
    start: PageIndex,
    at: At,
}

/// How a window is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Window {
    /// The largest folio order.
    order: u8,
    /// The last page.
    limit: PageIndex,
    /// The marked page.
    mark: Option<PageIndex>,
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
    /// Loads ra->order, where the design remembers the order there.
    LoadOrder { ractl: ReadaheadControl },
    /// Loads ra->size.
    LoadSize { ractl: ReadaheadControl, order: u8 },
    /// Loads ra->async_size: the window is known then.
    LoadAsyncSize { ractl: ReadaheadControl, order: u8, size: Pages },
    /// Stores the order of the window in ra->order.
    StoreOrder { ractl: ReadaheadControl, window: Window },
    /// Stores 0 there: the mapping has no large folios.
    ResetOrder { ractl: ReadaheadControl },
    /// Chooses and allocates the next folio.
    Next { ractl: ReadaheadControl, window: Window, index: PageIndex },
    /// In readahead_add_folio().
    Add {
        ractl: ReadaheadControl,
        window: Window,
        index: PageIndex,
        order: u8,
        callee: ReadaheadAddFolio,
    },
    /// Lengthens a window that begins beyond the end of the file.
    Lengthen { ractl: ReadaheadControl, beyond: Pages },
    /// In read_pages(), after all folios or up to the one that failed.
    Commit { failed: Option<(PageIndex, Errno)>, callee: ReadPages },
    /// Loads ra->size again, to go on with base pages.
    FallbackSize { ractl: ReadaheadControl, failed: PageIndex },
    /// Loads ra->async_size again.
    FallbackAsyncSize { ractl: ReadaheadControl, nr_to_read: Pages },
    /// In page_cache_ra_unbounded() for the rest.
    Fallback(PageCacheRaUnbounded),
}

type ToNext = Next<PageCacheRaOrder, ReadaheadControl>;

impl PageCacheRaOrder {
    /// The call; `order` is that of the folio whose mark was found, 0 without one.
    pub fn enter(kernel: &mut Ctx<'_>, ractl: ReadaheadControl, order: u8) -> Self {
        let ReadaheadControl { file, index, .. } = ractl;
        let call = FileCall::PageCacheRaOrder { file, index, order };
        kernel.returned(Call::File(call), 0);
        // What is counted for each call starts at none here, as the request does.
        let scenario = kernel.scenario;
        let large = scenario.inode(ractl.file).max_order > 0;
        let start = ractl.index;
        let at = match scenario.design.readahead_order {
            ReadaheadOrder::State if large => At::LoadOrder { ractl },
            ReadaheadOrder::State => At::ResetOrder { ractl },
            ReadaheadOrder::MarkedFolio if large => At::LoadSize { ractl, order },
            ReadaheadOrder::MarkedFolio => At::FallbackSize { ractl, failed: start },
        };
        Self { start, at }
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    fn loaded_size(
        self,
        kernel: &mut Ctx<'_>,
        ractl: ReadaheadControl,
        order: u8,
        size: Pages,
    ) -> ToNext {
        let least = Pages::of_order(mapping_min_folio_order(kernel.scenario, ractl.file));
        let small = match kernel.scenario.design.base_windows {
            BaseWindows::Small => size < least.max(Pages(4)),
            BaseWindows::Never => false,
        };
        self.goto(if small {
            At::FallbackSize { ractl, failed: self.start }
        } else {
            At::LoadAsyncSize { ractl, order, size }
        })
    }

    fn window(
        self,
        kernel: &mut Ctx<'_>,
        ractl: ReadaheadControl,
        (order, size, async_size): (u8, Pages, Pages),
    ) -> ToNext {
        let Some(eof) = kernel.scenario.inode(ractl.file).last_page else {
            return Next::Return(ractl);
        };
        let end = self.start.wrapping_add(size);
        wraps(kernel, Wrap::WindowEnd, end == PageIndex(0));
        let last = end.wrapping_sub(Pages(1));
        let has_mark = kernel.scenario.design.eof_mark == EofMark::Kept || eof > last;
        let mark = has_mark.then(|| mark_index(kernel, self.start, size, async_size));
        let order = window_order(kernel.scenario, &ractl, order, size);
        let window = Window { order, limit: last.min(eof), mark };
        let index = self.start.align_down(mapping_min_folio_order(kernel.scenario, ractl.file));
        let ractl = ReadaheadControl { index, ..ractl };
        self.goto(match kernel.scenario.design.readahead_order {
            ReadaheadOrder::State => At::StoreOrder { ractl, window },
            ReadaheadOrder::MarkedFolio => At::Next { ractl, window, index },
        })
    }

    fn next(
        self,
        kernel: &mut Ctx<'_>,
        ractl: ReadaheadControl,
        window: Window,
        index: PageIndex,
    ) -> ToNext {
        if index > window.limit {
            let beyond = index - (window.limit + Pages(1));
            let lengthens = kernel.scenario.design.past_end == PastEnd::Lengthens;
            return if lengthens && beyond > Pages::ZERO {
                self.goto(At::Lengthen { ractl, beyond })
            } else {
                self.commit(ractl, None)
            };
        }
        let order = folio_order(kernel.scenario, &ractl, (window.order, window.limit), index);
        let inode = kernel.scenario.file(ractl.file).inode;
        let may_fail = u64::from(kernel.scenario.policy.file.folio_alloc_fails);
        if kernel.ask(Ask::FolioAllocFails(inode), may_fail) == 1 {
            return self.commit(ractl, Some((index, Errno::ENOMEM)));
        }
        let marked = is_marked(kernel, window.mark, index, order);
        let first = self.start.min(index);
        let rest =
            Rest { left: window.limit - index + Pages(1), window: window.limit - first + Pages(1) };
        let folio = (index, order);
        let callee = ReadaheadAddFolio::enter(kernel.scenario, &ractl, folio, marked, rest);
        self.goto(At::Add { ractl, window, index, order, callee })
    }

    fn added(
        self,
        mut ractl: ReadaheadControl,
        window: Window,
        (index, order, marked): (PageIndex, u8, bool),
        added: Added,
    ) -> ToNext {
        match added.into_control(&mut ractl) {
            Ok(()) => {
                let folio = Pages::of_order(order);
                let holds = |mark: PageIndex| mark.align_down(order) == index;
                ractl.added_folio(window.mark.is_some_and(holds), marked);
                ractl.nr_pages += folio;
                self.goto(At::Next { ractl, window, index: index + folio })
            }
            Err(errno) => self.commit(ractl, Some((index, errno))),
        }
    }

    const fn commit(self, ractl: ReadaheadControl, failed: Option<(PageIndex, Errno)>) -> ToNext {
        self.goto(At::Commit { failed, callee: ReadPages::enter(ractl) })
    }

    fn one_step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let inside = |at| Self { at, ..self };
        match self.at {
            At::LoadOrder { ractl } => {
                let order = kernel.ra(ractl.file).order;
                self.goto(At::LoadSize { ractl, order })
            }
            At::LoadSize { ractl, order } => {
                let size = kernel.ra(ractl.file).size;
                self.loaded_size(kernel, ractl, order, size)
            }
            At::LoadAsyncSize { ractl, order, size } => {
                let async_size = kernel.ra(ractl.file).async_size;
                self.window(kernel, ractl, (order, size, async_size))
            }
            At::StoreOrder { ractl, window } => {
                kernel.ra(ractl.file).order = window.order;
                self.goto(At::Next { ractl, window, index: ractl.index })
            }
            At::ResetOrder { ractl } => {
                kernel.ra(ractl.file).order = 0;
                self.goto(At::FallbackSize { ractl, failed: self.start })
            }
            At::Next { ractl, window, index } => self.next(kernel, ractl, window, index),
            At::Add { ractl, window, index, order, callee } => callee.step(kernel).within(
                |callee| inside(At::Add { ractl, window, index, order, callee }),
                |added| self.added(ractl, window, (index, order, callee.marked()), added),
            ),
            At::Lengthen { ractl, beyond } => {
                let ra = kernel.ra(ractl.file);
                ra.size += beyond;
                ra.async_size += beyond;
                self.commit(ractl, None)
            }
            At::Commit { failed, callee } => callee.step(kernel).within(
                |callee| inside(At::Commit { failed, callee }),
                |ractl| self.committed(kernel.scenario, ractl, failed),
            ),
            At::FallbackSize { ractl, failed } => self.fallback_size(kernel, ractl, failed),
            At::FallbackAsyncSize { ractl, nr_to_read } => {
                self.fallback_async_size(kernel, ractl, nr_to_read)
            }
            At::Fallback(callee) => {
                callee.step(kernel).within(|callee| inside(At::Fallback(callee)), Next::Return)
            }
        }
    }

    const fn accesses(&self) -> bool {
        matches!(
            self.at,
            At::LoadOrder { .. }
                | At::LoadSize { .. }
                | At::LoadAsyncSize { .. }
                | At::StoreOrder { .. }
                | At::ResetOrder { .. }
                | At::Lengthen { .. }
                | At::FallbackSize { .. }
                | At::FallbackAsyncSize { .. }
        )
    }
}

impl Frame for PageCacheRaOrder {
    type Output = ReadaheadControl;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let steps = kernel.scenario.granularity.file_ra_state;
        one_or_run(steps, self, kernel, Self::accesses, Self::one_step)
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::LoadOrder { ractl }
            | At::LoadSize { ractl, .. }
            | At::LoadAsyncSize { ractl, .. }
            | At::StoreOrder { ractl, .. }
            | At::ResetOrder { ractl }
            | At::Lengthen { ractl, .. }
            | At::FallbackSize { ractl, .. }
            | At::FallbackAsyncSize { ractl, .. } => ra_locality(scenario, ractl.file),
            At::Next { .. } => Locality::Local,
            At::Add { callee, .. } => callee.locality(scenario, task),
            At::Commit { callee, .. } => callee.locality(scenario, task),
            At::Fallback(callee) => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Add { callee, .. } => callee.in_flight(scenario, level),
            At::Commit { callee, .. } => callee.in_flight(scenario, level),
            At::Fallback(callee) => callee.in_flight(scenario, level),
            At::LoadOrder { .. }
            | At::LoadSize { .. }
            | At::LoadAsyncSize { .. }
            | At::StoreOrder { .. }
            | At::ResetOrder { .. }
            | At::Lengthen { .. }
            | At::Next { .. }
            | At::FallbackSize { .. }
            | At::FallbackAsyncSize { .. } => Pages::ZERO,
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::Add { callee, .. } = &self.at {
            callee.charging()
        } else if let At::Commit { callee, .. } = &self.at {
            callee.charging()
        } else if let At::Fallback(callee) = &self.at {
            callee.charging()
        } else {
            None
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Add { callee, .. } => callee.stack(into),
            At::Commit { callee, .. } => callee.stack(into),
            At::Fallback(callee) => callee.stack(into),
            At::LoadOrder { .. }
            | At::LoadSize { .. }
            | At::LoadAsyncSize { .. }
            | At::StoreOrder { .. }
            | At::ResetOrder { .. }
            | At::Lengthen { .. }
            | At::Next { .. }
            | At::FallbackSize { .. }
            | At::FallbackAsyncSize { .. } => {}
        }
    }
}
