//! The scenario in which every page has its identity, and where in it the pages of a pooled one
//! are.

use mm_model::ids::{ActorId, FileId, InodeId, MemcgId};
use mm_model::page_cache::{Folio, PageCache};
use mm_model::pooling::{HERE, POOLED_MOST};
use mm_model::scenario::{ActorConfig, ActorKind, InodeConfig, Layout, Op, Scenario, Store};
use mm_model::state::State;
use mm_model::units::{PageIndex, Pages};

/// Each random access has a part of the file to itself, as long as this. That is twice what a
/// pooled file has, so that no look around a page reaches another access.
const REGION: u64 = 2 * POOLED_MOST.0;

/// From where a task goes through a file in order: the middle of a large one.
const MIDDLE: u64 = 1 << 20;

/// The last page of a large file.
const LAST: PageIndex = PageIndex(1 << 32);

/// The most files that stand for one whose start or end an access sees, all together.
const EDGES_MOST: u64 = 160;

/// The scenario with identity.
pub(super) struct Scene {
    /// It. A program's entry is set to the place of each access when that begins.
    pub(super) scenario: Scenario,
    /// What stands for each inode of the pooled scenario.
    groups: Vec<Option<Group>>,
}

/// What stands for a pooled inode. It has one open file, and one task uses that.
struct Group {
    /// The large file, for accesses that see neither its start nor its end.
    middle: (FileId, InodeId),
    /// Files as short as the pooled one, for accesses that do: one for each that still has pages.
    edges: Vec<(FileId, InodeId)>,
    /// The devices that end their reads.
    devices: Vec<ActorId>,
}

/// Where the running access of a pooled file is, or the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// In which file.
    pub(super) file: FileId,
    /// Its pages.
    pub(super) inode: InodeId,
    /// At which page.
    pub(super) here: PageIndex,
    /// Which page that is in the pooled file.
    pub(super) pooled: PageIndex,
}

impl Place {
    /// What the pooled file calls this page.
    pub(super) const fn in_pooled(&self, index: PageIndex) -> PageIndex {
        self.pooled.wrapping_add(index.wrapping_since(self.here))
    }
}

/// A state with identity that may be where the pooled run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Possible {
    /// It.
    pub(super) state: State,
    /// For each inode of the pooled scenario that is pooled, where its access is.
    pub(super) places: Vec<Option<Place>>,
}

impl Scene {
    pub(super) fn new(pooled: &Scenario) -> Self {
        let mut scenario = pooled.clone();
        let nr_pooled = pooled.inodes.iter().filter(|inode| inode.is_pooled()).count() as u64;
        let mut groups = Vec::new();
        for at in 0..pooled.inodes.len() {
            let inode = InodeId::from(at);
            let file = pooled.files.iter().position(|file| file.inode == inode);
            groups.push(file.filter(|_| pooled.inodes[at].is_pooled()).map(|file| {
                let most = EDGES_MOST / nr_pooled;
                Group::new(&mut scenario, (FileId::from(file), inode), most)
            }));
        }
        Self { scenario, groups }
    }

    /// The state at the start.
    pub(super) fn initial(&self) -> Possible {
        let place = |group: &Group| {
            let (file, inode) = group.middle;
            Place { file, inode, here: PageIndex(0), pooled: PageIndex(0) }
        };
        let places = self.groups.iter().map(|group| group.as_ref().map(place));
        Possible { state: self.scenario.initial(), places: places.collect() }
    }

    /// The inode of the pooled scenario that this one stands for.
    pub(super) fn stands_for(&self, inode: InodeId) -> InodeId {
        let of = |group: &Option<Group>| group.as_ref().is_some_and(|group| group.has(inode));
        self.groups.iter().position(of).map_or(inode, InodeId::from)
    }

    /// The open file of the pooled scenario that this one stands for.
    pub(super) fn file_of(&self, file: FileId) -> FileId {
        let has = |group: &&Group| group.all().any(|(mine, _)| mine == file);
        self.groups.iter().flatten().find(has).map_or(file, |group| group.middle.0)
    }

    /// The inodes that stand for one of the pooled scenario.
    pub(super) fn inodes(&self, pooled: InodeId) -> Vec<InodeId> {
        match &self.groups[pooled.index()] {
            Some(group) => group.all().map(|(_, inode)| inode).collect(),
            None => vec![pooled],
        }
    }

    /// The actors that stand for one of the pooled scenario.
    pub(super) fn actors(&self, pooled: ActorId) -> Vec<ActorId> {
        let ActorKind::Device(inode) = self.scenario.actors[pooled.index()].kind else {
            return vec![pooled];
        };
        self.groups[inode.index()].as_ref().map_or(vec![pooled], |group| group.devices.clone())
    }

    /// The devices of what stands for a pooled inode.
    pub(super) fn devices(&self, pooled: InodeId) -> &[ActorId] {
        self.groups[pooled.index()].as_ref().map_or(&[], |group| &group.devices)
    }

    /// Where the next access goes, which is at that page of the pooled file; nothing if no file is
    /// left that it could go to.
    pub(super) fn place(&self, one: &Possible, inode: InodeId, access: Access) -> Option<Place> {
        let group = self.groups[inode.index()].as_ref()?;
        let last = one.places[inode.index()]?;
        let ((file, inode), here) = match access {
            Access::Next(_) => (group.middle, last.after(access.pooled())),
            Access::AtRandom { index, .. } if self.sees_edge(group, index) => {
                let empty = |(_, inode): &&(FileId, InodeId)| {
                    let cache = &one.state.world.inodes[inode.index()].cache;
                    cache.next_folio(PageIndex(0)).is_none()
                };
                (*group.edges.iter().find(empty)?, index)
            }
            Access::AtRandom { index, nth } => {
                (group.middle, index.wrapping_add(Pages(REGION * nth)))
            }
        };
        Some(Place { file, inode, here, pooled: access.pooled() })
    }

    /// Whether readahead around that page of the pooled file, or after it, is cut by its start or
    /// its end, or fills what its file system wants there.
    fn sees_edge(&self, group: &Group, index: PageIndex) -> bool {
        let (_, edge) = group.edges[0];
        let config = &self.scenario.inodes[edge.index()];
        let ra_pages = self.scenario.file(group.middle.0).ra_pages;
        let whole =
            config.last_page.is_some_and(|last| index + ra_pages + ra_pages <= last + Pages(1));
        index.0 < ra_pages.0 / 2 || !whole || config.expands.is_some()
    }
}

/// An access of the pooled run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// The page after the one before, which is that of the pooled file.
    Next(PageIndex),
    /// A page of a part that nobody has used.
    AtRandom {
        /// Which page of the pooled file.
        index: PageIndex,
        /// A number that no other access has, from 1.
        nth: u64,
    },
}

impl Access {
    const fn pooled(self) -> PageIndex {
        match self {
            Self::Next(index) | Self::AtRandom { index, .. } => index,
        }
    }
}

impl Place {
    /// The page after this one; the first is where the pooled run begins, in the middle.
    fn after(self, pooled: PageIndex) -> PageIndex {
        let begun = self.pooled >= HERE;
        if begun { self.here + Pages(1) } else { PageIndex(MIDDLE + pooled.0) }
    }
}

impl Group {
    /// Adds to the scenario what stands for a pooled file, which becomes a large one itself.
    fn new(scenario: &mut Scenario, middle: (FileId, InodeId), most: u64) -> Self {
        let (file, inode) = middle;
        let config = scenario.file(file).clone();
        let pages = scenario.inodes[inode.index()].clone();
        let of = |actor: &ActorConfig| actor.kind == ActorKind::Device(inode);
        let device = scenario.actors.iter().position(of);
        let mut devices: Vec<ActorId> = device.into_iter().map(ActorId::from).collect();
        // Each that is not empty has a page that is charged, and one more is to be found.
        let max = pages.memcg.map(|memcg| least_max(scenario, memcg));
        let count = max.map_or(most, |max| max.0.saturating_add(2).min(most));
        let mut edges = Vec::new();
        for _ in 0..count {
            let inode = InodeId::from(scenario.inodes.len());
            let edge = InodeConfig { cached: Vec::new(), ..pages.clone() };
            scenario.inodes.push(InodeConfig { layout: Layout::Line, store: Store::Tree, ..edge });
            edges.push((FileId::from(scenario.files.len()), inode));
            scenario.files.push(mm_model::scenario::FileConfig { inode, ..config.clone() });
            if let Some(device) = device {
                devices.push(ActorId::from(scenario.actors.len()));
                let kind = ActorKind::Device(inode);
                let device = ActorConfig { kind, ..scenario.actors[device].clone() };
                scenario.actors.push(device);
            }
        }
        let large = &mut scenario.inodes[inode.index()];
        (large.layout, large.store, large.last_page) = (Layout::Line, Store::Tree, Some(LAST));
        Self { middle, edges, devices }
    }

    fn all(&self) -> impl Iterator<Item = (FileId, InodeId)> {
        std::iter::once(self.middle).chain(self.edges.iter().copied())
    }

    fn has(&self, inode: InodeId) -> bool {
        self.all().any(|(_, mine)| mine == inode)
    }
}

/// The least limit of a memcg and those it lies in.
fn least_max(scenario: &Scenario, memcg: MemcgId) -> Pages {
    let maxes = scenario.lineage(memcg).map(|level| scenario.memcgs[level.index()].max);
    maxes.min().expect("a memcg is of its own lineage")
}

/// Whether a folio of a pooled file is one that the running access may still need: the others, which
/// are locked, lie behind.
pub(super) fn is_near(folio: &Folio) -> bool {
    folio.index.0 < POOLED_MOST.0
}

/// The folio of a pooled file that a folio with identity is; nothing if it is one that is counted.
pub(super) fn in_pooled(
    cache: &PageCache,
    place: &Place,
    (inode, folio): (InodeId, &Folio),
) -> Option<Folio> {
    let index = place.in_pooled(folio.index);
    let known = || cache.folio(index).filter(|known| is_near(known) && known.index == index);
    (inode == place.inode).then(known).flatten()
}

/// Sets an entry of a task's program to one place.
pub(super) fn go_to(scenario: &mut Scenario, actor: ActorId, op: u8, place: &Place) {
    use mm_model::scenario::{Pick, Where};
    let ActorKind::Task { program, .. } = &mut scenario.actors[actor.index()].kind else { return };
    let to = |pick: u64| Where::At(Pick { first: pick, last: pick, unit: 1 });
    match &mut program[usize::from(op)] {
        Op::Read { file, pos, .. } => {
            (*file, *pos) =
                (place.file, Where::At(Pick { unit: 4096, ..Pick::just(place.here.0) }));
        }
        Op::Fault { file, index, .. } | Op::Access { file, index, .. } => {
            (*file, *index) = (place.file, to(place.here.0));
        }
        Op::WillNeed { .. }
        | Op::Window { .. }
        | Op::Charge { .. }
        | Op::Uncharge { .. }
        | Op::LruAdd { .. }
        | Op::WriteReclaim { .. }
        | Op::WriteHigh { .. }
        | Op::WriteMax { .. }
        | Op::Stockpile { .. }
        | Op::Signal { .. }
        | Op::Mark { .. } => {}
    }
}
