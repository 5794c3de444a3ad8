//! `docs/loops.md`: what bounds each loop of the kernel's functions, as specs pin it.

use crate::docs::{fresh, table};
use crate::readahead_docs::expected;

/// A number that a spec pins, or `unbounded`.
struct Pinned {
    spec: &'static str,
    design: &'static str,
    cost: &'static str,
    value: &'static str,
}

/// A loop.
struct Loop {
    what: &'static str,
    bound: &'static str,
    /// What shows it; nothing where no actor can drive it.
    shown: &'static [Pinned],
    /// What can make it run for ever, or why it cannot be driven.
    why: &'static str,
}

const fn pinned(
    spec: &'static str,
    design: &'static str,
    cost: &'static str,
    value: &'static str,
) -> Pinned {
    Pinned { spec, design, cost, value }
}

const fn a_loop(
    what: &'static str,
    bound: &'static str,
    shown: &'static [Pinned],
    why: &'static str,
) -> Loop {
    Loop { what, bound, shown, why }
}

const NONE: &str = "none";
const NOW: &str = "linux-7.3";
const P33: &str = "readahead-batch-reclaim";

const CHARGE_PASSES: &str = "reclaim-passes per charge";
const ATTEMPTS: &str = "counter-attempts per charge";
const KILLS: &str = "oom-invocations per charge";

/// `try_charge_memcg()` and what it calls.
const CHARGE: &[Loop] = &[
    a_loop(
        "from a batch to the pages needed",
        "once",
        &[pinned("charge/attempts-nonblocking", NOW, ATTEMPTS, "2")],
        "",
    ),
    a_loop(
        "again after the drain",
        "once a call",
        &[
            pinned("charge/attempts-readahead", NOW, ATTEMPTS, "3"),
            pinned("charge/attempts-readahead", NOW, CHARGE_PASSES, "2"),
        ],
        "",
    ),
    a_loop(
        "again as the pass has left margin",
        NONE,
        &[
            pinned("charge/readahead-charge-starves", "before", CHARGE_PASSES, "unbounded"),
            pinned("charge/readahead-charge-starves", "counted", CHARGE_PASSES, "3"),
        ],
        "others charge the margin first",
    ),
    a_loop(
        "again as the pass of a small charge has freed something",
        NONE,
        &[
            pinned("charge/small-charge-starves", "margin-counted", CHARGE_PASSES, "unbounded"),
            pinned("charge/small-charge-starves", "both-counted", CHARGE_PASSES, "3"),
        ],
        "the pass frees less than is needed, and others charge that",
    ),
    a_loop(
        "retries that are counted",
        "16 until the killer",
        &[
            pinned("charge/attempts-kernel", NOW, CHARGE_PASSES, "18"),
            pinned("charge/attempts-kernel", NOW, ATTEMPTS, "19"),
        ],
        "",
    ),
    a_loop(
        "again as the OOM killer claims success",
        NONE,
        &[
            pinned("charge/oom-succeeds-without-effect", NOW, KILLS, "unbounded"),
            pinned("charge/oom-sees-margin-starves", "both-counted", KILLS, "unbounded"),
            pinned("charge/attempts-kernel", NOW, KILLS, "1"),
        ],
        "a victim that never dies, or margin that others then take",
    ),
    a_loop(
        "waiting while a task is moved between groups (cgroup v1, up to 6.12)",
        NONE,
        &[
            pinned("charge/one-task-every-class", "linux-6.1", CHARGE_PASSES, "unbounded"),
            pinned("charge/one-task-every-class", "linux-6.12", CHARGE_PASSES, "unbounded"),
            pinned("charge/one-task-every-class", NOW, CHARGE_PASSES, "4"),
        ],
        "tasks are moved all the time",
    ),
    a_loop(
        "levels of `page_counter_try_charge()`",
        "depth",
        &[pinned("charge/levels", NOW, "own-steps per charge", "12")],
        "",
    ),
    a_loop(
        "`mem_cgroup_handle_over_high()`",
        "17 fruitless rounds; none with progress",
        &[
            pinned("high/seventeen-rounds", NOW, "reclaim-passes per return-to-user", "17"),
            pinned("high/refilled-as-fast", NOW, "reclaim-passes per return-to-user", "unbounded"),
        ],
        "each round frees something and others charge it",
    ),
    a_loop(
        "levels of `reclaim_high()`",
        "depth",
        &[pinned(
            "high/seventeen-rounds-of-two-levels",
            NOW,
            "reclaim-passes per return-to-user",
            "34",
        )],
        "",
    ),
];

const WRITE_STEPS: &str = "own-steps per reclaim-write";
const WRITE_PASSES: &str = "reclaim-passes per reclaim-write";

/// A reclaim pass and those who ask for passes.
const RECLAIM: &[Loop] = &[
    a_loop(
        "sweeps of `do_try_to_free_pages()`",
        "5 (4 in 6.1) of 13 priorities, each over all nodes and at most all memcgs",
        &[
            pinned("reclaim/sweeps-of-a-pass", NOW, WRITE_STEPS, "834"),
            pinned("reclaim/sweeps-of-a-pass", "linux-6.1", WRITE_STEPS, "678"),
        ],
        "",
    ),
    a_loop(
        "`mem_cgroup_iter()` of a shared walk",
        "none; lock-free",
        &[
            pinned("reclaim/walk-overtaken", NOW, WRITE_STEPS, "unbounded"),
            pinned("reclaim/walk-overtaken", "linux-6.1", WRITE_STEPS, "6"),
        ],
        "another walker moves the position each time; that one gets on",
    ),
    a_loop(
        "rounds of `shrink_lruvec()`",
        "the targets in clusters",
        &[pinned("reclaim/rounds-of-a-visit", NOW, WRITE_STEPS, "47")],
        "",
    ),
    a_loop(
        "`memory_reclaim()`",
        "the request and 16 passes; none where signals restart it",
        &[
            pinned("reclaim/eagain-after-seventeen", NOW, WRITE_PASSES, "19"),
            pinned("reclaim/refilled-as-fast", NOW, WRITE_PASSES, "8"),
            pinned("reclaim/signals", NOW, WRITE_PASSES, "unbounded"),
            pinned("reclaim/signals", "linux-6.12", WRITE_PASSES, "2"),
        ],
        "7.3: a signal begins the request anew, and there is always another one",
    ),
    a_loop(
        "`memory_high_write()`",
        "17 fruitless passes; none with progress",
        &[
            pinned("high/unreclaimable", NOW, "reclaim-passes per high-write", "17"),
            pinned("high/writer-and-charger", NOW, "reclaim-passes per high-write", "unbounded"),
        ],
        "others charge what each pass frees; a signal ends it",
    ),
    a_loop(
        "`memory_max_write()`",
        "16 fruitless passes, then none; none with progress",
        &[
            pinned("high/unreclaimable", NOW, "reclaim-passes per max-write", "16"),
            pinned("high/max-writer-refilled", NOW, "reclaim-passes per max-write", "unbounded"),
            pinned(
                "high/max-writer-kills-for-ever",
                NOW,
                "oom-invocations per max-write",
                "unbounded",
            ),
        ],
        "forced charges after each pass that frees something, or a killer that claims success; a \
         signal ends it",
    ),
    a_loop(
        "MADV_STOCKPILE in the memcgs",
        "6 fruitless passes a level; none with progress",
        &[
            pinned("stockpile/eagain-after-six", NOW, "fruitless-passes per stockpile", "11"),
            pinned("stockpile/eaten", "as-proposed", "reclaim-passes per stockpile", "unbounded"),
        ],
        "one page of each pass is charged by others; a signal ends it",
    ),
    a_loop(
        "MADV_STOCKPILE in the machine",
        "1 fruitless pass; none with progress",
        &[
            pinned("stockpile/machine-eaten", NOW, "own-steps per stockpile", "unbounded"),
            pinned("stockpile/machine", NOW, "pages-reclaimed per stockpile", "3"),
        ],
        "as above",
    ),
];

const BATCHES: &str = "batch-reclaims per readahead";
const REFUSED: &str = "folios-refused per readahead";

/// Readahead, reads and faults.
const FILES: &[Loop] = &[
    a_loop(
        "a node of the tree in `filemap_add_folio()`",
        "none in principle",
        &[],
        "the tree would have to change each time; the model has one node a file, and the second \
         round brings it along",
    ),
    a_loop(
        "`readahead_add_folio()`",
        "2 adds, 1 batch reclaim",
        &[pinned("readahead/passes-at-the-limit", P33, BATCHES, "1")],
        "",
    ),
    a_loop(
        "batch reclaims of a control",
        "2; of a read or a fault as many times that as it has controls",
        &[
            pinned("readahead/cap-of-a-window", P33, BATCHES, "2"),
            pinned("readahead/cap-of-a-fault", P33, "batch-reclaims per fault", "4"),
            pinned("readahead/cap-of-a-read", P33, "batch-reclaims per read", "3"),
        ],
        "a long read has a control for each missing page and each mark",
    ),
    a_loop(
        "`page_cache_ra_unbounded()`",
        "the pages of the window",
        &[
            pinned("readahead/passes-at-the-limit", "linux-6.1", REFUSED, "32"),
            pinned("readahead/passes-at-the-limit", NOW, REFUSED, "1"),
        ],
        "",
    ),
    a_loop(
        "`page_cache_ra_order()`",
        "the pages of the window, and the base pages after a failed add",
        &[
            pinned("readahead/passes-of-large-folios", "linux-6.1", REFUSED, "33"),
            pinned("readahead/passes-of-large-folios", NOW, REFUSED, "2"),
        ],
        "",
    ),
    a_loop(
        "chunks of `force_page_cache_ra()`",
        "the request in chunks of 512",
        &[pinned("readahead/forced-4096", P33, REFUSED, "8")],
        "",
    ),
    a_loop(
        "`readahead_expand()`",
        "the pages that the file system wants",
        &[pinned("readahead/expansion", NOW, "folios-added per readahead", "8")],
        "",
    ),
    a_loop(
        "`filemap_get_pages()`",
        "none; a fatal signal ends it",
        &[pinned("readahead/read-retries", NOW, "own-steps per read", "unbounded")],
        "the page is evicted before each look, and another reader has added it before each add; \
         truncation, which is not modelled, does the same",
    ),
    a_loop(
        "`filemap_fault()` that looks for its folio",
        "none",
        &[pinned("readahead/fault-retries", NOW, "own-steps per fault", "unbounded")],
        "as above; the fault is repeated once at most",
    ),
    a_loop(
        "`filemap_read()`",
        "the bytes asked for",
        &[pinned("readahead/read-alone", NOW, "own-steps per read", "87")],
        "",
    ),
];

const PARTS: &[(&str, &[Loop])] = &[("charge", CHARGE), ("reclaim", RECLAIM), ("files", FILES)];

fn all() -> impl Iterator<Item = &'static Pinned> {
    PARTS.iter().flat_map(|(_, loops)| loops.iter()).flat_map(|it| it.shown)
}

fn rows(loops: &[Loop]) -> String {
    let rows = loops.iter().map(|Loop { what, bound, shown, why }| {
        let shown = shown.iter().map(|Pinned { spec, design, cost, .. }| {
            format!("`{spec}` {design}: {cost} **{}**", expected(spec, design, cost))
        });
        let shown: Vec<String> = shown.collect();
        let shown = if shown.is_empty() { "not driven".to_owned() } else { shown.join("; ") };
        vec![(*what).to_owned(), (*bound).to_owned(), shown, (*why).to_owned()]
    });
    table("loop | bound | shown by | what can make it run for ever", rows)
}

#[test]
fn what_bounds_each_loop_is_written_down() {
    fresh("docs/loops.md", PARTS.iter().map(|(name, loops)| ((*name).to_owned(), rows(loops))));
}

#[test]
fn each_number_of_the_table_is_pinned_by_its_spec() {
    for Pinned { spec, design, cost, value } in all() {
        assert_eq!(expected(spec, design, cost), *value, "{spec} {design}: {cost}");
    }
}

#[test]
fn whatever_is_unbounded_has_a_cycle_that_explain_can_show() {
    let unbounded = all().filter(|pinned| pinned.value == "unbounded");
    for Pinned { spec, design, cost, .. } in unbounded {
        let (_, operation) = cost.split_once(" per ").expect("a cost is of an operation");
        let fair = expected(spec, design, &format!("starvation-free {operation}"));
        assert_eq!(fair, "violated", "{spec} {design}: {cost} is no fair cycle");
    }
}

#[test]
fn a_loop_without_a_bound_is_driven_or_says_why_not() {
    for Loop { what, bound, shown, why } in PARTS.iter().flat_map(|(_, loops)| *loops) {
        let endless = shown.iter().any(|pinned| pinned.value == "unbounded");
        assert_eq!(endless, bound.contains("none") && !shown.is_empty(), "{what}");
        assert!(!bound.contains("none") || !why.is_empty(), "{what} does not say why");
    }
}
