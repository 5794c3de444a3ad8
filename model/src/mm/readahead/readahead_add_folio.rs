//! `readahead_add_folio()`: adds a folio that nobody has asked for yet.

use crate::design::{ReadaheadBatch, ReadaheadCharge, ReadaheadCount};
use crate::env::Errno;
use crate::gfp::Gfp;
use crate::ids::{FileId, MemcgId};
use crate::mm::KernelFn;
use crate::mm::filemap::filemap_add_folio::FilemapAddFolio;
use crate::mm::memcontrol::mem_cgroup_reclaim_for_batch::MemCgroupReclaimForBatch;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::ReadaheadControl;
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "readahead_add_folio",
    file: "mm/readahead.c",
    versions: "\"mm/readahead: avoid per-folio memcg reclaim\", v1 3/3; elsewhere its callers add \
               the folio themselves",
    left_out: "",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReadaheadAddFolio {
    file: FileId,
    index: PageIndex,
    order: u8,
    marked: bool,
    /// What a batch reclaim would be asked for.
    ask: Pages,
    /// `_nr_memcg_reclaims` of the control.
    nr_memcg_reclaims: u8,
    /// It has asked for a batch reclaim.
    reclaims: bool,
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
    /// In filemap_add_folio().
    Add(FilemapAddFolio),
    /// In mem_cgroup_reclaim_for_batch(), because there was no memory.
    Reclaim(MemCgroupReclaimForBatch),
    /// In filemap_add_folio() once more.
    AddAgain(FilemapAddFolio),
}

/// What the caller knows of the folio's window.
#[derive(Clone, Copy)]
pub(crate) struct Rest {
    /// Pages from this folio to the end of the window.
    pub left: Pages,
    /// Pages of the window.
    pub window: Pages,
}

/// What came of an add.
#[derive(Clone, Copy)]
pub struct Added {
    nr_memcg_reclaims: u8,
    reclaims: bool,
    result: Result<(), Errno>,
}

impl Added {
    /// Puts the count into the control; whether the folio was added.
    pub(crate) const fn into_control(self, ractl: &mut ReadaheadControl) -> Result<(), Errno> {
        ractl.nr_memcg_reclaims = self.nr_memcg_reclaims;
        ractl.summary.batch_reclaims += self.reclaims as u8;
        self.result
    }
}

type ToNext = Next<ReadaheadAddFolio, Added>;

/// `readahead_gfp_mask()`, as the folio is charged with.
fn charge_gfp(scenario: &Scenario) -> Gfp {
    match scenario.design.readahead_charge {
        ReadaheadCharge::Blocking => Gfp::READAHEAD,
        ReadaheadCharge::NonBlocking => Gfp::READAHEAD.difference(Gfp::DIRECT_RECLAIM),
    }
}

impl ReadaheadAddFolio {
    /// The call, for a folio that carries the mark or not.
    pub(crate) fn enter(
        scenario: &Scenario,
        ractl: &ReadaheadControl,
        (index, order): (PageIndex, u8),
        marked: bool,
        rest: Rest,
    ) -> Self {
        let folio = Pages::of_order(order);
        let ask = match scenario.design.readahead_batch {
            ReadaheadBatch::RestOfWindow => rest.left.max(folio),
            ReadaheadBatch::Folio => folio,
            ReadaheadBatch::Window => rest.window.max(folio),
        };
        let (file, nr_memcg_reclaims) = (ractl.file, ractl.nr_memcg_reclaims);
        let callee = FilemapAddFolio::enter(file, index, order, charge_gfp(scenario), marked);
        let at = At::Add(callee);
        Self { file, index, order, marked, ask, nr_memcg_reclaims, reclaims: false, at }
    }

    /// Whether its folio carries the mark.
    pub(crate) const fn marked(&self) -> bool {
        self.marked
    }

    const fn finish(self, result: Result<(), Errno>) -> ToNext {
        let Self { nr_memcg_reclaims, reclaims, .. } = self;
        Next::Return(Added { nr_memcg_reclaims, reclaims, result })
    }

    /// After the first add. An attempt counts before its outcome is known.
    fn added(mut self, kernel: &mut Ctx<'_>, added: Result<(), Errno>) -> ToNext {
        let design = &kernel.scenario.design;
        let cap = design.readahead_max_memcg_reclaims;
        let count = match design.readahead_count {
            ReadaheadCount::Control | ReadaheadCount::Call => &mut self.nr_memcg_reclaims,
            ReadaheadCount::Task => &mut kernel.current.nr_memcg_reclaims,
        };
        if added != Err(Errno::ENOMEM) || *count >= cap {
            return self.finish(added);
        }
        *count += 1;
        self.reclaims = true;
        let memcg = kernel.scenario.inode(self.file).memcg;
        let callee = MemCgroupReclaimForBatch::enter(memcg, self.ask, Gfp::READAHEAD);
        Next::Goto(Self { at: At::Reclaim(callee), ..self })
    }

    fn reclaimed(self, kernel: &mut Ctx<'_>, worth_it: bool) -> ToNext {
        if !worth_it {
            return self.finish(Err(Errno::ENOMEM));
        }
        let Self { file, index, order, marked, .. } = self;
        let gfp = charge_gfp(kernel.scenario);
        let callee = FilemapAddFolio::enter(file, index, order, gfp, marked);
        Next::Goto(Self { at: At::AddAgain(callee), ..self })
    }
}

impl Frame for ReadaheadAddFolio {
    type Output = Added;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let inside = |at| Self { at, ..self };
        match self.at {
            At::Add(callee) => callee
                .step(kernel)
                .within(|callee| inside(At::Add(callee)), |added| self.added(kernel, added)),
            At::Reclaim(callee) => callee.step(kernel).within(
                |callee| inside(At::Reclaim(callee)),
                |worth_it| self.reclaimed(kernel, worth_it),
            ),
            At::AddAgain(callee) => callee
                .step(kernel)
                .within(|callee| inside(At::AddAgain(callee)), |added| self.finish(added)),
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Add(callee) | At::AddAgain(callee) => callee.locality(scenario, task),
            At::Reclaim(callee) => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Add(callee) | At::AddAgain(callee) => callee.in_flight(scenario, level),
            At::Reclaim(callee) => callee.in_flight(scenario, level),
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::Add(callee) | At::AddAgain(callee) = &self.at { callee.charging() } else { None }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Add(callee) | At::AddAgain(callee) => callee.stack(into),
            At::Reclaim(callee) => callee.stack(into),
        }
    }
}
