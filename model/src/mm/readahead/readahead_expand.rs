//! `readahead_expand()`: the file system wants more than the batch it was given.

use crate::design::ReadaheadCount;
use crate::env::Ask;
use crate::ids::MemcgId;
use crate::mm::filemap::mapping_min_folio_order;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::readahead_add_folio::{Added, ReadaheadAddFolio, Rest};
use crate::mm::readahead::{ReadaheadControl, ra_locality};
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Guard, Locality, Next, one_or_run};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "readahead_expand",
    file: "mm/readahead.c",
    versions: ALL_VERSIONS,
    left_out: "",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReadaheadExpand {
    ractl: ReadaheadControl,
    /// The first page wanted.
    first: PageIndex,
    /// The last.
    last: PageIndex,
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
    /// Looks at the page before the batch.
    Down,
    /// In readahead_add_folio() for it.
    AddDown(ReadaheadAddFolio),
    /// Looks at the page after the batch, of which that many are wanted from its start.
    Up { wanted: Pages },
    /// In readahead_add_folio() for it.
    AddUp { wanted: Pages, callee: ReadaheadAddFolio },
    /// Loads ra->size, to make the window longer.
    LoadSize { wanted: Pages },
    /// Stores it.
    StoreSize { wanted: Pages, size: Pages },
    /// Loads ra->async_size, so that the mark stays where it is.
    LoadAsyncSize { wanted: Pages },
    /// Stores it.
    StoreAsyncSize { wanted: Pages, async_size: Pages },
}

type ToNext = Next<ReadaheadExpand, ReadaheadControl>;

impl ReadaheadExpand {
    /// The call, for pages `first` to `last`.
    pub fn enter(
        scenario: &Scenario,
        mut ractl: ReadaheadControl,
        first: PageIndex,
        last: PageIndex,
    ) -> Self {
        if scenario.design.readahead_count == ReadaheadCount::Call {
            ractl.nr_memcg_reclaims = 0;
        }
        Self { ractl, first, last, at: At::Down }
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    /// Adds the folio that holds page `index`; nothing if it is there already or can't be had.
    fn add(self, kernel: &mut Ctx<'_>, index: PageIndex, left: Pages) -> Option<ReadaheadAddFolio> {
        let file = self.ractl.file;
        if kernel.cache(file).contains(index) {
            return None;
        }
        let inode = kernel.scenario.file(file).inode;
        let may_fail = u64::from(kernel.scenario.policy.file.folio_alloc_fails);
        if kernel.ask(Ask::FolioAllocFails(inode), may_fail) == 1 {
            return None;
        }
        let order = mapping_min_folio_order(kernel.scenario, file);
        let window = self.last.wrapping_since(self.first) + Pages(1);
        let folio = (index.align_down(order), order);
        let rest = Rest { left, window };
        Some(ReadaheadAddFolio::enter(kernel.scenario, &self.ractl, folio, false, rest))
    }

    fn down(self, kernel: &mut Ctx<'_>) -> ToNext {
        let Self { ractl, first, last, .. } = self;
        if ractl.index > first {
            let index = ractl.index.wrapping_sub(Pages(1));
            return match self.add(kernel, index, ractl.index - first) {
                Some(callee) => self.goto(At::AddDown(callee)),
                None => Next::Return(ractl),
            };
        }
        self.goto(At::Up { wanted: last + Pages(1) - ractl.index })
    }

    fn added_down(mut self, scenario: &Scenario, added: Added) -> ToNext {
        let added = added.into_control(&mut self.ractl);
        if added.is_err() {
            return Next::Return(self.ractl);
        }
        let order = mapping_min_folio_order(scenario, self.ractl.file);
        self.ractl.index = self.ractl.index.wrapping_sub(Pages(1)).align_down(order);
        self.ractl.nr_pages += Pages::of_order(order);
        self.goto(At::Down)
    }

    fn up(self, kernel: &mut Ctx<'_>, wanted: Pages) -> ToNext {
        let ractl = self.ractl;
        if ractl.nr_pages >= wanted {
            return Next::Return(ractl);
        }
        match self.add(kernel, ractl.next_index(), wanted - ractl.nr_pages) {
            Some(callee) => self.goto(At::AddUp { wanted, callee }),
            None => Next::Return(ractl),
        }
    }

    fn added_up(mut self, scenario: &Scenario, wanted: Pages, added: Added) -> ToNext {
        let added = added.into_control(&mut self.ractl);
        match added {
            Ok(()) => {
                self.ractl.nr_pages += self.folio(scenario);
                self.goto(At::LoadSize { wanted })
            }
            Err(_) => Next::Return(self.ractl),
        }
    }

    fn folio(self, scenario: &Scenario) -> Pages {
        Pages::of_order(mapping_min_folio_order(scenario, self.ractl.file))
    }

    fn one_step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let inside = |at| Self { at, ..self };
        let file = self.ractl.file;
        match self.at {
            At::Down => self.down(kernel),
            At::AddDown(callee) => callee.step(kernel).within(
                |callee| inside(At::AddDown(callee)),
                |added| self.added_down(kernel.scenario, added),
            ),
            At::Up { wanted } => self.up(kernel, wanted),
            At::AddUp { wanted, callee } => callee.step(kernel).within(
                |callee| inside(At::AddUp { wanted, callee }),
                |added| self.added_up(kernel.scenario, wanted, added),
            ),
            At::LoadSize { wanted } => {
                let size = kernel.ra(file).size;
                self.goto(At::StoreSize { wanted, size })
            }
            At::StoreSize { wanted, size } => {
                kernel.ra(file).size = size + self.folio(kernel.scenario);
                self.goto(At::LoadAsyncSize { wanted })
            }
            At::LoadAsyncSize { wanted } => {
                let async_size = kernel.ra(file).async_size;
                self.goto(At::StoreAsyncSize { wanted, async_size })
            }
            At::StoreAsyncSize { wanted, async_size } => {
                kernel.ra(file).async_size = async_size + self.folio(kernel.scenario);
                self.goto(At::Up { wanted })
            }
        }
    }

    const fn accesses(&self) -> bool {
        matches!(
            self.at,
            At::LoadSize { .. }
                | At::StoreSize { .. }
                | At::LoadAsyncSize { .. }
                | At::StoreAsyncSize { .. }
        )
    }
}

impl Frame for ReadaheadExpand {
    type Output = ReadaheadControl;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let steps = kernel.scenario.granularity.file_ra_state;
        one_or_run(steps, self, kernel, Self::accesses, Self::one_step)
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        let file = self.ractl.file;
        let absent =
            |index| Locality::LocalIf(Guard::RangeAbsent(scenario.file(file).inode, index, 0));
        match &self.at {
            At::Down if self.ractl.index > self.first => {
                absent(self.ractl.index.wrapping_sub(Pages(1)))
            }
            At::Up { wanted } if self.ractl.nr_pages < *wanted => absent(self.ractl.next_index()),
            At::Down | At::Up { .. } => Locality::Local,
            At::AddDown(callee) | At::AddUp { callee, .. } => callee.locality(scenario, task),
            At::LoadSize { .. }
            | At::StoreSize { .. }
            | At::LoadAsyncSize { .. }
            | At::StoreAsyncSize { .. } => ra_locality(scenario, file),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::AddDown(callee) | At::AddUp { callee, .. } => callee.in_flight(scenario, level),
            At::Down
            | At::Up { .. }
            | At::LoadSize { .. }
            | At::StoreSize { .. }
            | At::LoadAsyncSize { .. }
            | At::StoreAsyncSize { .. } => Pages::ZERO,
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::AddDown(callee) | At::AddUp { callee, .. } = &self.at {
            callee.charging()
        } else {
            None
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::AddDown(callee) | At::AddUp { callee, .. } => callee.stack(into),
            At::Down
            | At::Up { .. }
            | At::LoadSize { .. }
            | At::StoreSize { .. }
            | At::LoadAsyncSize { .. }
            | At::StoreAsyncSize { .. } => {}
        }
    }
}
