//! `docs/mails.md`: what the four mails claim, and what the specs find.

use crate::docs::{fresh, table};
use crate::readahead_docs::expected;

/// A claim of a mail.
struct Decided {
    /// The claim, in one sentence.
    claim: &'static str,
    /// What comes of it.
    found: &'static str,
    /// Spec, design and what is asked of it.
    evidence: &'static [(&'static str, &'static str, &'static str)],
    /// A recording of 7.3, what was counted in it, and in words.
    recorded: &'static [(&'static str, &'static str, &'static str)],
}

const fn decided(
    claim: &'static str,
    found: &'static str,
    evidence: &'static [(&'static str, &'static str, &'static str)],
) -> Decided {
    Decided { claim, found, evidence, recorded: &[] }
}

impl Decided {
    const fn recorded(
        self,
        recorded: &'static [(&'static str, &'static str, &'static str)],
    ) -> Self {
        Self { recorded, ..self }
    }
}

const LIMIT: &str = "faults/mapped-last";
const PASSES: &str = "reclaim-passes per readahead";
const BATCHES: &str = "batch-reclaims per readahead";
const PASSES_ALONE: &str = "speculative-passes per readahead";
const LIVELOCK: &str = "threshold livelock-free access";
const STREAM: &str = "faults/stream-stopped-early";
const BATCH_MOST: &str = "batches_per_window_hist";
const ONE_MARK: &str = "one-mark-per-window";

/// Counts in recordings of 7.3.4 without and with the patch.
const WINDOW_PASSES: (&str, &str) = ("passes_per_window", "passes a window");
const FAULT_PASSES: (&str, &str) = ("limit_passes_per_majflt", "passes a major fault");
const MOST_PASSES: (&str, &str) = ("max_passes_in_one_fault", "passes of the worst fault");
const STOPPED: (&str, &str) = ("windows_stopped_early", "windows stopped early");
const KEPT: &str = "cross/marked-page-kept";
const EVICTED: &str = "cross/marked-page-evicted";
const ROOM: &str = "peak room-below-max";
const LEFT_OVER: &str = "peak room-left-over";
const NO_MARK: (&str, &str) = ("zero_mark_windows", "windows without a mark");
const FAULT_PAGES: (&str, &str) = ("pages_added_per_majflt", "pages a major fault");
const OVER_HIGH: (&str, &str) = ("usage_max_over_high_pages", "pages over high at the most");

/// "mm/readahead: avoid per-folio memcg reclaim", v1 3/3.
const READAHEAD: &[Decided] = &[
    decided(
        "at the limit, each folio of a window is charged with reclaim of its own",
        "yes: two passes for one folio alone",
        &[
            ("readahead/passes-at-the-limit", "linux-7.3", PASSES_ALONE),
            ("readahead/passes-at-the-limit", "readahead-batch-reclaim", PASSES_ALONE),
        ],
    )
    .recorded(&[
        ("S4_ext4o0.read48M.nohigh.max8M.ra128", WINDOW_PASSES.0, WINDOW_PASSES.1),
        ("S2_ext4o0.N1.seq.ra4096.max8M", WINDOW_PASSES.0, WINDOW_PASSES.1),
    ]),
    decided(
        "NORETRY stops the charge of a readahead folio after one reclaim pass",
        "no: alone it is two passes, and beside others there is no bound",
        &[
            ("readahead/passes-at-the-limit", "linux-7.3", PASSES_ALONE),
            ("charge/readahead-charge-starves", "before", "reclaim-passes per charge"),
        ],
    ),
    decided(
        "the margin a pass frees is consumed by others, so that tasks keep reclaiming for \
         speculative folios",
        "yes, before; not after",
        &[
            (LIMIT, "before", PASSES),
            (LIMIT, "before", "starvation-free readahead"),
            (LIMIT, "after", PASSES),
            (LIMIT, "after", "starvation-free readahead"),
        ],
    )
    .recorded(&[
        ("S2_ext4o0.N2.rand.ra768", MOST_PASSES.0, MOST_PASSES.1),
        ("S2_ext4o0.N8.rand.ra768.tight3M.live60", MOST_PASSES.0, MOST_PASSES.1),
    ]),
    decided(
        "accesses can livelock: none gets on, though reclaim frees pages for ever",
        "yes, below a limit of so many pages, which the patch does not move: for two tasks with \
         windows of two or three, for three, at random and in order",
        &[
            ("faults/limit-mapped-last", "before", LIVELOCK),
            ("faults/limit-mapped-last", "after", LIVELOCK),
            ("faults/limit-fifo", "before", LIVELOCK),
            ("faults/limit-fifo", "after", LIVELOCK),
            ("faults/limit-lru", "before", LIVELOCK),
            ("faults/limit-lru", "after", LIVELOCK),
            ("faults/window-of-three-limit", "before", LIVELOCK),
            ("faults/window-of-three-limit", "after", LIVELOCK),
            ("faults/three-at-random-limit", "before", LIVELOCK),
            ("faults/three-at-random-limit", "after", LIVELOCK),
            ("faults/in-order-limit-mapped-last", "before", LIVELOCK),
            ("faults/in-order-limit-mapped-last", "after", LIVELOCK),
        ],
    )
    .recorded(&[
        ("S2_ext4o0.N8.rand.ra4096.max12M.live20", "zero_passes", "passes that free nothing"),
        ("S2_ext4o0.N8.rand.ra4096.max12M.live20", "touches", "accesses in 20 s"),
    ]),
    decided(
        "it reclaims for the rest of the window at once, not once for each folio",
        "yes: one pass of the batch, a second one if others were faster",
        &[
            ("readahead/passes-at-the-limit", "readahead-batch-reclaim", BATCHES),
            ("faults/three-at-random", "before", "speculative-passes per-each access"),
            ("faults/three-at-random", "after", "speculative-passes per-each access"),
            ("faults/in-order", "before", "speculative-passes per-each access"),
            ("faults/in-order", "after", "speculative-passes per-each access"),
        ],
    )
    .recorded(&[
        ("S2_ext4o0.N8.rand.ra128.rep1", FAULT_PASSES.0, FAULT_PASSES.1),
        ("S2_ext4o0.N8.rand.ra768", FAULT_PASSES.0, FAULT_PASSES.1),
        ("S2_ext4o0.N8.rand.ra4096.max24M", FAULT_PASSES.0, FAULT_PASSES.1),
        ("S2_ext4o0.N4.seq.ra768", FAULT_PASSES.0, FAULT_PASSES.1),
    ]),
    decided(
        "a request tries batch reclaim at most twice, on every path that adds folios",
        "yes: in a window, in its fallback, in an expansion, in forced chunks",
        &[
            ("readahead/cap-of-a-window", "readahead-batch-reclaim", BATCHES),
            ("readahead/cap-and-expansion", "readahead-batch-reclaim", BATCHES),
            ("readahead/cap-and-chunks", "readahead-batch-reclaim", BATCHES),
            (LIMIT, "after", BATCHES),
            ("faults/three-at-random", "after", BATCHES),
        ],
    )
    .recorded(&[(
        "S2_ext4o0.N8.rand.ra768",
        BATCH_MOST,
        "batch reclaims of a window at the most",
    )]),
    decided(
        "the count has to live in the control for that",
        "yes: counted in each call it is more",
        &[
            ("readahead/cap-and-expansion", "count-per-call", BATCHES),
            ("readahead/cap-and-chunks", "count-per-call", BATCHES),
        ],
    ),
    decided(
        "(what it does not say: a fault and a read own several requests)",
        "the cap is of a request, not of what a task waits for",
        &[
            ("readahead/cap-of-a-fault", "readahead-batch-reclaim", "batch-reclaims per fault"),
            ("readahead/cap-of-a-read", "readahead-batch-reclaim", "batch-reclaims per read"),
            (LIMIT, "after", "batch-reclaims per access"),
        ],
    )
    .recorded(&[("S2_xfs.N8.rand.ra768.tight3M", MOST_PASSES.0, MOST_PASSES.1)]),
    decided(
        "readahead stops early if there is still no room",
        "yes, whatever others do; the window then has no mark",
        &[
            (LIMIT, "before", "ladder readahead"),
            (LIMIT, "after", "ladder readahead"),
            ("readahead/early-stop", "readahead-batch-reclaim", "marks per readahead"),
        ],
    )
    .recorded(&[
        ("S2_ext4o0.N2.rand.ra768", STOPPED.0, STOPPED.1),
        ("S2_ext4o0.N2.rand.ra768", NO_MARK.0, NO_MARK.1),
    ]),
    decided(
        "sequential readers get fewer pages with a fault, as readahead stops early",
        "yes: of a stream at its limit less is added in vain, for fewer passes",
        &[
            (STREAM, "before", "folios-added per-each read"),
            (STREAM, "after", "folios-added per-each read"),
            (STREAM, "before", "pages-evicted-unused per-each read"),
            (STREAM, "after", "pages-evicted-unused per-each read"),
            (STREAM, "before", "speculative-passes per-each read"),
            (STREAM, "after", "speculative-passes per-each read"),
        ],
    )
    .recorded(&[
        ("S2_ext4o0.N2.seq.ra768.tight3M", FAULT_PAGES.0, FAULT_PAGES.1),
        ("S2_xfs.N8.seq.ra768", FAULT_PAGES.0, FAULT_PAGES.1),
    ]),
    decided(
        "(what it does not say: a batch reclaim that falls short ends a window early also where all \
         has room)",
        "a stream with room for two windows, of which the oldest pages go, read each page once; now \
         it misses, and adds pages that go unread",
        &[
            (KEPT, "before", "readaheads per-each read"),
            (KEPT, "after", "readaheads per-each read"),
            (KEPT, "before", "folios-added per-each read"),
            (KEPT, "after", "folios-added per-each read"),
            (KEPT, "before", "pages-evicted-unused per-each read"),
            (KEPT, "after", "pages-evicted-unused per-each read"),
        ],
    ),
    decided(
        "(what it does not say: the page with the mark can go before it is read)",
        "then each read begins a window anew, whose rest goes unread, as before; that costs fewer \
         passes",
        &[
            (EVICTED, "before", "readaheads per-each read"),
            (EVICTED, "after", "readaheads per-each read"),
            (EVICTED, "before", "folios-added per-each read"),
            (EVICTED, "after", "folios-added per-each read"),
            (EVICTED, "before", "marks per-each read"),
            (EVICTED, "after", "marks per-each read"),
            (EVICTED, "before", "speculative-passes per-each read"),
            (EVICTED, "after", "speculative-passes per-each read"),
        ],
    ),
    decided(
        "(what it does not say: several readers reclaim for their windows at once)",
        "one, two and three take usage a window each below the limit for a while, and use it; at the \
         end two pages of a window of three are left for nobody, however many there are",
        &[
            ("cross/batch-reclaim-of-three", "before", ROOM),
            ("cross/batch-reclaim-of-one", "after", ROOM),
            ("cross/batch-reclaim-of-two", "after", ROOM),
            ("cross/batch-reclaim-of-three", "after", ROOM),
            ("cross/batch-reclaim-of-three", "before", LEFT_OVER),
            ("cross/batch-reclaim-of-one", "after", LEFT_OVER),
            ("cross/batch-reclaim-of-two", "after", LEFT_OVER),
            ("cross/batch-reclaim-of-three", "after", LEFT_OVER),
        ],
    ),
    decided(
        "(what it does not say: a pass may free nothing although it could)",
        "with so many of them for each access that the retries run out a fault comes to the OOM \
         killer, once, before and after; accesses get on",
        &[
            ("faults/empty-passes", "before", "oom-invocations per access"),
            ("faults/empty-passes", "after", "oom-invocations per access"),
            ("faults/empty-passes", "before", "livelock-free access"),
            ("faults/empty-passes", "after", "livelock-free access"),
            ("faults/empty-passes", "before", "speculative-passes per-each access"),
            ("faults/empty-passes", "after", "speculative-passes per-each access"),
        ],
    ),
    decided(
        "nothing changes for the folio a fault or read needs",
        "yes: it is charged as before, and so it can starve as before",
        &[
            (LIMIT, "before", "ladder fault"),
            (LIMIT, "after", "ladder fault"),
            (LIMIT, "before", "reclaim-passes per fault"),
            (LIMIT, "after", "reclaim-passes per fault"),
        ],
    ),
    decided(
        "a non-blocking charge leaves memory.high to the return to user space",
        "yes: it goes above it, and reclaims nothing in the charge",
        &[
            ("reports/r18-speculative-charges-pass-high", "linux-7.3", "peak excess-over-high"),
            ("reports/r18-speculative-charges-pass-high", "linux-7.3", "reclaim-passes per charge"),
        ],
    )
    .recorded(&[
        ("S4_xfs.read48M.high6M.ra768", OVER_HIGH.0, OVER_HIGH.1),
        ("S4_ext4o0.map16Mpopulate.high6M.ra128", OVER_HIGH.0, OVER_HIGH.1),
        ("S4_ext4o0.map16Mtouch.high6M.ra768", OVER_HIGH.0, OVER_HIGH.1),
    ]),
    decided(
        "if a node of the tree can't be had, readahead stops early",
        "not at once: each such failure is answered by a batch reclaim, up to two",
        &[("readahead/attempt-spent-on-a-node", "readahead-batch-reclaim", BATCHES)],
    ),
];

/// "mm: memcg: Use larger batches for proactive reclaim", v2.
const PROACTIVE: &[Decided] = &[
    decided(
        "one batch as large as the request overreclaims significantly",
        "yes",
        &[("reclaim/overreclaim-one-memcg", "reclaim-whole-7.3", "overreclaim per reclaim-write")],
    ),
    decided(
        "batches of SWAP_CLUSTER_MAX overreclaim least, and take many passes",
        "yes",
        &[
            (
                "reclaim/overreclaim-one-memcg",
                "reclaim-min-32-7.3",
                "overreclaim per reclaim-write",
            ),
            (
                "reclaim/overreclaim-one-memcg",
                "reclaim-min-32-7.3",
                "reclaim-passes per reclaim-write",
            ),
        ],
    ),
    decided(
        "the error grows with the size of the request",
        "yes of one batch as large as the request, no of its quarters",
        &[
            ("reclaim/bound-reached", "reclaim-whole-7.3", "overreclaim per reclaim-write"),
            ("reclaim/bound-reached-whole", "reclaim-whole-7.3", "overreclaim per reclaim-write"),
            ("reclaim/bound-reached", "linux-7.3", "overreclaim per reclaim-write"),
            ("reclaim/bound-reached-whole", "linux-7.3", "overreclaim per reclaim-write"),
        ],
    ),
    decided(
        "the last batches would be empty, but a pass has a least size",
        "yes; without it the end of a request is asked for in vain",
        &[
            ("reclaim/no-floor", "quarter-without-floor", "fruitless-passes per reclaim-write"),
            ("reclaim/no-floor", "linux-7.3", "fruitless-passes per reclaim-write"),
        ],
    ),
    decided(
        "a quarter of what is left, each time, keeps the error small",
        "yes; at these small numbers it comes to the same as the floor",
        &[
            ("reclaim/overreclaim-one-memcg", "linux-7.3", "overreclaim per reclaim-write"),
            ("reclaim/overreclaim-one-memcg", "linux-7.3", "reclaim-passes per reclaim-write"),
        ],
    ),
];

/// "readahead: avoid multiple marked readahead pages".
const MARKS: &[Decided] = &[
    decided(
        "rounded up, a window from page 1 has its mark on several folios",
        "yes",
        &[
            ("readahead/mark-at-page-one", "round-up-6_12", "marks per readahead"),
            ("readahead/mark-at-page-one", "round-up-6_1", "marks per readahead"),
        ],
    ),
    decided(
        "rounded down, exactly one folio of a window is marked",
        "yes, of a window in which nothing goes wrong",
        &[
            ("readahead/every-window", "linux-7.3", ONE_MARK),
            ("readahead/every-window", "linux-6.12", ONE_MARK),
            ("readahead/every-window", "linux-6.1", ONE_MARK),
        ],
    ),
    decided(
        "(what it does not say: after an add that failed there can be two, up to 6.12)",
        "7.3 reads the rest only, and has one",
        &[
            ("readahead/second-mark", "linux-6.1", "marks per readahead"),
            ("readahead/second-mark", "linux-6.12", "marks per readahead"),
            ("readahead/second-mark", "linux-7.3", "marks per readahead"),
        ],
    ),
];

/// "mm/madvise: implement MADV_STOCKPILE (kswapd from user space)", RFC.
const STOCKPILE: &[Decided] = &[
    decided(
        "-EAGAIN means that not enough can be reclaimed",
        "at the sixth pass in vain on a level, so that two levels take eleven",
        &[("stockpile/eagain-after-six", "linux-7.3", "fruitless-passes per stockpile")],
    ),
    decided(
        "-ENOMEM means that the limit does not allow it",
        "no: also where memory.high alone is too low",
        &[("stockpile/high-below-goal", "linux-7.3", "stockpile-enomem-tells-the-truth")],
    ),
    decided(
        "0 means that so much memory is free",
        "it was: nothing is reserved, and whoever charges next may have to reclaim",
        &[("stockpile/reserves-nothing", "linux-7.3", "reclaim-passes per charge")],
    ),
    decided(
        "(what it does not say: who pays)",
        "at the levels above its own, whoever is below them",
        &[
            ("reports/r11-stockpile-up-the-tree", "as-proposed", "stockpile-stays-in-scope"),
            ("reports/r11-stockpile-up-the-tree", "counted", "stockpile-stays-in-scope"),
        ],
    ),
    decided(
        "(what it does not say: it ends)",
        "not beside a charger that eats what it frees",
        &[
            ("stockpile/eaten", "as-proposed", "ladder stockpile"),
            ("stockpile/eaten", "counted", "ladder stockpile"),
        ],
    ),
];

/// What was counted in a recording, before and after.
fn recorded(counts: &[serde_json::Value], name: &str, field: &str) -> String {
    let of = |kernel: &str| {
        let all = counts.iter();
        let mut found = all.filter(|count| count["name"] == name && count["kernel"] == kernel);
        let count = found.next().unwrap_or_else(|| panic!("{name} of {kernel} was recorded"));
        let most = |histogram: &serde_json::Map<String, serde_json::Value>| {
            histogram.keys().filter_map(|key| key.parse::<u64>().ok()).max()
        };
        let most = count[field].as_object().and_then(most);
        most.map_or_else(|| count[field].to_string(), |most| most.to_string())
    };
    format!("{} → {}", of("7.3"), of("7.3p3"))
}

/// The first three cells of a claim.
fn cells(Decided { claim, found, evidence, .. }: &Decided) -> Vec<String> {
    let shows = |(spec, design, asked): &(&str, &str, &str)| {
        format!("`{spec}` {design}: {asked} **{}**", expected(spec, design, asked))
    };
    let evidence: Vec<String> = evidence.iter().map(shows).collect();
    vec![(*claim).to_owned(), (*found).to_owned(), evidence.join("; ")]
}

fn claims(of: &[Decided]) -> String {
    table("claim | decided | by", of.iter().map(cells))
}

/// The claims of the mail that kernels were recorded without and with.
fn claims_and_recordings(of: &[Decided]) -> String {
    let counts = include_str!("../traces/counts-7.3.json");
    let counts: Vec<serde_json::Value> = serde_json::from_str(counts).expect("counts are JSON");
    let rows = of.iter().map(|decided| {
        let counted = |(name, field, words): &(&str, &str, &str)| {
            format!("`{name}`: {words} {}", recorded(&counts, name, field))
        };
        let counted: Vec<String> = decided.recorded.iter().map(counted).collect();
        cells(decided).into_iter().chain([counted.join("; ")]).collect()
    });
    table("claim | decided | by | recorded of 7.3.4 → with the patch", rows)
}

#[test]
fn each_claim_of_a_mail_stands_beside_what_the_specs_find() {
    let parts = [
        ("mail 1", claims_and_recordings(READAHEAD)),
        ("mail 2", claims(PROACTIVE)),
        ("mail 3", claims(MARKS)),
        ("mail 4", claims(STOCKPILE)),
    ];
    fresh("docs/mails.md", parts.map(|(name, text)| (name.to_owned(), text)));
}
