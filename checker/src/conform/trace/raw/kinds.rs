//! The events of a recording of everything.

use crate::conform::trace::{Malformed, Row};

/// An event: its name, the number of its arguments, and the calls inside which it can be.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) arguments: &'static [usize],
    pub(super) inside: &'static [&'static str],
    /// The event that this one ends.
    pub(super) ends: Option<&'static str>,
}

pub(super) const TOP: &str = "";

const fn point(
    name: &'static str,
    arguments: &'static [usize],
    inside: &'static [&'static str],
) -> Kind {
    Kind { name, arguments, inside, ends: None }
}

const fn end(name: &'static str, arguments: &'static [usize], begin: &'static str) -> Kind {
    Kind { name, arguments, inside: &[], ends: Some(begin) }
}

const KINDS: &[Kind] = &[
    point("fault", &[3], &[TOP]),
    end("fault_ret", &[2], "fault"),
    point("read", &[1], &[TOP]),
    point("sync", &[5], &[TOP, "fault"]),
    point("async", &[6], &[TOP, "fault"]),
    point("window", &[4], &[TOP, "fault"]),
    point("unbounded", &[3], &[TOP, "fault"]),
    point("add", &[3], &[TOP, "fault", "retry"]),
    end("add_ret", &[1], "add"),
    point("mark", &[1], &[TOP, "fault"]),
    point("cached", &[3], &["add"]),
    point("charge", &[3], &[TOP, "fault", "add"]),
    end("charge_ret", &[1], "charge"),
    point("reclaim", &[5], &["charge", "batch", "high_enter"]),
    end("reclaim_ret", &[1], "reclaim"),
    point("shrink", &[4], &["reclaim"]),
    point("evict", &[3], &["reclaim"]),
    point("high_enter", &[1], &[TOP, "charge"]),
    end("high_exit", &[0], "high_enter"),
    point("reclaim_high", &[2], &["high_enter"]),
    point("retry", &[4], &[TOP, "fault"]),
    end("retry_done", &[4], "retry"),
    point("batch", &[2], &["retry"]),
    end("batch_ret", &[1], "batch"),
    point("capped", &[3], &[TOP, "fault"]),
    point("oom", &[0, 1, 2], &["charge", "fault"]),
];

pub(super) const BEGINS: &[&str] =
    &["fault", "add", "charge", "reclaim", "high_enter", "retry", "batch"];

/// The kind of an event and its numbers; texts among its arguments are 0, none is -1.
pub(super) fn parse(row: &Row<'_>) -> Result<(&'static Kind, Vec<i64>), Malformed> {
    let name = row.text(2)?;
    let kind = KINDS.iter().find(|kind| kind.name == name);
    let kind = kind.ok_or_else(|| row.malformed(2, format!("no event is called `{name}`")))?;
    let count = row.fields.len() - 3;
    if !kind.arguments.contains(&count) {
        let message = format!("{count} arguments, where {:?} are expected", kind.arguments);
        return Err(row.malformed(2, message));
    }
    let text = |nth: usize| match name {
        "add" => nth == 2,
        "reclaim" => nth == 4,
        "high_enter" | "oom" => true,
        _ => false,
    };
    let number = |nth: usize| match row.fields[nth + 3] {
        "" => Ok(-1),
        _ if text(nth) => Ok(0),
        _ => row.number(nth + 3),
    };
    (0..count).map(number).collect::<Result<Vec<_>, _>>().map(|args| (kind, args))
}
