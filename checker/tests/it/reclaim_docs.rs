//! `docs/reclaim.md`: what memory.reclaim costs under each batch rule, at real sizes and against
//! the bounds, computed by the model's own step functions.

use crate::docs::{fresh, table};
use crate::reclaim_bounds;
use mm_checker::spec::{parse, preset};
use mm_model::design::{Changes, Design, Lru, ReclaimBatch};
use mm_model::env::{Ask, Call, Env, Event, Question};
use mm_model::ids::{ActorId, MemcgId};
use mm_model::property::overreclaim_bound;
use mm_model::scenario::{PassFrees, Scenario};
use mm_model::units::Pages;
use mm_model::world::World;

/// A request for 1 GiB.
const GIB: u64 = 1 << 18;

/// One memcg that has four times as much, and a pass that the world answers.
const ANSWERED: &str = r#"
title = "1 GiB of one memcg"

[world]
pass-frees = "bound"
pass-may-fail = true

[[memcg]]
name = "job"
lru = 1048576

[[actor]]
name = "A"
memcg = "job"
does = ["write memory.reclaim 262144"]
"#;

/// It on nodes with 2 GiB of file pages each, as the kernel's passes walk them.
fn walked(nodes: usize) -> String {
    let nodes = vec!["[\"inactive-file 524288\"]"; nodes].join(", ");
    ANSWERED
        .replace("pass-may-fail = true\n", "")
        .replace("[world]", "[granularity]\npass = \"walked\"\n\n[world]")
        .replace("lru = 1048576", &format!("nodes = [{nodes}]"))
}

/// How passes turn out.
#[derive(Clone, Copy)]
enum Luck {
    /// Each frees its goal.
    Goal,
    /// Each frees all that a pass can.
    Most,
    /// First the tolerated fruitless ones, then one page each.
    Least,
    /// One page each until that many are left, then all that a pass can.
    MostAtTheEnd(u64),
}

/// The world of a request, and what it has come to.
struct Run {
    luck: Luck,
    left: u64,
    passes: u64,
    over: u64,
    result: Option<i64>,
}

impl Env for Run {
    fn answer(&mut self, question: Question) -> u64 {
        if let Ask::PassIsEmpty(_) = question.ask {
            return u64::from(matches!(self.luck, Luck::Least) && self.passes < 16);
        }
        assert!(matches!(question.ask, Ask::PassFrees(_)), "only passes ask: {:?}", question.ask);
        // How many more than one.
        match self.luck {
            Luck::Goal | Luck::Most => question.last,
            Luck::Least => 0,
            Luck::MostAtTheEnd(rest) => {
                if self.left > rest {
                    0
                } else {
                    question.last
                }
            }
        }
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Returned(Call::TryToFreeMemCgroupPages { .. }, freed) => {
                self.passes += 1;
                self.left = self.left.saturating_sub(freed.unsigned_abs());
            }
            Event::Fulfilled(_, asked, got) => self.over = (got - asked).0,
            Event::End(_, _, result) => self.result = Some(result),
            Event::Returned(..)
            | Event::Begin(..)
            | Event::AboveMax(..)
            | Event::Wrapped(_)
            | Event::ReadAhead(_)
            | Event::Requested(_)
            | Event::Reclaimed(..)
            | Event::Unused(..)
            | Event::Restarted(_)
            | Event::Signalled(_)
            | Event::Turned(..) => {}
        }
    }

    fn stub(&mut self, _: &mut World, _: Call) -> Option<i64> {
        None
    }
}

/// Runs the request: passes, and pages beyond it.
fn run(scenario: &Scenario, luck: Luck) -> (u64, u64) {
    let mut run = Run { luck, left: GIB, passes: 0, over: 0, result: None };
    let mut state = scenario.initial();
    while scenario.enabled(&state, ActorId(0)) {
        scenario.step(&mut state, ActorId(0), &mut run);
    }
    assert_eq!(run.result, Some(0));
    (run.passes, run.over)
}

const RULES: [(&str, ReclaimBatch, u8); 4] = [
    ("whole", ReclaimBatch::Whole, 1),
    ("at most 32", ReclaimBatch::Clipped, 1),
    ("half", ReclaimBatch::Fraction, 2),
    ("quarter", ReclaimBatch::Fraction, 4),
];

fn design(base: &str, batch: ReclaimBatch, divisor: u8, lru: Lru) -> Design {
    let changes = Changes {
        reclaim_batch: Some(batch),
        reclaim_batch_divisor: Some(divisor),
        lru: Some(lru),
        ..Changes::NONE
    };
    preset(base).expect("the design is there").design.clone().with(&changes)
}

fn mib(pages: u64) -> String {
    let tenths = (pages * 10 + 128) / 256;
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn cell((passes, over): (u64, u64)) -> String {
    format!("{passes} / {over} ({} MiB)", mib(over))
}

/// Passes and overreclaim of each rule by how passes turn out.
fn by_luck() -> String {
    let spec = parse("1gib.toml", ANSWERED).expect("it is a spec");
    let rows = RULES.map(|(rule, batch, divisor)| {
        let mut scenario = spec.scenario(&design("linux-7.3", batch, divisor, Lru::Classic));
        let bound = overreclaim_bound(&scenario, MemcgId(0), Pages(GIB));
        // Any rest can be reached with passes that free a page each.
        let pass = |rest| overreclaim_bound(&scenario, MemcgId(0), Pages(rest));
        let worst_rest = if pass(1) == bound { 1 } else { GIB };
        let (_, most) = run(&scenario, Luck::MostAtTheEnd(worst_rest));
        assert_eq!(Pages(most), bound, "{rule}: the bound is reached");
        let (fewest, least) = (run(&scenario, Luck::Most), run(&scenario, Luck::Least));
        scenario.policy.pass_frees = PassFrees::Goal;
        let goal = run(&scenario, Luck::Goal);
        vec![
            rule.to_owned(),
            cell(goal),
            cell(fewest),
            least.0.to_string(),
            format!("{most} ({} MiB)", mib(most)),
        ]
    });
    let head = "batch | each pass frees its goal: passes / beyond | each frees the most | most \
                passes | most beyond";
    table(head, rows)
}

/// Passes and overreclaim as the kernel's walk has them.
fn by_walk() -> String {
    let kernels = [
        ("7.3, classic", "linux-7.3", Lru::Classic),
        ("7.3, MGLRU", "linux-7.3", Lru::Mglru),
        ("6.12, classic", "linux-6.12", Lru::Classic),
        ("6.12, MGLRU", "linux-6.12", Lru::Mglru),
        ("6.1, classic", "linux-6.1", Lru::Classic),
        ("6.1, MGLRU", "linux-6.1", Lru::Mglru),
    ];
    let rows = kernels.iter().flat_map(|(name, base, lru)| {
        [1, 4].map(|nodes| {
            let spec = parse("1gib.toml", &walked(nodes)).expect("it is a spec");
            let mut row = vec![(*name).to_owned(), nodes.to_string()];
            row.extend(RULES.map(|(_, batch, divisor)| {
                cell(run(&spec.scenario(&design(base, batch, divisor, *lru)), Luck::Goal))
            }));
            row
        })
    });
    table("kernel, LRU | nodes | whole | at most 32 | half | quarter", rows)
}

#[test]
fn what_memory_reclaim_costs_is_written_down() {
    let parts = [
        ("by luck", by_luck()),
        ("by walk", by_walk()),
        ("bounds", reclaim_bounds::against_bounds()),
        ("margins", reclaim_bounds::margins()),
    ];
    fresh("docs/reclaim.md", parts.map(|(name, text)| (name.to_owned(), text)));
}

#[test]
fn the_rules_are_in_the_order_of_the_mail_where_a_pass_may_free_the_most() {
    let spec = parse("1gib.toml", &walked(4)).expect("it is a spec");
    let over = RULES.map(|(_, batch, divisor)| {
        run(&spec.scenario(&design("linux-6.12", batch, divisor, Lru::Classic)), Luck::Goal).1
    });
    let [whole, clipped, _, quarter] = over;
    assert!(whole > 100 * clipped.max(quarter).max(1), "{over:?}");
}
