//! What no flagship reaches: why, and a spec that does where there is one.

/// Program points of a function, or an answer, that no flagship has.
pub(super) struct Elsewhere {
    /// The function, or the answer.
    pub(super) of: &'static str,
    /// The points.
    pub(super) points: &'static [&'static str],
    /// Why it does not matter to what flagships show.
    pub(super) why: &'static str,
    /// The spec and the design that go there.
    pub(super) by: Option<(&'static str, &'static str)>,
}

const fn points(
    of: &'static str,
    points: &'static [&'static str],
    why: &'static str,
    by: (&'static str, &'static str),
) -> Elsewhere {
    Elsewhere { of, points, why, by: Some(by) }
}

const fn nowhere(
    of: &'static str,
    points: &'static [&'static str],
    why: &'static str,
) -> Elsewhere {
    Elsewhere { of, points, why, by: None }
}

const BATCH: &str = "readahead-batch-reclaim";
const MEMSW: (&str, &str) = ("charge/forced-charge-of-two-levels", "linux-7.3");

/// Program points, in the order of the kernel's files.
pub(super) const POINTS_ELSEWHERE: &[Elsewhere] = &[
    points(
        "page_counter_try_charge",
        &["AddUnchecked"],
        "only in a design that compares first",
        ("controls/compare-then-add-exceeds-max", "compares-first"),
    ),
    nowhere("page_counter_try_charge", &["CompareFirst"], "the same, and a level above"),
    points(
        "refill_stock",
        &["Evict"],
        "the CPU of a task has the stock of one memcg",
        ("charge/drain-reaches-every-cpu", "linux-6.1"),
    ),
    points(
        "refill_stock",
        &["Overflow"],
        "a folio is one page, of which a batch leaves no more than a slot keeps",
        ("charge/two-tasks-one-cpu", "linux-7.3"),
    ),
    points("memcg_uncharge", &["Memsw"], "cgroup v1", MEMSW),
    points(
        "drain_all_stock",
        &["OwnCpu"],
        "a charge of one page has used up the stock of its own CPU before",
        ("charge/drain-reaches-every-cpu", "linux-7.3"),
    ),
    points(
        "drain_all_stock",
        &["Flush"],
        "only in a design that waits for drains",
        ("charge/drain-reaches-every-cpu", "waits"),
    ),
    points(
        "try_charge_memcg",
        &["TryChargeMemsw", "UnchargeMemsw", "ForceMemsw"],
        "cgroup v1",
        MEMSW,
    ),
    points(
        "try_charge_memcg",
        &["MarginMax"],
        "nobody writes memory.max",
        ("high/two-writers", "linux-7.3"),
    ),
    points(
        "try_charge_memcg",
        &["ForceMemory"],
        "the charge of a folio may fail; no task is dying, no charge must succeed",
        ("charge/drain-reaches-every-cpu", "linux-7.3"),
    ),
    points(
        "try_charge_memcg",
        &["HandleOverHigh"],
        "no memory.high; with one it is the nightly `faults/memory-high`",
        ("charge/memory-high-of-two-levels", "linux-7.3"),
    ),
    points(
        "mem_cgroup_reclaim_for_batch",
        &["Drain"],
        "a design of its own, which is in the nightly `faults/batch-answers`",
        ("readahead/cap-of-a-window", "a4-drains"),
    ),
    points(
        "try_to_free_mem_cgroup_pages",
        &["Walk"],
        "the world answers for passes: those that walk see no files. What a pass in steps could \
         change of these verdicts is not known",
        ("reclaim/folios-that-stay", "linux-7.3"),
    ),
    points(
        "filemap_add_folio",
        &["AllocNode", "Uncharge"],
        "no nodes of the tree, and no two tasks that add the same page; these are in the nightly \
         `faults/one-file`",
        ("readahead/attempt-spent-on-a-node", BATCH),
    ),
    points(
        "filemap_add_folio",
        &["InChargeNode"],
        "no nodes of the tree",
        ("readahead/evicted-with-its-node", "linux-7.3"),
    ),
    nowhere(
        "filemap_add_folio",
        &["InUncharge"],
        "begun with the step before, and over in it unless counters have steps",
    ),
    points(
        "filemap_get_pages",
        &["Lock"],
        "reads of these specs end at once; who waits for one is in the faults",
        ("readahead/read-of-several-folios", "linux-7.3"),
    ),
    points(
        "read_pages",
        &["Expand", "Read"],
        "no file system that asks for more",
        ("readahead/cap-and-expansion", BATCH),
    ),
    points(
        "page_cache_ra_order",
        &["LoadOrder", "LoadSize", "LoadAsyncSize", "StoreOrder", "Next", "Add", "Commit"],
        "base pages; large folios are in the nightly `faults/huge-pages`, and where nobody contends",
        ("readahead/attempt-spent-on-a-node", BATCH),
    ),
    nowhere(
        "page_cache_ra_order",
        &["Lengthen"],
        "a window of large folios beyond the end of the file; it is in `docs/readahead.md`",
    ),
    points(
        "page_cache_sync_ra",
        &["Forced"],
        "no file that was opened for random reads, and nobody congested",
        ("readahead/forced-reads", "linux-7.3"),
    ),
];

const fn answer(
    of: &'static str,
    why: &'static str,
    by: (&'static str, &'static str),
) -> Elsewhere {
    Elsewhere { of, points: &[], why, by: Some(by) }
}

/// Answers, in the order of [`mm_checker::reach::ANSWERS`].
pub(super) const ANSWERS_ELSEWHERE: &[Elsewhere] = &[
    answer(
        "`filemap_add_folio`: -EEXIST",
        "no two tasks share a file; they do in the nightly `faults/one-file`",
        ("readahead/cap-of-a-fault", BATCH),
    ),
    answer(
        "the OOM killer kills a process",
        "nothing to kill: `mem_cgroup_oom` then fails, and the access faults again",
        ("charge/oom-kill-makes-room", "linux-7.3"),
    ),
    answer(
        "a victim of the OOM killer is dying already",
        "as above",
        ("charge/dying-task-charges", "linux-7.3"),
    ),
    answer(
        "a task is being moved between groups",
        "cgroup v1, up to 6.12",
        ("charge/one-task-every-class", "linux-6.12"),
    ),
    nowhere(
        "a pass takes folios of a list out of order",
        &[],
        "of passes that walk; where they are answered, `evicts` has the orders",
    ),
    answer(
        "the cgroup is being removed",
        "no writer of its limits, and tasks in it",
        ("high/max-writer-of-a-dying-group", "linux-7.3"),
    ),
    answer("a system call begins anew", "no signals", ("reclaim/one-signal", "linux-7.3")),
    nowhere(
        "of several reads a later one ends first",
        &[],
        "all of a file end together; one by one they do in the nightly `faults/reads-end-by-batch`",
    ),
    answer(
        "there is no memory for a folio",
        "only the memcg is short of memory",
        ("readahead/expansion-without-memory", "linux-7.3"),
    ),
    answer(
        "there is no memory for a node of the tree",
        "the same",
        ("readahead/attempt-spent-on-a-node", BATCH),
    ),
    answer(
        "the block device cgroup is congested",
        "a request is then not made: less is read ahead",
        ("readahead/forced-reads", "linux-7.3"),
    ),
    answer(
        "the file system asks for more than its batch",
        "no such file system",
        ("readahead/cap-and-expansion", BATCH),
    ),
    answer(
        "the file system leaves the end of a batch unread",
        "no such file system",
        ("readahead/expansion-without-memory", "linux-7.3"),
    ),
];
