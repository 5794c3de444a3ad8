//! `page_cache_ra_unbounded()`: a window of base folios.

use crate::design::{BaseEnomem, EarlyMark, ReadaheadCount};
use crate::env::{Ask, Call, Errno, FileCall, Wrap};
use crate::ids::MemcgId;
use crate::mm::filemap::mapping_min_folio_order;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::mark::mark_index;
use crate::mm::readahead::read_pages::ReadPages;
use crate::mm::readahead::readahead_add_folio::{Added, ReadaheadAddFolio, Rest};
use crate::mm::readahead::{ReadaheadControl, wraps};
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::page_cache::FolioFlags;
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Guard, Locality, Next};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "page_cache_ra_unbounded",
    file: "mm/readahead.c",
    versions: ALL_VERSIONS,
    left_out: "the mapping's invalidate lock, which nobody else takes for writing here",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PageCacheRaUnbounded {
    /// The first page, aligned to the mapping's least folio.
    base: PageIndex,
    /// Pages from there.
    nr_to_read: Pages,
    /// Where the mark is, from there.
    mark: Option<Pages>,
    /// The folio that holds the marked page, from there: the one before where rounding up has
    /// moved the mark.
    due: Option<Pages>,
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
    /// Looks whether the next page is there already; if not, allocates a folio.
    Next { ractl: ReadaheadControl, done: Pages },
    /// In readahead_add_folio().
    Add { ractl: ReadaheadControl, done: Pages, callee: ReadaheadAddFolio },
    /// Sets the mark on the folio, which others can see already.
    SetMark { ractl: ReadaheadControl, done: Pages },
    /// In read_pages(), because a page is there already or could not be added.
    Skip(ReadPages),
    /// In read_pages() at the end.
    Commit(ReadPages),
}

type ToNext = Next<PageCacheRaUnbounded, ReadaheadControl>;

impl PageCacheRaUnbounded {
    /// The call.
    pub fn enter(
        kernel: &mut Ctx<'_>,
        mut ractl: ReadaheadControl,
        nr_to_read: Pages,
        lookahead: Pages,
    ) -> Self {
        let ReadaheadControl { file, index, .. } = ractl;
        let call = FileCall::PageCacheRaUnbounded { file, index, nr_to_read, lookahead };
        kernel.returned(Call::File(call), 0);
        let design = &kernel.scenario.design;
        let order = mapping_min_folio_order(kernel.scenario, ractl.file);
        let base = ractl.index.align_down(order);
        let has_mark = lookahead <= nr_to_read || design.early_mark == EarlyMark::Unchecked;
        let marked = has_mark.then(|| mark_index(kernel, ractl.index, nr_to_read, lookahead));
        // This one position is rounded up in every kernel; with base pages it makes no difference.
        let mark = marked.map(|page| {
            let mark = page.wrapping_align_up(order);
            wraps(kernel, Wrap::MarkPosition, mark < base);
            mark.wrapping_since(base)
        });
        // Who wants no mark asks for one 0 pages before the end.
        let due = marked.filter(|page| lookahead > Pages::ZERO && *page >= base);
        let due = due.map(|page| page.align_down(order).wrapping_since(base));
        let nr_to_read = nr_to_read + (ractl.index - base);
        if design.readahead_count == ReadaheadCount::Call {
            ractl.nr_memcg_reclaims = 0;
        }
        ractl.index = base;
        Self { base, nr_to_read, mark, due, at: At::Next { ractl, done: Pages::ZERO } }
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    const fn commit(self, ractl: ReadaheadControl) -> ToNext {
        self.goto(At::Commit(ReadPages::enter(ractl)))
    }

    fn next(self, kernel: &mut Ctx<'_>, ractl: ReadaheadControl, done: Pages) -> ToNext {
        if done >= self.nr_to_read {
            return self.commit(ractl);
        }
        let index = self.base + done;
        if kernel.cache(ractl.file).contains(index) {
            return self.goto(At::Skip(ReadPages::enter(ractl)));
        }
        let inode = kernel.scenario.file(ractl.file).inode;
        let may_fail = u64::from(kernel.scenario.policy.file.folio_alloc_fails);
        if kernel.ask(Ask::FolioAllocFails(inode), may_fail) == 1 {
            return self.commit(ractl);
        }
        let order = mapping_min_folio_order(kernel.scenario, ractl.file);
        let rest = Rest { left: self.nr_to_read - done, window: self.nr_to_read };
        let callee = ReadaheadAddFolio::enter(kernel.scenario, &ractl, (index, order), false, rest);
        self.goto(At::Add { ractl, done, callee })
    }

    fn added(
        self,
        scenario: &Scenario,
        mut ractl: ReadaheadControl,
        done: Pages,
        added: Added,
    ) -> ToNext {
        match added.into_control(&mut ractl) {
            Err(Errno::ENOMEM) if scenario.design.base_enomem == BaseEnomem::Stops => {
                self.commit(ractl)
            }
            Err(_) => self.goto(At::Skip(ReadPages::enter(ractl))),
            Ok(()) => {
                ractl.added_folio(self.due == Some(done), false);
                self.goto(if self.mark == Some(done) {
                    At::SetMark { ractl, done }
                } else {
                    Self::advance(scenario, ractl, done)
                })
            }
        }
    }

    /// After a folio is in.
    fn advance(scenario: &Scenario, mut ractl: ReadaheadControl, done: Pages) -> At {
        let folio = Pages::of_order(mapping_min_folio_order(scenario, ractl.file));
        ractl.nr_pages += folio;
        At::Next { ractl, done: done + folio }
    }

    /// After the batch before a page that is left out has been read. What the file system added
    /// to it is not looked at again.
    fn skip(self, scenario: &Scenario, mut ractl: ReadaheadControl) -> ToNext {
        let order = mapping_min_folio_order(scenario, ractl.file);
        ractl.index = ractl.index.wrapping_add(Pages::of_order(order));
        self.goto(At::Next { ractl, done: ractl.next_index() - self.base })
    }
}

impl Frame for PageCacheRaUnbounded {
    type Output = ReadaheadControl;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        match self.at {
            At::Next { ractl, done } => self.next(kernel, ractl, done),
            At::Add { ractl, done, callee } => callee.step(kernel).within(
                |callee| Self { at: At::Add { ractl, done, callee }, ..self },
                |added| self.added(kernel.scenario, ractl, done, added),
            ),
            At::SetMark { mut ractl, done } => {
                let (file, index) = (ractl.file, self.base + done);
                let cache = kernel.cache(file);
                cache.change(index, FolioFlags::READAHEAD, FolioFlags::empty());
                ractl.added_folio(false, true);
                kernel.returned(Call::File(FileCall::FolioSetReadahead { file, index }), 0);
                self.goto(Self::advance(kernel.scenario, ractl, done))
            }
            At::Skip(callee) => callee.step(kernel).within(
                |callee| Self { at: At::Skip(callee), ..self },
                |ractl| self.skip(kernel.scenario, ractl),
            ),
            At::Commit(callee) => callee
                .step(kernel)
                .within(|callee| Self { at: At::Commit(callee), ..self }, Next::Return),
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Next { done, .. } if *done >= self.nr_to_read => Locality::Local,
            At::Next { ractl, done } => {
                let inode = scenario.file(ractl.file).inode;
                Locality::LocalIf(Guard::RangeAbsent(inode, self.base + *done, 0))
            }
            At::SetMark { ractl, .. } if scenario.inode(ractl.file).shared => Locality::Shared,
            // Nobody else looks at a locked folio of an inode that only this actor uses.
            At::SetMark { .. } => Locality::Local,
            At::Add { callee, .. } => callee.locality(scenario, task),
            At::Skip(callee) | At::Commit(callee) => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Next { .. } | At::SetMark { .. } => Pages::ZERO,
            At::Add { callee, .. } => callee.in_flight(scenario, level),
            At::Skip(callee) | At::Commit(callee) => callee.in_flight(scenario, level),
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::Add { callee, .. } = &self.at {
            callee.charging()
        } else if let At::Skip(callee) | At::Commit(callee) = &self.at {
            callee.charging()
        } else {
            None
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Next { .. } | At::SetMark { .. } => {}
            At::Add { callee, .. } => callee.stack(into),
            At::Skip(callee) | At::Commit(callee) => callee.stack(into),
        }
    }
}
