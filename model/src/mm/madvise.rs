//! mm/madvise.c: advice about memory.

pub mod madvise_stockpile;
