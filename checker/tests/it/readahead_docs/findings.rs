//! The surprises of the real functions, and the specs that show them.

/// What a spec says, as the finding it shows.
pub(super) struct Shown {
    pub(super) finding: &'static str,
    pub(super) what: &'static str,
    pub(super) spec: &'static str,
    /// Designs and claims, of which the document has what is expected.
    pub(super) claims: &'static [(&'static str, &'static str)],
}

const fn shown(
    finding: &'static str,
    what: &'static str,
    spec: &'static str,
    claims: &'static [(&'static str, &'static str)],
) -> Shown {
    Shown { finding, what, spec, claims }
}

const CAP: &str = "batch-reclaims per readahead";
const PASSES: &str = "speculative-passes per readahead";
const MARKS: &str = "marks per readahead";
const ONE_MARK: &str = "one-mark-per-window";

/// Every one of them.
pub(super) const SHOWN: &[Shown] = &[
    shown(
        "F1",
        "a charge with NORETRY is two passes, and 6.1 tries each page of a window of 32",
        "readahead/passes-at-the-limit",
        &[
            ("linux-6.1", PASSES),
            ("linux-6.12", PASSES),
            ("linux-7.3", PASSES),
            ("readahead-batch-reclaim", PASSES),
        ],
    ),
    shown(
        "F1",
        "a window of large folios is four: the fallback tries once more",
        "readahead/passes-of-large-folios",
        &[("linux-7.3", PASSES), ("no-fallback", PASSES)],
    ),
    shown(
        "F2",
        "after a failed add a window is marked twice up to 6.12",
        "readahead/second-mark",
        &[("linux-6.1", MARKS), ("linux-6.12", MARKS), ("linux-7.3", MARKS)],
    ),
    shown(
        "F2",
        "for that it takes another task that reads one page",
        "readahead/raced-window",
        &[("linux-6.1", ONE_MARK), ("linux-6.12", ONE_MARK), ("linux-7.3", ONE_MARK)],
    ),
    shown(
        "F3",
        "and it goes past its end",
        "readahead/raced-window",
        &[
            ("linux-6.1", "window-not-overrun"),
            ("linux-6.12", "window-not-overrun"),
            ("linux-7.3", "window-not-overrun"),
        ],
    ),
    shown(
        "F4",
        "a window that begins inside a folio that is there already is dropped in 7.3",
        "readahead/dropped-window",
        &[
            ("linux-7.3", "no-wrap"),
            ("linux-7.3", "folios-added per readahead"),
            ("linux-6.12", "folios-added per readahead"),
        ],
    ),
    shown(
        "F7",
        "with no room at all large folios cost two batch reclaims, without the fallback one",
        "readahead/passes-of-large-folios",
        &[("readahead-batch-reclaim", CAP), ("batch-no-fallback", CAP)],
    ),
    shown(
        "F8a",
        "after the cap each chunk of a forced readahead still adds",
        "readahead/forced-4096",
        &[
            ("readahead-batch-reclaim", CAP),
            ("readahead-batch-reclaim", "folios-refused per readahead"),
        ],
    ),
    shown(
        "F8b",
        "the cap is of a request, and a read makes several",
        "readahead/cap-of-a-read-of-large-folios",
        &[
            ("readahead-batch-reclaim", CAP),
            ("readahead-batch-reclaim", "batch-reclaims per read"),
            ("count-per-task", "batch-reclaims per read"),
        ],
    ),
    shown(
        "F8b",
        "a fault makes two if its page is gone when it is repeated",
        "readahead/cap-of-a-fault",
        &[
            ("readahead-batch-reclaim", "batch-reclaims per fault"),
            ("count-per-task", "batch-reclaims per fault"),
        ],
    ),
    shown(
        "F8e",
        "an attempt is spent where a node of the tree could not be had",
        "readahead/attempt-spent-on-a-node",
        &[
            ("readahead-batch-reclaim", CAP),
            ("readahead-batch-reclaim", "reclaim-passes per readahead"),
        ],
    ),
    shown(
        "F8e",
        "both are spent on large folios where base pages would fit",
        "readahead/window-192-room-63",
        &[
            ("readahead-batch-reclaim", CAP),
            ("readahead-batch-reclaim", "reclaim-passes per readahead"),
        ],
    ),
    shown(
        "F9",
        "rounded up, no mark is the first page",
        "readahead/no-mark-rounded-up",
        &[("mark-round-up", "no-wrap"), ("mark-round-up", MARKS), ("linux-7.3", MARKS)],
    ),
    shown(
        "F12",
        "6.1 and 6.12 mark a window that is cut at the end of the file, 7.3 does not",
        "readahead/end-of-file",
        &[("linux-6.1", MARKS), ("linux-6.12", MARKS), ("linux-7.3", MARKS)],
    ),
    shown(
        "F12",
        "of base pages the mark is counted from the new end, and can wrap to none",
        "readahead/end-of-file-base",
        &[("linux-6.1", "no-wrap"), ("linux-6.12", "no-wrap"), ("linux-7.3", "no-wrap")],
    ),
    shown(
        "F18",
        "a stock that is too small is not combined with what is free",
        "charge/own-stock-is-not-used",
        &[("linux-7.3", "reclaim-passes per charge")],
    ),
    shown(
        "F20",
        "a window that stops before its mark has none",
        "readahead/early-stop",
        &[("linux-7.3", MARKS), ("linux-7.3", "folios-added per readahead")],
    ),
    shown(
        "mail 1",
        "two batch reclaims of a request, with the fallback, whatever another task takes",
        "readahead/cap-of-a-window",
        &[
            ("readahead-batch-reclaim", CAP),
            ("cap-of-3", CAP),
            ("count-per-call", CAP),
            ("no-fallback", "folios-refused per readahead"),
            ("readahead-batch-reclaim", "folios-refused per readahead"),
        ],
    ),
    shown(
        "mail 1",
        "and with expansions on both sides",
        "readahead/cap-and-expansion",
        &[("readahead-batch-reclaim", CAP), ("cap-of-3", CAP), ("count-per-call", CAP)],
    ),
    shown(
        "mail 1",
        "and in chunks",
        "readahead/cap-and-chunks",
        &[("readahead-batch-reclaim", CAP), ("cap-of-3", CAP), ("count-per-call", CAP)],
    ),
    shown(
        "mail 3",
        "rounded up, a window from page 1 has several marks",
        "readahead/mark-at-page-one",
        &[("round-up-6_12", MARKS), ("round-up-6_1", MARKS), ("linux-6.12", MARKS)],
    ),
    shown(
        "mail 3",
        "rounded down, any window has one",
        "readahead/every-window",
        &[
            ("linux-6.1", ONE_MARK),
            ("linux-6.12", ONE_MARK),
            ("linux-7.3", ONE_MARK),
            ("mark-round-up", ONE_MARK),
        ],
    ),
    shown(
        "mail 3",
        "but base folios of a minimum order still round up, and lose theirs",
        "readahead/minimum-orders",
        &[("linux-6.12", ONE_MARK), ("linux-7.3", ONE_MARK)],
    ),
    shown(
        "races",
        "nothing locks the state: 6.1 compares with a mark nobody has set",
        "readahead/two-readers",
        &[("linux-6.1", "no-wrap"), ("linux-6.12", "no-wrap"), ("linux-7.3", "no-wrap")],
    ),
];
