//! Every small window: one task, one call of page_cache_ra_order() for each start, size, position
//! of the mark, folio order and end of the file.

use mm_model::design::{Design, PRESETS};
use mm_model::env::{Call, Env, Event, FileCall, Question};
use mm_model::ids::{ActorId, CpuId, FileId, InodeId, MemcgId};
use mm_model::kernel::Kernel;
use mm_model::mm::readahead::ReadaheadControl;
use mm_model::mm::readahead::page_cache_ra_order::PageCacheRaOrder;
use mm_model::page_cache::FolioFlags;
use mm_model::scenario::{
    CpuConfig, FileConfig, FilePolicy, Granularity, InodeConfig, OomOutcome, PassFrees, Policy,
    Scenario, Steps, Store, TaskContext, TaskFlags,
};
use mm_model::state::Current;
use mm_model::step::{Ctx, run_alone};
use mm_model::units::{PageIndex, Pages};
use mm_model::world::World;

const FILE: FileId = FileId(0);

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

/// Nothing is asked and nothing fails; hears of marks and wraps.
#[derive(Default)]
struct Quiet {
    marks: u32,
    wraps: u32,
}

impl Env for Quiet {
    fn answer(&mut self, question: Question) -> u64 {
        unreachable!("{question:?} has one answer")
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Returned(Call::File(FileCall::FolioSetReadahead { .. }), _) => self.marks += 1,
            Event::Wrapped(_) => self.wraps += 1,
            Event::Returned(..) | Event::Begin(..) | Event::End(..) => {}
        }
    }

    fn stub(&mut self, _: &mut World, _: Call) -> Option<i64> {
        None
    }
}

fn design(preset: &str) -> Design {
    let preset = PRESETS.iter().find(|of| of.name == preset).expect("the preset exists");
    preset.design.clone()
}

/// A file of the root: its folios are charged to nothing.
fn scenario(design: Design, store: Store) -> Scenario {
    let inode = InodeConfig {
        name: "file".to_owned(),
        memcg: None,
        last_page: None,
        min_order: 0,
        max_order: 9,
        store,
        expands: None,
        shared: false,
    };
    let file = FileConfig {
        name: "file".to_owned(),
        inode: InodeId(0),
        ra_pages: Pages(32),
        io_pages: Pages(32),
        random: false,
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
            pass_may_fail: false,
            oom: vec![OomOutcome::None],
            charge_moving: false,
            file: FilePolicy::default(),
        },
        granularity: Granularity {
            counter: Steps::One,
            drain: Steps::One,
            file_ra_state: Steps::Kernel,
        },
    }
}

/// Runs the step functions of one window on an empty page cache.
fn fill(scenario: &mut Scenario, world: &mut World, window: Window) -> Quiet {
    scenario.inodes[0].last_page = Some(PageIndex(window.last_page));
    scenario.inodes[0].min_order = window.min_order;
    let ra = &mut world.files[0];
    ra.start = PageIndex(window.start);
    ra.size = Pages(window.size);
    ra.async_size = Pages(window.async_size);
    ra.order = window.order;
    let mut env = Quiet::default();
    let task = TaskContext { memcg: MemcgId(0), cpu: CpuId(0), flags: TaskFlags::empty() };
    let mut kernel = Ctx {
        scenario,
        world,
        me: ActorId(0),
        task: &task,
        current: &mut Current::default(),
        env: &mut env,
    };
    let ractl = ReadaheadControl::new(FILE, PageIndex(window.start));
    run_alone(PageCacheRaOrder::enter(scenario, ractl, window.order), &mut kernel);
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

#[test]
fn rounded_down_a_window_has_one_mark_or_none_at_the_end_of_the_file() {
    let mut scenario = scenario(design("linux-7.3"), Store::Bits);
    let empty = scenario.initial().world;
    let mut cases = 0_u64;
    for window in windows() {
        let mut world = empty.clone();
        let seen = fill(&mut scenario, &mut world, window);
        let Window { start, size, async_size, last_page, .. } = window;
        let has_mark = async_size > 0 && last_page > start + size - 1;
        assert_eq!((seen.marks, seen.wraps), (u32::from(has_mark), 0), "{window:?}");
        if has_mark {
            let mark = world.inodes[0].cache.folio(PageIndex(start + size - async_size));
            let marked = mark.expect("the window is whole").flags;
            assert!(marked.contains(FolioFlags::READAHEAD), "{window:?}");
        }
        cases += 1;
    }
    assert_eq!(cases, 5_104_320);
}
