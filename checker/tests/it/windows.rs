//! Every small window: one task, one call of page_cache_ra_order() for each start, size, position
//! of the mark, folio order and end of the file.

mod failures;

use mm_model::design::{Changes, Design, MarkRounding, PRESETS};
use mm_model::env::{Ask, Call, Env, Event, FileCall, Question};
use mm_model::ids::{ActorId, CpuId, FileId, InodeId, MemcgId};
use mm_model::kernel::Kernel;
use mm_model::mm::readahead::ReadaheadControl;
use mm_model::mm::readahead::page_cache_ra_order::PageCacheRaOrder;
use mm_model::page_cache::{Folio, FolioFlags};
use mm_model::scenario::{
    CpuConfig, EmptyPasses, FileConfig, FilePolicy, Granularity, InodeConfig, Layout, OomOutcome,
    PassFrees, Policy, ReclaimPolicy, Scenario, Store, TaskContext, TaskFlags,
};
use mm_model::state::Current;
use mm_model::step::{Ctx, run_alone};
use mm_model::units::{PageIndex, Pages};
use mm_model::world::{FileRaState, World};

pub(crate) const FILE: FileId = FileId(0);

/// One window to fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    start: u64,
    size: u64,
    async_size: u64,
    order: u8,
    min_order: u8,
    /// The file ends with this page; far away if there is none.
    last_page: u64,
}

/// Nothing fails, or the allocation of one folio; hears of marks and wraps.
#[derive(Default)]
struct Quiet {
    marks: u32,
    wraps: u32,
    /// Allocations until one fails, if one does.
    fails_after: Option<u32>,
}

impl Env for Quiet {
    fn answer(&mut self, question: Question) -> u64 {
        assert!(matches!(question.ask, Ask::FolioAllocFails(_)), "{question:?} has one answer");
        let fails = self.fails_after == Some(0);
        self.fails_after = self.fails_after.and_then(|left| left.checked_sub(1));
        u64::from(fails)
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Returned(Call::File(FileCall::FolioSetReadahead { .. }), _) => self.marks += 1,
            Event::Wrapped(_) => self.wraps += 1,
            Event::Returned(..)
            | Event::Begin(..)
            | Event::End(..)
            | Event::AboveMax(..)
            | Event::Requested(_)
            | Event::Fulfilled(..)
            | Event::Reclaimed(..)
            | Event::Unused(..)
            | Event::Restarted(_)
            | Event::Signalled(_)
            | Event::Turned(..)
            | Event::ReadAhead(_) => {}
        }
    }

    fn stub(&mut self, _: &mut World, _: Call) -> Option<i64> {
        None
    }
}

pub(crate) fn design(preset: &str) -> Design {
    let preset = PRESETS.iter().find(|of| of.name == preset).expect("the preset exists");
    preset.design.clone()
}

/// A file of the root: its folios are charged to nothing.
pub(crate) fn scenario(design: Design, store: Store) -> Scenario {
    let inode = InodeConfig {
        name: "file".to_owned(),
        memcg: None,
        last_page: None,
        min_order: 0,
        max_order: 9,
        store,
        cached: Vec::new(),
        expands: None,
        shared: false,
        layout: Layout::Line,
    };
    let file = FileConfig {
        name: "file".to_owned(),
        inode: InodeId(0),
        ra_pages: Pages(32),
        io_pages: Pages(32),
        random: false,
        ra: FileRaState::default(),
        shared: false,
    };
    Scenario {
        kernel: Kernel::default(),
        design,
        memcgs: Vec::new(),
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
            file: FilePolicy::default(),
        },
        granularity: Granularity::default(),
        ram: None,
    }
}

/// Runs the step functions of one window on an empty page cache.
fn fill(scenario: &mut Scenario, world: &mut World, window: Window) -> Quiet {
    fill_with(scenario, world, window, None)
}

/// The same where one allocation may fail, after as many that don't.
fn fill_with(
    scenario: &mut Scenario,
    world: &mut World,
    window: Window,
    fails_after: Option<u32>,
) -> Quiet {
    scenario.policy.file.folio_alloc_fails = fails_after.is_some();
    scenario.inodes[0].last_page = Some(PageIndex(window.last_page));
    scenario.inodes[0].min_order = window.min_order;
    let ra = &mut world.files[0];
    ra.start = PageIndex(window.start);
    ra.size = Pages(window.size);
    ra.async_size = Pages(window.async_size);
    ra.order = window.order;
    let mut env = Quiet { fails_after, ..Quiet::default() };
    let task = TaskContext { memcg: MemcgId(0), cpu: CpuId(0), flags: TaskFlags::empty() };
    let mut kernel = Ctx {
        scenario,
        world,
        actors: &[],
        me: ActorId(0),
        task: &task,
        current: &mut Current::default(),
        env: &mut env,
    };
    let ractl = ReadaheadControl::new(FILE, PageIndex(window.start));
    run_alone(PageCacheRaOrder::enter(&mut kernel, ractl, window.order), &mut kernel);
    env
}

const FAR: u64 = 100;

/// Every window up to 32 pages that starts up to page 64, with every mark and folio order, in a
/// file that ends far behind, at each page of the window, and right behind it.
fn windows() -> impl Iterator<Item = Window> {
    let starts = (0..=64).flat_map(|start| (1..=32).map(move |size| (start, size)));
    starts.flat_map(|(start, size)| {
        let ends = (start..=start + size).chain([FAR]);
        ends.flat_map(move |last_page| {
            (0..=size).flat_map(move |async_size| {
                (0..=5).map(move |order| Window {
                    start,
                    size,
                    async_size,
                    order,
                    min_order: 0,
                    last_page,
                })
            })
        })
    })
}

/// Whether a window has its mark on the one folio that holds the marked page, or none where the
/// file ends with it.
fn one_mark(scenario: &mut Scenario, world: &mut World, window: Window) -> bool {
    let seen = fill(scenario, world, window);
    let Window { start, size, async_size, last_page, .. } = window;
    let has_mark = async_size > 0 && last_page > start + size - 1;
    let mark = world.inodes[0].cache.folio(PageIndex(start + size - async_size));
    let on_mark = mark.is_some_and(|folio| folio.flags.contains(FolioFlags::READAHEAD));
    seen.marks == u32::from(has_mark) && on_mark == has_mark && seen.wraps == 0
}

#[test]
fn rounded_down_a_window_has_one_mark_or_none_at_the_end_of_the_file() {
    let mut scenario = scenario(design("linux-7.3"), Store::Bits);
    let empty = scenario.initial().world;
    let mut cases = 0_u64;
    for window in windows() {
        assert!(one_mark(&mut scenario, &mut empty.clone(), window), "{window:?}");
        cases += 1;
    }
    assert_eq!(cases, 5_104_320);
}

#[test]
fn rounded_up_the_smallest_window_with_a_large_folio_can_lose_its_mark() {
    let mut scenario = scenario(design("mark-round-up"), Store::Bits);
    let empty = scenario.initial().world;
    let wrong = |window: &Window| !one_mark(&mut scenario, &mut empty.clone(), *window);
    let far = |window: &Window| window.last_page == FAR;
    let smallest = windows().filter(far).filter(wrong).min_by_key(|at| (at.size, at.start));
    let smallest = smallest.expect("rounding up goes wrong");
    let expected =
        Window { start: 0, size: 2, async_size: 1, order: 1, min_order: 0, last_page: FAR };
    assert_eq!(smallest, expected);
}

#[test]
fn the_mails_own_window_has_three_marks_rounded_up() {
    let changes = Changes { mark_rounding: Some(MarkRounding::Up), ..Changes::NONE };
    let mut scenario = scenario(design("linux-6.12").with(&changes), Store::Bits);
    let mut world = scenario.initial().world;
    let window =
        Window { start: 1, size: 15, async_size: 15, order: 0, min_order: 0, last_page: FAR };
    fill(&mut scenario, &mut world, window);
    let marked = world.inodes[0]
        .cache
        .folios()
        .filter(|folio| folio.flags.contains(FolioFlags::READAHEAD))
        .map(|folio| folio.index.0);
    assert_eq!(marked.collect::<Vec<_>>(), [1, 2, 4]);
}

#[test]
fn a_cut_off_first_folio_of_an_unaligned_window_drops_the_window_by_a_wrap() {
    let mut scenario = scenario(design("linux-7.3"), Store::Bits);
    let mut world = scenario.initial().world;
    for index in [4, 5].map(PageIndex) {
        world.inodes[0].cache.insert(Folio { index, order: 0, flags: FolioFlags::UPTODATE });
    }
    let window =
        Window { start: 5, size: 8, async_size: 1, order: 2, min_order: 1, last_page: FAR };
    let seen = fill(&mut scenario, &mut world, window);
    assert_eq!((seen.wraps, world.inodes[0].cache.nr_pages()), (1, Pages(2)));
}

#[test]
fn both_stores_end_every_window_alike() {
    let design = design("linux-7.3");
    let [mut bits, mut tree] =
        [Store::Bits, Store::Tree].map(|store| scenario(design.clone(), store));
    let [empty_bits, empty_tree] = [&bits, &tree].map(|of| of.initial().world);
    for window in windows().step_by(97) {
        let (mut in_bits, mut in_tree) = (empty_bits.clone(), empty_tree.clone());
        let window = Window { min_order: window.order % 3, ..window };
        fill(&mut bits, &mut in_bits, window);
        fill(&mut tree, &mut in_tree, window);
        let [in_bits, in_tree] = [in_bits, in_tree]
            .map(|world| (world.files, world.inodes[0].cache.folios().collect::<Vec<_>>()));
        assert_eq!(in_bits, in_tree, "{window:?}");
    }
}
