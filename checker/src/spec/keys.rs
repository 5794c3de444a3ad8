//! Every key of a spec, with its meaning. The parser refuses what is not here, and the reference
//! in `docs/spec.md` is generated from here.

use super::tree::Key;

const fn key(name: &'static str, summary: &'static str) -> Key {
    Key { name, summary }
}

/// A section of a spec.
pub struct Section {
    /// How it is written.
    pub name: &'static str,
    /// What it is for.
    pub summary: &'static str,
    /// Its keys, where they are fixed.
    pub keys: &'static [Key],
}

impl Section {
    /// The names of its keys.
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.keys.iter().map(|key| key.name).collect()
    }
}

/// The top level.
pub const TOP: Section = Section {
    name: "the top level",
    summary: "What the spec is, and its sections.",
    keys: &[
        key("title", "What happens in it, in a few words. Required."),
        key("about", "More about it: why it is this large and no larger."),
        key("source", "Where the question comes from: a mail's subject, a commit, a report."),
        key("tier", "`pr` (seconds; the default) or `nightly` (minutes)."),
        key(
            "symmetry",
            "Whether tasks that do the same, each on a CPU and with files of its own or of all, \
             stand for one another, so that there are fewer states. Only safety can be asked then. \
             `false` by default.",
        ),
        key(
            "designs",
            "Named designs to check, in short: `[\"linux-7.3\"]` is the default of a spec without \
             `[design.NAME]`.",
        ),
        key(
            "kernel",
            "Constants of the kernel. A constant that is not named keeps its real value.",
        ),
        key("granularity", "What is one atomic step and what is several."),
        key("world", "What the outside world may do."),
        key("ram", "The memory of the machine, where it matters."),
        key("memcg", "A memory cgroup. At least one."),
        key("cpu", "A CPU. Without any there are as many as the tasks need."),
        key("file", "An open file."),
        key("actor", "A task. At least one."),
        key("worker", "The worker that runs the queued stock drains of a CPU."),
        key("kswapd", "The task that frees pages of the machine in the background."),
        key("design", "A design of the spec's own."),
        key("sweep", "Parameters, and the values to check the spec with."),
        key("expect", "What is expected of a design."),
    ],
};

/// `[granularity]`.
pub const GRANULARITY: Section = Section {
    name: "[granularity]",
    summary: "What is one atomic step and what is several. Each is `one` (the default) or `kernel`: \
              a step for each access that another CPU can see. A pass has more to choose from.",
    keys: &[
        key("counter", "The page counters of a memcg and its ancestors."),
        key("drain", "`drain_all_stock()`, and so whether its mutex can be seen taken."),
        key(
            "pass",
            "A reclaim pass. `answered` (the default): one step, and the world says what it frees. \
             The others walk memcgs, nodes and lists as the kernel does: `walked` as one step, \
             `visits` with a step for each memcg on each node, `kernel` with all of them.",
        ),
        key("file-ra-state", "The fields of a file's readahead state, which nothing locks."),
    ],
};

/// `[world]`.
pub const WORLD: Section = Section {
    name: "[world]",
    summary: "What the outside world may do.",
    keys: &[
        key(
            "pass-frees",
            "The most one reclaim pass may free: `goal` (what it was asked for, at least \
             `swap_cluster_max`; the default) or `bound` (what a classic pass over one node can \
             free at the very most).",
        ),
        key(
            "pass-may-fail",
            "Whether a pass may free nothing although it could free something: `false` (the default), \
             `true` (any pass), or how many within each operation of a task, as `1`. Passes must be \
             answered.",
        ),
        key(
            "oom",
            "What the OOM killer may do, any of `none` (nothing to kill: failure), `kill` (it kills \
             a process that is no actor and frees its `anon` pages) and `pending` (a victim is \
             dying already: success, nothing freed); `[\"none\"]` by default.",
        ),
        key(
            "charge-moving",
            "Whether a task may be moving between cgroup v1 groups; `false` by default.",
        ),
        key(
            "eviction-order",
            "In which order passes that walk take the folios of a list: `lru` (as they lie; the \
             default) or `any`.",
        ),
        key("swap", "Whether anonymous folios can be swapped out; `false` by default."),
        key(
            "cgroup-may-die",
            "Whether whoever reclaims may find the cgroup being removed; `false` by default.",
        ),
        key(
            "syscalls-restart",
            "Whether a system call that a signal has interrupted may begin anew; `false` by \
             default.",
        ),
        key("folio-alloc-fails", "Whether there may be no memory for a folio; `false` by default."),
        key(
            "tree-nodes",
            "Whether the first folio of a file needs a node of the tree, a page that is charged \
             too; `false` by default.",
        ),
        key("node-alloc-fails", "Whether there may be no memory for a node; `false` by default."),
        key(
            "fs-leaves",
            "Whether the file system may leave the end of a batch unread; `false` by default.",
        ),
        key(
            "io",
            "When a read ends that readahead has submitted: `at-once` (the default), `file` (some \
             time later, together with all of the file that is submitted by then, and of a pooled \
             file no later than the next access begins), `batch` \
             (together with all that was submitted with it) or `page` (each folio by itself). \
             Later reads end by the step of a device, `io/FILE`.",
        ),
        key(
            "evicts",
            "Which cached folios a pass takes: `none` (pages of files stay), `any` (the default), \
             `unmapped-first` (any, but one \
             that a running access has mapped only if there is nothing else), `fifo` (those added \
             first) or `lru` (as `fifo`, but one that was used since a pass last looked goes \
             round once).",
        ),
        key(
            "congested",
            "Whether the task's block device cgroup may be congested; `false` by default.",
        ),
        key(
            "no-retry",
            "Whether faults keep the mmap lock, as without FAULT_FLAG_ALLOW_RETRY: a fault then \
             waits where it is, and is not repeated after it has; `false` by default.",
        ),
    ],
};

/// `[ram]`.
pub const RAM: Section = Section {
    name: "[ram]",
    summary: "The memory of the machine, in pages. Without it nothing looks at free pages.",
    keys: &[
        key("total", "All of it. Required."),
        key("free", "What is free at the start. Required."),
        key("reserve", "`totalreserve_pages`; 0 by default."),
    ],
};

/// `[[kswapd]]`.
pub const KSWAPD: Section = Section {
    name: "[[kswapd]]",
    summary: "Frees pages of the machine in the background. There can be one.",
    keys: &[
        key("low", "It is woken when fewer pages are free. Required."),
        key("high", "It sleeps when as many are free. Required."),
        key("name", "Its name; `kswapd` by default."),
    ],
};

/// `[[memcg]]`.
pub const MEMCG: Section = Section {
    name: "[[memcg]]",
    summary: "A memory cgroup. Sizes are in pages of 4096 bytes, or `\"max\"`.",
    keys: &[
        key("name", "Its name. Required."),
        key(
            "parent",
            "The memcg it lies in. Without one it lies in the root, which is not counted.",
        ),
        key("max", "`memory.max`; `\"max\"` by default."),
        key("high", "`memory.high`; `\"max\"` by default."),
        key(
            "memsw-max",
            "The cgroup v1 limit of memory plus swap. Either every memcg of a spec has one or none.",
        ),
        key(
            "lru",
            "Its own reclaimable pages at the start; 0 by default. Where passes walk they are \
             clean file pages on the inactive list of the first node.",
        ),
        key(
            "nodes",
            "Where passes walk, instead of `lru`: for each node a list of its folios, from those \
             scanned first, as `[[\"inactive-file 4\", \"active-anon 1 order 2 dirty\"], […]]`. \
             The lists are `inactive-anon`, `active-anon`, `inactive-file`, `active-file`, the \
             flags `locked`, `young`, `referenced`, `dirty`, `writeback`, `pinned`.",
        ),
        key("min", "`memory.min`, where passes walk; 0 by default."),
        key("low", "`memory.low`, where passes walk; 0 by default."),
        key("anon", "Its own pages at the start that only an OOM kill frees; 0 by default."),
    ],
};

/// `[[cpu]]`.
pub const CPU: Section = Section {
    name: "[[cpu]]",
    summary: "A CPU; they count from 0.",
    keys: &[key("isolated", "Whether it is isolated from housekeeping work; `false` by default.")],
};

/// `[[file]]`.
pub const FILE: Section = Section {
    name: "[[file]]",
    summary: "An open file: whoever shares it shares its readahead state. Its pages belong to the \
              memcg of the tasks that use it, which is one. Sizes are in pages.",
    keys: &[
        key("name", "Its name. Required."),
        key("pages", "Its length. Required, unless it is another opening of a file."),
        key("of", "The file, further up, of which it is another opening: the pages are the same."),
        key("min-order", "The least folio order of its mapping; 0 by default."),
        key("max-order", "The largest; as `min-order` by default: no large folios."),
        key("ra-pages", "The most a window holds; 32 by default."),
        key("io-pages", "The most the device reads at once; as `ra-pages` by default."),
        key("random", "Whether it was opened for random reads; `false` by default."),
        key(
            "expands",
            "What its file system wants when it is given a batch and may ask for more: \
             `blocks ORDER` (whole naturally aligned blocks) or `range FIRST LAST` (those pages).",
        ),
        key(
            "cached",
            "Its folios at the start, a list of `PAGE [order N] [mark]`; they are up to date.",
        ),
        key(
            "pooled",
            "Whether it stands for a large file of one task: each access goes to a part of it that \
             nobody has used before, and pages of older accesses are only counted; `false` by \
             default.",
        ),
        key(
            "ring",
            "Whether its last page lies before its first, for a file of one task that is mapped at \
             random. `fault` and `access` then go to the page so many after the one of the access \
             before (after page `ra-pages / 2` at first), round the ring: `0` is that page again, \
             `1` the next. `false` by default.",
        ),
        key(
            "ra",
            "Its readahead state at the start: a table of `start`, `size`, `async-size`, `order`, \
             `mmap-miss` and `prev-pos` (a byte); as just opened by default.",
        ),
    ],
};

/// `[[actor]]`.
pub const ACTOR: Section = Section {
    name: "[[actor]]",
    summary: "A task that runs a program of kernel entry points.",
    keys: &[
        key("name", "Its name. Required."),
        key("memcg", "The memcg of its memory. Required."),
        key("cpu", "The CPU it stays on; the first task is on CPU 0, the second on 1, by default."),
        key("does", "Its program, a list of operations. Required."),
        key("repeat", "Whether it starts over at the end; `false` by default."),
        key("flags", "The situation it charges in, a list of flags."),
        key(
            "count",
            "How many there are of it, named `A1`, `A2` and so on; one named `A` by default.",
        ),
    ],
};

/// `[[worker]]`.
pub const WORKER: Section = Section {
    name: "[[worker]]",
    summary: "The worker that runs the queued stock drains of a CPU, whenever it likes. Without one \
              a queued drain never runs.",
    keys: &[
        key("cpu", "Its CPU. Required."),
        key("name", "Its name; `kworker/N` on CPU N by default."),
    ],
};

/// `[design.NAME]`, beside the decisions.
pub const DESIGN: Section = Section {
    name: "[design.NAME]",
    summary: "A design of the spec's own: a named one, with some decisions changed.",
    keys: &[key("base", "The named design it changes. Required.")],
};

/// A design file, beside the decisions.
pub const DESIGN_FILE: Section = Section {
    name: "a design file",
    summary: "What `--design FILE` reads: one design, for any spec.",
    keys: &[
        key("name", "Its name; that of the file by default."),
        key("base", "The named design it changes. Required."),
    ],
};

/// `[sweep]`.
pub const SWEEP: Section = Section {
    name: "[sweep]",
    summary: "Parameters of the spec's own, each with its values: a list `[2, 3]`, or a range \
              `\"2..12\"` with both ends. Where a key has the string `\"$NAME\"`, or an \
              operation the word `$NAME`, it has the value of the parameter NAME. The spec is checked at every combination, and what is \
              expected is expected of each.",
    keys: &[],
};

/// `[expect.NAME]`, beside the properties.
pub const EXPECT: Section = Section {
    name: "[expect.NAME]",
    summary: "What is expected of the design NAME. What has no expectation is printed and counts \
              neither way.",
    keys: &[
        key("states", "Distinct states of the exhaustive search with local steps fused."),
        key("transitions", "Its transitions."),
    ],
};

/// Every section, in the order of the reference.
pub const SECTIONS: &[&Section] = &[
    &TOP,
    &GRANULARITY,
    &WORLD,
    &RAM,
    &MEMCG,
    &CPU,
    &FILE,
    &ACTOR,
    &WORKER,
    &KSWAPD,
    &DESIGN,
    &SWEEP,
    &EXPECT,
    &DESIGN_FILE,
];
