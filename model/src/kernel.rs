//! The kernel's constants, under their own names in lower case. A spec scales them down; a
//! constant that is not named keeps its real value.

use crate::units::Pages;
use serde::{Deserialize, Serialize};

macro_rules! constants {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty = $value:expr,)*) => {
        /// Constants of the kernel, real or scaled down.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Kernel {
            $($(#[doc = $doc])+ pub $name: $type,)*
        }

        impl Default for Kernel {
            fn default() -> Self {
                Self { $($name: $value,)* }
            }
        }

        impl Kernel {
            /// Name and documentation of each constant.
            pub const FIELDS: &'static [(&'static str, &'static str)] =
                &[$((stringify!($name), concat!($($doc),+)),)*];
        }
    };
}

constants! {
    /// Pages a charge takes from the counters at once, and the most a stock slot keeps
    /// (include/linux/memcontrol.h).
    memcg_charge_batch: Pages = Pages(64),
    /// Slots of a CPU's stock where a design has several (mm/memcontrol.c).
    nr_memcg_stock: u8 = 7,
    /// Fruitless reclaim passes that a charge, memory.reclaim and the writers tolerate
    /// (mm/internal.h).
    max_reclaim_retries: u8 = 16,
    /// The least a memcg reclaim pass asks for, in pages (include/linux/swap.h).
    swap_cluster_max: Pages = Pages(32),
    /// Largest order that is retried on progress and may OOM (include/linux/mmzone.h).
    page_alloc_costly_order: u32 = 3,
    /// The first priority of a pass: list sizes are shifted right by it
    /// (include/linux/mmzone.h).
    def_priority: u8 = 12,
    /// Pages after which an MGLRU eviction stops isolating (include/linux/mmzone.h).
    min_lru_batch: Pages = Pages(64),
    /// Folios an MGLRU eviction looks at, at most (include/linux/mmzone.h).
    max_lru_batch: u64 = 4096,
    /// Folios a CPU collects before it puts them on the LRU: PAGEVEC_SIZE, 15 in 6.1
    /// (include/linux/pagevec.h).
    pagevec_size: u64 = 31,
    /// Fruitless passes MADV_STOCKPILE tolerates on a level (mm/memcontrol.c of the mail's time).
    mem_cgroup_reclaim_retries: u8 = 5,
    /// Pages that forced readahead asks for at once (mm/readahead.c).
    force_page_cache_ra_chunk: Pages = Pages(512),
    /// The largest folio order of the page cache: 2 MiB (include/linux/pagemap.h).
    max_pagecache_order: u8 = 9,
    /// Faults that may miss more often than others hit before readahead is given up
    /// (mm/filemap.c).
    mmap_lotsamiss: u16 = 100,
    /// Timer ticks a second; the longest memory.high penalty is two seconds.
    hz: u64 = 250,
}
