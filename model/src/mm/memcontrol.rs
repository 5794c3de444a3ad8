//! mm/memcontrol.c: charging a memory cgroup.

pub mod consume_stock;
pub mod drain_all_stock;
pub mod drain_local_stock;
pub mod mem_cgroup_handle_over_high;
pub mod mem_cgroup_iter;
pub mod mem_cgroup_margin;
pub mod mem_cgroup_oom;
pub mod mem_cgroup_reclaim_for_batch;
pub mod mem_cgroup_stockpile;
pub mod memcg_uncharge;
pub mod memory_high_write;
pub mod memory_max_write;
pub mod memory_reclaim;
pub mod reclaim_high;
pub mod refill_stock;
pub mod try_charge_memcg;
