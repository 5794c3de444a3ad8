//! mm/readahead.c: which pages are read before anybody asks for them.

use crate::env::{Event, Operation, RequestSummary, Wrap};
use crate::gfp::Gfp;
use crate::ids::FileId;
use crate::scenario::Scenario;
use crate::step::{Ctx, Locality};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};

pub mod do_page_cache_ra;
pub mod force_page_cache_ra;
pub mod get_init_ra_size;
pub mod get_next_ra_size;
pub mod mark;
pub mod ondemand_readahead;
pub mod page_cache_async_ra;
pub mod page_cache_ra_order;
pub mod page_cache_ra_unbounded;
pub mod page_cache_sync_ra;
pub mod read_pages;
pub mod readahead_add_folio;
pub mod readahead_expand;

/// Batch reclaims that one request may ask for in "mm/readahead: avoid per-folio memcg reclaim",
/// v1 3/3.
pub const READAHEAD_MAX_MEMCG_RECLAIMS: u8 = 2;

/// `struct readahead_control`: one request for pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReadaheadControl {
    /// The open file.
    pub file: FileId,
    /// `_index`: the first page of the batch that is being gathered.
    pub index: PageIndex,
    /// `_nr_pages`: its length so far.
    pub nr_pages: Pages,
    /// `_nr_memcg_reclaims`: batch reclaims so far, where a design counts them here.
    pub nr_memcg_reclaims: u8,
    /// The file system has asked for more once; it does so no more.
    pub expanded: bool,
    /// What the request has come to, for its properties: no step decides by it.
    pub summary: RequestSummary,
}

impl ReadaheadControl {
    /// A new request that starts at that page.
    pub const fn new(file: FileId, index: PageIndex) -> Self {
        Self {
            file,
            index,
            nr_pages: Pages::ZERO,
            nr_memcg_reclaims: 0,
            expanded: false,
            summary: RequestSummary {
                marks: 0,
                mark_due: false,
                batch_reclaims: 0,
                fell_back: false,
                overran: false,
            },
        }
    }

    /// A new request, announced.
    pub fn begin(kernel: &mut Ctx<'_>, file: FileId, index: PageIndex) -> Self {
        kernel.note(Event::Begin(Operation::Readahead, Gfp::READAHEAD));
        Self::new(file, index)
    }

    /// The request is over.
    pub fn end(self, kernel: &mut Ctx<'_>) {
        kernel.note(Event::ReadAhead(self.summary));
        kernel.note(Event::End(Operation::Readahead, Gfp::READAHEAD, 0));
    }

    /// A folio was added; the mark of its window belongs to it, and it carries it.
    const fn added_folio(&mut self, mark_due: bool, marked: bool) {
        self.summary.mark_due |= mark_due;
        if marked && self.summary.marks < 2 {
            self.summary.marks += 1;
        }
    }

    /// The first page after the batch.
    pub const fn next_index(&self) -> PageIndex {
        self.index.wrapping_add(self.nr_pages)
    }
}

/// `ractl_max_pages()`: the most a request for `req_count` pages may read.
pub fn ractl_max_pages(scenario: &Scenario, file: FileId, req_count: Pages) -> Pages {
    let config = scenario.file(file);
    config.ra_pages.max(req_count.min(config.io_pages))
}

/// How far an access to the readahead state of that file reaches.
pub(crate) fn ra_locality(scenario: &Scenario, file: FileId) -> Locality {
    if scenario.file(file).shared { Locality::Shared } else { Locality::Local }
}

/// Says so where the kernel's arithmetic wraps.
pub(crate) fn wraps(kernel: &mut Ctx<'_>, wrap: Wrap, wraps: bool) {
    if wraps {
        kernel.note(Event::Wrapped(wrap));
    }
}
