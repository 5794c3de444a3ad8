//! How a window of large folios goes on with base pages.

use super::{At, PageCacheRaOrder, ToNext};
use crate::design::{FallbackAfter, FallbackSize};
use crate::env::{Errno, Wrap};
use crate::mm::filemap::mapping_min_folio_order;
use crate::mm::readahead::do_page_cache_ra::do_page_cache_ra;
use crate::mm::readahead::{ReadaheadControl, wraps};
use crate::scenario::Scenario;
use crate::step::{Ctx, Next};
use crate::units::{PageIndex, Pages};

impl PageCacheRaOrder {
    /// After all folios, or up to the one that failed.
    pub(super) fn committed(
        self,
        scenario: &Scenario,
        mut ractl: ReadaheadControl,
        failed: Option<(PageIndex, Errno)>,
    ) -> ToNext {
        match (failed, scenario.design.fallback_after) {
            (None, _) | (Some((_, Errno::ENOMEM)), FallbackAfter::NotEnomem) => Next::Return(ractl),
            (Some((failed, _)), FallbackAfter::AnyError | FallbackAfter::NotEnomem) => {
                ractl.summary.fell_back = true;
                self.goto(At::FallbackSize { ractl, failed })
            }
        }
    }

    /// How much base pages are still to bring.
    pub(super) fn fallback_size(
        self,
        kernel: &mut Ctx<'_>,
        mut ractl: ReadaheadControl,
        failed: PageIndex,
    ) -> ToNext {
        let size = kernel.ra(ractl.file).size;
        let nr_to_read = match kernel.scenario.design.fallback_size {
            FallbackSize::Window => size,
            FallbackSize::Rest => {
                wraps(kernel, Wrap::WindowRest, failed < self.start);
                let done = failed.wrapping_since(self.start);
                if size <= done {
                    return Next::Return(ractl);
                }
                size - done
            }
        };
        ractl.summary.overran |= ractl.summary.fell_back && {
            let least = mapping_min_folio_order(kernel.scenario, ractl.file);
            let end = self.start.wrapping_add(size).wrapping_align_up(least);
            let last = kernel.scenario.inode(ractl.file).last_page;
            let last = last.expect("a folio of the file has failed");
            ractl.index.wrapping_add(nr_to_read) > end && last >= end && last >= ractl.index
        };
        self.goto(At::FallbackAsyncSize { ractl, nr_to_read })
    }

    /// Base pages for that much, with the mark where the state has it now.
    pub(super) fn fallback_async_size(
        self,
        kernel: &mut Ctx<'_>,
        ractl: ReadaheadControl,
        nr_to_read: Pages,
    ) -> ToNext {
        let async_size = kernel.ra(ractl.file).async_size;
        match do_page_cache_ra(kernel, ractl, nr_to_read, async_size) {
            Some(callee) => self.goto(At::Fallback(callee)),
            None => Next::Return(ractl),
        }
    }
}
