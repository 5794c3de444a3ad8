//! `shrink_lruvec()`: one visit of the lists of a memcg on a node.

use crate::design::Lru;
use crate::ids::{MemcgId, NodeId};
use crate::lru::{Amount, LruList};
use crate::mm::swap::lru_add_drain::lru_add_drain;
use crate::mm::vmscan::get_scan_count::{Targets, get_scan_count};
use crate::mm::vmscan::isolate_lru_folios::isolate_lru_folios;
use crate::mm::vmscan::scan_control::{ScanControl, ScanFlags};
use crate::mm::vmscan::shrink_active_list::shrink_active_list;
use crate::mm::vmscan::shrink_folio_list::shrink_folio_list;
use crate::mm::vmscan::try_to_shrink_lruvec::TryToShrinkLruvec;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::Steps;
use crate::step::{Ctx, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "shrink_lruvec",
    file: "mm/vmscan.c",
    versions: ALL_VERSIONS,
    left_out: "the rebalancing of the anonymous lists after a visit",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ShrinkLruvec {
    memcg: MemcgId,
    node: NodeId,
    at: At,
}

/// The locals of a classic visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Scan {
    /// What is left to look at, by list.
    nr: Targets,
    /// What there was at the beginning.
    targets: Targets,
    /// Freed in this visit: the goal is compared with this, not with what the pass has freed.
    nr_reclaimed: Pages,
    /// The list that is next in this round, by its position.
    lru: u8,
}

/// Program points.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    VariantNames,
)]
enum At {
    /// get_scan_count(), or the way to MGLRU.
    Enter,
    /// shrink_list() of a list: deactivates, or isolates.
    ShrinkList(Scan),
    /// shrink_folio_list() of what was isolated.
    ShrinkFolioList(Scan),
    /// In try_to_shrink_lruvec(), MGLRU.
    Mglru(TryToShrinkLruvec),
}

impl ShrinkLruvec {
    pub(crate) const fn enter(memcg: MemcgId, node: NodeId) -> Self {
        Self { memcg, node, at: At::Enter }
    }

    fn goto(self, at: At) -> Next<Self, ()> {
        Next::Goto(Self { at, ..self })
    }

    /// Takes one step, or the whole visit where it is one.
    pub(crate) fn step(self, kernel: &mut Ctx<'_>, sc: &mut ScanControl) -> Next<Self, ()> {
        let mut next = self.one_step(kernel, sc);
        while let (Steps::One, Next::Goto(frame)) =
            (kernel.scenario.granularity.reclaim.visit, &next)
        {
            kernel.env.at(&|into| frame.stack(into));
            next = frame.one_step(kernel, sc);
        }
        next
    }

    fn one_step(self, kernel: &mut Ctx<'_>, sc: &mut ScanControl) -> Next<Self, ()> {
        let Self { memcg, node, at } = self;
        match at {
            At::Enter if kernel.scenario.design.lru == Lru::Mglru => {
                lru_add_drain(kernel);
                match TryToShrinkLruvec::enter(kernel, sc, memcg, node) {
                    Some(callee) => self.goto(At::Mglru(callee)),
                    None => Next::Return(()),
                }
            }
            At::Enter => {
                let targets = get_scan_count(kernel, sc, memcg, node);
                let scan = Scan { nr: targets, targets, nr_reclaimed: Pages::ZERO, lru: 0 };
                self.next_list(kernel, sc, scan)
            }
            At::ShrinkList(scan) => self.shrink_list(kernel, sc, scan),
            At::ShrinkFolioList(mut scan) => {
                scan.nr_reclaimed += shrink_folio_list(kernel, memcg, node);
                scan.lru += 1;
                self.next_list(kernel, sc, scan)
            }
            At::Mglru(callee) => match callee.step(kernel, sc, memcg, node) {
                Next::Goto(callee) => self.goto(At::Mglru(callee)),
                Next::Return(()) => Next::Return(()),
            },
        }
    }

    /// On to the next list with something left to look at; between rounds, the goal is tested.
    fn next_list(self, kernel: &Ctx<'_>, sc: &mut ScanControl, mut scan: Scan) -> Next<Self, ()> {
        loop {
            if scan.lru == 0 && !scan.goes_on() {
                break;
            }
            while let Some(nr) = scan.nr.get(usize::from(scan.lru)) {
                if *nr > 0 {
                    return self.goto(At::ShrinkList(scan));
                }
                scan.lru += 1;
            }
            scan.lru = 0;
            // Global direct reclaim scans each list's whole share at the first priority.
            let proportional =
                sc.target.is_none() && sc.priority == kernel.scenario.kernel.def_priority;
            if scan.nr_reclaimed >= sc.nr_to_reclaim && !proportional && !scan.nudge() {
                break;
            }
        }
        sc.nr_reclaimed += scan.nr_reclaimed;
        Next::Return(())
    }

    fn shrink_list(
        self,
        kernel: &mut Ctx<'_>,
        sc: &mut ScanControl,
        mut scan: Scan,
    ) -> Next<Self, ()> {
        let Self { memcg, node, .. } = self;
        let list = LruList::ALL[usize::from(scan.lru)];
        let left = &mut scan.nr[usize::from(scan.lru)];
        let nr_to_scan = Pages(*left).min(kernel.scenario.kernel.swap_cluster_max);
        *left -= nr_to_scan.0;
        if list.active() {
            let may =
                if list.file() { ScanFlags::DEACTIVATE_FILE } else { ScanFlags::DEACTIVATE_ANON };
            if sc.flags.contains(may) {
                shrink_active_list(kernel, memcg, node, list, nr_to_scan);
            } else {
                sc.flags |= ScanFlags::SKIPPED_DEACTIVATE;
            }
            scan.lru += 1;
            return self.next_list(kernel, sc, scan);
        }
        lru_add_drain(kernel);
        let amount = Amount { pages: nr_to_scan, folios: u64::MAX };
        isolate_lru_folios(kernel, memcg, node, list, amount);
        self.goto(At::ShrinkFolioList(scan))
    }

    pub(crate) fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Mglru(callee) => callee.stack(into),
            At::Enter | At::ShrinkList(_) | At::ShrinkFolioList(_) => {}
        }
    }
}

const fn at(list: LruList) -> usize {
    list as usize
}

impl Scan {
    /// Whether another round begins. What is left of active anonymous pages alone starts none.
    fn goes_on(&self) -> bool {
        let left = |list| self.nr[at(list)] > 0;
        left(LruList::InactiveAnon) || left(LruList::ActiveFile) || left(LruList::InactiveFile)
    }

    /// Once the goal is reached: stops the type with less left, and cuts the other down to the
    /// share that the smaller was scanned. False if one type has nothing left, which ends the visit.
    fn nudge(&mut self) -> bool {
        let both =
            |values: &Targets, list| values[at(list)] + values[at(LruList::counterpart(list))];
        let (anon, file) = (LruList::InactiveAnon, LruList::InactiveFile);
        let (nr_anon, nr_file) = (both(&self.nr, anon), both(&self.nr, file));
        if nr_anon == 0 || nr_file == 0 {
            return false;
        }
        let (smaller, larger) = if nr_file > nr_anon { (anon, file) } else { (file, anon) };
        let percentage = both(&self.nr, smaller) * 100 / (both(&self.targets, smaller) + 1);
        for list in [smaller, smaller.counterpart()] {
            self.nr[at(list)] = 0;
        }
        for list in [larger, larger.counterpart()] {
            let target = self.targets[at(list)];
            let scanned = target - self.nr[at(list)];
            self.nr[at(list)] = (target * (100 - percentage) / 100).saturating_sub(scanned);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nudge_stops_the_smaller_type_and_rescales_the_larger_one() {
        let mut scan = Scan {
            nr: [50, 0, 900, 0],
            targets: [100, 0, 1000, 0],
            nr_reclaimed: Pages(150),
            lru: 0,
        };
        assert!(scan.nudge());
        // 49 percent of the smaller were left, so 51 percent of the larger are due, 100 are done.
        assert_eq!(scan.nr, [0, 0, 410, 0]);
        assert!(!scan.nudge(), "one type is exhausted, so the next test ends the visit");
    }
}
