//! Steps and states as text. Pure: what it prints comes from the scenario and the model's own
//! tables, so that a new kernel function needs nothing here.

use crate::verdict::Choice;
use mm_model::env::{Arg, Call, Counter, Errno, Event, RequestSummary, Returns};
use mm_model::gfp::Gfp;
use mm_model::ids::{ActorId, MemcgId};
use mm_model::lru::{LruList, Lruvec, Run};
use mm_model::page_cache::Folio;
use mm_model::scenario::Scenario;
use mm_model::state::State;
use mm_model::units::Pages;
use mm_model::world::{Added, Cpu, FileRaState, Inode, Memcg, ReclaimIter, World};
use std::fmt::Write as _;

/// A number of pages.
pub fn pages(pages: Pages) -> String {
    if pages == Pages(1) { "1 page".to_owned() } else { format!("{pages} pages") }
}

/// A kernel call with its value, as `try_to_free_mem_cgroup_pages(job, 1 page) = 1`.
pub fn call(scenario: &Scenario, call: &Call, value: i64) -> String {
    let args = call.args().into_iter().filter_map(|arg| match arg {
        Arg::Memcg(memcg) => Some(scenario.memcg_name(memcg).to_owned()),
        Arg::Pages(number) => Some(pages(number)),
        Arg::Counter(Counter::Memory) => Some("memory".to_owned()),
        Arg::Counter(Counter::Memsw) => Some("memory+swap".to_owned()),
        Arg::Cpu(cpu) => Some(format!("CPU {}", cpu.0)),
        Arg::File(file) => Some(scenario.file(file).name.clone()),
        Arg::Inode(inode) => Some(scenario.inodes[inode.index()].name.clone()),
        Arg::Index(index) => Some(format!("index {index}")),
        Arg::Gfp(gfp) => class(gfp).map(str::to_owned),
        // What is usual is not worth a word.
        Arg::Flag(_, true) => None,
        Arg::Flag(name, false) => Some(format!("!{name}")),
        Arg::Number(name, number) => Some(format!("{name} {number}")),
    });
    let args = args.collect::<Vec<_>>().join(", ");
    let value = match call.returns() {
        Returns::Nothing => String::new(),
        Returns::Error => format!(" = {}", result(value)),
        Returns::Flag | Returns::Pages | Returns::Index => format!(" = {value}"),
        Returns::RefusingLevel => match usize::try_from(value) {
            Ok(level) => format!(" = refused by {}", scenario.memcg_name(MemcgId::from(level))),
            Err(_) => " = charged".to_owned(),
        },
    };
    format!("{}({args}){value}", call.name())
}

/// The name of an error, or the number if it is none.
pub fn result(value: i64) -> String {
    Errno::from_raw(value).map_or_else(|| value.to_string(), |errno| format!("-{errno:?}"))
}

/// Something that happened.
pub fn event(scenario: &Scenario, event: &Event) -> String {
    match event {
        Event::Returned(made, value) => call(scenario, made, *value),
        Event::AboveMax(level, number) => {
            format!("{} goes above max by adding {}", scenario.memcg_name(*level), pages(*number))
        }
        Event::Begin(operation, gfp) => match class(*gfp) {
            Some(class) => format!("{operation} begins ({class})"),
            None => format!("{operation} begins"),
        },
        Event::Requested(number) => format!("asks for {}", pages(*number)),
        Event::Fulfilled(_, asked, got) => format!("gets {got} of {}", pages(*asked)),
        Event::Reclaimed(memcg, number) => {
            format!("{} loses {}", scenario.memcg_name(*memcg), pages(*number))
        }
        Event::Unused(memcg, number) => {
            format!("{} that nobody has used, of {}", pages(*number), scenario.memcg_name(*memcg))
        }
        Event::Restarted(operation) => format!("{operation} begins anew"),
        Event::Signalled(actor) => {
            format!("signals {}", scenario.actors[actor.index()].name)
        }
        Event::Turned(file, by) => {
            let name = &scenario.file(*file).name;
            format!("turns {name} by {}", pages(*by))
        }
        Event::Wrapped(wrap) => format!("unsigned arithmetic wraps: {}", <&str>::from(wrap)),
        Event::ReadAhead(RequestSummary { marks, batch_reclaims, .. }) => {
            format!(
                "the request has set {marks} marks and asked for {batch_reclaims} batch reclaims"
            )
        }
        Event::End(operation, _, value) => format!("{operation} ends: {}", result(*value)),
    }
}

/// The class of an operation's flags, where it has any.
fn class(gfp: Gfp) -> Option<&'static str> {
    let class = Gfp::CLASSES.iter().find(|class| class.gfp == gfp);
    class.map(|class| class.name).filter(|_| !gfp.is_empty())
}

/// What happened in a step.
pub fn happened(scenario: &Scenario, events: &[Event]) -> Vec<String> {
    // Where the refusal or the pass itself is shown, what led to it is not worth a word.
    let passed = |seen: &Event| matches!(seen, Event::Returned(call, _) if call.frees());
    let lost = events.iter().filter(|seen| matches!(seen, Event::Reclaimed(..))).count();
    let one_pass = lost == 1 && events.iter().any(passed);
    let told = |seen: &&Event| match seen {
        Event::AboveMax(..) => events.len() == 1,
        Event::Reclaimed(..) => !one_pass,
        // The folio's removal is told anyway.
        Event::Unused(..) => false,
        Event::Returned(..)
        | Event::Begin(..)
        | Event::Requested(_)
        | Event::Fulfilled(..)
        | Event::Restarted(_)
        | Event::Signalled(_)
        | Event::Turned(..)
        | Event::Wrapped(_)
        | Event::ReadAhead(_)
        | Event::End(..) => true,
    };
    events.iter().filter(told).map(|seen| event(scenario, seen)).collect()
}

/// A step: who, in which function, and what happened, as
/// `A: try_charge_memcg: mem_cgroup_margin(job) = 0`.
pub fn step(scenario: &Scenario, from: &State, actor: ActorId, events: &[Event]) -> String {
    let stack = from.actors[actor.index()].stack();
    let mut text = scenario.actors[actor.index()].name.clone();
    if let Some((function, _)) = stack.first() {
        let _ = write!(text, ": {function}");
    }
    let happened = happened(scenario, events);
    match (stack.last(), happened.is_empty()) {
        (_, false) => text + ": " + &happened.join("; "),
        // A step that calls nothing is known by where it was taken.
        (Some((_, point)), true) => text + " at " + point,
        (None, true) => text + ": steps",
    }
}

/// A choice, without what it does.
pub fn choice(scenario: &Scenario, Choice { actor, answers }: &Choice) -> String {
    let name = scenario.actors.get(actor.index()).map_or("?", |actor| &actor.name);
    if answers.is_empty() { name.to_owned() } else { format!("{name} (answers {answers:?})") }
}

/// A state: a line for each memcg, CPU and actor.
pub fn state(scenario: &Scenario, state: &State) -> String {
    let World {
        memcgs,
        cpus,
        percpu_charge_mutex,
        signals,
        iters,
        free_pages,
        inodes,
        files,
        unmapped,
    } = &state.world;
    let mut text = String::new();
    for (config, inode) in scenario.inodes.iter().zip(inodes) {
        text.push_str(&page_cache(&config.name, inode));
    }
    for (config, ra) in scenario.files.iter().zip(files) {
        let FileRaState { start, size, async_size, order, mmap_miss, prev_pos } = ra;
        let _ = write!(text, "{}: window {start}+{size}, async {async_size}", config.name);
        let _ = writeln!(text, ", order {order}, missed {mmap_miss}, read up to byte {prev_pos}");
    }
    for (config, memcg) in scenario.memcgs.iter().zip(memcgs) {
        let Memcg { memory, memsw, high, lru, anon, lruvecs, order } = memcg;
        let _ = write!(text, "{}: usage {} of {}", config.name, memory.usage, memory.max);
        if let Some(memsw) = memsw {
            let _ = write!(text, ", with swap {} of {}", memsw.usage, memsw.max);
        }
        if *high < Pages::UNLIMITED {
            let _ = write!(text, ", high {high}");
        }
        let _ = writeln!(text, ", {lru} reclaimable, {anon} anonymous");
        if !order.is_empty() {
            let added: Vec<String> =
                order.iter().map(|added| self::added(scenario, *added)).collect();
            let _ = writeln!(text, "{} evicts: {}", config.name, added.join(", "));
        }
        for (node, lruvec) in lruvecs.iter().enumerate() {
            lists(&mut text, &format!("{} on node {node}", config.name), lruvec, scenario);
        }
    }
    iterators(&mut text, scenario, iters);
    if let Some(free) = free_pages {
        let _ = writeln!(text, "free: {}", pages(*free));
    }
    for (id, Cpu { slots, drain, .. }) in cpus.iter().enumerate() {
        let _ = write!(text, "CPU {id}: drain work {drain:?}");
        for slot in slots.iter().flatten() {
            let name = scenario.memcg_name(slot.memcg);
            let _ = write!(text, ", stock of {name}: {}", slot.nr_pages);
        }
        text.push('\n');
    }
    if let Some(owner) = percpu_charge_mutex {
        let _ = writeln!(text, "percpu_charge_mutex: {}", scenario.actors[owner.index()].name);
    }
    for actor in scenario.actor_ids().filter(|actor| signals.contains(*actor)) {
        let _ = writeln!(text, "signal pending: {}", scenario.actors[actor.index()].name);
    }
    for actor in scenario.actor_ids().filter(|actor| unmapped.contains(*actor)) {
        let _ = writeln!(text, "page lost: {}", scenario.actors[actor.index()].name);
    }
    for actor in scenario.actor_ids() {
        text.push_str(&where_is(scenario, state, actor));
    }
    text
}

/// Something a pass may take in its turn, as `a 4` for page 4 of file `a`.
pub fn added(scenario: &Scenario, added: Added) -> String {
    match added {
        Added::Folio(inode, index) => format!("{} {index}", scenario.inodes[inode.index()].name),
        Added::Counted => "a page".to_owned(),
        Added::Used => "a used page".to_owned(),
    }
}

/// The lists of a memcg on a node, each from the end that is scanned first.
fn lists(text: &mut String, title: &str, lruvec: &Lruvec, scenario: &Scenario) {
    let mut parts: Vec<String> = Vec::new();
    for list in LruList::ALL {
        let runs = lruvec.list(list).runs();
        if !runs.is_empty() {
            let runs: Vec<String> = runs.iter().map(|run| folios(*run)).collect();
            parts.push(format!("{} {}", <&str>::from(list), runs.join(", ")));
        }
    }
    for isolated in &lruvec.isolated {
        let by = &scenario.actors[isolated.by.index()].name;
        parts.push(format!("isolated by {by} {}", folios(isolated.run)));
    }
    if !parts.is_empty() {
        let _ = writeln!(text, "{title}: {}", parts.join("; "));
    }
}

/// Folios as a spec writes them.
pub fn folios(Run { flags, order, nr_folios }: Run) -> String {
    let mut text = nr_folios.to_string();
    if order > 0 {
        let _ = write!(text, " order {order}");
    }
    for (flag, _) in flags.iter_names() {
        let _ = write!(text, " {}", flag.to_ascii_lowercase());
    }
    text
}

/// Where walkers that share an iterator are.
fn iterators(text: &mut String, scenario: &Scenario, iters: &[ReclaimIter]) {
    for (index, iter) in iters.iter().enumerate() {
        let Some(position) = iter.position else { continue };
        let (target, node) = (index / scenario.nr_nodes(), index % scenario.nr_nodes());
        let target = scenario.memcgs.get(target).map_or("the root", |memcg| &memcg.name);
        let at = scenario.memcg_name(position);
        let _ = writeln!(text, "walk of {target} on node {node}: after {at}");
    }
}

/// The folios of an inode, as `4+4 locked readahead`.
fn page_cache(name: &str, inode: &Inode) -> String {
    let folio = |folio: Folio| {
        let flags: Vec<String> =
            folio.flags.iter_names().map(|(name, _)| name.to_lowercase()).collect();
        format!("{}+{} {}", folio.index, folio.nr_pages(), flags.join(" ")).trim_end().to_owned()
    };
    let folios: Vec<String> = inode.cache.folios().map(folio).collect();
    let folios = if folios.is_empty() { "nothing".to_owned() } else { folios.join(", ") };
    format!("{name}: caches {folios}\n")
}

fn where_is(scenario: &Scenario, state: &State, id: ActorId) -> String {
    let actor = &state.actors[id.index()];
    let frames = actor.stack().into_iter().map(|(function, point)| format!("{function} {point}"));
    let frames: Vec<String> = frames.collect();
    let mut text = format!("{}: ", scenario.actors[id.index()].name);
    match (frames.is_empty(), actor.may_rest()) {
        (false, _) => text.push_str(&frames.join(" > ")),
        (true, true) => text.push_str("at rest"),
        (true, false) => text.push_str("in user space"),
    }
    if actor.current.held > Pages::ZERO {
        let _ = write!(text, ", holds {}", pages(actor.current.held));
    }
    if let Some(guard) = scenario.blocked(state, id) {
        let _ = write!(text, ", waits until {}", guard.describe(scenario));
    }
    text + "\n"
}
