//! mm/page_counter.c: hierarchical counters with limits.

pub mod page_counter_charge;
pub mod page_counter_try_charge;
pub mod page_counter_uncharge;
