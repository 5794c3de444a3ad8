//! `[granularity]`, `[world]`, `[ram]`, `[[memcg]]` and `[[cpu]]`.

use super::problem::Source;
use super::tree::{Kind, Table, Value, shorten, tables};
use super::{keys, lists};
use mm_model::ids::MemcgId;
use mm_model::lru::EvictionOrder;
use mm_model::scenario::{
    CpuConfig, EmptyPasses, Evicts, FilePolicy, Granularity, Io, MemcgConfig, OomOutcome, Pass,
    PassFrees, Policy, Ram, ReclaimPolicy, ReclaimSteps, Steps,
};
use mm_model::units::Pages;

/// The largest page count in a spec, 16 TiB: the kernel's arithmetic on larger ones leaves the
/// range of the model's.
pub(super) const PAGES_MOST: u64 = 1 << 32;

/// The most pages of a memcg where each has its place in an order.
const LISTED_MOST: Pages = Pages(4096);

/// The most empty passes of an operation that can be counted.
const EMPTY_MOST: u64 = 255;

/// The most memcgs, CPUs or actors of a spec.
pub(super) const KIND_MOST: usize = 255;

const STEPS: &[(&str, Steps)] = &[("one", Steps::One), ("kernel", Steps::Kernel)];
const PASS: &[(&str, ReclaimSteps)] = &[
    ("answered", steps(Pass::Answered, Steps::One, Steps::One)),
    ("walked", steps(Pass::Walked, Steps::One, Steps::One)),
    ("visits", steps(Pass::Walked, Steps::Kernel, Steps::One)),
    ("kernel", steps(Pass::Walked, Steps::Kernel, Steps::Kernel)),
];

const fn steps(pass: Pass, walk: Steps, inside: Steps) -> ReclaimSteps {
    ReclaimSteps { pass, walk, iterator: inside, visit: inside }
}

const ORDER: &[(&str, EvictionOrder)] = &[("lru", EvictionOrder::Lru), ("any", EvictionOrder::Any)];
const IO: &[(&str, Io)] =
    &[("at-once", Io::AtOnce), ("file", Io::File), ("batch", Io::Batch), ("page", Io::Page)];
const EVICTS: &[(&str, Evicts)] = &[
    ("none", Evicts::None),
    ("any", Evicts::Any),
    ("unmapped-first", Evicts::UnmappedFirst),
    ("fifo", Evicts::Fifo),
    ("lru", Evicts::Lru),
];
const PASS_FREES: &[(&str, PassFrees)] = &[("goal", PassFrees::Goal), ("bound", PassFrees::Bound)];
const OOM: &[(&str, OomOutcome)] =
    &[("none", OomOutcome::None), ("kill", OomOutcome::Kill), ("pending", OomOutcome::Pending)];

pub(super) fn granularity(source: &mut Source<'_>, root: &Table<'_>) -> Option<Granularity> {
    let Some(value) = root.get("granularity") else { return Some(Granularity::default()) };
    let table = value.table(source, "granularity")?;
    table.only(source, keys::GRANULARITY.name, &keys::GRANULARITY.names());
    let mut steps = |key| match table.get(key) {
        Some(value) => value.one_of(source, key, STEPS),
        None => Some(Steps::One),
    };
    let (counter, drain) = (steps("counter"), steps("drain"));
    let file_ra_state = steps("file-ra-state")?;
    let reclaim = match table.get("pass") {
        Some(value) => value.one_of(source, "pass", PASS),
        None => Some(ReclaimSteps::default()),
    };
    Some(Granularity { counter: counter?, drain: drain?, file_ra_state, reclaim: reclaim? })
}

pub(super) fn policy(
    source: &mut Source<'_>,
    root: &Table<'_>,
    granularity: Option<&Granularity>,
) -> Option<Policy> {
    let mut policy = Policy {
        pass_frees: PassFrees::Goal,
        empty_passes: EmptyPasses::Never,
        oom: vec![OomOutcome::None],
        charge_moving: false,
        reclaim: ReclaimPolicy::default(),
        file: FilePolicy::default(),
    };
    let Some(value) = root.get("world") else { return Some(policy) };
    let table = value.table(source, "world")?;
    table.only(source, keys::WORLD.name, &keys::WORLD.names());
    if let Some(value) = table.get("pass-frees") {
        policy.pass_frees = value.one_of(source, "pass-frees", PASS_FREES)?;
    }
    if let Some(value) = table.get("pass-may-fail") {
        policy.empty_passes = empty_passes(source, value)?;
        let walks = granularity.is_some_and(|it| it.reclaim.pass == Pass::Walked);
        if walks && policy.empty_passes != EmptyPasses::Never {
            let message = "`pass-may-fail` beside passes that walk";
            let hint = "they free what the lists hold: folios can be `locked` or `writeback`";
            source.problem_with_hint(value.at, message, hint);
        }
    }
    if let Some(value) = table.get("oom") {
        policy.oom = outcomes(source, value)?;
    }
    if let Some(value) = table.get("charge-moving") {
        policy.charge_moving = value.flag(source, "charge-moving")?;
    }
    if let Some(value) = table.get("eviction-order") {
        policy.reclaim.order = value.one_of(source, "eviction-order", ORDER)?;
    }
    if let Some(value) = table.get("io") {
        policy.file.io = value.one_of(source, "io", IO)?;
    }
    if let Some(value) = table.get("evicts") {
        policy.file.evicts = value.one_of(source, "evicts", EVICTS)?;
    }
    let mut flag = |key, into: &mut bool| {
        if let Some(value) = table.get(key) {
            *into = value.flag(source, key)?;
        }
        Some(())
    };
    flag("swap", &mut policy.reclaim.swap)?;
    flag("cgroup-may-die", &mut policy.reclaim.cgroup_may_die)?;
    flag("syscalls-restart", &mut policy.reclaim.syscalls_restart)?;
    flag("folio-alloc-fails", &mut policy.file.folio_alloc_fails)?;
    flag("tree-nodes", &mut policy.file.tree_nodes)?;
    flag("node-alloc-fails", &mut policy.file.node_alloc_fails)?;
    flag("fs-leaves", &mut policy.file.fs_leaves)?;
    flag("congested", &mut policy.file.congested)?;
    flag("no-retry", &mut policy.file.no_retry)?;
    Some(policy)
}

/// A flag, or how many there may be in each operation.
fn empty_passes(source: &mut Source<'_>, value: &Value<'_>) -> Option<EmptyPasses> {
    if let Kind::Flag(may_fail) = value.kind {
        return Some(if may_fail { EmptyPasses::Freely } else { EmptyPasses::Never });
    }
    let most = value.within(1, EMPTY_MOST).and_then(|most| u8::try_from(most).ok());
    if most.is_none() {
        let message = format!(
            "`pass-may-fail` is `{}`, which is not `true`, `false` or a number from 1 to \
             {EMPTY_MOST}",
            shorten(value.written)
        );
        let hint = "a number is how many passes of each operation of a task may free nothing \
                    although they could; `false` is none, `true` any";
        source.problem_with_hint(value.at, message, hint);
    }
    most.map(EmptyPasses::Rationed)
}

fn outcomes(source: &mut Source<'_>, value: &Value<'_>) -> Option<Vec<OomOutcome>> {
    let list = value.list(source, "oom")?;
    let mut outcomes = Vec::new();
    for item in list {
        let outcome = item.one_of(source, "oom", OOM)?;
        if outcomes.contains(&outcome) {
            source.problem(item.at, format!("`oom` has `{}` twice", shorten(item.written)));
        }
        outcomes.push(outcome);
    }
    if outcomes.is_empty() {
        source.problem_with_hint(
            value.at,
            "`oom` is `[]`, but the OOM killer must do something",
            "a killer that finds nothing to kill is `oom = [\"none\"]`",
        );
    }
    Some(outcomes)
}

pub(super) fn cpus(source: &mut Source<'_>, root: &Table<'_>) -> Vec<CpuConfig> {
    let found = tables(root, source, "cpu");
    if found.len() > KIND_MOST {
        source.problem(found[KIND_MOST].at, format!("there are `{}` CPUs, too many", found.len()));
    }
    let mut cpu = |table: &&Table<'_>| {
        table.only(source, keys::CPU.name, &keys::CPU.names());
        let isolated = table.get("isolated").and_then(|value| value.flag(source, "isolated"));
        CpuConfig { isolated: isolated.unwrap_or_default() }
    };
    found.iter().map(&mut cpu).collect()
}

/// The memory of the machine.
#[expect(clippy::option_option, reason = "nothing at all if it can't be read, as everywhere here")]
pub(super) fn ram(source: &mut Source<'_>, root: &Table<'_>) -> Option<Option<Ram>> {
    let Some(value) = root.get("ram") else { return Some(None) };
    let table = value.table(source, "ram")?;
    table.only(source, keys::RAM.name, &keys::RAM.names());
    let mut pages = |key| {
        let value = table.require(source, keys::RAM.name, key)?;
        value.number(source, key, 0, PAGES_MOST).map(Pages)
    };
    let (total, free) = (pages("total"), pages("free"));
    let reserve = match table.get("reserve") {
        Some(_) => pages("reserve"),
        None => Some(Pages::ZERO),
    };
    let ram = Ram { total: total?, reserve: reserve?, free: free? };
    for (key, pages) in [("free", ram.free), ("reserve", ram.reserve)] {
        if pages > ram.total {
            let at = table.get(key).map_or(table.at, |value| value.at);
            let message = format!("`{key}` is `{pages}`, more than the `total` of {}", ram.total);
            source.problem(at, message);
        }
    }
    Some(Some(ram))
}

/// A memcg as written, before its parent is known.
struct Written<'t, 'a> {
    table: &'t Table<'a>,
    config: MemcgConfig,
    parent: Option<(String, usize)>,
}

/// The memcgs, each parent before its children.
pub(super) fn memcgs(
    source: &mut Source<'_>,
    root: &Table<'_>,
    pass: Pass,
    evicts: Evicts,
) -> Vec<MemcgConfig> {
    let found = tables(root, source, "memcg");
    if found.len() > KIND_MOST {
        let message = format!("there are `{}` memcgs, too many", found.len());
        source.problem(found[KIND_MOST].at, message);
        return Vec::new();
    }
    if found.is_empty() && root.get("memcg").is_none() {
        let hint = "a charge needs one: `[[memcg]]` with a `name`";
        source.problem_with_hint(0, "there is no `[[memcg]]`", hint);
    }
    let mut written: Vec<Written<'_, '_>> = Vec::new();
    for table in found {
        let Some(memcg) = memcg(source, table, pass) else { continue };
        listed(source, table, &memcg.config, evicts);
        if written.iter().any(|other| other.config.name == memcg.config.name) {
            let at = table.get("name").map_or(table.at, |name| name.at);
            source.problem(at, format!("two memcgs are named `{}`", memcg.config.name));
            continue;
        }
        written.push(memcg);
    }
    if !source.is_clean() {
        return written.into_iter().map(|memcg| memcg.config).collect();
    }
    let sorted = parents_first(source, written);
    check_limits(source, &sorted);
    sorted.into_iter().map(|memcg| memcg.config).collect()
}

fn memcg<'t, 'a>(
    source: &mut Source<'_>,
    table: &'t Table<'a>,
    pass: Pass,
) -> Option<Written<'t, 'a>> {
    table.only(source, keys::MEMCG.name, &keys::MEMCG.names());
    let name = name(source, table, keys::MEMCG.name);
    let parent = match table.get("parent") {
        Some(value) => Some((value.text(source, "parent")?.to_owned(), value.at)),
        None => None,
    };
    let mut limit = |key| match table.get(key) {
        Some(value) => size(source, value, key).map(Some),
        None => Some(None),
    };
    let (max, high, memsw_max) = (limit("max"), limit("high"), limit("memsw-max"));
    let mut count = |key| match table.get(key) {
        Some(value) => value.number(source, key, 0, PAGES_MOST).map(Pages),
        None => Some(Pages::ZERO),
    };
    let (lru, anon) = (count("lru"), count("anon"));
    let mut lru = lru?;
    let reclaim = lists::read(source, table, pass, &mut lru);
    let config = MemcgConfig {
        name: name?,
        parent: None,
        max: max?.unwrap_or(Pages::UNLIMITED),
        high: high?.unwrap_or(Pages::UNLIMITED),
        memsw_max: memsw_max?,
        lru,
        anon: anon?,
        reclaim: reclaim?,
    };
    Some(Written { table, config, parent })
}

/// Refuses more pages than can be listed one by one.
fn listed(source: &mut Source<'_>, table: &Table<'_>, memcg: &MemcgConfig, evicts: Evicts) {
    let Some(value) = table.get("lru").filter(|_| evicts.in_order()) else { return };
    if memcg.lru > LISTED_MOST {
        let message = format!("`lru` is `{}`, too many to go in an order", memcg.lru.0);
        let hint = format!("up to {} are listed: `evicts = \"any\"` counts them", LISTED_MOST.0);
        source.problem_with_hint(value.at, message, hint);
    }
}

/// The `name` of a section: one word, so that other keys can speak of it.
pub(super) fn name(source: &mut Source<'_>, table: &Table<'_>, section: &str) -> Option<String> {
    let value = table.require(source, section, "name")?;
    word(source, value, "name")
}

/// Whether a name is one word.
pub(super) fn word_is(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// A name: one word.
pub(super) fn word(source: &mut Source<'_>, value: &Value<'_>, key: &str) -> Option<String> {
    let name = value.text(source, key)?;
    if !word_is(name) {
        value.wrong(source, key, "one word");
        return None;
    }
    Some(name.to_owned())
}

/// A size in pages, or `"max"`.
fn size(source: &mut Source<'_>, value: &Value<'_>, key: &str) -> Option<Pages> {
    if matches!(&value.kind, Kind::Text(text) if text == "max") {
        return Some(Pages::UNLIMITED);
    }
    if let Some(pages) = value.within(0, PAGES_MOST) {
        return Some(Pages(pages));
    }
    value.wrong(source, key, &format!("a number of pages from 0 to {PAGES_MOST}, or `\"max\"`"));
    None
}

/// Sorts parents before children and fills in who is whose parent.
fn parents_first<'t, 'a>(
    source: &mut Source<'_>,
    mut left: Vec<Written<'t, 'a>>,
) -> Vec<Written<'t, 'a>> {
    let names: Vec<String> = left.iter().map(|memcg| memcg.config.name.clone()).collect();
    let mut sorted: Vec<Written<'t, 'a>> = Vec::new();
    loop {
        let before = sorted.len();
        let mut later = Vec::new();
        for mut memcg in left {
            let parent = memcg
                .parent
                .as_ref()
                .map(|(name, _)| sorted.iter().position(|other| other.config.name == *name));
            match parent {
                None => sorted.push(memcg),
                Some(Some(at)) => {
                    memcg.config.parent = Some(MemcgId::from(at));
                    sorted.push(memcg);
                }
                Some(None) => later.push(memcg),
            }
        }
        left = later;
        if sorted.len() == before {
            break;
        }
    }
    for memcg in &left {
        let Some((parent, at)) = &memcg.parent else { continue };
        if names.contains(parent) {
            let message = format!("the `parent` of `{}` is `{parent}`", memcg.config.name);
            source.problem(*at, format!("{message}, and so it lies in itself or in such a ring"));
        } else {
            let message = format!("no memcg is named `{}`", shorten(parent));
            source.unknown(*at, message, parent, "memcgs", names.iter().map(String::as_str));
        }
    }
    sorted
}

/// What each memcg has at the start must fit within its limits.
fn check_limits(source: &mut Source<'_>, memcgs: &[Written<'_, '_>]) {
    let lineage = |memcg: usize| {
        std::iter::successors(Some(memcg), |at| memcgs[*at].config.parent.map(MemcgId::index))
    };
    let with_memsw = memcgs.iter().filter(|memcg| memcg.config.memsw_max.is_some()).count();
    for (at, Written { table, config, .. }) in memcgs.iter().enumerate() {
        let below = (0..memcgs.len()).filter(|other| lineage(*other).any(|level| level == at));
        let usage: Pages = below.map(|other| memcgs[other].config.pages()).sum();
        let place = |key| table.get(key).map_or(table.at, |value| value.at);
        if usage > config.max {
            let MemcgConfig { name, max, .. } = config;
            let message = format!("the `max` of `{name}` is `{max}`, below its {usage} pages");
            let hint = "a memcg starts with its own pages, on lists or `anon`, and those below it";
            source.problem_with_hint(place("max"), message, hint);
        }
        match config.memsw_max {
            Some(memsw) if memsw < config.max => {
                let MemcgConfig { name, max, .. } = config;
                let message = format!("the `memsw-max` of `{name}` is `{memsw}`, below its `max`");
                source.problem(place("memsw-max"), format!("{message} of {max}"));
            }
            None if with_memsw > 0 => {
                let message = format!("`{}` lacks the key `memsw-max`", config.name);
                let hint = "swap is accounted for every memcg or for none; \
                            `memsw-max = \"max\"` does not limit it";
                source.problem_with_hint(table.at, message, hint);
            }
            Some(_) | None => {}
        }
    }
}
