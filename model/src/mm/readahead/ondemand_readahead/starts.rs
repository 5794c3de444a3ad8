//! Where a window begins.

use super::{At, OndemandReadahead, ToNext, Window};
use crate::design::WindowRules;
use crate::mm::filemap::page_cache_next_miss::page_cache_next_miss;
use crate::mm::filemap::page_cache_prev_miss::{BEFORE_FIRST, page_cache_prev_miss};
use crate::mm::readahead::ReadaheadControl;
use crate::mm::readahead::do_page_cache_ra::do_page_cache_ra;
use crate::mm::readahead::get_next_ra_size::get_next_ra_size;
use crate::mm::readahead::mark::{mark_index, round};
use crate::scenario::Scenario;
use crate::step::{Ctx, Next};
use crate::units::{PageIndex, Pages};

impl OndemandReadahead {
    /// A miss that no window expected.
    pub(super) fn missed(self, scenario: &Scenario) -> At {
        let anew = self.ractl.index == PageIndex(0) || self.req_count > self.max_pages(scenario);
        if anew { self.initial(scenario) } else { At::PrevPos }
    }

    /// Whether the state knows of this page.
    pub(super) fn expected(
        self,
        kernel: &mut Ctx<'_>,
        (start, size, async_size): (PageIndex, Pages, Pages),
    ) -> At {
        let index = self.ractl.index;
        let mark = mark_index(kernel, start, size, async_size);
        let expected = round(kernel, mark, self.found.unwrap_or(0));
        let at_end = kernel.scenario.design.window_rules == WindowRules::Ondemand
            && index == start.wrapping_add(size);
        if index == expected || at_end {
            At::AdvanceStart
        } else if self.found.is_some() {
            At::NextMiss
        } else {
            self.missed(kernel.scenario)
        }
    }

    /// Behind a mark that this state knows nothing of.
    pub(super) fn next_miss(self, kernel: &mut Ctx<'_>) -> ToNext {
        let ReadaheadControl { file, index, .. } = self.ractl;
        let max = self.max_pages(kernel.scenario);
        let start = page_cache_next_miss(kernel, file, index.wrapping_add(Pages(1)), max);
        let distance = start.wrapping_since(index);
        if start == PageIndex(0) || distance > max {
            return Next::Return(self.ractl);
        }
        let size = get_next_ra_size(distance + self.req_count, max);
        self.goto(At::StoreStart { window: Window::Gap, start, size })
    }

    /// Looks back for a stream that has brought the pages before this one.
    pub(super) fn prev_miss(self, kernel: &mut Ctx<'_>) -> ToNext {
        let Self { ractl, req_count, .. } = self;
        let index = ractl.index;
        let max = self.max_pages(kernel.scenario);
        let miss = page_cache_prev_miss(kernel, ractl.file, index.wrapping_sub(Pages(1)), max);
        let mut contig = index.wrapping_since(miss.wrapping_add(Pages(1)));
        if contig <= req_count {
            return match do_page_cache_ra(kernel, ractl, req_count, Pages::ZERO) {
                Some(callee) => self.goto(At::Standalone(callee)),
                None => Next::Return(ractl),
            };
        }
        // 6.1 asks whether there are as many pages as the index says, which is the same.
        if miss == BEFORE_FIRST {
            contig = contig + contig;
        }
        let size = max.min(contig + req_count);
        self.goto(At::StoreStart { window: Window::Context, start: index, size })
    }
}
