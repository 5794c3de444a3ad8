//! mm/vmscan.c: reclaim.

pub mod try_to_free_mem_cgroup_pages;
