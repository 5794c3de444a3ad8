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
}

const fn decided(
    claim: &'static str,
    found: &'static str,
    evidence: &'static [(&'static str, &'static str, &'static str)],
) -> Decided {
    Decided { claim, found, evidence }
}

const LIMIT: &str = "faults/mapped-last";
const PASSES: &str = "reclaim-passes per readahead";
const BATCHES: &str = "batch-reclaims per readahead";
const ONE_MARK: &str = "one-mark-per-window";

/// "mm/readahead: avoid per-folio memcg reclaim", v1 3/3.
const READAHEAD: &[Decided] = &[
    decided(
        "NORETRY stops the charge of a readahead folio after one reclaim pass",
        "no: alone it is two passes, and beside others there is no bound",
        &[
            ("readahead/passes-at-the-limit", "linux-7.3", "speculative-passes per readahead"),
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
    ),
    decided(
        "in the worst case, reclaim livelocks: no access gets on, though reclaim frees pages",
        "yes, below a limit of so many pages for two windows of two; the patch does not move it",
        &[
            ("faults/limit-mapped-last", "before", "threshold livelock-free access"),
            ("faults/limit-mapped-last", "after", "threshold livelock-free access"),
            ("faults/limit-fifo", "before", "threshold livelock-free access"),
            ("faults/limit-fifo", "after", "threshold livelock-free access"),
            ("faults/limit-lru", "before", "threshold livelock-free access"),
            ("faults/limit-lru", "after", "threshold livelock-free access"),
        ],
    ),
    decided(
        "a request tries batch reclaim at most twice, on every path that adds folios",
        "yes: in a window, in its fallback, in an expansion, in forced chunks",
        &[
            ("readahead/cap-of-a-window", "readahead-batch-reclaim", BATCHES),
            ("readahead/cap-and-expansion", "readahead-batch-reclaim", BATCHES),
            ("readahead/cap-and-chunks", "readahead-batch-reclaim", BATCHES),
            (LIMIT, "after", BATCHES),
        ],
    ),
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
    ),
    decided(
        "readahead stops early if there is still no room",
        "yes, whatever others do; the window then has no mark",
        &[
            (LIMIT, "before", "ladder readahead"),
            (LIMIT, "after", "ladder readahead"),
            ("readahead/early-stop", "readahead-batch-reclaim", "marks per readahead"),
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
    ),
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

fn claims(of: &[Decided]) -> String {
    let rows = of.iter().map(|Decided { claim, found, evidence }| {
        let shows = |(spec, design, asked): &(&str, &str, &str)| {
            format!("`{spec}` {design}: {asked} **{}**", expected(spec, design, asked))
        };
        let evidence: Vec<String> = evidence.iter().map(shows).collect();
        vec![(*claim).to_owned(), (*found).to_owned(), evidence.join("; ")]
    });
    table("claim | decided | by", rows)
}

#[test]
fn each_claim_of_a_mail_stands_beside_what_the_specs_find() {
    let parts = [
        ("mail 1", claims(READAHEAD)),
        ("mail 2", claims(PROACTIVE)),
        ("mail 3", claims(MARKS)),
        ("mail 4", claims(STOCKPILE)),
    ];
    fresh("docs/mails.md", parts.map(|(name, text)| (name.to_owned(), text)));
}
