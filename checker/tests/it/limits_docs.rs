//! `docs/limits.md`: what an access costs at the worst, in the long run, at each limit.

use crate::docs::{fresh, table};
use crate::readahead_docs::expected;
use crate::support::answers;
use mm_checker::spec::parse;

/// Two tasks, each with a file of its own.
struct Pair {
    words: &'static str,
    access: &'static str,
    /// Pages of each file, which say nothing where only counted ones are.
    pages: u64,
    limits: &'static [u64],
}

const PAIRS: [Pair; 2] = [
    Pair { words: "at random", access: "1", pages: 8, limits: &[2, 3, 4, 5] },
    Pair { words: "in order", access: "next seq", pages: 64, limits: &[2, 3] },
];

/// The orders of eviction that have one, in a spec and in words.
const ORDERS: [(&str, &str); 3] = [
    ("unmapped-first", "mapped pages last"),
    ("fifo", "the oldest first"),
    ("lru", "used pages go round once"),
];

const ASKED: [&str; 2] =
    ["speculative-passes per-each access", "pages-evicted-unused per-each access"];

fn spec(pair: &Pair, evicts: &str, limit: u64) -> String {
    let task = |file: &str, name: &str| {
        format!(
            "[[file]]\nname = \"{file}\"\npages = {}\npooled = true\nra-pages = 2\n\n\
             [[actor]]\nname = \"{name}\"\nmemcg = \"job\"\nrepeat = true\n\
             does = [\"access {file} {}\"]\n\n",
            pair.pages, pair.access
        )
    };
    format!(
        "title = \"Two tasks at a limit\"\n\n\
         [kernel]\nswap_cluster_max = 1\nmemcg_charge_batch = 1\nmax_reclaim_retries = 1\n\
         mmap_lotsamiss = 0\n\n\
         [world]\nevicts = \"{evicts}\"\nno-retry = true\n\n\
         [[memcg]]\nname = \"job\"\nmax = {limit}\n\n{}{}\
         [design.before]\nbase = \"linux-7.3\"\n\n\
         [design.after]\nbase = \"readahead-batch-reclaim\"\n",
        task("a", "A"),
        task("b", "B")
    )
}

/// What is asked for, before and after.
fn answer(text: &str, asked: &str) -> String {
    let spec = parse("limits.toml", text).expect("the spec is right");
    answers(&spec, asked).join(" → ")
}

/// Sweeps over the limit: accesses, tasks, pages of a window, order, and the spec.
const SWEEPS: [(&str, u64, u64, &str, &str); 10] = [
    ("at random", 2, 2, ORDERS[0].1, "faults/limit-mapped-last"),
    ("at random", 2, 2, ORDERS[1].1, "faults/limit-fifo"),
    ("at random", 2, 2, ORDERS[2].1, "faults/limit-lru"),
    ("at random", 2, 3, ORDERS[0].1, "faults/window-of-three-limit"),
    ("at random", 2, 3, ORDERS[1].1, "faults/window-of-three-limit-fifo"),
    ("at random", 2, 3, ORDERS[2].1, "faults/window-of-three-limit-lru"),
    ("at random", 3, 2, ORDERS[0].1, "faults/three-at-random-limit"),
    ("in order", 2, 2, ORDERS[0].1, "faults/in-order-limit-mapped-last"),
    ("in order", 2, 2, ORDERS[1].1, "faults/in-order-limit-fifo"),
    ("in order", 2, 2, ORDERS[2].1, "faults/in-order-limit-lru"),
];

fn thresholds() -> String {
    let rows = SWEEPS.iter().map(|(accesses, tasks, window, order, spec)| {
        let of = |claim: &str| {
            let claim = format!("threshold {claim}");
            ["before", "after"].map(|design| expected(spec, design, &claim)).join(" → ")
        };
        let place = [(*accesses).to_owned(), tasks.to_string(), window.to_string()];
        let found = ["livelock-free fault", "livelock-free access"].map(of);
        let order = std::iter::once((*order).to_owned());
        place.into_iter().chain(order).chain(found).chain([format!("`{spec}`")]).collect()
    });
    table("accesses | tasks | window | reclaim takes | faults from | accesses from | spec", rows)
}

#[test]
fn each_limit_has_what_an_access_costs_in_the_long_run() {
    let mut rows = Vec::new();
    for pair in &PAIRS {
        for (evicts, order) in ORDERS {
            for limit in pair.limits {
                let text = spec(pair, evicts, *limit);
                let costs = ASKED.iter().map(|asked| answer(&text, asked));
                let place = [pair.words.to_owned(), order.to_owned(), limit.to_string()];
                rows.push(place.into_iter().chain(costs).collect());
            }
        }
    }
    let header = "accesses | reclaim takes | limit | speculative passes an access | pages evicted \
                  unused an access";
    let parts = [("costs", table(header, rows)), ("thresholds", thresholds())];
    fresh("docs/limits.md", parts.map(|(name, text)| (name.to_owned(), text)));
}
