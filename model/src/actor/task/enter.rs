//! How a task enters the kernel: what each entry of a program calls.

use super::Entry;
use super::access::Access;
use crate::env::{Ask, Event, Operation};
use crate::gfp::Gfp;
use crate::ids::FileId;
use crate::lru::{FolioFlags, LruList};
use crate::mm::filemap::filemap_read::FilemapRead;
use crate::mm::madvise::madvise_stockpile::MadviseStockpile;
use crate::mm::memcontrol::memcg_uncharge::MemcgUncharge;
use crate::mm::memcontrol::memory_high_write::MemoryHighWrite;
use crate::mm::memcontrol::memory_max_write::MemoryMaxWrite;
use crate::mm::memcontrol::memory_reclaim::MemoryReclaim;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::ReadaheadControl;
use crate::mm::readahead::force_page_cache_ra::ForcePageCacheRa;
use crate::mm::readahead::page_cache_ra_order::PageCacheRaOrder;
use crate::mm::swap::folio_add_lru::folio_add_lru;
use crate::pooling::{advance, forget};
use crate::ring::turn;
use crate::scenario::{Layout, Op, Pick, Where};
use crate::step::Ctx;
use crate::units::{PageIndex, Pages};
use crate::world::FileRaState;

/// Enters the kernel; nothing if the entry is over at once.
pub(super) fn enter(op: Op, kernel: &mut Ctx<'_>) -> Option<Entry> {
    let memcg = kernel.task.memcg;
    kernel.current.nr_memcg_reclaims = 0;
    match op {
        Op::Charge { nr_pages, gfp } => {
            kernel.note(Event::Begin(Operation::Charge, gfp));
            let frame = TryChargeMemcg::enter(kernel.scenario, memcg, gfp, nr_pages);
            Some(Entry::Charge(frame))
        }
        Op::Uncharge { nr_pages } => {
            let nr_pages = nr_pages.min(kernel.current.held);
            if nr_pages == Pages::ZERO {
                return None;
            }
            kernel.note(Event::Begin(Operation::Uncharge, Gfp::empty()));
            kernel.current.held -= nr_pages;
            kernel.world.free(nr_pages);
            Some(Entry::Uncharge(MemcgUncharge::enter(memcg, nr_pages)))
        }
        Op::LruAdd { nr_pages } => {
            let nr_pages = nr_pages.min(kernel.current.held);
            kernel.current.held -= nr_pages;
            folio_add_lru(kernel, nr_pages);
            None
        }
        Op::WriteReclaim { memcg, nr_pages } => {
            kernel.note(Event::Begin(Operation::ReclaimWrite, Gfp::empty()));
            kernel.note(Event::Requested(nr_pages));
            Some(Entry::WriteReclaim(MemoryReclaim::enter(kernel.scenario, memcg, nr_pages)))
        }
        Op::WriteHigh { memcg, high } => {
            kernel.note(Event::Begin(Operation::HighWrite, Gfp::empty()));
            Some(Entry::WriteHigh(MemoryHighWrite::enter(memcg, high)))
        }
        Op::WriteMax { memcg, max } => {
            kernel.note(Event::Begin(Operation::MaxWrite, Gfp::empty()));
            Some(Entry::WriteMax(MemoryMaxWrite::enter(memcg, max)))
        }
        Op::Stockpile { nr_pages } => {
            kernel.note(Event::Begin(Operation::Stockpile, Gfp::empty()));
            kernel.note(Event::Requested(nr_pages));
            Some(Entry::Stockpile(MadviseStockpile::enter(0, nr_pages)))
        }
        Op::Signal { actor } => {
            kernel.world.signals.insert(actor);
            kernel.note(Event::Signalled(actor));
            None
        }
        Op::Mark { flags, set, nr_folios } => {
            mark(kernel, nr_folios, |of| if set { of | flags } else { of - flags });
            None
        }
        Op::Read { .. }
        | Op::Fault { .. }
        | Op::Access { .. }
        | Op::WillNeed { .. }
        | Op::Window { .. } => Some(enter_file(op, kernel)),
    }
}

/// Enters the kernel with an operation on a file.
fn enter_file(op: Op, kernel: &mut Ctx<'_>) -> Entry {
    match op {
        Op::Read { file, pos, count } => {
            kernel.note(Event::Begin(Operation::Read, Gfp::KERNEL));
            let (pos, count) = (begin(kernel, file, pos, PAGE_SIZE), pick(kernel, count));
            Entry::Read(FilemapRead::enter(file, pos, count))
        }
        Op::Fault { file, index, vm_flags } => {
            let index = PageIndex(begin(kernel, file, index, 1));
            Entry::Access(Access::enter(kernel, (file, index, vm_flags), true))
        }
        Op::Access { file, index, vm_flags } => {
            let index = PageIndex(begin(kernel, file, index, 1));
            Entry::Access(Access::enter(kernel, (file, index, vm_flags), false))
        }
        Op::WillNeed { file, index, nr_pages } => {
            let index = PageIndex(pick(kernel, index));
            let nr_pages = Pages(pick(kernel, nr_pages));
            let ractl = ReadaheadControl::begin(kernel, file, index);
            Entry::WillNeed(ForcePageCacheRa::enter(kernel, ractl, nr_pages))
        }
        Op::Window { file, start, size, async_size, order } => {
            let start = PageIndex(pick(kernel, start));
            let size = pick(kernel, size);
            let async_size = Pick { last: async_size.last.min(size), ..async_size };
            let async_size = pick(kernel, async_size);
            let order = u8::try_from(pick(kernel, order)).expect("an order is small");
            let (size, async_size) = (Pages(size), Pages(async_size));
            let ra = kernel.ra(file);
            *ra = FileRaState { start, size, async_size, order, ..*ra };
            let ractl = ReadaheadControl::begin(kernel, file, start);
            Entry::Window(PageCacheRaOrder::enter(kernel, ractl, order))
        }
        Op::Charge { .. }
        | Op::Uncharge { .. }
        | Op::LruAdd { .. }
        | Op::WriteReclaim { .. }
        | Op::WriteHigh { .. }
        | Op::WriteMax { .. }
        | Op::Stockpile { .. }
        | Op::Signal { .. }
        | Op::Mark { .. } => unreachable!("{op:?} uses no file"),
    }
}

/// Bytes of a page.
const PAGE_SIZE: u64 = 4096;

/// Where an operation on a file begins, in units of so many to the page. Of a pooled file, pages
/// that it can't come back to are only counted from now on. In a ring it is so many pages after the
/// page of the operation before.
fn begin(kernel: &mut Ctx<'_>, file: FileId, at: Where, page: u64) -> u64 {
    match (at, kernel.scenario.inode(file).layout) {
        (Where::At(range), Layout::Line) => pick(kernel, range),
        (Where::At(range), Layout::Pooled) => {
            forget(kernel, file);
            pick(kernel, range)
        }
        (Where::At(range), Layout::Ring) => {
            let by = Pages(pick(kernel, range));
            turn(kernel, file, by).0 * page
        }
        (Where::Next, _) => advance(kernel, file).0 * page,
    }
}

/// A number of that range.
fn pick(kernel: &mut Ctx<'_>, Pick { first, last, unit }: Pick) -> u64 {
    let first = first.min(last);
    (first + kernel.ask(Ask::Pick(first), last - first)) * unit
}

/// Changes the condition of folios on the lists of the task's memcg: those that reclaim would take
/// first, whatever their list.
fn mark(kernel: &mut Ctx<'_>, mut nr_folios: u64, change: impl Fn(FolioFlags) -> FolioFlags) {
    let order = kernel.scenario.policy.reclaim.order;
    for lruvec in &mut kernel.world.memcg(kernel.task.memcg).lruvecs {
        for list in LruList::ALL {
            nr_folios -= lruvec.list_mut(list).mark(nr_folios, order, &change);
        }
    }
}
