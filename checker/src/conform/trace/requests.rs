//! Writes to memory.reclaim by a task outside: what each pass was asked for, how the request ended
//! and what the counters said before and after.

use super::group::{CPUS, Group, amount};
use super::verdict::{Verdict, must};
use super::{Malformed, Recording, Row, Verdicts, differs};
use crate::conform::CaseOutcome;
use mm_model::design::Lru;
use mm_model::env::{Call, Env, Event, Question};
use mm_model::mm::memcontrol::memory_reclaim::MemoryReclaim;
use mm_model::units::Pages;
use mm_model::world::World;
use serde_json::json;

const MAY_SWAP: i64 = 2;
const PROACTIVE: i64 = 4;
const EAGAIN: i64 = 11;

/// A pass of a request.
#[derive(Clone, Copy, Debug)]
struct Pass {
    line: usize,
    start: i64,
    end: i64,
    asked: Pages,
    freed: Pages,
    usage: Pages,
    options: i64,
    visits: u64,
    scanned: u64,
    shrunk: Pages,
}

impl Pass {
    fn parse(row: &Row<'_>) -> Result<Self, Malformed> {
        row.demand(10)?;
        let pages = |field| row.count(field).map(Pages);
        Ok(Self {
            line: row.line,
            start: row.number(1)?,
            end: row.number(2)?,
            asked: pages(3)?,
            freed: pages(4)?,
            usage: pages(5)?,
            options: row.number(6)?,
            visits: row.count(7)?,
            scanned: row.count(8)?,
            shrunk: pages(9)?,
        })
    }
}

/// How a request ended.
struct End {
    line: usize,
    write_ret: i64,
    errno: i64,
    /// Bytes before and after.
    current: [u64; 2],
    pgsteal: u64,
    pgscan: u64,
    file: [i64; 2],
    anon: [u64; 2],
}

impl End {
    fn parse(row: &Row<'_>) -> Result<Self, Malformed> {
        row.demand(11)?;
        Ok(Self {
            line: row.line,
            write_ret: row.number(1)?,
            errno: row.number(2)?,
            current: [row.count(3)?, row.count(4)?],
            pgsteal: row.count(5)?,
            pgscan: row.count(6)?,
            file: [row.number(7)?, row.number(8)?],
            anon: [row.count(9)?, row.count(10)?],
        })
    }
}

/// A request.
struct Request<'a> {
    line: usize,
    amount: &'a str,
    asked: Pages,
    passes: Vec<Pass>,
    end: Option<End>,
}

/// The requests of a recording.
fn requests<'a>(rows: &[Row<'a>]) -> Result<Vec<Request<'a>>, Malformed> {
    let mut requests: Vec<Request<'a>> = Vec::new();
    for row in rows {
        let kind = row.text(0)?;
        if kind == "REQ" {
            row.demand(3)?;
            let (amount, asked) = (row.text(1)?, Pages(row.count(2)?));
            requests.push(Request { line: row.line, amount, asked, passes: Vec::new(), end: None });
            continue;
        }
        let outside = || row.malformed(0, format!("`{kind}` outside of a request"));
        let open = requests.last_mut().filter(|request| request.end.is_none());
        match (kind, open.ok_or_else(outside)?) {
            ("C", request) => request.passes.push(Pass::parse(row)?),
            ("END", request) => request.end = Some(End::parse(row)?),
            _ => return Err(row.malformed(0, format!("no row is of kind `{kind}`"))),
        }
    }
    Ok(requests)
}

/// Answers each pass as it was recorded, and hears what the model asks for.
struct Recorded<'a> {
    passes: &'a [Pass],
    asked: Vec<Pages>,
}

impl Env for Recorded<'_> {
    fn answer(&mut self, _: Question) -> u64 {
        0
    }

    fn note(&mut self, _: Event) {}

    fn stub(&mut self, _: &mut World, call: Call) -> Option<i64> {
        let Call::TryToFreeMemCgroupPages { nr_pages, .. } = call else { return None };
        let nth = self.asked.len();
        self.asked.push(nr_pages);
        self.passes.get(nth).map(|pass| pass.freed.raw()).or(Some(0))
    }
}

/// Judges every request.
pub(super) fn run(recording: &Recording<'_>) -> Result<Verdicts, Malformed> {
    let header = &recording.header;
    let run = header.words.last().copied().unwrap_or_default();
    let parts: Vec<_> = run.split('.').collect();
    let number = |prefix: &str| {
        parts.iter().find_map(|part| part.strip_prefix(prefix)?.parse::<usize>().ok())
    };
    let lru = if parts.contains(&"lru0x0000") { Lru::Classic } else { Lru::Mglru };
    let mut group = Group::outside(header)
        .with_lru(lru)
        .with_nodes(number("numa").unwrap_or(1))
        .with_children(number("child").unwrap_or(0));
    let requests = requests(&recording.rows)?;
    let mut verdicts = Verdicts::default();
    for request in &requests {
        judge(&mut group, request, &mut verdicts);
    }
    Ok(verdicts)
}

fn judge(group: &mut Group, request: &Request<'_>, verdicts: &mut Verdicts) {
    let mut record = |line, verdict: Verdict| {
        let outcome = match verdict {
            Ok(()) => CaseOutcome::Passed,
            Err((column, recorded, model)) => differs(column, recorded, model),
        };
        verdicts.add(line, outcome);
    };
    let wanted = amount(request.amount).map(|bytes| bytes / 4096);
    let model = json!(wanted);
    record(
        request.line,
        must(wanted == Some(request.asked.0), "asked_pages", request.asked.0, model),
    );
    let mut env = Recorded { passes: &request.passes, asked: Vec::new() };
    let most = request.passes.len() + 1;
    let frame = MemoryReclaim::enter(group.scenario(), group.own(), request.asked);
    let result = group.run_until(frame, &mut env, |env| env.asked.len() >= most);
    for (nth, pass) in request.passes.iter().enumerate() {
        let before = nth.checked_sub(1).map(|before| &request.passes[before]);
        record(pass.line, judge_pass(group, env.asked.get(nth), pass, before));
    }
    let Some(end) = &request.end else { return };
    let unfinished = env.asked.len() >= most;
    let next = env.asked.last().copied().filter(|_| unfinished);
    record(end.line, judge_end(group, request, end, result.map(|result| result.is_ok()), next));
}

/// Pages that counters may lag behind what passes freed: every stock.
fn lag(group: &Group) -> u64 {
    group.scenario().kernel.memcg_charge_batch.0 * CPUS
}

fn judge_pass(group: &Group, asked: Option<&Pages>, pass: &Pass, before: Option<&Pass>) -> Verdict {
    let Some(asked) = asked else {
        return Err(("ev", "C".into(), "END: the request is over".into()));
    };
    must(pass.asked == *asked, "asked", pass.asked.0, asked.0)?;
    let options = MAY_SWAP | PROACTIVE;
    must(pass.options == options, "reclaim_options", pass.options, options)?;
    let begins = before.map_or(i64::MIN, |before| before.end);
    must(pass.start >= begins, "t_start_us", pass.start, format!("{begins} or later"))?;
    must(pass.end >= pass.start, "t_end_us", pass.end, format!("{} or later", pass.start))?;
    if let Some(before) = before {
        let left = before.usage.saturating_sub(before.freed).0;
        let near = pass.usage.0.abs_diff(left) <= lag(group);
        must(near, "usage_before_pages", pass.usage.0, format!("about {left}"))?;
    }
    let most = group.pass_bound(*asked).map_or(pass.usage, |bound| bound.min(pass.usage));
    must(pass.freed <= most, "reclaimed", pass.freed.0, format!("at most {}", most.0))?;
    must(pass.shrunk <= pass.freed, "shrink_reclaimed", pass.shrunk.0, pass.freed.0)?;
    // A visit of a list takes a cluster or a batch, and as much of one folio beyond.
    let kernel = &group.scenario().kernel;
    let visit = match group.scenario().design.lru {
        Lru::Classic => kernel.swap_cluster_max,
        Lru::Mglru => kernel.min_lru_batch,
    };
    let most = pass.visits * (visit.0 - 1 + group.largest_folio().0);
    must(pass.scanned <= most, "scanned", pass.scanned, format!("at most {most}"))
}

fn judge_end(
    group: &Group,
    request: &Request<'_>,
    end: &End,
    ok: Option<bool>,
    next: Option<Pages>,
) -> Verdict {
    let fulfilled = end.errno == 0;
    if let Some(next) = next {
        let model = format!("another pass, for {next:?}");
        return Err(("ev", "END".into(), model.into()));
    }
    let errno = if ok == Some(true) { 0 } else { EAGAIN };
    must(end.errno == errno, "errno", end.errno, errno)?;
    let length = i64::try_from(request.amount.len()).expect("a short text");
    let write_ret = if fulfilled { length } else { -1 };
    must(end.write_ret == write_ret, "write_ret", end.write_ret, write_ret)?;
    let freed: Pages = request.passes.iter().map(|pass| pass.freed).sum();
    must(end.pgsteal <= freed.0, "pgsteal_delta", end.pgsteal, format!("at most {}", freed.0))?;
    must(end.anon[0] == end.anon[1], "anon_after", end.anon[1], end.anon[0])?;
    let file = end.file[0] - Pages(end.pgsteal).raw() * 4096;
    must(end.file[1] == file, "file_after", end.file[1], file)?;
    must(
        end.pgscan >= end.pgsteal,
        "pgscan_delta",
        end.pgscan,
        format!("{} or more", end.pgsteal),
    )?;
    let (Some(first), Some(last)) = (request.passes.first(), request.passes.last()) else {
        return Ok(());
    };
    let before = first.usage.0 * 4096;
    must(end.current[0] == before, "current_before", end.current[0], before)?;
    let after = last.usage.saturating_sub(last.freed).0 * 4096;
    let near = end.current[1].abs_diff(after) <= lag(group) * 4096;
    must(near, "current_after", end.current[1], format!("about {after}"))
}
