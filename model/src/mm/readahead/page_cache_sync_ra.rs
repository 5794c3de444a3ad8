//! `page_cache_sync_ra()`: readahead after a page was missing.

use crate::env::{Ask, Call, FileCall};
use crate::ids::MemcgId;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::ReadaheadControl;
use crate::mm::readahead::force_page_cache_ra::ForcePageCacheRa;
use crate::mm::readahead::ondemand_readahead::OndemandReadahead;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::Pages;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "page_cache_sync_ra",
    file: "mm/readahead.c",
    versions: ALL_VERSIONS,
    left_out: "a request without an open file",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PageCacheSyncRa {
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
    /// Chooses between a window and exactly what was asked for.
    Enter { ractl: ReadaheadControl, req_count: Pages },
    /// In force_page_cache_ra().
    Forced(ForcePageCacheRa),
    /// In ondemand_readahead().
    Ondemand(OndemandReadahead),
}

type ToNext = Next<PageCacheSyncRa, ReadaheadControl>;

impl PageCacheSyncRa {
    /// The call, for the page at the control's index.
    pub const fn enter(ractl: ReadaheadControl, req_count: Pages) -> Self {
        Self { at: At::Enter { ractl, req_count } }
    }

    fn begin(kernel: &mut Ctx<'_>, ractl: ReadaheadControl, req_count: Pages) -> ToNext {
        let ReadaheadControl { file, index, .. } = ractl;
        let call = FileCall::PageCacheSyncRa { file, index, req_count };
        kernel.returned(Call::File(call), 0);
        let config = kernel.scenario.file(file);
        let none = config.ra_pages == Pages::ZERO || {
            let may_be = u64::from(kernel.scenario.policy.file.congested);
            kernel.ask(Ask::Congested(file), may_be) == 1
        };
        Next::Goto(Self {
            at: if none || config.random {
                let nr_to_read = if none { Pages(1) } else { req_count };
                At::Forced(ForcePageCacheRa::enter(kernel, ractl, nr_to_read))
            } else {
                let scenario = kernel.scenario;
                At::Ondemand(OndemandReadahead::enter(scenario, ractl, req_count, None))
            },
        })
    }
}

impl Frame for PageCacheSyncRa {
    type Output = ReadaheadControl;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        match self.at {
            At::Enter { ractl, req_count } => Self::begin(kernel, ractl, req_count),
            At::Forced(callee) => {
                callee.step(kernel).within(|callee| Self { at: At::Forced(callee) }, Next::Return)
            }
            At::Ondemand(callee) => {
                callee.step(kernel).within(|callee| Self { at: At::Ondemand(callee) }, Next::Return)
            }
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Enter { .. } => Locality::Local,
            At::Forced(callee) => callee.locality(scenario, task),
            At::Ondemand(callee) => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Enter { .. } => Pages::ZERO,
            At::Forced(callee) => callee.in_flight(scenario, level),
            At::Ondemand(callee) => callee.in_flight(scenario, level),
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::Forced(callee) = &self.at {
            callee.charging()
        } else if let At::Ondemand(callee) = &self.at {
            callee.charging()
        } else {
            None
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Enter { .. } => {}
            At::Forced(callee) => callee.stack(into),
            At::Ondemand(callee) => callee.stack(into),
        }
    }
}
