//! `get_init_ra_size()`: the size of a first window.

use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::units::Pages;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "get_init_ra_size",
    file: "mm/readahead.c",
    versions: ALL_VERSIONS,
    left_out: "",
    points: &[],
};

/// The size of the first window after a request for `size` pages.
pub const fn get_init_ra_size(size: Pages, max: Pages) -> Pages {
    let rounded = size.0.next_power_of_two();
    Pages(if rounded <= max.0 / 32 {
        rounded * 4
    } else if rounded <= max.0 / 4 {
        rounded * 2
    } else {
        max.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_divisions_are_whole() {
        let sizes = [1, 6, 7, 32, 33, 48, 49].map(|size| get_init_ra_size(Pages(size), Pages(192)));
        assert_eq!(sizes, [4, 16, 16, 64, 192, 192, 192].map(Pages));
    }
}
