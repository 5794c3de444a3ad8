//! The mark of a window: the page whose folio starts the next window when it is found.

use crate::design::MarkRounding;
use crate::env::Wrap;
use crate::mm::readahead::wraps;
use crate::step::Ctx;
use crate::units::{PageIndex, Pages};

/// The page that lies `lookahead` pages before the end of a window.
pub fn mark_index(
    kernel: &mut Ctx<'_>,
    start: PageIndex,
    size: Pages,
    lookahead: Pages,
) -> PageIndex {
    let end = start.wrapping_add(size);
    wraps(kernel, Wrap::MarkPosition, end < start || lookahead.0 > end.0);
    end.wrapping_sub(lookahead)
}

/// A page rounded to the size of the folio that may hold it, in the design's direction.
pub fn round(kernel: &Ctx<'_>, index: PageIndex, order: u8) -> PageIndex {
    match kernel.scenario.design.mark_rounding {
        MarkRounding::Down => index.align_down(order),
        MarkRounding::Up => index.wrapping_align_up(order),
    }
}

/// Whether the folio at `index` is the one to carry the mark of its window.
///
/// The kernel writes "no mark" as all ones. Rounded down that is no folio's index; rounded up it
/// wraps to 0, which is one.
pub fn is_marked(
    kernel: &mut Ctx<'_>,
    mark: Option<PageIndex>,
    index: PageIndex,
    order: u8,
) -> bool {
    let rounded = round(kernel, mark.unwrap_or(PageIndex(u64::MAX)), order);
    wraps(kernel, Wrap::NoMark, mark.is_none() && rounded == PageIndex(0));
    rounded == index
}
