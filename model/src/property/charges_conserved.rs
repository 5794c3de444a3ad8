//! `charges-conserved`.

use super::Property;
use crate::units::Pages;

/// Usage is the sum of what it counts.
pub(super) const PROPERTY: Property = Property {
    name: "charges-conserved",
    claim: "every level's memory usage is what is resident, held, stocked and in flight below it",
    when: "some level has pages charged",
    applies: |step| step.to.world.memcgs.iter().any(|memcg| memcg.memory.usage > Pages::ZERO),
    holds: |step| step.conserved(),
};
