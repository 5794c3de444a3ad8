//! `get_next_ra_size()`: the size of the window after this one.

use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::units::Pages;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "get_next_ra_size",
    file: "mm/readahead.c",
    versions: ALL_VERSIONS,
    left_out: "",
    points: &[],
};

/// The size of the window after one of `size` pages.
pub const fn get_next_ra_size(size: Pages, max: Pages) -> Pages {
    Pages(if size.0 < max.0 / 16 {
        size.0 * 4
    } else if size.0 <= max.0 / 2 {
        size.0 * 2
    } else {
        max.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_by_four_then_by_two_then_to_the_limit() {
        let sizes = [11, 12, 96, 97].map(|size| get_next_ra_size(Pages(size), Pages(192)));
        assert_eq!(sizes, [44, 24, 192, 192].map(Pages));
    }
}
