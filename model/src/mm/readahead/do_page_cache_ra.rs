//! `do_page_cache_ra()`: base pages up to the end of the file.

use crate::design::EofMark;
use crate::mm::readahead::ReadaheadControl;
use crate::mm::readahead::page_cache_ra_unbounded::PageCacheRaUnbounded;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::step::Ctx;
use crate::units::Pages;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "do_page_cache_ra",
    file: "mm/readahead.c",
    versions: ALL_VERSIONS,
    left_out: "a change of the file's size",
    points: &[],
};

/// Cuts a window at the end of the file; nothing if it begins beyond.
pub fn do_page_cache_ra(
    kernel: &mut Ctx<'_>,
    ractl: ReadaheadControl,
    nr_to_read: Pages,
    lookahead: Pages,
) -> Option<PageCacheRaUnbounded> {
    let last = kernel.scenario.inode(ractl.file).last_page?;
    if ractl.index > last {
        return None;
    }
    let before_last = last - ractl.index;
    let (nr_to_read, lookahead) = match kernel.scenario.design.eof_mark {
        _ if nr_to_read <= before_last => (nr_to_read, lookahead),
        EofMark::Kept => (before_last + Pages(1), lookahead),
        EofMark::None => (before_last + Pages(1), Pages::ZERO),
    };
    Some(PageCacheRaUnbounded::enter(kernel, ractl, nr_to_read, lookahead))
}
