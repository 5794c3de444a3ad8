//! `gfp_t`: what an allocation may do (include/linux/gfp_types.h). Only the bits that a modelled
//! function tests.

use bitflags::bitflags;
use serde::{Deserialize, Serialize};

bitflags! {
    /// The allocation flags a charge carries.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(transparent)]
    pub struct Gfp: u8 {
        /// `__GFP_DIRECT_RECLAIM`: the caller may reclaim, and so may sleep.
        const DIRECT_RECLAIM = 1 << 0;
        /// `__GFP_KSWAPD_RECLAIM`: kswapd may be woken.
        const KSWAPD_RECLAIM = 1 << 1;
        /// `__GFP_NORETRY`: give up early.
        const NORETRY = 1 << 2;
        /// `__GFP_RETRY_MAYFAIL`: give up before the OOM killer.
        const RETRY_MAYFAIL = 1 << 3;
        /// `__GFP_NOFAIL`: must not fail.
        const NOFAIL = 1 << 4;
        /// `__GFP_HIGH`: may use reserves.
        const HIGH = 1 << 5;
        /// `__GFP_FS`: reclaim may enter the file system.
        const FS = 1 << 6;
    }
}

/// A class of allocations that the modelled functions tell apart.
pub struct GfpClass {
    /// The name specs and vectors use.
    pub name: &'static str,
    /// Its flags.
    pub gfp: Gfp,
    /// Who charges with it.
    pub summary: &'static str,
}

const RECLAIM: Gfp = Gfp::DIRECT_RECLAIM.union(Gfp::KSWAPD_RECLAIM);
const KERNEL: Gfp = RECLAIM.union(Gfp::FS);

impl Gfp {
    /// `GFP_KERNEL`: a demand folio, most kernel allocations.
    pub const KERNEL: Self = KERNEL;
    /// `readahead_gfp_mask()` of a normal mapping.
    pub const READAHEAD: Self = KERNEL.union(Self::NORETRY);

    /// Every class by name.
    pub const CLASSES: &'static [GfpClass] = &[
        GfpClass { name: "nonblocking", gfp: Self::KSWAPD_RECLAIM, summary: "wakes kswapd only" },
        GfpClass {
            name: "nonblocking_high",
            gfp: Self::KSWAPD_RECLAIM.union(Self::HIGH),
            summary: "GFP_ATOMIC: wakes kswapd only, may be forced over the limit",
        },
        GfpClass { name: "noreclaim", gfp: Self::empty(), summary: "neither reclaim bit" },
        GfpClass {
            name: "readahead",
            gfp: Self::READAHEAD,
            summary: "blocking, NORETRY: readahead_gfp_mask()",
        },
        GfpClass {
            name: "readahead_nodirect",
            gfp: Self::READAHEAD.difference(Self::DIRECT_RECLAIM),
            summary: "readahead without direct reclaim: the first mail's folio add",
        },
        GfpClass { name: "kernel", gfp: KERNEL, summary: "GFP_KERNEL: reclaims, retries, OOM" },
        GfpClass { name: "nofs", gfp: RECLAIM, summary: "GFP_NOFS: as kernel, without FS" },
        GfpClass {
            name: "retry_mayfail",
            gfp: KERNEL.union(Self::RETRY_MAYFAIL),
            summary: "all retries, no OOM",
        },
        GfpClass {
            name: "nofail",
            gfp: KERNEL.union(Self::NOFAIL),
            summary: "all retries, OOM, then forced over the limit",
        },
    ];

    /// The class of that name.
    pub fn class(name: &str) -> Option<Self> {
        Self::CLASSES.iter().find(|class| class.name == name).map(|class| class.gfp)
    }

    /// `gfpflags_allow_blocking()`.
    pub const fn allow_blocking(self) -> bool {
        self.contains(Self::DIRECT_RECLAIM)
    }

    /// A charge for something nobody asked for yet: readahead.
    pub const fn speculative(self) -> bool {
        self.contains(Self::NORETRY)
    }
}
