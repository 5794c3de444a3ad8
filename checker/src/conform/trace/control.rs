//! One readahead control run as a recording says its adds went: which failed, and what each batch
//! reclaim answered. What the page cache held before is chosen by who asks.

use super::raw::Tried;
use crate::conform::files::{Bench, FILE, FileSetup};
use mm_model::design::Design;
use mm_model::env::{Ask, Call, Env, Event, FileCall, Question};
use mm_model::mm::filemap::filemap_fault::FilemapFault;
use mm_model::mm::readahead::ReadaheadControl;
use mm_model::mm::readahead::do_page_cache_ra::do_page_cache_ra;
use mm_model::mm::readahead::page_cache_ra_order::PageCacheRaOrder;
use mm_model::page_cache::{Folio, FolioFlags};
use mm_model::scenario::VmFlags;
use mm_model::step::{Frame, Next};
use mm_model::units::{PageIndex, Pages};
use mm_model::world::{FileRaState, World};
use std::collections::{BTreeMap, VecDeque};

const ENOMEM: i64 = -12;
const EEXIST: i64 = -17;

/// A window as its first row has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) start: u64,
    pub(super) size: u64,
    pub(super) async_size: u64,
    pub(super) order: u8,
}

/// What the world did while a window was filled.
#[derive(Clone, Debug, Default)]
pub(super) struct Adversity {
    /// Pages in the cache before, each a folio of its own.
    pub(super) present: Vec<u64>,
    /// Pages that somebody adds between the look into the cache and the add.
    pub(super) raced: Vec<u64>,
    /// Folios in whose way a page is that is reclaimed right after.
    pub(super) vanished: Vec<u64>,
    /// How often an add of the folio that starts there finds no memory.
    pub(super) enomem: BTreeMap<u64, usize>,
    /// What batch reclaims answer.
    pub(super) answers: Vec<bool>,
}

/// What the model did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filled {
    pub(super) pages_added: u64,
    pub(super) folios_added: u64,
    pub(super) eexist: u64,
    pub(super) enomem_adds: u64,
    /// 0 if none was tried.
    pub(super) last_add_ret: i64,
    pub(super) failed_at: Option<u64>,
    /// Folios that were added with a mark.
    pub(super) marks: u64,
    /// Folios that carried one but could not be added.
    pub(super) lost_marks: u64,
    /// What each batch reclaim was asked for.
    pub(super) asked: Vec<u64>,
    /// Every add.
    pub(super) tried: Vec<Tried>,
    /// Each run of base pages: its first page, its length, and how far before its end the mark is.
    pub(super) unbounded: Vec<[u64; 3]>,
    /// The pages that were marked, those of folios that failed among them: of a large folio the
    /// first.
    pub(super) marked: Vec<u64>,
}

/// Where a window is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Via {
    Order,
    Unbounded,
}

/// A file, and who fills its windows.
pub(super) struct Filler {
    bench: Bench,
}

impl Filler {
    pub(super) fn new(design: Design, setup: &FileSetup) -> Self {
        Self { bench: Bench::with_design(design, setup) }
    }

    /// The pages of the file.
    pub(super) fn file_pages(&self) -> u64 {
        self.bench.scenario.inodes[0].last_page.map_or(0, |last| last.0 + 1)
    }

    /// Fills a window.
    pub(super) fn fill(&mut self, via: Via, window: Window, world: &Adversity) -> Filled {
        self.bench.scenario.policy.file.node_alloc_fails = true;
        self.bench.restart();
        for page in &world.present {
            self.bench.add_present(*page);
        }
        let ra = self.bench.ra();
        ra.start = PageIndex(window.start);
        ra.size = Pages(window.size);
        ra.async_size = Pages(window.async_size);
        ra.order = window.order;
        let ractl = ReadaheadControl::new(FILE, PageIndex(window.start));
        let mut env = Adds::new(world);
        match via {
            Via::Order => {
                let frame =
                    PageCacheRaOrder::enter(&mut self.bench.kernel(&mut env), ractl, window.order);
                self.run(frame, &mut env);
            }
            Via::Unbounded => {
                let [size, lookahead] = [window.size, window.async_size].map(Pages);
                let kernel = &mut self.bench.kernel(&mut env);
                if let Some(frame) = do_page_cache_ra(kernel, ractl, size, lookahead) {
                    self.run(frame, &mut env);
                }
            }
        }
        env.filled
    }

    /// Where the folios of a window begin when nothing is in the way, and their sizes.
    pub(super) fn folios(&mut self, via: Via, window: Window) -> Vec<(u64, u64)> {
        self.fill(via, window, &Adversity::default());
        let cache = self.bench.cache();
        let mut folios = Vec::new();
        let mut from = PageIndex(0);
        while let Some(folio) = cache.next_folio(from) {
            folios.push((folio.index.0, folio.nr_pages().0));
            from = folio.end();
        }
        folios
    }

    /// The state that the file is left with.
    pub(super) fn ra(&mut self) -> FileRaState {
        *self.bench.ra()
    }

    /// The windows that a fault may submit in that state of the file: around it if its page is
    /// missing; behind its folio if that carries the mark, or behind what follows it in the cache up
    /// to `end`.
    pub(super) fn windows(
        &mut self,
        state: FileRaState,
        fault: u64,
        end: u64,
    ) -> Vec<(Via, Window)> {
        let mut windows: Vec<_> = self.window(state, fault, &[]).into_iter().collect();
        for order in 0..=self.bench.scenario.inodes[0].max_order {
            let index = PageIndex(fault).align_down(order);
            let flags = FolioFlags::UPTODATE | FolioFlags::READAHEAD;
            let marked = Folio { index, order, flags };
            let page =
                |page| Folio { index: PageIndex(page), order: 0, flags: FolioFlags::UPTODATE };
            let behind: Vec<_> = (marked.end().0..end).map(page).collect();
            windows.extend(self.window(state, fault, &[marked]));
            if !behind.is_empty() {
                windows.extend(self.window(state, fault, &[&[marked], &behind[..]].concat()));
            }
        }
        windows
    }

    /// The window that a fault submits.
    fn window(
        &mut self,
        state: FileRaState,
        fault: u64,
        cached: &[Folio],
    ) -> Option<(Via, Window)> {
        self.bench.restart();
        for folio in cached {
            self.bench.cache().insert(*folio);
        }
        *self.bench.ra() = FileRaState { mmap_miss: 0, ..state };
        let mut env = Adds::new(&Adversity::default());
        let mut frame = FilemapFault::enter(FILE, PageIndex(fault), VmFlags::empty());
        while let Next::Goto(next) = self.bench.step(frame, &mut env) {
            if let Some(via) = env.submitted {
                let ra = self.bench.ra();
                let [start, size, async_size] = [ra.start.0, ra.size.0, ra.async_size.0];
                return Some((via, Window { start, size, async_size, order: ra.order }));
            }
            frame = next;
        }
        None
    }

    fn run<F: Frame>(&mut self, mut frame: F, env: &mut Adds) {
        while let Next::Goto(next) = self.bench.step(frame, env) {
            frame = next;
        }
    }
}

/// Lets adds fail by the page of their folio, and counts.
struct Adds {
    enomem: BTreeMap<u64, usize>,
    raced: Vec<u64>,
    vanished: Vec<u64>,
    answers: VecDeque<bool>,
    filled: Filled,
    /// Where the first window was submitted.
    submitted: Option<Via>,
    /// The folio of the last add, and whether it carried the mark.
    last: Option<(u64, bool)>,
}

impl Adds {
    fn new(world: &Adversity) -> Self {
        Self {
            enomem: world.enomem.clone(),
            raced: world.raced.clone(),
            vanished: world.vanished.clone(),
            answers: world.answers.iter().copied().collect(),
            filled: Filled::default(),
            submitted: None,
            last: None,
        }
    }

    fn added(&mut self, folio: Folio, result: i64, marked: bool) {
        let filled = &mut self.filled;
        filled.last_add_ret = result;
        match result {
            0 => {
                filled.pages_added += folio.nr_pages().0;
                filled.folios_added += 1;
            }
            ENOMEM => {
                filled.enomem_adds += 1;
                filled.failed_at = Some(folio.index.0);
            }
            _ => filled.eexist += 1,
        }
        let (index, pages) = (folio.index.0, folio.nr_pages().0);
        filled.tried.push(Tried { index, pages, result });
        let now = (folio.index.0, marked);
        if marked && self.last != Some(now) {
            filled.marked.push(index);
        }
        match (marked, result) {
            (true, 0) => filled.marks += 1,
            // However often its add fails, a folio is marked once.
            (true, _) if self.last != Some(now) => filled.lost_marks += 1,
            (true | false, _) => {}
        }
        self.last = Some(now);
    }
}

impl Env for Adds {
    fn answer(&mut self, question: Question) -> u64 {
        u64::from(matches!(question.ask, Ask::NodeAllocFails(_)))
    }

    fn note(&mut self, event: Event) {
        let Event::Returned(Call::File(call), result) = event else { return };
        if let FileCall::FilemapAddFolio { index, order, marked, .. } = call {
            self.added(Folio { index, order, flags: FolioFlags::empty() }, result, marked);
        } else if let FileCall::PageCacheRaOrder { .. } = call {
            self.submitted = Some(Via::Order);
        } else if let FileCall::PageCacheRaUnbounded { index, nr_to_read, lookahead, .. } = call {
            self.submitted.get_or_insert(Via::Unbounded);
            self.filled.unbounded.push([index.0, nr_to_read.0, lookahead.0]);
        } else if let FileCall::FolioSetReadahead { index, .. } = call {
            // A folio that carries its mark before it is added is counted there.
            if self.last == Some((index.0, false)) {
                self.filled.marks += 1;
                self.filled.marked.push(index.0);
            }
        }
    }

    fn stub(&mut self, _: &mut World, call: Call) -> Option<i64> {
        let Call::File(call) = call else { return None };
        if let FileCall::MemCgroupCharge { .. } | FileCall::MemCgroupUncharge { .. } = call {
            return Some(0);
        }
        if let FileCall::XasStore { index, .. } = call {
            let left = self.enomem.get_mut(&index.0).filter(|left| **left > 0);
            if let Some(left) = left {
                *left -= 1;
                return Some(ENOMEM);
            }
            if let Some(at) = self.vanished.iter().position(|page| *page == index.0) {
                self.vanished.remove(at);
                return Some(EEXIST);
            }
            return self.raced.contains(&index.0).then_some(EEXIST);
        }
        if let FileCall::MemCgroupReclaimForBatch { nr_pages, .. } = call {
            self.filled.asked.push(nr_pages.0);
            return Some(self.answers.pop_front().unwrap_or(false).into());
        }
        None
    }
}
