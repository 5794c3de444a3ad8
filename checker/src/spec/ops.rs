//! The operations of a program: `does`.

use super::actors::Places;
use super::file_ops;
use super::problem::Source;
use super::tree::{Value, shorten};
use super::world::PAGES_MOST;
use mm_model::gfp::{Gfp, GfpClass};
use mm_model::ids::{ActorId, MemcgId};
use mm_model::lru::FolioFlags;
use mm_model::scenario::Op;
use mm_model::units::Pages;

/// The longest program.
const PROGRAM_MOST: usize = 255;

/// The files of a memcg that a task can write.
const FILES: [&str; 3] = ["memory.reclaim", "memory.high", "memory.max"];

/// An operation of a program.
pub struct OpDoc {
    /// Its name.
    pub name: &'static str,
    /// How it is written.
    pub usage: &'static str,
    /// What it does.
    pub summary: &'static str,
}

/// Every operation a program can have.
pub const OPS: &[OpDoc] = &[
    OpDoc {
        name: "charge",
        usage: "charge PAGES CLASS",
        summary: "`try_charge_memcg()`: charges pages to the task's memcg with that class of gfp \
                  flags. The task holds them: no reclaim frees them.",
    },
    OpDoc {
        name: "uncharge",
        usage: "uncharge PAGES",
        summary: "Gives back pages it holds, at most as many as it holds.",
    },
    OpDoc {
        name: "lru-add",
        usage: "lru-add PAGES",
        summary: "Puts pages it holds on the LRU, at most as many as it holds: reclaim can then \
                  free them.",
    },
    OpDoc {
        name: "write",
        usage: "write FILE PAGES",
        summary: "Writes `memory.reclaim`, `memory.high` or `memory.max` of the task's memcg, or of \
                  another: `job/memory.high`. A limit may be `max`.",
    },
    OpDoc {
        name: "madvise-stockpile",
        usage: "madvise-stockpile PAGES",
        summary: "`madvise(NULL, PAGES, MADV_STOCKPILE)`: wants that many pages free, below the \
                  limits of the task's memcg and of all above it, and in the machine if the spec \
                  has `[ram]`.",
    },
    OpDoc {
        name: "signal",
        usage: "signal ACTOR",
        summary: "Sends a signal to a task. It is handled when the task is next in user space.",
    },
    OpDoc {
        name: "read",
        usage: "read FILE PAGE PAGES",
        summary: "`read()` of an open file, through `filemap_read()`. Either number may be a \
                  range, as `0..3`, of which the task picks one each time, or bytes, as `100b`. \
                  `read FILE next 1` reads the page after the one before, of a pooled file.",
    },
    OpDoc {
        name: "fault",
        usage: "fault FILE PAGE [seq|rand|huge|huge-rand]",
        summary: "A page fault on a page of a mapped file, through `filemap_fault()`, its \
                  repetition included. The page may be a range, or `next`: the one after the page \
                  before, of a pooled file. The last word is how the mapping is going to be used \
                  (`VM_SEQ_READ`, `VM_RAND_READ`, `VM_HUGEPAGE`; `huge-rand` is the last two).",
    },
    OpDoc {
        name: "access",
        usage: "access FILE PAGE [seq|rand|huge|huge-rand]",
        summary: "An instruction that accesses a page of a mapped file: it faults, and faults again \
                  as long as the page is gone or no memory is left when it retires. Written as \
                  `fault`.",
    },
    OpDoc {
        name: "willneed",
        usage: "willneed FILE PAGE PAGES",
        summary: "`posix_fadvise(POSIX_FADV_WILLNEED)`, through `force_page_cache_ra()`. Either \
                  number may be a range.",
    },
    OpDoc {
        name: "window",
        usage: "window FILE START SIZE ASYNC-SIZE ORDER",
        summary: "Fills one window, whatever made it: stores it as the readahead state of the open \
                  file and calls `page_cache_ra_order()`. Each number may be a range; what exceeds \
                  the size of an ASYNC-SIZE is cut off.",
    },
    OpDoc {
        name: "set",
        usage: "set FLAG FOLIOS",
        summary: "Sets a flag of folios of the task's memcg, the first ones that lack it: \
                  `locked`, `young` (accessed), `referenced`, `dirty`, `writeback`, `pinned` (an \
                  extra reference). Passes must walk.",
    },
    OpDoc {
        name: "clear",
        usage: "clear FLAG FOLIOS",
        summary: "Clears a flag of folios of the task's memcg, the first ones that have it.",
    },
];

/// The operations of a task.
pub(super) fn program(
    source: &mut Source<'_>,
    value: &Value<'_>,
    repeat: bool,
    places: &Places<'_>,
    memcg: Option<MemcgId>,
) -> Option<Vec<Op>> {
    let list = value.list(source, "does")?;
    if list.is_empty() || list.len() > PROGRAM_MOST {
        let message = format!("`does` has `{}` operations", list.len());
        source.problem(value.at, format!("{message}, but must have 1 to {PROGRAM_MOST}"));
        return None;
    }
    let ops: Vec<_> = list.iter().map(|item| op(source, item, places, memcg)).collect();
    let ops: Vec<Op> = ops.into_iter().collect::<Option<_>>()?;
    let idle = ops.iter().all(|op| matches!(op, Op::Uncharge { .. }));
    if repeat && idle {
        source.problem_with_hint(
            value.at,
            format!("`does` is `{}`, which soon has nothing to uncharge", shorten(value.written)),
            "a task that repeats must also charge, or it spins in user space for ever",
        );
        return None;
    }
    Some(ops)
}

fn op(
    source: &mut Source<'_>,
    value: &Value<'_>,
    places: &Places<'_>,
    memcg: Option<MemcgId>,
) -> Option<Op> {
    let text = value.text(source, "does")?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let name = words.first().copied().unwrap_or_default();
    let Some(doc) = OPS.iter().find(|doc| doc.name == name) else {
        let message = format!("no operation is named `{}`", shorten(name));
        source.unknown(value.at, message, name, "operations", OPS.iter().map(|doc| doc.name));
        return None;
    };
    let most = doc.usage.split_whitespace().count();
    let optional = doc.usage.matches('[').count();
    if !(most - optional..=most).contains(&words.len()) {
        let message = format!("`{}` is not written as `{}`", shorten(text), doc.usage);
        match hint(name) {
            Some(hint) => source.problem_with_hint(value.at, message, hint),
            None => source.problem(value.at, message),
        }
        return None;
    }
    let pages =
        |source: &mut Source<'_>, word: &str| number(source, value, word, "pages", 1).map(Pages);
    match name {
        "charge" => {
            let nr_pages = pages(source, words[1])?;
            Some(Op::Charge { nr_pages, gfp: class(source, value, words[2])? })
        }
        "uncharge" => Some(Op::Uncharge { nr_pages: pages(source, words[1])? }),
        "lru-add" => Some(Op::LruAdd { nr_pages: pages(source, words[1])? }),
        "write" => write(source, value, places, memcg, [words[1], words[2]]),
        "madvise-stockpile" => Some(Op::Stockpile { nr_pages: pages(source, words[1])? }),
        "read" | "fault" | "access" | "willneed" | "window" => {
            file_ops::op(source, value, places, &words)
        }
        "signal" => Some(Op::Signal { actor: task(source, value, places, words[1])? }),
        _ => {
            if !places.walks {
                let message = format!("`{}` where the world answers for passes", shorten(text));
                let hint = "only a pass that walks lists looks at folios: `pass = \"walked\"`";
                source.problem_with_hint(value.at, message, hint);
            }
            let nr_folios = number(source, value, words[2], "folios", 1);
            let flags = folio_flag(source, value, words[1]);
            Some(Op::Mark { flags: flags?, set: name == "set", nr_folios: nr_folios? })
        }
    }
}

/// What else to say of an operation that is written otherwise.
fn hint(name: &str) -> Option<String> {
    match name {
        "charge" => {
            let classes: Vec<&str> = Gfp::CLASSES.iter().map(|class| class.name).collect();
            Some(format!("the classes are: {}", classes.join(", ")))
        }
        "write" => Some(format!("the files are: {}", FILES.join(", "))),
        "set" | "clear" => Some(format!("the flags are: {}", flag_names().join(", "))),
        _ => None,
    }
}

fn number(
    source: &mut Source<'_>,
    value: &Value<'_>,
    word: &str,
    of: &str,
    least: u64,
) -> Option<u64> {
    let number = word.parse().ok().filter(|number| (least..=PAGES_MOST).contains(number));
    if number.is_none() {
        let written = shorten(value.written.trim_matches('"'));
        let message = format!("`{}` in `{written}` is not a number", shorten(word));
        source.problem(value.at, format!("{message} of {of} from {least} to {PAGES_MOST}"));
    }
    number
}

fn write(
    source: &mut Source<'_>,
    value: &Value<'_>,
    places: &Places<'_>,
    own: Option<MemcgId>,
    [path, pages]: [&str; 2],
) -> Option<Op> {
    let (directory, file) =
        path.rsplit_once('/').map_or((None, path), |(dir, file)| (Some(dir), file));
    if !FILES.contains(&file) {
        let message = format!("no file that can be written is named `{}`", shorten(file));
        source.unknown(value.at, message, file, "files", FILES);
        return None;
    }
    let memcg = match directory {
        Some(name) => places.memcg(source, value.at, name),
        None => own,
    };
    if file == "memory.reclaim" {
        let nr_pages = number(source, value, pages, "pages", 1).map(Pages);
        return Some(Op::WriteReclaim { memcg: memcg?, nr_pages: nr_pages? });
    }
    let limit = match pages {
        "max" => Some(Pages::UNLIMITED),
        pages => number(source, value, pages, "pages", 0).map(Pages),
    };
    Some(match file {
        "memory.high" => Op::WriteHigh { memcg: memcg?, high: limit? },
        _ => Op::WriteMax { memcg: memcg?, max: limit? },
    })
}

fn task(
    source: &mut Source<'_>,
    value: &Value<'_>,
    places: &Places<'_>,
    name: &str,
) -> Option<ActorId> {
    let found = places.tasks.iter().position(|task| task == name);
    if found.is_none() {
        let message = format!("no task is named `{}`", shorten(name));
        source.unknown(value.at, message, name, "tasks", places.tasks.iter().map(String::as_str));
    }
    found.map(ActorId::from)
}

/// The names of the flags of folios in a spec.
pub(super) fn flag_names() -> Vec<String> {
    FolioFlags::all().iter_names().map(|(name, _)| name.to_ascii_lowercase()).collect()
}

/// A flag of a folio.
pub(super) fn folio_flag(
    source: &mut Source<'_>,
    value: &Value<'_>,
    name: &str,
) -> Option<FolioFlags> {
    let mut all = FolioFlags::all().iter_names();
    let found = all.find(|(flag, _)| flag.to_ascii_lowercase() == name).map(|(_, flag)| flag);
    if found.is_none() {
        let message = format!("no flag of a folio is named `{}`", shorten(name));
        let names = flag_names();
        source.unknown(value.at, message, name, "flags", names.iter().map(String::as_str));
    }
    found
}

fn class(source: &mut Source<'_>, value: &Value<'_>, name: &str) -> Option<Gfp> {
    let found = Gfp::class(name);
    if found.is_none() {
        let message = format!("no gfp class is named `{}`", shorten(name));
        let names = Gfp::CLASSES.iter().map(|GfpClass { name, .. }| *name);
        source.unknown(value.at, message, name, "gfp classes", names);
    }
    found
}
