//! What a step asks and does, in the names of the pooled scenario.

use super::scene::{Place, Scene, in_pooled, is_near};
use crate::replay::Step;
use mm_model::env::{Ask, Call, Event, FileCall, Question};
use mm_model::ids::{FileId, InodeId, MemcgId};
use mm_model::page_cache::{Folio, FolioFlags};
use mm_model::scenario::Scenario;
use mm_model::state::State;
use mm_model::units::{PageIndex, Pages};
use std::collections::BTreeMap;

/// What a step asks and does. What it frees is told by the folios that the pooled run knows, and by
/// the number of pages of each memcg, whether they are counted or folios.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Account {
    asked: Vec<(Ask, u64)>,
    events: Vec<Event>,
    /// Pages that passes free.
    freed: BTreeMap<MemcgId, Pages>,
    /// Folios that the pooled run knows and that go.
    removed: BTreeMap<(InodeId, PageIndex), Removed>,
}

/// A folio that goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Removed {
    pages: Pages,
    /// Nobody has used it.
    unused: bool,
}

/// Calls things by the names of the pooled scenario.
pub(super) trait Names {
    /// An inode.
    fn inode(&self, inode: InodeId) -> InodeId;
    /// An open file.
    fn file(&self, file: FileId) -> FileId;
    /// A page of the running access of a file.
    fn of_file(&self, file: FileId, index: PageIndex) -> PageIndex;
    /// A page of the running access of an inode's file.
    fn of_inode(&self, inode: InodeId, index: PageIndex) -> PageIndex;
    /// Whether the pooled run knows the folio that was there before the step.
    fn knows(&self, inode: InodeId, index: PageIndex) -> bool;
}

/// The names of the pooled scenario, in a state.
pub(super) struct Pooled<'a>(pub(super) &'a Scenario, pub(super) &'a State);

impl Names for Pooled<'_> {
    fn inode(&self, inode: InodeId) -> InodeId {
        inode
    }

    fn file(&self, file: FileId) -> FileId {
        file
    }

    fn of_file(&self, _: FileId, index: PageIndex) -> PageIndex {
        index
    }

    fn of_inode(&self, _: InodeId, index: PageIndex) -> PageIndex {
        index
    }

    fn knows(&self, inode: InodeId, index: PageIndex) -> bool {
        let Self(scenario, state) = self;
        let near = || {
            let folio = state.world.inodes[inode.index()].cache.folio(index);
            folio.is_some_and(|folio| is_near(&folio))
        };
        !scenario.inodes[inode.index()].is_pooled() || near()
    }
}

/// The names of the scenario with identity.
pub(super) struct Identified<'a> {
    /// It.
    pub(super) scene: &'a Scene,
    /// Where accesses of pooled files are.
    pub(super) places: &'a [Option<Place>],
    /// Where the pooled run is before the step.
    pub(super) pooled: &'a State,
}

impl Identified<'_> {
    fn place(&self, file: FileId) -> Option<&Place> {
        self.places.iter().flatten().find(|place| place.file == file)
    }
}

impl Names for Identified<'_> {
    fn inode(&self, inode: InodeId) -> InodeId {
        self.scene.stands_for(inode)
    }

    fn file(&self, file: FileId) -> FileId {
        self.scene.file_of(file)
    }

    fn of_file(&self, file: FileId, index: PageIndex) -> PageIndex {
        self.place(file).map_or(index, |place| place.in_pooled(index))
    }

    fn of_inode(&self, inode: InodeId, index: PageIndex) -> PageIndex {
        let place = self.places.iter().flatten().find(|place| place.inode == inode);
        place.map_or(index, |place| place.in_pooled(index))
    }

    fn knows(&self, inode: InodeId, index: PageIndex) -> bool {
        let pooled = self.scene.stands_for(inode);
        let Some(place) = &self.places[pooled.index()] else { return true };
        let folio = Folio { index, order: 0, flags: FolioFlags::empty() };
        let cache = &self.pooled.world.inodes[pooled.index()].cache;
        in_pooled(cache, place, (inode, &folio)).is_some()
    }
}

impl Account {
    /// That of a step of the pooled run, from a state.
    pub(super) fn of_pooled(
        scenario: &Scenario,
        before: &State,
        step: &Step,
        begins: bool,
    ) -> Self {
        Self::new(&Pooled(scenario, before), &step.asked, &step.events, begins)
    }

    /// That of a step, whoever's names it uses.
    pub(super) fn new(
        names: &dyn Names,
        asked: &[(Question, u64)],
        events: &[Event],
        begins: bool,
    ) -> Self {
        let mut account = Self::default();
        for (question, answer) in asked {
            // Where an access of a pooled file goes is known before it begins.
            let place = begins && matches!(question.ask, Ask::Pick(_));
            let ask = ask(names, question.ask).filter(|_| !place);
            account.asked.extend(ask.map(|ask| (ask, *answer)));
        }
        for event in events {
            account.add(names, *event);
        }
        // Pages that are only counted are said to be unused when they are forgotten, those with
        // identity when they are freed.
        account.events.retain(|event| !matches!(event, Event::Unused(..)));
        account
    }

    fn add(&mut self, names: &dyn Names, event: Event) {
        match event {
            Event::Reclaimed(memcg, pages) => {
                *self.freed.entry(memcg).or_default() += pages;
            }
            Event::Returned(Call::File(call @ FileCall::FilemapRemoveFolio { .. }), _) => {
                self.remove(names, call);
            }
            Event::Returned(Call::File(call), result) => {
                let returns_index = matches!(
                    call,
                    FileCall::PageCacheNextMiss { .. } | FileCall::PageCachePrevMiss { .. }
                );
                let result = match file_of(call).filter(|_| returns_index) {
                    Some(file) => {
                        let index = PageIndex(result.cast_unsigned());
                        names.of_file(file, index).0.cast_signed()
                    }
                    None => result,
                };
                self.events.push(Event::Returned(Call::File(file_call(names, call)), result));
            }
            Event::Returned(..)
            | Event::AboveMax(..)
            | Event::Begin(..)
            | Event::Requested(_)
            | Event::Fulfilled(..)
            | Event::Unused(..)
            | Event::Restarted(_)
            | Event::Signalled(_)
            | Event::Turned(..)
            | Event::End(..)
            | Event::Wrapped(_)
            | Event::ReadAhead(_) => self.events.push(event),
        }
    }

    /// A folio goes. Its charge was given back a moment ago, and before that it was said if nobody
    /// has used it: of pages that are only counted neither is announced.
    fn remove(&mut self, names: &dyn Names, call: FileCall) {
        let FileCall::FilemapRemoveFolio { inode, index, order } = call else { return };
        let uncharged = |event: &mut Event| {
            matches!(event, Event::Returned(Call::File(FileCall::MemCgroupUncharge { .. }), _))
        };
        self.events.pop_if(uncharged);
        let unused = self.events.pop_if(|event| matches!(event, Event::Unused(..))).is_some();
        if names.knows(inode, index) {
            let at = (names.inode(inode), names.of_inode(inode, index));
            self.removed.insert(at, Removed { pages: Pages::of_order(order), unused });
        }
    }

    /// Pages of each memcg that are freed and that the pooled run only counts.
    pub(super) fn uncounted(
        &self,
        memcg: impl Fn(InodeId) -> Option<MemcgId>,
    ) -> BTreeMap<MemcgId, i64> {
        let mut left: BTreeMap<MemcgId, i64> =
            self.freed.iter().map(|(memcg, pages)| (*memcg, pages.raw())).collect();
        for ((inode, _), removed) in &self.removed {
            if let Some(memcg) = memcg(*inode) {
                *left.entry(memcg).or_default() -= removed.pages.raw();
            }
        }
        left
    }

    /// Whether a folio that the pooled run knows goes.
    pub(super) fn removes(&self, inode: InodeId, index: PageIndex) -> bool {
        self.removed.contains_key(&(inode, index))
    }
}

/// A question in those names; nothing for those that are about pages the pooled run only counts.
fn ask(names: &dyn Names, ask: Ask) -> Option<Ask> {
    Some(match ask {
        Ask::PassFrees(_) | Ask::Evicts(..) | Ask::ReadEnds(_) => return None,
        Ask::FolioAllocFails(inode) => Ask::FolioAllocFails(names.inode(inode)),
        Ask::NodeAllocFails(inode) => Ask::NodeAllocFails(names.inode(inode)),
        Ask::Congested(file) => Ask::Congested(names.file(file)),
        Ask::FsExpands(inode) => Ask::FsExpands(names.inode(inode)),
        Ask::FsLeaves(inode) => Ask::FsLeaves(names.inode(inode)),
        Ask::PassIsEmpty(_)
        | Ask::OomOutcome(_)
        | Ask::ChargeMoving
        | Ask::Folio(..)
        | Ask::CgroupDying(_)
        | Ask::RestartsSyscall
        | Ask::Pick(_) => ask,
    })
}

/// The open file of a call.
const fn file_of(call: FileCall) -> Option<FileId> {
    match call {
        FileCall::FilemapAddFolio { file, .. }
        | FileCall::FolioSetReadahead { file, .. }
        | FileCall::FolioClearReadahead { file, .. }
        | FileCall::ReadPages { file, .. }
        | FileCall::PageCacheNextMiss { file, .. }
        | FileCall::PageCachePrevMiss { file, .. }
        | FileCall::PageCacheSyncRa { file, .. }
        | FileCall::PageCacheAsyncRa { file, .. }
        | FileCall::ForcePageCacheRa { file, .. }
        | FileCall::PageCacheRaOrder { file, .. }
        | FileCall::PageCacheRaUnbounded { file, .. }
        | FileCall::MmapReadAround { file, .. }
        | FileCall::FilemapReadFolio { file, .. }
        | FileCall::VmFaultRetry { file, .. } => Some(file),
        FileCall::MemCgroupCharge { .. }
        | FileCall::MemCgroupUncharge { .. }
        | FileCall::MemCgroupReclaimForBatch { .. }
        | FileCall::XasStore { .. }
        | FileCall::FilemapRemoveFolio { .. } => None,
    }
}

/// A call in those names.
fn file_call(names: &dyn Names, mut call: FileCall) -> FileCall {
    match &mut call {
        FileCall::MemCgroupCharge { .. }
        | FileCall::MemCgroupUncharge { .. }
        | FileCall::MemCgroupReclaimForBatch { .. } => {}
        FileCall::XasStore { inode, index, .. }
        | FileCall::FilemapRemoveFolio { inode, index, .. } => {
            *index = names.of_inode(*inode, *index);
            *inode = names.inode(*inode);
        }
        FileCall::PageCacheAsyncRa { file, index, folio, .. } => {
            *folio = names.of_file(*file, *folio);
            *index = names.of_file(*file, *index);
            *file = names.file(*file);
        }
        FileCall::FilemapAddFolio { file, index, .. }
        | FileCall::FolioSetReadahead { file, index }
        | FileCall::FolioClearReadahead { file, index }
        | FileCall::ReadPages { file, index, .. }
        | FileCall::PageCacheNextMiss { file, index, .. }
        | FileCall::PageCachePrevMiss { file, index, .. }
        | FileCall::PageCacheSyncRa { file, index, .. }
        | FileCall::ForcePageCacheRa { file, index, .. }
        | FileCall::PageCacheRaOrder { file, index, .. }
        | FileCall::PageCacheRaUnbounded { file, index, .. }
        | FileCall::MmapReadAround { file, start: index, .. }
        | FileCall::FilemapReadFolio { file, index }
        | FileCall::VmFaultRetry { file, index } => {
            *index = names.of_file(*file, *index);
            *file = names.file(*file);
        }
    }
    call
}
