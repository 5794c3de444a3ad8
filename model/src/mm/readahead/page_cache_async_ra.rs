//! `page_cache_async_ra()`: readahead after a mark was found.

use crate::env::{Ask, Call, FileCall};
use crate::ids::MemcgId;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::ReadaheadControl;
use crate::mm::readahead::ondemand_readahead::OndemandReadahead;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::page_cache::{Folio, FolioFlags};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "page_cache_async_ra",
    file: "mm/readahead.c",
    versions: ALL_VERSIONS,
    left_out: "a folio under writeback, which shares a bit with the mark",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PageCacheAsyncRa {
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
    /// Clears the mark, whatever comes of it.
    ClearMark { ractl: ReadaheadControl, req_count: Pages, folio: PageIndex, order: u8 },
    /// In ondemand_readahead().
    Ondemand(OndemandReadahead),
}

type ToNext = Next<PageCacheAsyncRa, ReadaheadControl>;

impl PageCacheAsyncRa {
    /// The call, for the page at the control's index, which lies in that marked folio.
    pub const fn enter(ractl: ReadaheadControl, folio: Folio, req_count: Pages) -> Self {
        let (folio, order) = (folio.index, folio.order);
        Self { at: At::ClearMark { ractl, req_count, folio, order } }
    }

    fn clear_mark(
        kernel: &mut Ctx<'_>,
        (ractl, req_count): (ReadaheadControl, Pages),
        (folio, order): (PageIndex, u8),
    ) -> ToNext {
        let ReadaheadControl { file, index, .. } = ractl;
        let call = FileCall::PageCacheAsyncRa { file, index, req_count, folio, order };
        kernel.returned(Call::File(call), 0);
        let scenario = kernel.scenario;
        if scenario.file(file).ra_pages == Pages::ZERO {
            return Next::Return(ractl);
        }
        let cache = kernel.cache(file);
        if cache.folio(folio).is_some_and(|cached| cached.index == folio) {
            cache.change(folio, FolioFlags::empty(), FolioFlags::READAHEAD);
            let call = FileCall::FolioClearReadahead { file, index: folio };
            kernel.returned(Call::File(call), 0);
        }
        let may_be = u64::from(scenario.policy.file.congested);
        if kernel.ask(Ask::Congested(file), may_be) == 1 {
            return Next::Return(ractl);
        }
        let callee = OndemandReadahead::enter(scenario, ractl, req_count, Some(order));
        Next::Goto(Self { at: At::Ondemand(callee) })
    }
}

impl Frame for PageCacheAsyncRa {
    type Output = ReadaheadControl;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        match self.at {
            At::ClearMark { ractl, req_count, folio, order } => {
                Self::clear_mark(kernel, (ractl, req_count), (folio, order))
            }
            At::Ondemand(callee) => {
                callee.step(kernel).within(|callee| Self { at: At::Ondemand(callee) }, Next::Return)
            }
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::ClearMark { .. } => Locality::Shared,
            At::Ondemand(callee) => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::ClearMark { .. } => Pages::ZERO,
            At::Ondemand(callee) => callee.in_flight(scenario, level),
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::Ondemand(callee) = &self.at { callee.charging() } else { None }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::ClearMark { .. } => {}
            At::Ondemand(callee) => callee.stack(into),
        }
    }
}
