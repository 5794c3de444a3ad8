//! The memcg of a recording: its limits, and what its charges, its handlers and its passes do.

use super::{Header, Malformed};
use crate::conform::files::{Bench, FileSetup};
use mm_model::design::{Lru, MappingOrders, MglruGoal};
use mm_model::env::Env;
use mm_model::gfp::Gfp;
use mm_model::ids::{FileId, MemcgId};
use mm_model::lru::{FolioFlags, LruList, Run};
use mm_model::mm::filemap::filemap_fault::FilemapFault;
use mm_model::mm::memcontrol::mem_cgroup_handle_over_high::MemCgroupHandleOverHigh;
use mm_model::mm::memcontrol::mem_cgroup_reclaim_for_batch::MemCgroupReclaimForBatch;
use mm_model::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use mm_model::property::pass_bound;
use mm_model::scenario::{MemcgConfig, Pass, Reclaim, Scenario, VmFlags};
use mm_model::step::{Frame, Next};
use mm_model::units::{PageIndex, Pages};

mod script;
use script::{Charge, Script};

/// CPUs of the recorded machines.
pub(super) const CPUS: u64 = 2;
/// Nodes, unless the run says more.
const NODES: usize = 1;

/// The limits of one level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) max: Pages,
    pub(super) high: Pages,
}

/// A round of the handler of memory.high.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub(super) usage: Pages,
    pub(super) freed: Pages,
}

/// The memcg the tasks are in, and the one above it where there is one.
pub(super) struct Group {
    bench: Bench,
    /// From the uppermost level down.
    pub(super) levels: Vec<Limits>,
    nodes: usize,
    max_order: u8,
}

impl Group {
    /// What the first line says of the memcg.
    pub(super) fn parse(header: &Header<'_>) -> Result<Self, Malformed> {
        let unlimited = Pages::UNLIMITED;
        let high = header.facts.get("high").map_or(Ok(unlimited), |high| pages(high))?;
        let levels = match header.facts.get("max") {
            None => vec![Limits { max: unlimited, high }],
            Some(max) => {
                match max.strip_prefix("parent").and_then(|rest| rest.split_once("_child_")) {
                    Some((parent, child)) => {
                        let child = Some(pages(child)?).filter(|max| *max > Pages::ZERO);
                        vec![
                            Limits { max: pages(parent)?, high: unlimited },
                            Limits { max: child.unwrap_or(unlimited), high },
                        ]
                    }
                    None => vec![Limits { max: pages(max)?, high }],
                }
            }
        };
        let file_system = header.file_system();
        Ok(Self::new(header, levels, header.kernel.file_system(file_system).0))
    }

    fn new(header: &Header<'_>, levels: Vec<Limits>, max_order: u8) -> Self {
        let setup = FileSetup {
            last_page: 0,
            min_order: 0,
            max_order,
            ra_pages: 32,
            io_pages: 32,
            expands: None,
            fs_leaves: false,
        };
        let mut design = header.kernel.design();
        if header.facts.get("lru_gen").is_some_and(|lru| *lru != "0x0000") {
            design.lru = Lru::Mglru;
        }
        let memcg = |nth: usize| MemcgConfig {
            name: format!("level {nth}"),
            parent: nth.checked_sub(1).map(|above| MemcgId(u8::try_from(above).expect("few"))),
            max: levels[nth].max,
            high: levels[nth].high,
            memsw_max: None,
            lru: Pages::ZERO,
            anon: Pages::ZERO,
            reclaim: Reclaim::default(),
        };
        let memcgs = (0..levels.len()).map(memcg).collect();
        let bench = Bench::with_design(design, &setup).with_memcgs(memcgs);
        Self { bench, levels, nodes: NODES, max_order }
    }

    /// A machine of more nodes.
    pub(super) fn with_nodes(self, nodes: usize) -> Self {
        Self { nodes, ..self }
    }

    /// The memcg that an outside task reclaims from; the run has no limits.
    pub(super) fn outside(header: &Header<'_>) -> Self {
        let run = header.words.last().copied().unwrap_or_default();
        let file_system = run.split_once('_').map_or("", |(_, rest)| rest);
        let file_system = file_system.split('.').next().unwrap_or_default();
        let (max_order, _) = header.kernel.file_system(file_system);
        Self::new(header, vec![Limits { max: Pages::UNLIMITED, high: Pages::UNLIMITED }], max_order)
    }

    /// With so many memcgs below, where the pages are.
    pub(super) fn with_children(mut self, children: usize) -> Self {
        let scenario = &mut self.bench.scenario;
        for nth in 0..children {
            let parent = Some(MemcgId(0));
            let child =
                MemcgConfig { name: format!("child {nth}"), parent, ..scenario.memcgs[0].clone() };
            scenario.memcgs.push(child);
        }
        self.bench.restart();
        self
    }

    /// The largest folio that can be on a list.
    pub(super) const fn largest_folio(&self) -> Pages {
        Pages::of_order(self.max_order)
    }

    /// Runs a function until it returns or enough was seen.
    pub(super) fn run_until<F: Frame, E: Env>(
        &mut self,
        mut frame: F,
        env: &mut E,
        enough: impl Fn(&E) -> bool,
    ) -> Option<F::Output> {
        while !enough(env) {
            match self.bench.step(frame, env) {
                Next::Goto(next) => frame = next,
                Next::Return(value) => return Some(value),
            }
        }
        None
    }

    /// Another LRU.
    pub(super) fn with_lru(mut self, lru: Lru) -> Self {
        self.bench.scenario.design.lru = lru;
        self
    }

    pub(super) fn scenario(&self) -> &Scenario {
        &self.bench.scenario
    }

    /// The memcg of the tasks.
    pub(super) fn own(&self) -> MemcgId {
        MemcgId(u8::try_from(self.levels.len() - 1).expect("few memcgs"))
    }

    fn set_usage(&mut self, level: usize, usage: Pages) {
        self.bench.restart();
        self.bench.world().memcgs[level].memory.usage = usage;
    }

    /// What a charge asks of its first pass when one level has that usage, if it comes to a pass.
    pub(super) fn charge(&mut self, level: usize, usage: Pages, gfp: Gfp, nr: Pages) -> Vec<Pages> {
        self.set_usage(level, usage);
        let own = self.own();
        let frame = TryChargeMemcg::enter(&self.bench.scenario, own, gfp, nr);
        self.passes(frame, &[])
    }

    /// As [`Self::charge`], with pages charged over memory.high before.
    pub(super) fn charge_over_high(
        &mut self,
        (usage, before): (Pages, Pages),
        gfp: Gfp,
        nr: Pages,
        rounds: &[Round],
    ) -> Vec<Pages> {
        let level = self.levels.len() - 1;
        self.set_usage(level, usage);
        self.bench.current().memcg_nr_pages_over_high = before;
        let own = self.own();
        let frame = TryChargeMemcg::enter(&self.bench.scenario, own, gfp, nr);
        self.passes(frame, rounds)
    }

    /// What the handler of memory.high asks of its passes on return to user space.
    pub(super) fn handle_over_high(
        &mut self,
        usage: Pages,
        over_high: Pages,
        rounds: &[Round],
    ) -> Vec<Pages> {
        let level = self.levels.len() - 1;
        self.set_usage(level, usage);
        self.bench.current().memcg_nr_pages_over_high = over_high;
        self.passes(MemCgroupHandleOverHigh::enter(), rounds)
    }

    /// Passes of a charge that fails because nothing that they free is left to it.
    pub(super) fn passes_of_failing_charge(&mut self, gfp: Gfp, nr: Pages) -> u64 {
        let level = self.levels.len() - 1;
        let full = Pages(1 << 20);
        self.set_usage(level, full);
        self.bench.world().memcgs[level].memory.max = full;
        let frame = TryChargeMemcg::enter(&self.bench.scenario, self.own(), gfp, nr);
        let rounds = [Round { usage: full, freed: Pages(1) }; 32];
        let mut script = Script::new(level, &rounds, usize::MAX);
        self.run(frame, &mut script);
        script.asked.len() as u64
    }

    /// Whether a charge can end like that after so many passes. Whether others take what a pass
    /// frees is chosen for each.
    pub(super) fn charge_can_end(&mut self, gfp: Gfp, nr: Pages, passes: usize, ok: bool) -> bool {
        let chosen = passes.min(8);
        (0_u64..1 << chosen).any(|margins| {
            self.set_usage(0, Pages::ZERO);
            let frame = TryChargeMemcg::enter(&self.bench.scenario, self.own(), gfp, nr);
            let mut script = Charge { level: self.own(), passes, ok, margins, done: 0 };
            let result = self.run_until(frame, &mut script, |script| script.done > passes);
            script.done == passes && result.is_some_and(|result| result.is_ok() == ok)
        })
    }

    /// What a batch reclaim asks of its first pass when one level has that usage.
    pub(super) fn batch(&mut self, level: usize, usage: Pages, nr: Pages) -> Vec<Pages> {
        self.set_usage(level, usage);
        let frame = MemCgroupReclaimForBatch::enter(Some(self.own()), nr, Gfp::READAHEAD);
        self.passes(frame, &[])
    }

    /// Whether a batch reclaim says yes: after a pass that leaves `usage`, if it comes to one.
    pub(super) fn batch_answer(
        &mut self,
        level: usize,
        before: Pages,
        nr: Pages,
        after: Round,
    ) -> bool {
        self.set_usage(level, before);
        let frame = MemCgroupReclaimForBatch::enter(Some(self.own()), nr, Gfp::READAHEAD);
        let mut script = Script::new(level, &[after], usize::MAX);
        self.run(frame, &mut script).expect("it ends")
    }

    /// The passes that a function asks for, up to the one after those that are answered.
    fn passes<F: Frame>(&mut self, frame: F, rounds: &[Round]) -> Vec<Pages> {
        let mut script = Script::new(self.levels.len() - 1, rounds, rounds.len() + 1);
        self.run(frame, &mut script);
        script.asked
    }

    fn run<F: Frame>(&mut self, frame: F, script: &mut Script) -> Option<F::Output> {
        self.run_until(frame, script, |script| script.asked.len() >= script.most)
    }

    /// The mask that readahead charges a folio with.
    pub(super) fn readahead_mask(&mut self) -> Gfp {
        self.mask_of_first_add(VmFlags::empty())
    }

    /// The mask that a fault charges a folio with.
    pub(super) fn demand_mask(&mut self) -> Gfp {
        self.mask_of_first_add(VmFlags::RAND_READ)
    }

    fn mask_of_first_add(&mut self, vm_flags: VmFlags) -> Gfp {
        self.bench.restart();
        let mut stubs = crate::conform::files::Stubs::default();
        let frame = FilemapFault::enter(FileId(0), PageIndex(0), vm_flags);
        self.bench.run(frame, &mut stubs, 1);
        stubs.adds.first().expect("a fault brings its page").gfp
    }

    /// The folio orders that readahead may add.
    pub(super) fn folio_orders(&self) -> Vec<u8> {
        let any = self.bench.scenario.design.mapping_orders == MappingOrders::AnyOrZero;
        (0..=self.max_order).filter(|order| !(any && *order == 1)).collect()
    }

    /// The most that one pass for so many pages can free, if that has a bound.
    pub(super) fn pass_bound(&self, nr_pages: Pages) -> Option<Pages> {
        let design = &self.bench.scenario.design;
        if design.lru == Lru::Mglru && design.mglru_goal == MglruGoal::Root {
            return None;
        }
        let mut scenario = self.bench.scenario.clone();
        scenario.granularity.reclaim.pass = Pass::Walked;
        let run = Run { flags: FolioFlags::empty(), order: self.max_order, nr_folios: 1 };
        let lists = vec![(LruList::InactiveFile, run)];
        for memcg in &mut scenario.memcgs {
            memcg.reclaim.nodes = vec![lists.clone(); self.nodes];
        }
        Some(pass_bound(&scenario, MemcgId(0), nr_pages))
    }
}

/// An amount of memory as the first line has it, in pages.
fn pages(text: &str) -> Result<Pages, Malformed> {
    let malformed =
        || Malformed { line: 1, column: 1, message: format!("`{text}` is no amount of memory") };
    if matches!(text, "-" | "max" | "none") {
        return Ok(Pages::UNLIMITED);
    }
    amount(text).map(|bytes| Pages(bytes / 4096)).ok_or_else(malformed)
}

/// Bytes of an amount such as `128K`.
pub(super) fn amount(text: &str) -> Option<u64> {
    let unit = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let shift = match unit {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_shl(shift)
}
