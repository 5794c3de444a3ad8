//! Reclaim under every interleaving of small configurations.

use indexmap::IndexSet;
use mm_model::design::{Changes, Design, Lru, PRESETS, ReclaimBatch};
use mm_model::env::{Call, Errno, Event, Operation};
use mm_model::gfp::Gfp;
use mm_model::ids::{ActorId, CpuId, MemcgId};
use mm_model::kernel::Kernel;
use mm_model::lru::{EvictionOrder, FolioFlags, LruList, Run};
use mm_model::machine::Fuse;
use mm_model::property::{PROPERTIES, Transition};
use mm_model::scenario::{
    ActorConfig, ActorKind, CpuConfig, EmptyPasses, FilePolicy, Granularity, MemcgConfig,
    OomOutcome, Op, Pass, PassFrees, Policy, Ram, Reclaim, ReclaimPolicy, ReclaimSteps, Scenario,
    Steps, TaskContext, TaskFlags,
};
use mm_model::state::State;
use mm_model::units::Pages;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

const JOB: MemcgId = MemcgId(0);

/// What the kernel's counters do not promise where their steps can be seen.
const NOT_PROMISED: [&str; 3] =
    ["no-transient-excess", "no-spurious-refusal", "eagain-tells-the-truth"];

fn preset(name: &str) -> Design {
    let preset = PRESETS.iter().find(|preset| preset.name == name);
    preset.expect("the design is there").design.clone()
}

/// A memcg below [`JOB`], or JOB itself, with those runs of file folios on each node.
fn memcg(name: &str, parent: Option<MemcgId>, nodes: &[&[Run]]) -> MemcgConfig {
    let listed = |runs: &&[Run]| runs.iter().map(|run| (LruList::InactiveFile, *run)).collect();
    MemcgConfig {
        name: name.to_owned(),
        parent,
        max: Pages::UNLIMITED,
        high: Pages::UNLIMITED,
        memsw_max: None,
        lru: Pages::ZERO,
        anon: Pages::ZERO,
        reclaim: Reclaim { nodes: nodes.iter().map(listed).collect(), ..Reclaim::default() },
    }
}

fn task(name: &str, cpu: u8, program: &[Op]) -> ActorConfig {
    ActorConfig {
        name: name.to_owned(),
        task: TaskContext { memcg: JOB, cpu: CpuId(cpu), flags: TaskFlags::empty() },
        kind: ActorKind::Task { program: program.to_vec(), repeat: false },
    }
}

fn pages(count: u64) -> Run {
    Run::base_pages(Pages(count))
}

fn one(flags: FolioFlags) -> Run {
    Run { flags, order: 0, nr_folios: 1 }
}

/// Everything in its smallest steps, with constants scaled to a cluster of one page.
fn scenario(design: Design, memcgs: Vec<MemcgConfig>, actors: Vec<ActorConfig>) -> Scenario {
    Scenario {
        kernel: Kernel {
            memcg_charge_batch: Pages(1),
            max_reclaim_retries: 1,
            mem_cgroup_reclaim_retries: 1,
            swap_cluster_max: Pages(1),
            def_priority: 1,
            min_lru_batch: Pages(1),
            ..Kernel::default()
        },
        design,
        memcgs,
        cpus: vec![CpuConfig::default(); 2],
        inodes: Vec::new(),
        files: Vec::new(),
        actors,
        policy: Policy {
            pass_frees: PassFrees::Goal,
            empty_passes: EmptyPasses::Never,
            oom: vec![OomOutcome::None],
            charge_moving: false,
            reclaim: ReclaimPolicy {
                order: EvictionOrder::Lru,
                swap: true,
                ..ReclaimPolicy::default()
            },
            file: FilePolicy::default(),
        },
        granularity: Granularity {
            counter: Steps::Kernel,
            drain: Steps::One,
            reclaim: ReclaimSteps {
                pass: Pass::Walked,
                walk: Steps::Kernel,
                iterator: Steps::Kernel,
                visit: Steps::Kernel,
            },
            file_ra_state: Steps::One,
        },
        ram: None,
    }
}

/// What a search saw.
#[derive(Default)]
struct Seen {
    states: IndexSet<State>,
    /// The states in which nobody can step.
    ends: BTreeSet<String>,
    /// How operations ended.
    results: BTreeSet<(Operation, i64)>,
    restarts: usize,
}

fn explore(scenario: &Scenario, fuse: Fuse) -> Seen {
    let mut seen = Seen::default();
    seen.states.insert(scenario.initial());
    let mut at = 0;
    while let Some(from) = seen.states.get_index(at).cloned() {
        let mut stuck = true;
        let _ = scenario.successors(&from, fuse, |actor, choose, to| {
            stuck = false;
            let events = choose.events();
            let step = Transition { scenario, from: Some((&from, actor)), to: &to, events };
            for property in PROPERTIES {
                let holds = !(property.applies)(&step) || (property.holds)(&step);
                let promised = !NOT_PROMISED.contains(&property.name);
                assert!(holds || !promised, "{} is violated by {events:?}", property.name);
            }
            for event in events {
                match event {
                    Event::End(operation, _, result) => {
                        seen.results.insert((*operation, *result));
                    }
                    Event::Restarted(_) => seen.restarts += 1,
                    Event::Returned(..)
                    | Event::Begin(..)
                    | Event::AboveMax(..)
                    | Event::Requested(_)
                    | Event::Fulfilled(..)
                    | Event::Reclaimed(..)
                    | Event::Unused(..)
                    | Event::Signalled(_)
                    | Event::Turned(..)
                    | Event::Wrapped(_)
                    | Event::ReadAhead(_) => {}
                }
            }
            seen.states.insert(to);
            ControlFlow::Continue(())
        });
        if stuck {
            seen.ends.insert(format!("{:?}", from.world));
        }
        at += 1;
    }
    seen
}

/// Explores with and without fusing, which must come to the same ends.
fn explore_both(scenario: &Scenario) -> Seen {
    let (fused, each) = (explore(scenario, Fuse::OwnLocal), explore(scenario, Fuse::No));
    assert_eq!(fused.ends, each.ends);
    assert_eq!(fused.results, each.results);
    assert!(fused.states.len() <= each.states.len());
    each
}

/// The least usage of JOB in any state.
fn least_usage(seen: &Seen) -> u64 {
    let usage = seen.states.iter().map(|state| state.world.memcgs[0].memory.usage.0);
    usage.min().expect("there is a first state")
}

fn write_reclaim(nr_pages: u64) -> Op {
    Op::WriteReclaim { memcg: JOB, nr_pages: Pages(nr_pages) }
}

fn ok(operation: Operation) -> (Operation, i64) {
    (operation, 0)
}

fn error(operation: Operation, errno: Errno) -> (Operation, i64) {
    (operation, errno as i64)
}

const WRITE: Operation = Operation::ReclaimWrite;

#[test]
fn two_writers_share_a_walk_and_conserve_every_charge() {
    let lists: [&[Run]; 2] = [&[pages(2)], &[pages(2)]];
    let memcgs = vec![memcg("job", None, &lists), memcg("a", Some(JOB), &lists)];
    let actors = vec![task("A", 0, &[write_reclaim(1)]), task("B", 1, &[write_reclaim(1)])];
    let mut scenario = scenario(preset("linux-7.3"), memcgs, actors);
    scenario.granularity.reclaim.visit = Steps::One;
    let seen = explore_both(&scenario);
    assert_eq!(seen.results, [ok(WRITE)].into());
    // One page of each node for each writer: no node is left out because the goal is reached.
    assert_eq!(least_usage(&seen), 8 - 4);
}

#[test]
fn a_full_walk_takes_from_every_memcg_and_a_shared_one_from_the_next() {
    let memcgs = || {
        let lists: [&[Run]; 1] = [&[pages(2)]];
        vec![
            memcg("job", None, &lists),
            memcg("a", Some(JOB), &lists),
            memcg("b", Some(JOB), &lists),
        ]
    };
    let freed = |design: Design| {
        let actors = vec![task("A", 0, &[write_reclaim(1)])];
        6 - least_usage(&explore_both(&scenario(design, memcgs(), actors)))
    };
    let whole = Changes { reclaim_batch: Some(ReclaimBatch::Whole), ..Changes::NONE };
    assert_eq!(freed(preset("linux-6.1")), 3);
    assert_eq!(freed(preset("linux-7.3").with(&whole)), 1);
}

#[test]
fn what_others_hold_is_not_freed_and_eagain_says_so() {
    for flags in [FolioFlags::LOCKED, FolioFlags::PINNED, FolioFlags::DIRTY, FolioFlags::WRITEBACK]
    {
        let lists: [&[Run]; 1] = [&[one(flags), one(flags)]];
        let actors = vec![task("A", 0, &[write_reclaim(1)])];
        let design = preset("linux-7.3");
        let seen = explore_both(&scenario(design, vec![memcg("job", None, &lists)], actors));
        assert_eq!(seen.results, [error(WRITE, Errno::EAGAIN)].into(), "{flags:?}");
        assert_eq!(least_usage(&seen), 2);
    }
}

#[test]
fn a_folio_that_is_unlocked_meanwhile_may_be_freed() {
    let lists: [&[Run]; 1] = [&[one(FolioFlags::LOCKED), one(FolioFlags::LOCKED)]];
    let unlock = Op::Mark { flags: FolioFlags::LOCKED, set: false, nr_folios: 2 };
    let actors = vec![task("A", 0, &[write_reclaim(1)]), task("B", 1, &[unlock])];
    let memcgs = vec![memcg("job", None, &lists)];
    let seen = explore_both(&scenario(preset("linux-7.3"), memcgs, actors));
    assert_eq!(seen.results, [ok(WRITE), error(WRITE, Errno::EAGAIN)].into());
}

#[test]
fn only_the_last_attempt_sees_what_another_cpu_has_collected() {
    let charge = Op::Charge { nr_pages: Pages(1), gfp: Gfp::KERNEL };
    let add = Op::LruAdd { nr_pages: Pages(1) };
    let passes = |retries: u8| {
        let actors = vec![
            task("A", 0, &[charge, add, Op::Signal { actor: ActorId(1) }]),
            task("B", 1, &[write_reclaim(1)]),
        ];
        let memcgs = vec![memcg("job", None, &[&[]])];
        let mut scenario = scenario(preset("linux-6.12"), memcgs, actors);
        scenario.kernel.max_reclaim_retries = retries;
        // A runs to its end before B begins.
        let mut state = scenario.initial();
        let mut log = mm_model::choose::Choose::default();
        for actor in [ActorId(0), ActorId(1)] {
            while scenario.enabled(&state, actor) {
                scenario.step(&mut state, actor, &mut log);
            }
        }
        let freed = log.events().iter().filter_map(|event| match event {
            Event::Returned(Call::TryToFreeMemCgroupPages { .. }, freed) => Some(*freed),
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
            | Event::Wrapped(_)
            | Event::ReadAhead(_) => None,
        });
        freed.collect::<Vec<_>>()
    };
    assert_eq!(passes(2), [0, 0, 1]);
}

#[test]
fn a_signal_interrupts_6_12_and_restarts_7_3_which_forgets_its_progress() {
    let explore_with = |design: &str| {
        let lists: [&[Run]; 1] = [&[pages(4)]];
        let signal = Op::Signal { actor: ActorId(0) };
        let actors = vec![task("A", 0, &[write_reclaim(2)]), task("B", 1, &[signal])];
        let one_by_one = Changes { reclaim_batch: Some(ReclaimBatch::Clipped), ..Changes::NONE };
        let memcgs = vec![memcg("job", None, &lists)];
        let mut scenario = scenario(preset(design).with(&one_by_one), memcgs, actors);
        scenario.policy.reclaim.syscalls_restart = true;
        explore_both(&scenario)
    };
    let interrupted = explore_with("linux-6.12");
    assert_eq!(interrupted.results, [ok(WRITE), error(WRITE, Errno::EINTR)].into());
    assert_eq!((interrupted.restarts, least_usage(&interrupted)), (0, 2));
    let restarted = explore_with("linux-7.3");
    assert_eq!(restarted.results, [ok(WRITE), error(WRITE, Errno::EINTR)].into());
    assert!(restarted.restarts > 0);
    assert_eq!(least_usage(&restarted), 1, "one page before the signal and two after it");
}

#[test]
fn without_a_floor_the_quarter_rule_asks_for_nothing_and_fails() {
    let lists: [&[Run]; 1] = [&[pages(4)]];
    let explore_with = |floor: u8| {
        let changes = Changes { reclaim_floor: Some(floor), ..Changes::NONE };
        let actors = vec![task("A", 0, &[write_reclaim(3)])];
        let memcgs = vec![memcg("job", None, &lists)];
        let mut scenario = scenario(preset("linux-7.3").with(&changes), memcgs, actors);
        scenario.granularity.reclaim = ReclaimSteps::default();
        explore_both(&scenario).results
    };
    assert_eq!(explore_with(1), [ok(WRITE)].into());
    assert_eq!(explore_with(0), [error(WRITE, Errno::EAGAIN)].into());
}

#[test]
fn a_charge_that_passed_the_old_limit_stands_above_the_new_one() {
    let charge = Op::Charge { nr_pages: Pages(1), gfp: Gfp::KERNEL };
    let max = Op::WriteMax { memcg: JOB, max: Pages(1) };
    let actors = vec![task("A", 0, &[charge, charge]), task("B", 1, &[max])];
    let memcgs = vec![memcg("job", None, &[&[]])];
    let seen = explore_both(&scenario(preset("linux-7.3"), memcgs, actors));
    let charge = Operation::Charge;
    let expected = [ok(charge), error(charge, Errno::ENOMEM), ok(Operation::MaxWrite)];
    assert_eq!(seen.results, expected.into());
    let usage = |end: &String| end.contains("usage: 2, max: 1");
    assert!(seen.ends.iter().any(usage), "{:?}", seen.ends);
}

#[test]
fn a_writer_of_high_reclaims_down_to_it_and_leaves_another_limit_alone() {
    let lists: [&[Run]; 1] = [&[pages(4)]];
    let high = |high: u64| Op::WriteHigh { memcg: JOB, high: Pages(high) };
    let actors = vec![task("A", 0, &[high(1)]), task("B", 1, &[high(3)])];
    let mut scenario = scenario(preset("linux-7.3"), vec![memcg("job", None, &lists)], actors);
    scenario.granularity.reclaim.visit = Steps::One;
    let seen = explore_both(&scenario);
    assert_eq!(seen.results, [ok(Operation::HighWrite)].into());
    let ends: BTreeSet<_> = seen.ends.iter().map(|end| end.contains("high: 3")).collect();
    assert_eq!(ends, [false, true].into());
}

#[test]
fn the_stockpile_reserves_nothing() {
    let lists: [&[Run]; 1] = [&[pages(2)]];
    let charge = Op::Charge { nr_pages: Pages(1), gfp: Gfp::KERNEL };
    let stockpile = Op::Stockpile { nr_pages: Pages(1) };
    let actors = vec![task("A", 0, &[stockpile]), task("B", 1, &[charge])];
    let mut job = memcg("job", None, &lists);
    job.max = Pages(2);
    let seen = explore_both(&scenario(preset("linux-7.3"), vec![job], actors));
    assert_eq!(seen.results, [ok(Operation::Stockpile), ok(Operation::Charge)].into());
    let full = |end: &String| end.contains("usage: 2, max: 2");
    assert!(seen.ends.iter().any(full), "the charger took what was made free");
}

#[test]
fn the_stockpile_fails_while_kswapd_has_isolated_what_it_is_about_to_free() {
    let lists: [&[Run]; 1] = [&[pages(3)]];
    let stockpile = Op::Stockpile { nr_pages: Pages(1) };
    let mut kswapd = task("kswapd", 1, &[]);
    kswapd.kind = ActorKind::Kswapd { low: Pages(1), high: Pages(2) };
    let actors = vec![task("A", 0, &[stockpile]), kswapd];
    let mut scenario = scenario(preset("linux-7.3"), vec![memcg("job", None, &lists)], actors);
    scenario.ram = Some(Ram { total: Pages(3), reserve: Pages(0), free: Pages(0) });
    let seen = explore_both(&scenario);
    let stockpile = Operation::Stockpile;
    assert_eq!(seen.results, [ok(stockpile), error(stockpile, Errno::EAGAIN)].into());
    // The error does not tell the truth: in the end there is always room for the goal.
    let enough = |end: &String| !end.contains("free_pages: Some(0)");
    assert!(seen.ends.iter().all(enough), "{:?}", seen.ends);
    let free: BTreeSet<_> = seen.states.iter().map(|state| state.world.free_pages).collect();
    assert_eq!(free, [0, 1, 2, 3].map(|free| Some(Pages(free))).into());
}

#[test]
fn chargers_at_the_limit_live_from_each_others_folios() {
    let charge = Op::Charge { nr_pages: Pages(1), gfp: Gfp::READAHEAD };
    let add = Op::LruAdd { nr_pages: Pages(1) };
    let actors = vec![task("A", 0, &[charge, add]), task("B", 1, &[charge, add])];
    let lists: [&[Run]; 1] = [&[pages(1)]];
    let mut job = memcg("job", None, &lists);
    job.max = Pages(1);
    let mut scenario = scenario(preset("linux-7.3"), vec![job], actors);
    scenario.kernel.pagevec_size = 1;
    let seen = explore_both(&scenario);
    let charge = Operation::Charge;
    assert_eq!(seen.results, [ok(charge), error(charge, Errno::ENOMEM)].into());
}

#[test]
fn in_any_order_a_pass_may_meet_the_locked_folio_first_or_last() {
    let results = |order: EvictionOrder| {
        let lists: [&[Run]; 1] = [&[one(FolioFlags::LOCKED), pages(1)]];
        let actors = vec![task("A", 0, &[write_reclaim(1)])];
        let memcgs = vec![memcg("job", None, &lists)];
        let mut scenario = scenario(preset("linux-7.3"), memcgs, actors);
        scenario.policy.reclaim.order = order;
        scenario.kernel.max_reclaim_retries = 0;
        explore_both(&scenario).results
    };
    assert_eq!(results(EvictionOrder::Lru), [ok(WRITE)].into());
    let both = [ok(WRITE), error(WRITE, Errno::EAGAIN)].into();
    assert_eq!(results(EvictionOrder::Any), both);
}

#[test]
fn mglru_stops_at_the_goal_only_in_7_3() {
    let freed = |design: &str| {
        let lists: [&[Run]; 1] = [&[pages(8)]];
        let mglru = Changes {
            lru: Some(Lru::Mglru),
            reclaim_batch: Some(ReclaimBatch::Whole),
            ..Changes::NONE
        };
        let actors = vec![task("A", 0, &[write_reclaim(2)])];
        let memcgs = vec![memcg("job", None, &lists)];
        8 - least_usage(&explore_both(&scenario(preset(design).with(&mglru), memcgs, actors)))
    };
    assert_eq!(freed("linux-7.3"), 2);
    // Half of the list is the budget; it shrinks with the list.
    assert_eq!(freed("linux-6.12"), 3);
}

/// A request with the kernel's own constants, over memcgs with a gigabyte of file pages on each
/// node: the pages freed beyond it, and the passes.
fn at_real_size(
    design: &str,
    changes: &Changes,
    (nodes, memcgs): (usize, usize),
    request: u64,
) -> (u64, usize) {
    let lists = vec![[pages(1 << 18)]; nodes];
    let lists: Vec<&[Run]> = lists.iter().map(<[Run; 1]>::as_slice).collect();
    let below = |at: usize| memcg(&format!("memcg {at}"), (at > 0).then_some(JOB), &lists);
    let actors = vec![task("A", 0, &[write_reclaim(request)])];
    let memcgs = (0..memcgs).map(below).collect();
    let mut scenario = scenario(preset(design).with(changes), memcgs, actors);
    scenario.kernel = Kernel::default();
    scenario.granularity.reclaim = ReclaimSteps { pass: Pass::Walked, ..ReclaimSteps::default() };
    let (freed, passes) = run_alone(&scenario);
    (freed - request, passes)
}

#[test]
fn requests_at_real_sizes_overreclaim_as_the_kernel_does() {
    let rule = |lru: Lru, batch: ReclaimBatch| Changes {
        lru: Some(lru),
        reclaim_batch: Some(batch),
        ..Changes::NONE
    };
    let whole = |lru| rule(lru, ReclaimBatch::Whole);
    let quarter = |lru| rule(lru, ReclaimBatch::Fraction);
    let clipped = |lru| rule(lru, ReclaimBatch::Clipped);
    let (classic, mglru) = (Lru::Classic, Lru::Mglru);
    let cases = [
        ("linux-7.3", whole(classic), (1, 1), 65536, (45160, 1)),
        ("linux-7.3", quarter(classic), (1, 1), 65536, (23, 16)),
        ("linux-7.3", whole(classic), (4, 1), 65536, (59932, 1)),
        ("linux-7.3", quarter(classic), (4, 1), 65536, (80, 12)),
        ("linux-7.3", whole(classic), (1, 1), 2048, (1961, 1)),
        ("linux-7.3", quarter(classic), (1, 1), 2048, (20, 9)),
        ("linux-7.3", clipped(classic), (1, 1), 2048, (0, 64)),
        ("linux-6.1", whole(classic), (2, 8), 2048, (1008, 1)),
        ("linux-6.1", quarter(classic), (2, 8), 2048, (496, 3)),
        ("linux-6.1", clipped(classic), (2, 8), 2048, (0, 4)),
        ("linux-6.1", whole(mglru), (1, 8), 65536, (60928, 1)),
        ("linux-6.1", quarter(mglru), (1, 8), 65536, (0, 10)),
        ("linux-7.3", whole(mglru), (4, 1), 65536, (248, 1)),
        ("linux-7.3", quarter(mglru), (4, 1), 65536, (237, 17)),
    ];
    let got = cases
        .clone()
        .map(|(design, changes, shape, request, _)| at_real_size(design, &changes, shape, request));
    assert_eq!(got, cases.map(|(_, _, _, _, expected)| expected));
}

/// The most a request may free beyond itself with classic lists and a walk that stops at the goal:
/// each pass for R pages frees at most R - 1 before the last round of nodes, and R + 3 clusters - 1
/// in the first visit of each node of it.
fn bound(batch: ReclaimBatch, cluster: u64, nodes: u64, request: u64) -> u64 {
    let most = |rest: u64| {
        let asked = match batch {
            ReclaimBatch::Whole => rest,
            ReclaimBatch::Clipped => rest.min(cluster),
            ReclaimBatch::Fraction => rest / 4,
        };
        let goal = asked.max(cluster);
        (goal - 1 + nodes * (goal + 3 * cluster - 1)).saturating_sub(rest)
    };
    (1..=request).map(most).max().unwrap_or(0)
}

#[test]
fn no_request_frees_more_than_its_bound_and_some_come_near() {
    let cluster = 4;
    for (batch, least_share) in
        [(ReclaimBatch::Whole, 78), (ReclaimBatch::Clipped, 53), (ReclaimBatch::Fraction, 53)]
    {
        let changes = Changes { reclaim_batch: Some(batch), ..Changes::NONE };
        let mut best_share = 0;
        for nodes in 1..=2_usize {
            for (request, size) in (1..40).flat_map(|r| (1..80).step_by(3).map(move |s| (r, s))) {
                let lists = vec![[pages(size)]; nodes];
                let lists: Vec<&[Run]> = lists.iter().map(<[Run; 1]>::as_slice).collect();
                let mut job = memcg("job", None, &lists);
                for node in &mut job.reclaim.nodes {
                    node.push((LruList::InactiveAnon, pages(size)));
                }
                let actors = vec![task("A", 0, &[write_reclaim(request)])];
                let mut scenario = scenario(preset("linux-7.3").with(&changes), vec![job], actors);
                scenario.kernel.swap_cluster_max = Pages(cluster);
                let over = run_alone(&scenario).0.saturating_sub(request);
                let most = bound(batch, cluster, nodes as u64, request);
                assert!(
                    over <= most,
                    "{batch:?} {nodes} nodes {size}: {request} + {over} > {most}"
                );
                best_share = best_share.max(over * 100 / most);
            }
        }
        assert!(best_share >= least_share, "{batch:?} comes to {best_share} % of its bound");
    }
}

/// Runs the first actor alone to its end: the pages its passes returned, and how many there were.
fn run_alone(scenario: &Scenario) -> (u64, usize) {
    let mut state = scenario.initial();
    let mut log = mm_model::choose::Choose::default();
    while scenario.enabled(&state, ActorId(0)) {
        scenario.step(&mut state, ActorId(0), &mut log);
    }
    let (mut freed, mut passes) = (0, 0);
    for event in log.events() {
        if let Event::Returned(Call::TryToFreeMemCgroupPages { .. }, pages) = event {
            passes += 1;
            freed += pages.unsigned_abs();
        }
    }
    (freed, passes)
}
