//! The folio orders of a window.

use crate::design::{MappingOrders, ReadaheadOrder};
use crate::mm::filemap::{mapping_max_folio_order, mapping_min_folio_order};
use crate::mm::readahead::ReadaheadControl;
use crate::scenario::Scenario;
use crate::units::{PageIndex, Pages};

/// The largest folio order of a window of `size` pages.
pub(super) fn window_order(
    scenario: &Scenario,
    ractl: &ReadaheadControl,
    order: u8,
    size: Pages,
) -> u8 {
    let [least, largest] =
        [mapping_min_folio_order, mapping_max_folio_order].map(|order| order(scenario, ractl.file));
    let fits = u8::try_from(size.0.checked_ilog2().unwrap_or(u32::from(u8::MAX)))
        .expect("the order of a number is small");
    let order = match scenario.design.readahead_order {
        ReadaheadOrder::State => order,
        ReadaheadOrder::MarkedFolio => order + 2,
    };
    // 6.1 leaves the largest order as it is; but no folio reaches past the end of the window.
    order.min(largest).min(fits).max(least)
}

/// The order of the folio at `index` in a window of folios up to `order` that ends with page
/// `limit`: aligned, and if possible not past the end.
pub(super) fn folio_order(
    scenario: &Scenario,
    ractl: &ReadaheadControl,
    (order, limit): (u8, PageIndex),
    index: PageIndex,
) -> u8 {
    let least = mapping_min_folio_order(scenario, ractl.file);
    // Order 1 had no room for what a large folio needs to remember.
    let usable = |order| match scenario.design.mapping_orders {
        MappingOrders::AnyOrZero if order == 1 => 0,
        MappingOrders::AnyOrZero | MappingOrders::Range => order,
    };
    let mut order = order;
    if !index.is_aligned(order) {
        order = usable(u8::try_from(index.0.trailing_zeros()).expect("at most 64 zeros"));
    }
    while order > least && index + Pages::of_order(order) > limit + Pages(1) {
        order = usable(order - 1);
    }
    order
}
