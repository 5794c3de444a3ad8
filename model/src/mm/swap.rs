//! mm/swap.c: folios on their way to the LRU.

pub mod folio_add_lru;
pub mod lru_add_drain;
