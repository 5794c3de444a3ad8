//! mm/vmscan.c: reclaim.

pub(crate) mod answered_pass;
pub mod balance_pgdat;
pub mod do_try_to_free_pages;
pub mod get_scan_count;
pub mod isolate_lru_folios;
pub mod scan_control;
pub mod should_abort_scan;
pub mod shrink_active_list;
pub mod shrink_folio_list;
pub mod shrink_lruvec;
pub mod shrink_node_memcgs;
pub mod shrink_zones;
pub mod try_to_free_mem_cgroup_pages;
pub mod try_to_free_pages;
pub mod try_to_shrink_lruvec;
