//! How long a window is, and where its mark.

use super::{At, OndemandReadahead, Window};
use crate::design::{ReadaheadOrder, WindowEnd, WindowRules};
use crate::scenario::Scenario;
use crate::units::{PageIndex, Pages};

impl OndemandReadahead {
    /// After ra->size of a new window is stored.
    pub(super) fn stored_size(self, scenario: &Scenario, window: Window) -> At {
        match window {
            Window::Initial => At::SizeOfAsync { window },
            Window::Context => At::StoreAsyncSize { async_size: Pages(1) },
            Window::Gap | Window::Advanced => match scenario.design.readahead_order {
                ReadaheadOrder::State => At::LoadOrder,
                ReadaheadOrder::MarkedFolio => Self::align(scenario, self.found.unwrap_or(0)),
            },
        }
    }

    /// After its order is known.
    pub(super) fn align(scenario: &Scenario, order: u8) -> At {
        match scenario.design.window_end {
            WindowEnd::Free => At::SizeOfAsync { window: Window::Advanced },
            WindowEnd::Aligned => At::AlignStart { order },
        }
    }

    /// Its end, rounded down to its folios.
    pub(super) fn aligned(
        self,
        scenario: &Scenario,
        order: u8,
        start: PageIndex,
        size: Pages,
    ) -> At {
        let max = self.max_pages(scenario);
        let limit = u8::try_from(max.0.trailing_zeros()).expect("at most 64 zeros");
        let end = start.wrapping_add(size).align_down(order.min(limit));
        if end > start {
            At::StoreAligned { size: end - start }
        } else {
            At::SizeOfAsync { window: Window::Advanced }
        }
    }

    /// Pages behind its mark.
    pub(super) fn async_size(self, scenario: &Scenario, window: Window, size: Pages) -> Pages {
        match (window, scenario.design.window_rules) {
            (Window::Initial, _) if size > self.req_count => size - self.req_count,
            (Window::Initial, WindowRules::Split) => Pages(size.0 / 2),
            (Window::Initial | Window::Context | Window::Gap | Window::Advanced, _) => size,
        }
    }
}
