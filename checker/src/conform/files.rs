//! What the formats of readahead share: one file, the kernels they were computed with, and stubs
//! for the charge of a folio, for batch reclaim and for the file system.

use super::reached::{self, Hearing};
use mm_model::design::{Changes, Design, MarkRounding, PRESETS};
use mm_model::env::{Ask, Call, Env, Event, FileCall, Question};
use mm_model::gfp::Gfp;
use mm_model::ids::{ActorId, CpuId, FileId, InodeId, MemcgId};
use mm_model::kernel::Kernel;
use mm_model::page_cache::{Folio, FolioFlags, PageCache};
use mm_model::scenario::{
    CpuConfig, EmptyPasses, Expand, FileConfig, FilePolicy, Granularity, InodeConfig, Layout,
    MemcgConfig, OomOutcome, PassFrees, Policy, Reclaim, ReclaimPolicy, ReclaimSteps, Scenario,
    Steps, Store, TaskContext, TaskFlags,
};
use mm_model::state::Current;
use mm_model::step::{Ctx, Frame, Next};
use mm_model::units::{PageIndex, Pages};
use mm_model::world::{FileRaState, World};
use serde::Deserialize;
use serde_json::{Value, json};

/// The only file.
pub(super) const FILE: FileId = FileId(0);
const MEMCG: MemcgId = MemcgId(0);

/// A kernel the vectors were computed with: `rd` rounds marks down, `ru` up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Version {
    #[serde(rename = "6.1-rd")]
    Linux6_1,
    #[serde(rename = "6.1-ru")]
    Linux6_1Up,
    #[serde(rename = "6.12-rd")]
    Linux6_12,
    #[serde(rename = "6.12-ru")]
    Linux6_12Up,
    #[serde(rename = "7.3-rd")]
    Linux7_3,
    #[serde(rename = "7.3-ru")]
    Linux7_3Up,
    #[serde(rename = "7.3p3-rd")]
    BatchReclaim,
}

impl Version {
    fn design(self) -> Design {
        let (preset, rounding) = match self {
            Self::Linux6_1 => ("linux-6.1", MarkRounding::Down),
            Self::Linux6_1Up => ("linux-6.1", MarkRounding::Up),
            Self::Linux6_12 => ("linux-6.12", MarkRounding::Down),
            Self::Linux6_12Up => ("linux-6.12", MarkRounding::Up),
            Self::Linux7_3 => ("linux-7.3", MarkRounding::Down),
            Self::Linux7_3Up => ("mark-round-up", MarkRounding::Up),
            Self::BatchReclaim => ("readahead-batch-reclaim", MarkRounding::Down),
        };
        let preset = PRESETS.iter().find(|of| of.name == preset).expect("every kernel has one");
        let changes = Changes { mark_rounding: Some(rounding), ..Changes::NONE };
        preset.design.clone().with(&changes)
    }

    /// Whether the folio order of the last window is part of the file's state.
    pub(super) const fn remembers_order(self) -> bool {
        matches!(self, Self::Linux7_3 | Self::Linux7_3Up | Self::BatchReclaim)
    }
}

/// The file of a case.
#[derive(Clone, Copy)]
pub(super) struct FileSetup {
    pub(super) last_page: u64,
    pub(super) min_order: u8,
    pub(super) max_order: u8,
    pub(super) ra_pages: u64,
    pub(super) io_pages: u64,
    pub(super) expands: Option<(u64, u64)>,
    pub(super) fs_leaves: bool,
}

/// One task that uses one file.
pub(super) struct Bench {
    pub(super) scenario: Scenario,
    world: World,
    current: Current,
    task: TaskContext,
}

impl Bench {
    pub(super) fn new(version: Version, setup: &FileSetup) -> Self {
        Self::with_design(version.design(), setup)
    }

    pub(super) fn with_design(design: Design, setup: &FileSetup) -> Self {
        let inode = InodeConfig {
            name: "file".to_owned(),
            memcg: Some(MEMCG),
            last_page: Some(PageIndex(setup.last_page)),
            min_order: setup.min_order,
            max_order: setup.max_order,
            store: Store::Tree,
            cached: Vec::new(),
            expands: setup.expands.map(|(a, b)| Expand::Range(PageIndex(a), PageIndex(b))),
            shared: true,
            layout: Layout::Line,
        };
        let file = FileConfig {
            name: "file".to_owned(),
            inode: InodeId(0),
            ra_pages: Pages(setup.ra_pages),
            io_pages: Pages(setup.io_pages),
            random: false,
            ra: FileRaState::default(),
            shared: true,
        };
        let memcg = MemcgConfig {
            name: "job".to_owned(),
            parent: None,
            max: Pages::UNLIMITED,
            high: Pages::UNLIMITED,
            memsw_max: None,
            lru: Pages::ZERO,
            anon: Pages::ZERO,
            reclaim: Reclaim::default(),
        };
        let scenario = Scenario {
            kernel: Kernel::default(),
            design,
            memcgs: vec![memcg],
            cpus: vec![CpuConfig::default()],
            inodes: vec![inode],
            files: vec![file],
            actors: Vec::new(),
            policy: Policy {
                pass_frees: PassFrees::Goal,
                empty_passes: EmptyPasses::Never,
                oom: vec![OomOutcome::None],
                charge_moving: false,
                reclaim: ReclaimPolicy::default(),
                file: FilePolicy { fs_leaves: setup.fs_leaves, ..FilePolicy::default() },
            },
            granularity: Granularity {
                counter: Steps::Kernel,
                drain: Steps::Kernel,
                reclaim: ReclaimSteps::default(),
                file_ra_state: Steps::Kernel,
            },
            ram: None,
        };
        let world = scenario.initial().world;
        let task = TaskContext { memcg: MEMCG, cpu: CpuId(0), flags: TaskFlags::empty() };
        Self { scenario, world, current: Current::default(), task }
    }

    pub(super) fn ra(&mut self) -> &mut FileRaState {
        &mut self.world.files[FILE.index()]
    }

    pub(super) fn cache(&mut self) -> &mut PageCache {
        &mut self.world.inodes[0].cache
    }

    /// Puts a page into the cache, as a folio of its own that somebody else has read.
    pub(super) fn add_present(&mut self, index: u64) {
        let (index, flags) = (PageIndex(index), FolioFlags::UPTODATE);
        self.cache().insert(Folio { index, order: 0, flags });
    }

    /// What steps run in.
    pub(super) fn kernel<'a>(&'a mut self, env: &'a mut dyn Env) -> Ctx<'a> {
        Ctx {
            scenario: &self.scenario,
            world: &mut self.world,
            actors: &[],
            me: ActorId(0),
            task: &self.task,
            current: &mut self.current,
            env,
        }
    }

    /// Runs a function until it returns; nothing if it tries more adds than `most`.
    pub(super) fn run<F: Frame>(
        &mut self,
        mut frame: F,
        env: &mut Stubs,
        most: usize,
    ) -> Option<F::Output> {
        while env.adds.len() <= most {
            match self.step(frame, env) {
                Next::Goto(next) => frame = next,
                Next::Return(value) => return Some(value),
            }
        }
        None
    }

    /// Takes one step of a function.
    pub(super) fn step<F: Frame>(&mut self, frame: F, env: &mut dyn Env) -> Next<F, F::Output> {
        reached::at(&frame);
        frame.step(&mut self.kernel(&mut Hearing(env)))
    }

    /// Replaces the memcgs of the scenario, the last of which the task and the file belong to, and
    /// begins anew.
    pub(super) fn with_memcgs(mut self, memcgs: Vec<MemcgConfig>) -> Self {
        let last = u8::try_from(memcgs.len() - 1).expect("few memcgs");
        self.scenario.memcgs = memcgs;
        self.scenario.inodes[0].memcg = Some(MemcgId(last));
        self.task.memcg = MemcgId(last);
        self.restart();
        self
    }

    /// Begins anew.
    pub(super) fn restart(&mut self) {
        self.world = self.scenario.initial().world;
        self.current = Current::default();
    }

    pub(super) fn world(&mut self) -> &mut World {
        &mut self.world
    }

    pub(super) fn current(&mut self) -> &mut Current {
        &mut self.current
    }
}

/// An add that was tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Add {
    pub(super) index: PageIndex,
    pub(super) order: u8,
    pub(super) gfp: Gfp,
    pub(super) result: i64,
    pub(super) marked: bool,
}

/// The stubs, and what they saw.
#[derive(Default)]
pub(super) struct Stubs {
    /// Adds that fail, by their position among all, whatever else.
    pub(super) enomem: Vec<usize>,
    pub(super) eexist: Vec<usize>,
    /// Pages that can still be charged for readahead; without it there is no limit.
    pub(super) room: Option<u64>,
    /// What each batch reclaim adds to that, and what it answers if that isn't the same question.
    pub(super) grants: Vec<u64>,
    pub(super) answers: Vec<bool>,
    /// Folios of a batch that the file system reads.
    pub(super) fs_reads: u64,
    pub(super) adds: Vec<Add>,
    pub(super) batch: Vec<Value>,
    pub(super) calls: Vec<FileCall>,
    /// Adds whose charge is past.
    pub(super) charged: usize,
    /// What the last of them took from the room, and gives back if a folio is in the way.
    pub(super) taken: u64,
}

const ENOMEM: i64 = -12;
const EEXIST: i64 = -17;

impl Stubs {
    /// Before the next access of a stream.
    pub(super) fn forget(&mut self) {
        self.adds.clear();
        self.batch.clear();
        self.calls.clear();
        self.charged = 0;
    }

    /// The charge of one add.
    fn charge(&mut self, nr_pages: Pages, gfp: Gfp) -> i64 {
        let add = self.charged;
        self.charged += 1;
        self.taken = 0;
        if self.enomem.contains(&add) {
            return ENOMEM;
        }
        match &mut self.room {
            Some(room) if gfp.speculative() && !self.eexist.contains(&add) => {
                match room.checked_sub(nr_pages.0) {
                    Some(rest) => {
                        *room = rest;
                        self.taken = nr_pages.0;
                        0
                    }
                    None => ENOMEM,
                }
            }
            Some(_) | None => 0,
        }
    }

    fn reclaim_for_batch(&mut self, nr_pages: Pages) -> i64 {
        let nth = self.batch.len();
        let grant = self.grants.get(nth).copied().unwrap_or(0);
        if let Some(room) = &mut self.room {
            *room += grant;
        }
        let by_grant = self.room.is_some() && grant > 0;
        let answer = i64::from(self.answers.get(nth).copied().unwrap_or(by_grant));
        self.batch.push(json!([nr_pages, answer]));
        answer
    }

    pub(super) fn failed(&self) -> impl Iterator<Item = (usize, &Add)> {
        self.adds.iter().enumerate().filter(|(_, add)| add.result != 0)
    }

    pub(super) fn added(&self) -> impl Iterator<Item = &Add> {
        self.adds.iter().filter(|add| add.result == 0)
    }
}

impl Env for Stubs {
    fn answer(&mut self, question: Question) -> u64 {
        match question.ask {
            Ask::FsExpands(_) => 1,
            Ask::FsLeaves(_) => question.last.saturating_sub(self.fs_reads),
            Ask::PassFrees(_)
            | Ask::PassIsEmpty(_)
            | Ask::OomOutcome(_)
            | Ask::ChargeMoving
            | Ask::Folio(..)
            | Ask::CgroupDying(_)
            | Ask::RestartsSyscall
            | Ask::Pick(_)
            | Ask::Evicts(..)
            | Ask::ReadEnds(_)
            | Ask::FolioAllocFails(_)
            | Ask::NodeAllocFails(_)
            | Ask::Congested(_) => unreachable!("no case lets {:?} be asked", question.ask),
        }
    }

    fn note(&mut self, event: Event) {
        let Event::Returned(Call::File(call), result) = event else { return };
        self.calls.push(call);
        if let FileCall::FilemapAddFolio { index, order, gfp, .. } = call {
            let set = FileCall::FolioSetReadahead { file: FILE, index };
            let marked = result == 0 && self.calls.iter().rev().nth(1) == Some(&set);
            self.adds.push(Add { index, order, gfp, result, marked });
        } else if let FileCall::FolioSetReadahead { index, .. } = call
            && let Some(last) = self.adds.last_mut()
            && last.index == index
        {
            last.marked = true;
        }
    }

    fn stub(&mut self, _: &mut World, call: Call) -> Option<i64> {
        let Call::File(call) = call else { return None };
        match call {
            FileCall::MemCgroupCharge { nr_pages, gfp, .. } => Some(self.charge(nr_pages, gfp)),
            FileCall::MemCgroupUncharge { .. } => {
                if let Some(room) = &mut self.room {
                    *room += std::mem::take(&mut self.taken);
                }
                Some(0)
            }
            FileCall::FilemapReadFolio { .. } => Some(0),
            FileCall::XasStore { .. } => {
                self.eexist.contains(&(self.charged - 1)).then_some(EEXIST)
            }
            FileCall::MemCgroupReclaimForBatch { nr_pages, .. } => {
                Some(self.reclaim_for_batch(nr_pages))
            }
            FileCall::FilemapAddFolio { .. }
            | FileCall::FilemapRemoveFolio { .. }
            | FileCall::FolioSetReadahead { .. }
            | FileCall::FolioClearReadahead { .. }
            | FileCall::ReadPages { .. }
            | FileCall::PageCacheNextMiss { .. }
            | FileCall::PageCachePrevMiss { .. }
            | FileCall::PageCacheSyncRa { .. }
            | FileCall::PageCacheAsyncRa { .. }
            | FileCall::ForcePageCacheRa { .. }
            | FileCall::PageCacheRaOrder { .. }
            | FileCall::PageCacheRaUnbounded { .. }
            | FileCall::MmapReadAround { .. }
            | FileCall::VmFaultRetry { .. } => None,
        }
    }
}
