//! LRU lists: the same folios as counts at real sizes and one by one in small configurations.
//!
//! A list is a sequence of runs of equal folios. A million clean base pages are one run; five
//! folios in five conditions are five.

use crate::ids::ActorId;
use crate::units::Pages;
use bitflags::bitflags;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

bitflags! {
    /// What keeps a folio from being freed, or has just been seen of it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    pub struct FolioFlags: u8 {
        /// Somebody holds its lock, as readahead does until the read completes.
        const LOCKED = 1 << 0;
        /// A page table entry has accessed it since reclaim last looked.
        const YOUNG = 1 << 1;
        /// `PG_referenced`: reclaim has kept it once for being young.
        const REFERENCED = 1 << 2;
        /// It is dirty.
        const DIRTY = 1 << 3;
        /// It is being written back.
        const WRITEBACK = 1 << 4;
        /// Somebody holds a reference beside the page cache and whoever isolates it.
        const PINNED = 1 << 5;
    }
}

/// Equal folios in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Run {
    /// Their flags.
    pub flags: FolioFlags,
    /// Each has 2^order pages.
    pub order: u8,
    /// How many there are.
    pub nr_folios: u64,
}

impl Run {
    /// Clean base pages that nobody uses.
    pub const fn base_pages(pages: Pages) -> Self {
        Self { flags: FolioFlags::empty(), order: 0, nr_folios: pages.0 }
    }

    /// The pages of all of them.
    pub const fn pages(self) -> Pages {
        Pages(self.nr_folios << self.order)
    }

    /// The same folios in another condition.
    #[must_use]
    pub const fn with(self, flags: FolioFlags) -> Self {
        Self { flags, ..self }
    }
}

/// `enum lru_list`. With MGLRU the inactive lists are the generations that may be evicted, the
/// active ones the younger generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum LruList {
    /// `LRU_INACTIVE_ANON`.
    InactiveAnon,
    /// `LRU_ACTIVE_ANON`.
    ActiveAnon,
    /// `LRU_INACTIVE_FILE`.
    InactiveFile,
    /// `LRU_ACTIVE_FILE`.
    ActiveFile,
}

impl LruList {
    /// In the kernel's order, which is that of a scan.
    pub const ALL: [Self; 4] =
        [Self::InactiveAnon, Self::ActiveAnon, Self::InactiveFile, Self::ActiveFile];

    /// Whether its folios are active.
    pub const fn active(self) -> bool {
        matches!(self, Self::ActiveAnon | Self::ActiveFile)
    }

    /// Whether its folios belong to files.
    pub const fn file(self) -> bool {
        matches!(self, Self::InactiveFile | Self::ActiveFile)
    }

    /// The list of the same type with the other activity.
    #[must_use]
    pub const fn counterpart(self) -> Self {
        match self {
            Self::InactiveAnon => Self::ActiveAnon,
            Self::ActiveAnon => Self::InactiveAnon,
            Self::InactiveFile => Self::ActiveFile,
            Self::ActiveFile => Self::InactiveFile,
        }
    }
}

/// In which order reclaim takes the folios of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvictionOrder {
    /// The one that has been on the list longest comes first.
    #[default]
    Lru,
    /// Any may come first; the list keeps no order.
    Any,
}

/// A list, from the end that is scanned first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct List(SmallVec<[Run; 1]>);

/// How much to isolate.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Pages after which to stop; the last folio may go beyond.
    pub pages: Pages,
    /// Folios at most.
    pub folios: u64,
}

impl List {
    /// Its pages.
    pub fn pages(&self) -> Pages {
        self.0.iter().map(|run| run.pages()).sum()
    }

    /// Its runs, the one scanned first first.
    pub fn runs(&self) -> &[Run] {
        &self.0
    }

    /// Puts folios at the end that is scanned last.
    pub fn push(&mut self, run: Run, order: EvictionOrder) {
        if run.nr_folios == 0 {
            return;
        }
        let like = |other: &Run| other.flags == run.flags && other.order == run.order;
        let at = match order {
            EvictionOrder::Lru => self.0.len().checked_sub(1).filter(|last| like(&self.0[*last])),
            EvictionOrder::Any => self.0.iter().position(like),
        };
        match at {
            Some(at) => self.0[at].nr_folios += run.nr_folios,
            None => self.0.push(run),
        }
        if order == EvictionOrder::Any {
            self.0.sort_unstable();
        }
    }

    /// Takes folios from the end that is scanned first, or where `choose` says among that many
    /// runs, until the amount is reached or the list is empty.
    ///
    /// # Panics
    /// If `choose` chooses a run that is not there.
    pub fn take(
        &mut self,
        amount: Amount,
        order: EvictionOrder,
        mut choose: impl FnMut(u64) -> u64,
    ) -> SmallVec<[Run; 1]> {
        let Amount { mut pages, mut folios } = amount;
        let mut taken = Self::default();
        while pages > Pages::ZERO && folios > 0 && !self.0.is_empty() {
            let last = self.0.len() as u64 - 1;
            let (at, at_once) = match order {
                EvictionOrder::Any if last > 0 => (choose(last), 1),
                EvictionOrder::Any | EvictionOrder::Lru => (0, u64::MAX),
            };
            let at = usize::try_from(at).expect("a position in the list");
            let run = &mut self.0[at];
            let enough = pages.0.div_ceil(1 << run.order);
            let some =
                Run { nr_folios: run.nr_folios.min(enough).min(folios).min(at_once), ..*run };
            run.nr_folios -= some.nr_folios;
            if run.nr_folios == 0 {
                self.0.remove(at);
                self.join(at, order);
            }
            pages = pages.saturating_sub(some.pages());
            folios -= some.nr_folios;
            taken.push(some, EvictionOrder::Lru);
        }
        taken.0
    }

    /// Joins the runs before and at a position if they have become neighbours of one kind.
    fn join(&mut self, at: usize, order: EvictionOrder) {
        if order == EvictionOrder::Any || at == 0 || at >= self.0.len() {
            return;
        }
        let (before, after) = (self.0[at - 1], self.0[at]);
        if before.flags == after.flags && before.order == after.order {
            self.0[at - 1].nr_folios += after.nr_folios;
            self.0.remove(at);
        }
    }

    /// Changes the condition of up to `nr_folios` folios, the first ones `change` changes; returns
    /// how many it did.
    pub fn mark(
        &mut self,
        nr_folios: u64,
        order: EvictionOrder,
        change: impl Fn(FolioFlags) -> FolioFlags,
    ) -> u64 {
        let mut left = nr_folios;
        let before = std::mem::take(&mut self.0);
        for run in before {
            let to = change(run.flags);
            let some = if to == run.flags { 0 } else { run.nr_folios.min(left) };
            left -= some;
            self.push(Run { nr_folios: some, ..run.with(to) }, order);
            self.push(Run { nr_folios: run.nr_folios - some, ..run }, order);
        }
        nr_folios - left
    }
}

/// Folios off their list, in the hands of a reclaimer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Isolated {
    /// Who has them.
    pub by: ActorId,
    /// Where they came from.
    pub from: LruList,
    /// What they are.
    pub run: Run,
}

/// `struct lruvec`: the lists of a memcg on a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lruvec {
    lists: [List; 4],
    /// What reclaimers have isolated.
    pub isolated: SmallVec<[Isolated; 1]>,
}

impl Lruvec {
    /// A list.
    pub const fn list(&self, lru: LruList) -> &List {
        &self.lists[lru as usize]
    }

    /// A list, to be changed.
    pub const fn list_mut(&mut self, lru: LruList) -> &mut List {
        &mut self.lists[lru as usize]
    }

    /// Pages on the lists and off them in the hands of reclaimers.
    pub fn pages(&self) -> Pages {
        let listed: Pages = self.lists.iter().map(List::pages).sum();
        listed + self.isolated.iter().map(|isolated| isolated.run.pages()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: FolioFlags = FolioFlags::empty();

    fn list(runs: &[Run]) -> List {
        let mut list = List::default();
        for run in runs {
            list.push(*run, EvictionOrder::Lru);
        }
        list
    }

    #[test]
    fn the_last_folio_taken_may_go_beyond_the_pages_asked_for() {
        let mut list = list(&[Run { flags: CLEAN, order: 2, nr_folios: 10 }]);
        let amount = Amount { pages: Pages(9), folios: u64::MAX };
        let taken = list.take(amount, EvictionOrder::Lru, |_| unreachable!("nothing to choose"));
        assert_eq!(taken.iter().map(|run| run.pages()).sum::<Pages>(), Pages(12));
        assert_eq!(list.pages(), Pages(28));
    }

    #[test]
    fn equal_folios_that_become_neighbours_are_one_run() {
        let locked = Run { flags: FolioFlags::LOCKED, order: 0, nr_folios: 1 };
        let mut list = list(&[Run::base_pages(Pages(3)), locked, Run::base_pages(Pages(2))]);
        assert_eq!(list.runs().len(), 3);
        list.mark(1, EvictionOrder::Lru, |flags| flags - FolioFlags::LOCKED);
        assert_eq!(list.runs(), [Run::base_pages(Pages(6))]);
    }

    #[test]
    fn without_an_order_equal_lists_are_equal_however_they_came_about() {
        let runs =
            [Run { flags: FolioFlags::DIRTY, order: 0, nr_folios: 1 }, Run::base_pages(Pages(1))];
        let (mut one, mut other) = (List::default(), List::default());
        for run in &runs {
            one.push(*run, EvictionOrder::Any);
        }
        for run in runs.iter().rev() {
            other.push(*run, EvictionOrder::Any);
        }
        assert_eq!(one, other);
    }
}
