//! `docs/readahead.md`: what windows come to, and which spec shows it, computed by the model's own
//! step functions.

mod findings;

use self::findings::{SHOWN, Shown};
use crate::docs::{fresh, table};
use crate::windows::{FILE, design, scenario};
use mm_checker::claim::Claim;
use mm_checker::spec::library;
use mm_checker::value::Value;
use mm_model::design::{Changes, Design, MarkRounding};
use mm_model::env::{Ask, Call, Env, Event, FileCall, Question};
use mm_model::ids::{ActorId, CpuId, MemcgId};
use mm_model::mm::filemap::filemap_read::FilemapRead;
use mm_model::mm::readahead::ReadaheadControl;
use mm_model::mm::readahead::page_cache_ra_order::PageCacheRaOrder;
use mm_model::page_cache::{Folio, FolioFlags};
use mm_model::scenario::{Scenario, Store, TaskContext, TaskFlags};
use mm_model::state::Current;
use mm_model::step::{Ctx, Frame, run_alone};
use mm_model::units::{PageIndex, Pages};
use mm_model::world::{FileRaState, World};
use std::sync::LazyLock;

/// A task alone with a file; counts the requests that read something.
struct Alone {
    scenario: Scenario,
    world: World,
    heard: Heard,
}

/// What it hears.
#[derive(Default)]
struct Heard {
    /// Requests after a miss, and those of them that read something.
    missed: [u32; 2],
    /// Requests after a mark.
    marked: [u32; 2],
    reads: bool,
    by_mark: bool,
    /// Allocations until they fail, if they do.
    room: Option<u64>,
}

impl Env for Heard {
    fn answer(&mut self, question: Question) -> u64 {
        assert!(matches!(question.ask, Ask::FolioAllocFails(_)), "{question:?} has one answer");
        let fails = self.room == Some(0);
        self.room = self.room.map(|left| left.saturating_sub(1));
        u64::from(fails)
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Returned(Call::File(FileCall::ReadPages { .. }), _) => self.reads = true,
            Event::Returned(Call::File(FileCall::FolioClearReadahead { .. }), _) => {
                self.by_mark = true;
            }
            Event::ReadAhead(_) => {
                let [all, reading] = if self.by_mark { &mut self.marked } else { &mut self.missed };
                *all += 1;
                *reading += u32::from(self.reads);
                (self.reads, self.by_mark) = (false, false);
            }
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
            | Event::Wrapped(_) => {}
        }
    }

    fn stub(&mut self, _: &mut World, _: Call) -> Option<i64> {
        None
    }
}

impl Alone {
    fn new(design: Design, pages: u64, ra_pages: u64) -> Self {
        let mut scenario = scenario(design, Store::Tree);
        scenario.inodes[0].last_page = Some(PageIndex(pages - 1));
        scenario.files[0].ra_pages = Pages(ra_pages);
        scenario.files[0].io_pages = Pages(ra_pages);
        let world = scenario.initial().world;
        Self { scenario, world, heard: Heard::default() }
    }

    fn run<F: Frame>(&mut self, enter: impl FnOnce(&mut Ctx<'_>) -> F) {
        let task = TaskContext { memcg: MemcgId(0), cpu: CpuId(0), flags: TaskFlags::empty() };
        let mut kernel = Ctx {
            scenario: &self.scenario,
            world: &mut self.world,
            actors: &[],
            me: ActorId(0),
            task: &task,
            current: &mut Current::default(),
            env: &mut self.heard,
        };
        let frame = enter(&mut kernel);
        run_alone(frame, &mut kernel);
    }

    fn read(&mut self, page: u64, pages: u64) {
        self.run(|_| FilemapRead::enter(FILE, page * 4096, pages * 4096));
    }

    fn window(&mut self, (start, size, async_size): (u64, u64, u64), order: u8) {
        let start = PageIndex(start);
        let fresh = self.world.files[0];
        let (size, async_size) = (Pages(size), Pages(async_size));
        self.world.files[0] = FileRaState { start, size, async_size, order, ..fresh };
        let ractl = ReadaheadControl::new(FILE, start);
        self.run(|kernel| PageCacheRaOrder::enter(kernel, ractl, order));
    }

    fn cached(&mut self, pages: impl IntoIterator<Item = u64>) {
        for index in pages.into_iter().map(PageIndex) {
            let flags = FolioFlags::UPTODATE;
            self.world.inodes[0].cache.insert(Folio { index, order: 0, flags });
        }
    }

    /// The window of the readahead state: start, size and the pages behind its mark.
    fn state(&self) -> String {
        let FileRaState { start, size, async_size, .. } = self.world.files[0];
        format!("({}, {}, {})", start.0, size.0, async_size.0)
    }

    fn folios(&self) -> Vec<Folio> {
        self.world.inodes[0].cache.folios().collect()
    }

    fn marked(&self) -> Vec<u64> {
        let marked = |folio: &Folio| folio.flags.contains(FolioFlags::READAHEAD);
        self.folios().into_iter().filter(marked).map(|folio| folio.index.0).collect()
    }
}

fn list(numbers: impl IntoIterator<Item = u64>) -> String {
    let numbers: Vec<String> = numbers.into_iter().map(|number| number.to_string()).collect();
    if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") }
}

const KERNELS: [&str; 3] = ["linux-6.1", "linux-6.12", "linux-7.3"];

/// Each kernel with either rounding.
fn roundings() -> impl Iterator<Item = (&'static str, &'static str, Design)> {
    KERNELS.into_iter().flat_map(|kernel| {
        [("down", MarkRounding::Down), ("up", MarkRounding::Up)].map(|(name, rounding)| {
            let changes = Changes { mark_rounding: Some(rounding), ..Changes::NONE };
            (kernel, name, design(kernel).with(&changes))
        })
    })
}

/// The mail's own windows.
fn page_one() -> String {
    let rows = roundings().map(|(kernel, rounding, design)| {
        // Up to 6.12 the order of the folio that was found is raised by two.
        let raised = if kernel == "linux-7.3" { 2 } else { 0 };
        let marks = [(15, raised), (31, 3)].map(|(size, order)| {
            let mut alone = Alone::new(design.clone(), 1000, 32);
            alone.window((1, size, size), order);
            list(alone.marked())
        });
        let [short, long] = marks;
        vec![kernel.to_owned(), rounding.to_owned(), short, long]
    });
    table("kernel | mark rounded | pages 1 to 15 | pages 1 to 31", rows)
}

/// 400 sequential reads of 128 KiB.
fn sequential() -> String {
    let rows = roundings().flat_map(|(kernel, rounding, design)| {
        [192, 256, 1024].map(|ra_pages| {
            let mut alone = Alone::new(design.clone(), 190_001, ra_pages);
            let mut several = 0;
            for at in 0..400 {
                alone.read(at * 32, 32);
                several += u32::from(alone.marked().len() > 1);
            }
            let Heard { missed, marked, .. } = alone.heard;
            let [all, reading] = [0, 1].map(|at| missed[at] + marked[at]);
            let numbers = [all, reading, missed[0], several].map(|number| number.to_string());
            [&[kernel.to_owned(), rounding.to_owned(), ra_pages.to_string()], &numbers[..]].concat()
        })
    });
    table(
        "kernel | mark rounded | ra_pages | requests | that read something | after a miss | reads \
         that end with more than one mark",
        rows,
    )
}

/// Sizes of the windows of a sequential stream.
fn sizes() -> String {
    let rows = [(32, 1, 4), (256, 32, 0), (1024, 32, 0)].into_iter().flat_map(
        |(ra_pages, pages, first)| {
            KERNELS.map(|kernel| {
                let mut alone = Alone::new(design(kernel), 1_000_000, ra_pages);
                let mut windows = Vec::new();
                let mut at = first;
                while windows.len() < 9 {
                    alone.read(at, pages);
                    at += pages;
                    let FileRaState { start, size, .. } = alone.world.files[0];
                    let another = windows.last().is_none_or(|(last, _)| *last != start);
                    if another && size > Pages::ZERO {
                        windows.push((start, size.0));
                    }
                }
                let stream = format!("{pages} from page {first}");
                let sizes = list(windows.into_iter().map(|(_, size)| size));
                vec![kernel.to_owned(), ra_pages.to_string(), stream, sizes]
            })
        },
    );
    table("kernel | ra_pages | pages a read | sizes of the first windows", rows)
}

/// A window of 32 pages that is cut by the end of the file.
fn end_of_file() -> String {
    let rows = KERNELS.iter().flat_map(|kernel| {
        [("base pages", 0), ("large folios", 9)].map(|(mapping, max_order)| {
            let mut alone = Alone::new(design(kernel), 20, 32);
            alone.scenario.inodes[0].max_order = max_order;
            alone.window((0, 32, 16), 2);
            let pages = alone.world.inodes[0].cache.nr_pages();
            let marked = list(alone.marked());
            vec![(*kernel).to_owned(), mapping.to_owned(), pages.to_string(), marked]
        })
    });
    table("kernel | mapping | pages added | marked", rows)
}

/// Folios of four pages, the first of which is there already.
fn dropped() -> String {
    let rows = ["linux-6.12", "linux-7.3"].into_iter().flat_map(|kernel| {
        [40, 41].map(|start| {
            let mut alone = Alone::new(design(kernel), 1000, 32);
            alone.scenario.inodes[0].min_order = 2;
            let (index, flags) = (PageIndex(40), FolioFlags::UPTODATE);
            alone.world.inodes[0].cache.insert(Folio { index, order: 2, flags });
            alone.window((start, 32, 8), 0);
            let folios: Vec<u64> = alone.folios().iter().map(|folio| folio.index.0).collect();
            let added = list(folios.into_iter().filter(|index| *index != 40));
            vec![kernel.to_owned(), start.to_string(), added, list(alone.marked())]
        })
    });
    table("kernel | window begins at | folios added | marked", rows)
}

/// One page in the way of a window with a mark.
fn second_mark() -> String {
    let rows = KERNELS.iter().flat_map(|kernel| {
        [4, 3].map(|async_size| {
            let mut alone = Alone::new(design(kernel), 1000, 32);
            alone.cached([3]);
            alone.window((1, 4, async_size), 0);
            let pages = alone.folios().into_iter().flat_map(|folio| folio.index.0..folio.end().0);
            let pages = list(pages.filter(|page| *page != 3));
            let mark = (5 - async_size).to_string();
            vec![(*kernel).to_owned(), mark, pages, list(alone.marked())]
        })
    });
    table("kernel | the mark belongs to | pages added | marked", rows)
}

/// What the spec expects, which `every_spec_is_as_expected` has checked.
pub(crate) fn expected(spec: &str, design: &str, claim: &str) -> String {
    static SPECS: LazyLock<Vec<library::Found>> =
        LazyLock::new(|| library::load(&[]).expect("specs are good"));
    let file = format!("specs/{spec}.toml");
    let found = SPECS.iter().find(|found| found.spec.file == file).expect("the spec is there");
    let expected = &found.spec.expectations[design];
    let parse = |claim| Claim::parse(claim, |_| None).expect("it can be asked");
    match claim.strip_prefix("threshold ") {
        Some(claim) => Value::From(expected.thresholds[&parse(claim)]).to_string(),
        None => expected.answers[&parse(claim)].to_string(),
    }
}

fn findings() -> String {
    let rows = SHOWN.iter().map(|Shown { finding, what, spec, claims }| {
        let results = claims
            .iter()
            .map(|(design, claim)| format!("{design}: {claim} {}", expected(spec, design, claim)));
        let results: Vec<String> = results.collect();
        vec![
            (*finding).to_owned(),
            (*what).to_owned(),
            format!("`specs/{spec}.toml`"),
            results.join("; "),
        ]
    });
    table("finding | what it says | spec | result", rows)
}

/// Two reads of 20 pages, where there is memory for the pages of the first alone while it runs.
fn early_stop() -> String {
    let rows = KERNELS.map(|kernel| {
        let mut alone = Alone::new(design(kernel), 1000, 128);
        alone.scenario.inodes[0].max_order = 0;
        alone.scenario.policy.file.folio_alloc_fails = true;
        alone.heard.room = Some(20);
        alone.read(0, 20);
        let (state, marked) = (alone.state(), list(alone.marked()));
        let pages = alone.world.inodes[0].cache.nr_pages();
        alone.heard.room = None;
        alone.read(20, 20);
        let requests = alone.heard.missed[0] - 1;
        let cells = [state, pages.to_string(), marked, alone.state(), requests.to_string()];
        [&[kernel.to_owned()], &cells[..]].concat()
    });
    table(
        "kernel | state after the first read | pages cached | marked | state after the second | \
         its misses",
        rows,
    )
}

/// A mark that no window expects is found, and as many pages as a window may have follow.
fn no_gap() -> String {
    let rows = KERNELS.map(|kernel| {
        let mut alone = Alone::new(design(kernel), 1000, 32);
        alone.cached((0..10).chain(11..100));
        let (index, flags) = (PageIndex(10), FolioFlags::UPTODATE | FolioFlags::READAHEAD);
        alone.world.inodes[0].cache.insert(Folio { index, order: 0, flags });
        let before = alone.world.inodes[0].cache.nr_pages();
        alone.read(10, 1);
        let added = alone.world.inodes[0].cache.nr_pages() - before;
        vec![kernel.to_owned(), alone.state(), added.to_string()]
    });
    table("kernel | state | pages added", rows)
}

#[test]
fn what_windows_come_to_is_written_down() {
    let parts = [
        ("findings", findings()),
        ("page one", page_one()),
        ("sequential", sequential()),
        ("sizes", sizes()),
        ("end of file", end_of_file()),
        ("dropped", dropped()),
        ("second mark", second_mark()),
        ("early stop", early_stop()),
        ("no gap", no_gap()),
    ];
    fresh("docs/readahead.md", parts.map(|(name, text)| (name.to_owned(), text)));
}
