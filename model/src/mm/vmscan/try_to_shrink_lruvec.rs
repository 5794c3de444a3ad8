//! `try_to_shrink_lruvec()`: one visit of a lruvec with MGLRU. In 6.1 the loop is in
//! `lru_gen_shrink_lruvec()`.

use crate::design::MglruBudget;
use crate::ids::{MemcgId, NodeId};
use crate::lru::{Amount, LruList};
use crate::mm::vmscan::isolate_lru_folios::isolate_lru_folios;
use crate::mm::vmscan::scan_control::ScanControl;
use crate::mm::vmscan::should_abort_scan::should_abort_scan;
use crate::mm::vmscan::shrink_folio_list::shrink_folio_list;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::step::{Ctx, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "try_to_shrink_lruvec",
    file: "mm/vmscan.c",
    versions: ALL_VERSIONS,
    left_out: "aging, tiers, the choice between types (file folios go first), protection-scaled \
               sizes, the retry of folios that became clean, the memcg LRU of the root",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TryToShrinkLruvec {
    /// Pages still to look at; where the budget is computed again each time, pages looked at.
    pages: Pages,
    at: At,
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
    /// isolate_folios(): takes a batch off the list.
    IsolateFolios,
    /// shrink_folio_list() of the batch of that many pages.
    ShrinkFolioList { budget: Pages, scanned: Pages, anon: bool },
}

impl TryToShrinkLruvec {
    pub(crate) fn enter(
        kernel: &mut Ctx<'_>,
        sc: &ScanControl,
        memcg: MemcgId,
        node: NodeId,
    ) -> Option<Self> {
        let pages = match kernel.scenario.design.mglru_budget {
            MglruBudget::Total | MglruBudget::Evictable => Pages::ZERO,
            MglruBudget::Once => match get_nr_to_scan(kernel, sc, memcg, node) {
                Pages::ZERO => return None,
                budget => budget,
            },
        };
        Some(Self { pages, at: At::IsolateFolios })
    }

    pub(crate) fn step(
        self,
        kernel: &mut Ctx<'_>,
        sc: &mut ScanControl,
        memcg: MemcgId,
        node: NodeId,
    ) -> Next<Self, ()> {
        match self.at {
            At::IsolateFolios => self.isolate_folios(kernel, sc, memcg, node),
            At::ShrinkFolioList { budget, scanned, anon } => {
                sc.nr_reclaimed += shrink_folio_list(kernel, memcg, node);
                let pages = match kernel.scenario.design.mglru_budget {
                    MglruBudget::Total | MglruBudget::Evictable => self.pages + scanned,
                    MglruBudget::Once => self.pages.saturating_sub(scanned),
                };
                let done = match kernel.scenario.design.mglru_budget {
                    MglruBudget::Total | MglruBudget::Evictable => pages >= budget,
                    MglruBudget::Once => pages == Pages::ZERO,
                };
                if done || should_abort_scan(kernel, sc, anon) {
                    return Next::Return(());
                }
                Next::Goto(Self { pages, at: At::IsolateFolios })
            }
        }
    }

    fn isolate_folios(
        self,
        kernel: &mut Ctx<'_>,
        sc: &ScanControl,
        memcg: MemcgId,
        node: NodeId,
    ) -> Next<Self, ()> {
        let constants = &kernel.scenario.kernel;
        let batch = constants.min_lru_batch;
        let (budget, folios) = match kernel.scenario.design.mglru_budget {
            MglruBudget::Total | MglruBudget::Evictable => {
                let folios = constants.max_lru_batch;
                (get_nr_to_scan(kernel, sc, memcg, node), folios)
            }
            MglruBudget::Once => (self.pages, self.pages.min(batch).0),
        };
        if budget == Pages::ZERO {
            return Next::Return(());
        }
        let amount = Amount { pages: batch, folios };
        for list in [LruList::InactiveFile, LruList::InactiveAnon] {
            if !list.file() && !sc.can_swap(kernel.scenario) {
                continue;
            }
            let scanned = isolate_lru_folios(kernel, memcg, node, list, amount);
            if scanned > Pages::ZERO {
                let at = At::ShrinkFolioList { budget, scanned, anon: !list.file() };
                return Next::Goto(Self { at, ..self });
            }
        }
        Next::Return(())
    }

    pub(crate) fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
    }
}

/// `get_nr_to_scan()`: the lruvec's pages shifted right by the priority.
fn get_nr_to_scan(kernel: &mut Ctx<'_>, sc: &ScanControl, memcg: MemcgId, node: NodeId) -> Pages {
    let can_swap = sc.can_swap(kernel.scenario);
    let budget = kernel.scenario.design.mglru_budget;
    let lruvec = kernel.world.lruvec(memcg, node);
    let counted = |list: &LruList| {
        let old_enough = match budget {
            MglruBudget::Total => true,
            MglruBudget::Evictable | MglruBudget::Once => !list.active(),
        };
        old_enough && (list.file() || can_swap)
    };
    let pages: Pages =
        LruList::ALL.into_iter().filter(counted).map(|list| lruvec.list(list).pages()).sum();
    Pages(pages.0 >> sc.priority)
}
