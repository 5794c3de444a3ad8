//! `[[actor]]`, `[[worker]]` and `[[kswapd]]`.

use super::keys;
use super::ops::program;
use super::problem::Source;
use super::tree::{Kind, Table, Value, shorten, tables};
use super::world::{KIND_MOST, PAGES_MOST, name, word};
use mm_model::ids::{CpuId, MemcgId};
use mm_model::scenario::{
    ActorConfig, ActorKind, CpuConfig, FileConfig, MemcgConfig, TaskContext, TaskFlags,
};
use mm_model::units::Pages;

/// A flag of a task.
pub struct FlagDoc {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub summary: &'static str,
    flag: TaskFlags,
}

/// Every flag a task can have.
pub const FLAGS: &[FlagDoc] = &[
    FlagDoc {
        name: "memalloc",
        summary: "`PF_MEMALLOC`: it is itself reclaiming.",
        flag: TaskFlags::MEMALLOC,
    },
    FlagDoc {
        name: "in-memcg-oom",
        summary: "It waits for a cgroup v1 OOM to be resolved.",
        flag: TaskFlags::IN_MEMCG_OOM,
    },
    FlagDoc {
        name: "victim-skipped",
        summary: "It is an OOM victim whose memory is being freed (`MMF_OOM_SKIP`).",
        flag: TaskFlags::VICTIM_SKIPPED,
    },
    FlagDoc {
        name: "dying",
        summary: "It is exiting or has a fatal signal.",
        flag: TaskFlags::DYING,
    },
    FlagDoc {
        name: "not-in-task",
        summary: "It is an interrupt, not a task.",
        flag: TaskFlags::NOT_IN_TASK,
    },
];

/// What actors refer to.
pub(super) struct Places<'a> {
    pub(super) memcgs: &'a [MemcgConfig],
    /// Names of all memcgs, also of those that can't be used.
    pub(super) memcg_names: Vec<&'a str>,
    pub(super) cpus: Vec<CpuConfig>,
    /// Names of all tasks, in their order.
    pub(super) tasks: Vec<String>,
    /// The open files.
    pub(super) files: &'a [FileConfig],
    /// Names of all files, also of those that can't be used.
    pub(super) file_names: Vec<&'a str>,
    /// Whether the spec has `[ram]`.
    pub(super) ram: bool,
    /// Whether passes walk lists, as far as that is known.
    pub(super) walks: bool,
}

impl Places<'_> {
    /// The memcg of that name.
    pub(super) fn memcg(&self, source: &mut Source<'_>, at: usize, name: &str) -> Option<MemcgId> {
        let found = self.memcgs.iter().position(|memcg| memcg.name == name);
        if found.is_none() && !self.memcg_names.contains(&name) {
            let message = format!("no memcg is named `{}`", shorten(name));
            source.unknown(at, message, name, "memcgs", self.memcg_names.iter().copied());
        }
        found.map(MemcgId::from)
    }
}

/// The names the tasks of a spec have.
fn task_names(found: &[&Table<'_>]) -> Vec<String> {
    let names = |table: &&Table<'_>| {
        let name = match table.get("name").map(|name| &name.kind) {
            Some(Kind::Text(name)) => name.clone(),
            Some(_) | None => String::new(),
        };
        match table.get("count").and_then(|count| count.within(1, KIND_MOST as u64)) {
            Some(count) => (1..=count).map(|copy| format!("{name}{copy}")).collect(),
            None => vec![name],
        }
    };
    found.iter().flat_map(names).collect()
}

/// Reads the actors; adds the CPUs they need if the spec names none.
pub(super) fn read(
    source: &mut Source<'_>,
    root: &Table<'_>,
    places: &mut Places<'_>,
) -> Vec<ActorConfig> {
    let found = tables(root, source, "actor");
    let workers = tables(root, source, "worker");
    let kswapds = tables(root, source, "kswapd");
    places.tasks = task_names(&found);
    if found.is_empty() && root.get("actor").is_none() {
        let hint = "something must happen: `[[actor]]` with a `name`, a `memcg` and what it `does`";
        source.problem_with_hint(0, "there is no `[[actor]]`", hint);
    }
    let total = found.len() + workers.len() + kswapds.len();
    if total > KIND_MOST {
        let last = if found.len() > KIND_MOST { &found } else { &workers };
        let at = last.last().map_or(0, |table| table.at);
        source.problem(at, format!("there are `{total}` actors, more than {KIND_MOST}"));
        return Vec::new();
    }
    let given = (!places.cpus.is_empty()).then_some(places.cpus.len());
    let tasks = found.len();
    let mut actors: Vec<ActorConfig> = Vec::new();
    for table in found {
        let count = match table.get("count") {
            Some(value) => value.number(source, "count", 1, KIND_MOST as u64).map(Some),
            None => Some(None),
        };
        let Some(count) = count else { continue };
        for copy in 1..=count.unwrap_or(1) {
            let index = actors.len();
            let mut actor = task(source, table, places, given, index);
            if let (Some(actor), Some(_)) = (&mut actor, count) {
                actor.name = format!("{}{copy}", actor.name);
            }
            add(source, table, &mut actors, actor);
        }
    }
    if actors.len() > KIND_MOST {
        source.problem(0, format!("there are `{}` tasks, more than {KIND_MOST}", actors.len()));
        return Vec::new();
    }
    if given.is_none() {
        let last = actors.iter().map(|actor| actor.task.cpu.index()).max();
        places.cpus.resize(last.map_or(0, |last| last + 1), CpuConfig::default());
    }
    // A task that can't be used may have been the one that needs a worker's CPU.
    let cpus = if actors.len() < tasks { KIND_MOST } else { places.cpus.len() };
    for table in workers {
        let actor = worker(source, table, cpus, &actors);
        add(source, table, &mut actors, actor);
    }
    for table in kswapds {
        let actor = kswapd(source, table, places, &actors);
        add(source, table, &mut actors, actor);
    }
    actors
}

fn add(
    source: &mut Source<'_>,
    table: &Table<'_>,
    actors: &mut Vec<ActorConfig>,
    actor: Option<ActorConfig>,
) {
    let Some(actor) = actor else { return };
    if actors.iter().any(|other| other.name == actor.name) {
        let at = table.get("name").map_or(table.at, |name| name.at);
        source.problem(at, format!("two actors are named `{}`", actor.name));
    }
    actors.push(actor);
}

fn task(
    source: &mut Source<'_>,
    table: &Table<'_>,
    places: &Places<'_>,
    cpus: Option<usize>,
    index: usize,
) -> Option<ActorConfig> {
    table.only(source, keys::ACTOR.name, &keys::ACTOR.names());
    let name = name(source, table, keys::ACTOR.name);
    let memcg = table
        .require(source, keys::ACTOR.name, "memcg")
        .and_then(|value| Some((value.at, value.text(source, "memcg")?)))
        .and_then(|(at, name)| places.memcg(source, at, name));
    let cpu = match table.get("cpu") {
        Some(value) => cpu(source, value, cpus),
        None if cpus.is_some_and(|cpus| index >= cpus) => {
            let message =
                format!("this task lacks the key `cpu`: there is no CPU `{index}` for it");
            source.problem(table.at, message);
            None
        }
        None => Some(CpuId::from(index)),
    };
    let repeat = match table.get("repeat") {
        Some(value) => value.flag(source, "repeat"),
        None => Some(false),
    };
    let flags = match table.get("flags") {
        Some(value) => flags(source, value),
        None => Some(TaskFlags::empty()),
    };
    let does = table.require(source, keys::ACTOR.name, "does");
    let program =
        does.and_then(|value| program(source, value, repeat.unwrap_or_default(), places, memcg));
    Some(ActorConfig {
        name: name?,
        task: TaskContext { memcg: memcg?, cpu: cpu?, flags: flags? },
        kind: ActorKind::Task { program: program?, repeat: repeat? },
    })
}

fn cpu(source: &mut Source<'_>, value: &Value<'_>, cpus: Option<usize>) -> Option<CpuId> {
    let last = cpus.map_or(KIND_MOST, |cpus| cpus.min(KIND_MOST)).saturating_sub(1);
    let number = value.number(source, "cpu", 0, last as u64)?;
    usize::try_from(number).ok().map(CpuId::from)
}

fn flags(source: &mut Source<'_>, value: &Value<'_>) -> Option<TaskFlags> {
    let names: Vec<_> = FLAGS.iter().map(|doc| (doc.name, doc.flag)).collect();
    let list = value.list(source, "flags")?;
    let flags: Vec<_> = list.iter().map(|item| item.one_of(source, "flags", &names)).collect();
    flags.into_iter().collect::<Option<TaskFlags>>()
}

fn worker(
    source: &mut Source<'_>,
    table: &Table<'_>,
    cpus: usize,
    actors: &[ActorConfig],
) -> Option<ActorConfig> {
    table.only(source, keys::WORKER.name, &keys::WORKER.names());
    let value = table.require(source, keys::WORKER.name, "cpu")?;
    let cpu = cpu(source, value, Some(cpus))?;
    let name = match table.get("name") {
        Some(value) => word(source, value, "name")?,
        None => format!("kworker/{}", cpu.0),
    };
    let taken = actors
        .iter()
        .any(|actor| matches!(actor.kind, ActorKind::DrainWorker) && actor.task.cpu == cpu);
    if taken {
        source.problem(value.at, format!("CPU `{}` has two workers", cpu.0));
        return None;
    }
    let task = TaskContext { memcg: MemcgId(0), cpu, flags: TaskFlags::empty() };
    Some(ActorConfig { name, task, kind: ActorKind::DrainWorker })
}

fn kswapd(
    source: &mut Source<'_>,
    table: &Table<'_>,
    places: &Places<'_>,
    actors: &[ActorConfig],
) -> Option<ActorConfig> {
    table.only(source, keys::KSWAPD.name, &keys::KSWAPD.names());
    if !places.ram {
        let hint = "it is woken by free pages: `[ram]` with `total` and `free`";
        source.problem_with_hint(table.at, "there is a `[[kswapd]]`, but no `[ram]`", hint);
    }
    if actors.iter().any(|actor| matches!(actor.kind, ActorKind::Kswapd { .. })) {
        source.problem(table.at, "there are two `[[kswapd]]`");
        return None;
    }
    let name = match table.get("name") {
        Some(value) => word(source, value, "name")?,
        None => "kswapd".to_owned(),
    };
    let mut pages = |key| {
        let value = table.require(source, keys::KSWAPD.name, key)?;
        value.number(source, key, 1, PAGES_MOST).map(Pages)
    };
    let (low, high) = (pages("low"), pages("high"));
    let (low, high) = (low?, high?);
    if high < low {
        let at = table.get("high").map_or(table.at, |value| value.at);
        source.problem(at, format!("the `high` of `{name}` is `{high}`, below its `low` of {low}"));
    }
    let task = TaskContext { memcg: MemcgId(0), cpu: CpuId(0), flags: TaskFlags::empty() };
    Some(ActorConfig { name, task, kind: ActorKind::Kswapd { low, high } })
}
