//! Units. Arithmetic of the model's own panics on overflow and below zero: such a number is a bug
//! of the model. Where the kernel's arithmetic wraps, the step function says so with `wrapping_*`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// A count of pages of 4096 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Pages(pub u64);

impl Pages {
    /// No page.
    pub const ZERO: Self = Self(0);
    /// `PAGE_COUNTER_MAX`: the limit of a memcg that has none (include/linux/page_counter.h).
    pub const UNLIMITED: Self = Self(i64::MAX as u64 / 4096);

    /// Pages of a folio of that order.
    #[must_use]
    pub const fn of_order(order: u8) -> Self {
        Self(1 << order)
    }

    /// Pages left when `other` is taken away, or none.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `get_order()`: the smallest order whose block holds this many pages (at least one).
    pub const fn order(self) -> u32 {
        self.0.next_power_of_two().trailing_zeros()
    }

    /// The raw number as an event or an answer carries it.
    ///
    /// # Panics
    /// If the count does not fit, which no kernel object reaches.
    pub fn raw(self) -> i64 {
        i64::try_from(self.0).expect("a page count fits in i64")
    }
}

/// People read and write the number. A packed state holds one more than the number, so that the
/// limit most memcgs have, none, is the short 0.
impl Serialize for Pages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = match *self {
            pages if serializer.is_human_readable() => pages.0,
            Self::UNLIMITED => 0,
            Self(pages) if *self < Self::UNLIMITED => pages + 1,
            Self(pages) => pages,
        };
        serializer.serialize_u64(number)
    }
}

impl<'de> Deserialize<'de> for Pages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let human = deserializer.is_human_readable();
        let number = u64::deserialize(deserializer)?;
        Ok(match number {
            pages if human => Self(pages),
            0 => Self::UNLIMITED,
            more if Self(more) <= Self::UNLIMITED => Self(more - 1),
            pages => Self(pages),
        })
    }
}

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self >= Self::UNLIMITED { f.write_str("max") } else { write!(f, "{}", self.0) }
    }
}

impl Add for Pages {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.checked_add(other.0).expect("page count overflows"))
    }
}

impl Sub for Pages {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.checked_sub(other.0).expect("page count below zero"))
    }
}

impl AddAssign for Pages {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Pages {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl std::iter::Sum for Pages {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::ZERO, Add::add)
    }
}

/// `pgoff_t`: the position of a page in a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PageIndex(pub u64);

impl PageIndex {
    /// The index that many pages on, as unsigned arithmetic of the kernel gives it.
    #[must_use]
    pub const fn wrapping_add(self, pages: Pages) -> Self {
        Self(self.0.wrapping_add(pages.0))
    }

    /// The index that many pages back, as unsigned arithmetic of the kernel gives it.
    #[must_use]
    pub const fn wrapping_sub(self, pages: Pages) -> Self {
        Self(self.0.wrapping_sub(pages.0))
    }

    /// Pages from `earlier` to here, as unsigned arithmetic of the kernel gives them.
    #[must_use]
    pub const fn wrapping_since(self, earlier: Self) -> Pages {
        Pages(self.0.wrapping_sub(earlier.0))
    }

    /// The start of the naturally aligned block of that order around this page.
    #[must_use]
    pub const fn align_down(self, order: u8) -> Self {
        Self(self.0 >> order << order)
    }

    /// The first start of such a block that is not before this page; beyond the last it wraps.
    #[must_use]
    pub const fn wrapping_align_up(self, order: u8) -> Self {
        Self(self.0.wrapping_add((1 << order) - 1)).align_down(order)
    }

    /// Whether a folio of that order can start here.
    pub const fn is_aligned(self, order: u8) -> bool {
        self.align_down(order).0 == self.0
    }
}

impl fmt::Debug for PageIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for PageIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl Add<Pages> for PageIndex {
    type Output = Self;
    fn add(self, pages: Pages) -> Self {
        Self(self.0.checked_add(pages.0).expect("page index overflows"))
    }
}

impl AddAssign<Pages> for PageIndex {
    fn add_assign(&mut self, pages: Pages) {
        *self = *self + pages;
    }
}

impl Sub for PageIndex {
    type Output = Pages;
    fn sub(self, earlier: Self) -> Pages {
        Pages(self.0.checked_sub(earlier.0).expect("page distance below zero"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_the_smallest_block_that_holds_the_pages() {
        let orders = [1, 2, 3, 4, 5, 8, 9, 64].map(|pages| Pages(pages).order());
        assert_eq!(orders, [0, 1, 2, 2, 3, 3, 4, 6]);
    }

    #[test]
    #[should_panic(expected = "page count below zero")]
    fn a_counter_below_zero_is_a_bug_of_the_model() {
        let _ = Pages(1) - Pages(2);
    }
}
