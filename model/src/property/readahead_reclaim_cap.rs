//! `readahead-reclaim-cap`.

use super::Property;
use super::one_mark_per_window::ended;
use crate::mm::readahead::READAHEAD_MAX_MEMCG_RECLAIMS;

/// What a request nobody waits for may cost in reclaim.
pub(super) const PROPERTY: Property = Property {
    name: "readahead-reclaim-cap",
    claim: "a request to read ahead asks for a batch reclaim at most twice \
            (`READAHEAD_MAX_MEMCG_RECLAIMS`), whichever functions add its folios",
    when: "a request that has asked for one ends",
    applies: |step| ended(step.events).any(|request| request.batch_reclaims > 0),
    holds: |step| {
        let cap = READAHEAD_MAX_MEMCG_RECLAIMS;
        ended(step.events).all(|request| request.batch_reclaims <= cap)
    },
};
