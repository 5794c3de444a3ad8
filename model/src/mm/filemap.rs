//! mm/filemap.c: the page cache, and reads and faults that go through it.

use crate::design::MappingOrders;
use crate::ids::FileId;
use crate::scenario::Scenario;

pub mod do_async_mmap_readahead;
pub mod do_sync_mmap_readahead;
pub mod filemap_add_folio;
pub mod filemap_fault;
pub mod filemap_get_pages;
pub mod filemap_get_read_batch;
pub mod filemap_read;
pub mod filemap_remove_folio;
pub mod page_cache_next_miss;
pub mod page_cache_prev_miss;

/// `mapping_min_folio_order()`.
pub fn mapping_min_folio_order(scenario: &Scenario, file: FileId) -> u8 {
    match scenario.design.mapping_orders {
        MappingOrders::AnyOrZero => 0,
        MappingOrders::Range => scenario.inode(file).min_order,
    }
}

/// `mapping_max_folio_order()`; 0 where large folios are not supported.
pub fn mapping_max_folio_order(scenario: &Scenario, file: FileId) -> u8 {
    match (scenario.design.mapping_orders, scenario.inode(file).max_order) {
        (MappingOrders::AnyOrZero, 1..) => scenario.kernel.max_pagecache_order,
        (MappingOrders::AnyOrZero | MappingOrders::Range, order) => order,
    }
}
