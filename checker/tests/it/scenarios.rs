//! Small scenarios, built in Rust.

use mm_checker::engine::reference::explore;
use mm_checker::engine::{Budget, Explored, Quiet};
use mm_checker::graph::Graph;
use mm_model::design::{Changes, CounterTest, CounterUndo, MarginRetry, Nofail, Noretry, PRESETS};
use mm_model::gfp::Gfp;
use mm_model::ids::{CpuId, InodeId, MemcgId};
use mm_model::kernel::Kernel;
use mm_model::machine::Fuse;
use mm_model::scenario::{
    ActorConfig, ActorKind, CpuConfig, EmptyPasses, FileConfig, FilePolicy, Granularity,
    InodeConfig, Layout, MemcgConfig, OomOutcome, Op, PassFrees, Policy, Reclaim, ReclaimPolicy,
    Scenario, Steps, Store, TaskContext, TaskFlags,
};
use mm_model::units::{PageIndex, Pages};
use mm_model::world::FileRaState;

/// A scenario being built: one memcg `job`, every constant at 1, linux-7.3, no actor.
pub(crate) struct Small(Scenario);

impl Small {
    /// With that memory.max.
    pub(crate) fn job(max: u64) -> Self {
        let job = MemcgConfig {
            name: "job".to_owned(),
            parent: None,
            max: Pages(max),
            high: Pages::UNLIMITED,
            memsw_max: None,
            lru: Pages::ZERO,
            anon: Pages::ZERO,
            reclaim: Reclaim::default(),
        };
        Self(Scenario {
            kernel: Kernel {
                memcg_charge_batch: Pages(1),
                max_reclaim_retries: 1,
                swap_cluster_max: Pages(1),
                ..Kernel::default()
            },
            design: PRESETS[0].design.clone(),
            memcgs: vec![job],
            cpus: Vec::new(),
            actors: Vec::new(),
            inodes: Vec::new(),
            files: Vec::new(),
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
        })
    }

    /// `job` lies in a memcg `parent` with that memory.max, and begins with `lru` reclaimable
    /// pages of its own.
    pub(crate) fn within(mut self, max: u64) -> Self {
        let job = self.0.memcgs.remove(0);
        let parent = MemcgConfig { name: "parent".to_owned(), max: Pages(max), ..job.clone() };
        self.0.memcgs = vec![parent, MemcgConfig { parent: Some(MemcgId(0)), ..job }];
        self.0.actors.iter_mut().for_each(|actor| actor.task.memcg = MemcgId(1));
        self
    }

    /// Pages that can be reclaimed from the start.
    pub(crate) fn lru(mut self, pages: u64) -> Self {
        self.0.memcgs.last_mut().expect("there is `job`").lru = Pages(pages);
        self
    }

    /// A charge takes that many pages at once.
    pub(crate) fn batch(mut self, pages: u64) -> Self {
        self.0.kernel.memcg_charge_batch = Pages(pages);
        self
    }

    /// Under another of the named designs.
    pub(crate) fn preset(mut self, name: &str) -> Self {
        let preset = PRESETS.iter().find(|preset| preset.name == name).expect("a known design");
        self.0.design = preset.design.clone();
        self
    }

    /// A task may be moving between groups.
    pub(crate) fn charge_moving(mut self) -> Self {
        self.0.policy.charge_moving = true;
        self
    }

    /// With a decision made otherwise.
    pub(crate) fn design(mut self, changes: &Changes) -> Self {
        self.0.design = self.0.design.with(changes);
        self
    }

    /// The counters and the drain in the kernel's own steps.
    pub(crate) fn kernel_steps(mut self) -> Self {
        let granularity = &mut self.0.granularity;
        (granularity.counter, granularity.drain) = (Steps::Kernel, Steps::Kernel);
        self
    }

    /// A file of that many pages, of which a window reads as many, used by all tasks.
    pub(crate) fn file(mut self, pages: u64) -> Self {
        let memcg = MemcgId::from(self.0.memcgs.len() - 1);
        let inode = InodeId::from(self.0.inodes.len());
        self.0.inodes.push(InodeConfig {
            name: "file".to_owned(),
            memcg: Some(memcg),
            last_page: pages.checked_sub(1).map(PageIndex),
            min_order: 0,
            max_order: 2,
            store: Store::Bits,
            cached: Vec::new(),
            expands: None,
            shared: true,
            layout: Layout::Line,
        });
        self.0.files.push(FileConfig {
            name: "file".to_owned(),
            inode,
            ra_pages: Pages(pages),
            io_pages: Pages(pages),
            random: false,
            ra: FileRaState::default(),
            shared: true,
        });
        self
    }

    /// What may happen to files.
    pub(crate) fn file_policy(mut self, policy: FilePolicy) -> Self {
        self.0.policy.file = policy;
        self
    }

    /// The readahead state of a file a field at a time.
    pub(crate) fn field_steps(mut self) -> Self {
        self.0.granularity.file_ra_state = Steps::Kernel;
        self
    }

    /// A task on a CPU of its own that runs its program once.
    pub(crate) fn once(self, name: &str, program: &[Op]) -> Self {
        self.task(name, program, false)
    }

    /// A task on a CPU of its own that runs its program for ever.
    pub(crate) fn forever(self, name: &str, program: &[Op]) -> Self {
        self.task(name, program, true)
    }

    fn task(mut self, name: &str, program: &[Op], repeat: bool) -> Self {
        let kind = ActorKind::Task { program: program.to_vec(), repeat };
        let cpu = CpuId::from(self.0.cpus.len());
        self.0.cpus.push(CpuConfig::default());
        self.actor(name, cpu, kind)
    }

    /// A drain worker on every CPU.
    pub(crate) fn drain_workers(mut self) -> Self {
        for cpu in 0..self.0.cpus.len() {
            self = self.actor(&format!("worker {cpu}"), CpuId::from(cpu), ActorKind::DrainWorker);
        }
        self
    }

    fn actor(mut self, name: &str, cpu: CpuId, kind: ActorKind) -> Self {
        let memcg = MemcgId::from(self.0.memcgs.len() - 1);
        let task = TaskContext { memcg, cpu, flags: TaskFlags::empty() };
        self.0.actors.push(ActorConfig { name: name.to_owned(), task, kind });
        self
    }

    /// The scenario.
    pub(crate) fn build(self) -> Scenario {
        self.0
    }
}

/// Charges with the flags of a class.
pub(crate) fn charge(nr_pages: u64, class: &str) -> Op {
    Op::Charge { nr_pages: Pages(nr_pages), gfp: Gfp::class(class).expect("a known class") }
}

/// Uncharges.
pub(crate) const fn uncharge(nr_pages: u64) -> Op {
    Op::Uncharge { nr_pages: Pages(nr_pages) }
}

/// Puts pages on the LRU.
pub(crate) const fn lru_add(nr_pages: u64) -> Op {
    Op::LruAdd { nr_pages: Pages(nr_pages) }
}

/// Two tasks that charge a page each for ever and let reclaim have it, in a memcg that holds one:
/// S13, the retry without a count, for both.
pub(crate) fn two_at_the_limit(changes: &Changes) -> Scenario {
    let program = [charge(1, "readahead"), lru_add(1)];
    Small::job(1).lru(1).design(changes).forever("A", &program).forever("B", &program).build()
}

/// Everything reachable, and the graph.
pub(crate) fn explored(scenario: &Scenario, fuse: Fuse) -> (Explored, Graph) {
    let (explored, graph) = explore(scenario, fuse, &Budget::default(), &mut Quiet, true);
    (explored, graph.expect("a search without a budget is complete"))
}

/// Scenarios for whatever must be so of any, each with a name.
pub(crate) fn all() -> Vec<(&'static str, Scenario)> {
    let cached = [charge(1, "readahead"), lru_add(1)];
    let held = [charge(1, "kernel"), uncharge(1)];
    let broken = |changes: Changes| {
        let program = [charge(1, "nofail"), lru_add(1)];
        Small::job(2).lru(1).design(&changes).kernel_steps().once("A", &program).once("B", &cached)
    };
    let stocked = || Small::job(2).batch(2);
    let room_for_one =
        || Small::job(1).within(4).kernel_steps().once("A", &[charge(1, "nonblocking")]);
    let racy = Changes { counter_test: Some(CounterTest::CompareThenAdd), ..Changes::NONE };
    let leaky = Changes { counter_undo: Some(CounterUndo::RefusingLevel), ..Changes::NONE };
    let refused = Changes { nofail: Some(Nofail::Refused), ..Changes::NONE };
    let ooms = Changes { noretry: Some(Noretry::Ignored), ..Changes::NONE };
    vec![
        ("two at the limit", two_at_the_limit(&Changes::NONE)),
        (
            "two at the limit, counted",
            two_at_the_limit(&Changes {
                margin_retry: Some(MarginRetry::Counted),
                ..Changes::NONE
            }),
        ),
        ("held and cached", Small::job(2).forever("A", &held).forever("B", &cached).build()),
        (
            "held and cached, in the kernel's steps",
            Small::job(2).kernel_steps().forever("A", &held).forever("B", &cached).build(),
        ),
        (
            "stocks and drains",
            stocked().forever("A", &held).forever("B", &cached).drain_workers().build(),
        ),
        (
            "stocks and drains, in the kernel's steps",
            stocked()
                .kernel_steps()
                .once("A", &[held, held].concat())
                .once("B", &cached)
                .drain_workers()
                .build(),
        ),
        ("three", Small::job(2).once("A", &cached).once("B", &cached).once("C", &held).build()),
        ("compares before it adds", broken(racy).build()),
        ("undoes one level", broken(leaky).within(2).build()),
        (
            "refuses what must not fail",
            Small::job(0)
                .design(&refused)
                .once("A", &[charge(1, "nofail")])
                .once("B", &cached)
                .build(),
        ),
        (
            "waits for a move",
            Small::job(0)
                .preset("linux-6.12")
                .charge_moving()
                .forever("A", &[charge(1, "kernel")])
                .once("B", &[charge(1, "kernel")])
                .build(),
        ),
        // The winner's attempt has passed `job` and is on its way to `parent` when the other comes.
        (
            "room for one, in the kernel's steps",
            room_for_one().once("B", &[charge(1, "nonblocking")]).build(),
        ),
        (
            "room for one and one is forced, in the kernel's steps",
            room_for_one().once("B", &[charge(1, "nonblocking_high")]).build(),
        ),
        ("readahead kills", Small::job(0).design(&ooms).once("A", &cached).build()),
    ]
}
