//! The kernel's functions, in its own tree: `mm/<file>.c`, `f()` is `mm/<file>/f.rs`.

pub mod filemap;
pub mod madvise;
pub mod memcontrol;
pub mod page_counter;
pub mod readahead;
pub mod swap;
pub mod vmscan;

/// A modelled kernel function.
pub struct KernelFn {
    /// Its name.
    pub name: &'static str,
    /// The file it is in.
    pub file: &'static str,
    /// The kernels it was transcribed from.
    pub versions: &'static str,
    /// What the transcription leaves out.
    pub left_out: &'static str,
    /// Its program points, for those that can be interrupted.
    pub points: &'static [&'static str],
}

/// The three kernels that were read side by side.
pub(crate) const ALL_VERSIONS: &str = "6.1.192, 6.12.117, 7.3.4";

/// Every modelled function, in the order of the kernel's files.
pub const FUNCTIONS: &[&KernelFn] = &[
    &page_counter::page_counter_try_charge::KERNEL,
    &page_counter::page_counter_charge::KERNEL,
    &page_counter::page_counter_uncharge::KERNEL,
    &memcontrol::consume_stock::KERNEL,
    &memcontrol::refill_stock::KERNEL,
    &memcontrol::memcg_uncharge::KERNEL,
    &memcontrol::drain_local_stock::KERNEL,
    &memcontrol::drain_all_stock::KERNEL,
    &memcontrol::mem_cgroup_margin::KERNEL,
    &memcontrol::mem_cgroup_oom::KERNEL,
    &memcontrol::reclaim_high::KERNEL,
    &memcontrol::mem_cgroup_handle_over_high::KERNEL,
    &memcontrol::try_charge_memcg::KERNEL,
    &memcontrol::mem_cgroup_iter::KERNEL,
    &memcontrol::memory_reclaim::KERNEL,
    &memcontrol::memory_high_write::KERNEL,
    &memcontrol::memory_max_write::KERNEL,
    &memcontrol::mem_cgroup_stockpile::KERNEL,
    &memcontrol::mem_cgroup_reclaim_for_batch::KERNEL,
    &vmscan::try_to_free_mem_cgroup_pages::KERNEL,
    &vmscan::try_to_free_pages::KERNEL,
    &vmscan::balance_pgdat::KERNEL,
    &vmscan::do_try_to_free_pages::KERNEL,
    &vmscan::shrink_zones::KERNEL,
    &vmscan::shrink_node_memcgs::KERNEL,
    &vmscan::shrink_lruvec::KERNEL,
    &vmscan::get_scan_count::KERNEL,
    &vmscan::isolate_lru_folios::KERNEL,
    &vmscan::shrink_active_list::KERNEL,
    &vmscan::shrink_folio_list::KERNEL,
    &vmscan::try_to_shrink_lruvec::KERNEL,
    &vmscan::should_abort_scan::KERNEL,
    &swap::folio_add_lru::KERNEL,
    &swap::lru_add_drain::KERNEL,
    &madvise::madvise_stockpile::KERNEL,
    &filemap::filemap_remove_folio::KERNEL,
    &filemap::filemap_add_folio::KERNEL,
    &filemap::page_cache_next_miss::KERNEL,
    &filemap::page_cache_prev_miss::KERNEL,
    &filemap::filemap_get_read_batch::KERNEL,
    &filemap::filemap_get_pages::KERNEL,
    &filemap::filemap_read::KERNEL,
    &filemap::do_sync_mmap_readahead::KERNEL,
    &filemap::do_async_mmap_readahead::KERNEL,
    &filemap::filemap_fault::KERNEL,
    &readahead::read_pages::KERNEL,
    &readahead::readahead_add_folio::KERNEL,
    &readahead::page_cache_ra_unbounded::KERNEL,
    &readahead::do_page_cache_ra::KERNEL,
    &readahead::force_page_cache_ra::KERNEL,
    &readahead::get_init_ra_size::KERNEL,
    &readahead::get_next_ra_size::KERNEL,
    &readahead::page_cache_ra_order::KERNEL,
    &readahead::ondemand_readahead::KERNEL,
    &readahead::page_cache_sync_ra::KERNEL,
    &readahead::page_cache_async_ra::KERNEL,
    &readahead::readahead_expand::KERNEL,
];
