//! `[kernel]`: constants.

use super::files::ORDER_MOST;
use super::problem::Source;
use super::tree::Table;
use super::world::PAGES_MOST;
use mm_model::kernel::Kernel;
use serde_json::{Map, Value as Json};

/// The smallest and the largest value of a constant. Zero is excluded where the kernel divides by
/// it, or could not make a step without it.
fn range(constant: &str) -> (u64, u64) {
    match constant {
        "memcg_charge_batch"
        | "swap_cluster_max"
        | "min_lru_batch"
        | "max_lru_batch"
        | "pagevec_size"
        | "force_page_cache_ra_chunk" => (1, PAGES_MOST),
        "def_priority" => (0, 12),
        "max_pagecache_order" => (0, ORDER_MOST),
        // The count stops at ten times as many, and is 16 bits wide.
        "mmap_lotsamiss" => (0, 6_553),
        "nr_memcg_stock" => (1, 255),
        "page_alloc_costly_order" => (0, 32),
        "hz" => (1, 10_000),
        // All that is left fits in a byte.
        _ => (0, 255),
    }
}

pub(super) fn read(source: &mut Source<'_>, root: &Table<'_>) -> Option<Kernel> {
    let Some(value) = root.get("kernel") else { return Some(Kernel::default()) };
    let table = value.table(source, "kernel")?;
    let names: Vec<&str> = Kernel::FIELDS.iter().map(|(name, _)| *name).collect();
    table.only(source, "[kernel]", &names);
    let mut constants = Map::new();
    for (name, _) in Kernel::FIELDS {
        if let Some(value) = table.get(name) {
            let (least, most) = range(name);
            let number = value.number(source, name, least, most)?;
            constants.insert((*name).to_owned(), Json::from(number));
        }
    }
    match serde_json::from_value(Json::Object(constants)) {
        Ok(kernel) => Some(kernel),
        Err(error) => {
            source.problem(value.at, format!("`kernel` can't be used: {error}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_can_take_both_ends_of_its_range() {
        for (name, _) in Kernel::FIELDS {
            let (least, most) = range(name);
            for end in [least, most] {
                let constants = Map::from_iter([((*name).to_owned(), Json::from(end))]);
                let kernel: Result<Kernel, _> = serde_json::from_value(Json::Object(constants));
                assert!(kernel.is_ok(), "{name} = {end}: {kernel:?}");
            }
        }
    }
}
