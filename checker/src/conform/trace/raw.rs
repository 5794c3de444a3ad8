//! Every event of the tasks under contention: the calls of one task nest, and each call is one of
//! the model's with what was called inside it.

use super::group::Group;
use super::verdict::{Verdict, must};
use super::{Malformed, Recording, Row, Verdicts, differs, gfp_bits, gfp_of, hex, readahead_gfp};
use crate::conform::CaseOutcome;
use mm_model::gfp::Gfp;
use mm_model::units::Pages;
use serde_json::json;
use std::collections::BTreeMap;

mod fill;
use fill::Fills;
mod kinds;
pub(super) use fill::Tried;
use kinds::{BEGINS, Kind, TOP, parse};

const ENOMEM: i64 = -12;
const EEXIST: i64 = -17;
/// `__GFP_ACCOUNT`: the charge is one of kernel memory.
const ACCOUNT: u64 = 0x40_0000;

/// A call that has not returned.
#[derive(Clone, Default)]
struct Open {
    name: &'static str,
    args: Vec<i64>,
    /// Passes inside, with those of calls inside.
    passes: i64,
    /// Passes right inside: asked and freed.
    own: Vec<(Pages, Pages)>,
    /// What the last call inside returned.
    last: Option<i64>,
    /// Of an add: the order of the folio in the cache.
    cached: Option<i64>,
    /// Of an add: the pages that were charged.
    charged: Option<i64>,
    shrunk: i64,
    evicted: i64,
}

/// A task.
#[derive(Default)]
struct Task {
    stack: Vec<Open>,
    /// The add that has just failed for lack of memory.
    failed: Option<i64>,
    fills: Fills,
}

struct Judge<'a> {
    group: Group,
    file_system: &'a str,
    readahead: Gfp,
}

/// Judges every event.
pub(super) fn run(recording: &Recording<'_>) -> Result<Verdicts, Malformed> {
    let header = &recording.header;
    let mut group = Group::parse(header)?;
    let readahead = group.readahead_mask();
    let mut judge = Judge { group, file_system: header.file_system(), readahead };
    let mut filler = header.filler()?;
    let tasks = header.number("N")?;
    let known: Vec<_> = (0..tasks).map(|task| format!("T{task}")).collect();
    let mut of_task: BTreeMap<&str, Task> = BTreeMap::new();
    let mut outcomes: Vec<(usize, Verdict)> = Vec::new();
    let mut before = i64::MIN;
    for (nth, row) in recording.rows.iter().enumerate() {
        let (time, name) = (row.number(0)?, row.text(1)?);
        let (kind, args) = parse(row)?;
        let task = of_task.entry(name).or_default();
        let verdict = must(time >= before, "t_us", time, format!("{before} or later"))
            .and_then(|()| must(known.iter().any(|of| of == name), "task", name, json!(known)))
            .and_then(|()| judge.event(task, kind, args.clone(), row));
        before = before.max(time);
        outcomes.push((row.line, verdict));
        for (nth, verdict) in task.fills.event(nth, kind.name, &args, &mut filler) {
            let outcome = &mut outcomes[nth].1;
            if outcome.is_ok() {
                *outcome = Err(verdict);
            }
        }
    }
    let mut verdicts = Verdicts::default();
    for (line, verdict) in outcomes {
        let outcome = match verdict {
            Ok(()) => CaseOutcome::Passed,
            Err((column, recorded, model)) => differs(column, recorded, model),
        };
        verdicts.add(line, outcome);
    }
    Ok(verdicts)
}

impl Judge<'_> {
    fn cap(&self) -> i64 {
        self.group.scenario().design.readahead_max_memcg_reclaims.into()
    }

    fn event(
        &mut self,
        task: &mut Task,
        kind: &'static Kind,
        args: Vec<i64>,
        row: &Row<'_>,
    ) -> Verdict {
        let failed = task.failed.take();
        if let Some(begin) = kind.ends {
            return self.end(task, begin, &args);
        }
        let inside = task.stack.last().map_or(TOP, |open| open.name);
        // What began before the recording is not known.
        let cut = task.stack.is_empty() && !task.fills.began();
        let fits = kind.inside.contains(&inside) || cut;
        must(fits, "event", kind.name, format!("one that can be inside `{inside}`"))?;
        let verdict = self.begin(task, kind.name, &args, row, failed);
        if let Some(name) = BEGINS.iter().find(|name| **name == kind.name) {
            task.stack.push(Open { name, args, ..Open::default() });
        }
        verdict
    }

    fn begin(
        &mut self,
        task: &mut Task,
        name: &str,
        args: &[i64],
        row: &Row<'_>,
        failed: Option<i64>,
    ) -> Verdict {
        let parent = task.stack.last_mut();
        match name {
            "add" => self.add(args, row.fields[5]),
            "charge" => self.charge(parent.as_deref(), args),
            "reclaim" => self.reclaim(parent.as_deref(), args, row.fields[7]),
            "cached" => {
                let Some(add) = parent else { return Ok(()) };
                add.cached = Some(args[2]);
                must(args[1] == add.args[0], "index", args[1], add.args[0])?;
                let pages = 1_i64.checked_shl(u32::try_from(args[2]).unwrap_or(64)).unwrap_or(0);
                let fits = add.charged.is_none_or(|charged| charged == pages);
                must(fits, "order", args[2], json!(add.charged))
            }
            "shrink" => {
                if let Some(reclaim) = parent {
                    reclaim.shrunk += args[2];
                }
                let highest = i64::from(self.group.scenario().kernel.def_priority);
                let priority = (0..=highest).contains(&args[3]);
                must(priority, "priority", args[3], format!("0 to {highest}"))?;
                must(args[2] <= args[1], "reclaimed", args[2], format!("at most {}", args[1]))
            }
            "evict" => {
                if let Some(reclaim) = parent {
                    reclaim.evicted += 1 << args[2].clamp(0, 62);
                }
                let largest = self.group.largest_folio().0.ilog2();
                let fits = (0..=i64::from(largest)).contains(&args[2]);
                must(fits, "order", args[2], format!("at most {largest}"))
            }
            "high_enter" => {
                let in_charge = parent.is_some();
                let wanted = if in_charge { "in_charge" } else { "return_to_user" };
                let caller = row.fields[3];
                // Older recordings name the kernel function of the return.
                let fits = caller == wanted || (!in_charge && caller.contains("exit_to_user"));
                must(fits, "caller", caller, wanted)
            }
            "retry" => {
                let cap = self.cap();
                must(failed == Some(args[0]), "index", args[0], json!(failed))?;
                must((1..=cap).contains(&args[3]), "attempt", args[3], format!("1 to {cap}"))?;
                must(args[1] == args[2], "asked", args[2], args[1])
            }
            "capped" => {
                must(failed == Some(args[0]), "index", args[0], json!(failed))?;
                must(self.cap() > 0 && args[2] == self.cap(), "attempts", args[2], self.cap())
            }
            "batch" => {
                let gfp = readahead_gfp(Gfp::READAHEAD, self.file_system);
                must(args[1].unsigned_abs() == gfp, "gfp", hex(args[1].unsigned_abs()), hex(gfp))?;
                let Some(retry) = parent else { return Ok(()) };
                must(args[0] == retry.args[2], "asked", args[0], retry.args[2])
            }
            _ => Ok(()),
        }
    }

    fn add(&self, args: &[i64], caller: &str) -> Verdict {
        let gfp = args[1].unsigned_abs();
        if caller.contains("ra_") || caller.starts_with("readahead_") {
            let wanted = readahead_gfp(self.readahead, self.file_system);
            let batches = caller.starts_with("readahead_add_folio");
            must(batches == (self.cap() > 0), "caller", caller, "how this kernel adds folios")?;
            return must(gfp == wanted, "gfp", hex(gfp), hex(wanted));
        }
        must(gfp_of(gfp).allow_blocking(), "gfp", hex(gfp), "flags that allow direct reclaim")
    }

    /// The charge of a folio has its add's flags; that of a node a part of them, at first without
    /// those that let it block, because it is under a lock.
    fn charge(&self, parent: Option<&Open>, args: &[i64]) -> Verdict {
        must(args[1] > 0, "nr_pages", args[1], "1 or more")?;
        let Some(add) = parent.filter(|parent| parent.name == "add") else { return Ok(()) };
        let gfp = args[0].unsigned_abs();
        if gfp & ACCOUNT != 0 {
            let added = gfp_of(add.args[1].unsigned_abs());
            let under_lock = !gfp_of(gfp).allow_blocking();
            let known = gfp_of(gfp) == added.difference(Gfp::FS) || gfp_of(gfp) == added;
            must(args[1] == 1, "nr_pages", args[1], 1)?;
            return must(under_lock || known, "gfp", hex(gfp), hex(gfp_bits(added) | ACCOUNT));
        }
        let wanted = add.args[1].unsigned_abs();
        must(gfp == wanted, "gfp", hex(gfp), hex(wanted))?;
        let index = add.args[0];
        let orders = self.group.folio_orders();
        let fits = orders
            .iter()
            .any(|order| args[1] == 1_i64 << order && index.rem_euclid(1 << order) == 0);
        must(fits, "nr_pages", args[1], "the pages of a folio that can begin there")
    }

    fn reclaim(&mut self, parent: Option<&Open>, args: &[i64], class: &str) -> Verdict {
        const MAY_SWAP: i64 = 2;
        must(args[2] == MAY_SWAP, "options", args[2], MAY_SWAP)?;
        let cluster = self.group.scenario().kernel.swap_cluster_max.raw();
        let Some(parent) = parent else { return Ok(()) };
        let classes: &[&str] = match parent.name {
            "batch" => {
                let wanted = parent.args[0].max(cluster);
                must(args[0] == wanted, "asked", args[0], wanted)?;
                &["ra_batch"]
            }
            "charge" => {
                must(args[0] == parent.args[1], "asked", args[0], parent.args[1])?;
                must(
                    args[1] == parent.args[0],
                    "gfp",
                    hex(args[1].unsigned_abs()),
                    hex(parent.args[0].unsigned_abs()),
                )?;
                let blocks = gfp_of(parent.args[0].unsigned_abs()).allow_blocking();
                must(blocks, "event", "reclaim", "no pass in such a charge")?;
                if parent.args[0].unsigned_abs() & ACCOUNT != 0 {
                    &["ra_xarray_node", "demand_xarray_node", "other_charge"]
                } else if parent.args[0].unsigned_abs()
                    == readahead_gfp(self.readahead, self.file_system)
                {
                    &["ra_speculative", "ra_demanded"]
                } else {
                    &["demand_alloc", "other_charge"]
                }
            }
            _ => &["high_return_to_user", "high_in_charge", "high_worker"],
        };
        must(classes.contains(&class), "class", class, json!(classes))?;
        let own = self.group.levels.last().expect("there is a level");
        let slack = 64 * 8;
        let near =
            args[3] <= own.max.0.saturating_add(slack).cast_signed() || own.max == Pages::UNLIMITED;
        must(near, "usage", args[3], format!("about {}", own.max.0))
    }

    /// A call returns.
    fn end(&mut self, task: &mut Task, begin: &str, args: &[i64]) -> Verdict {
        let Some(open) = task.stack.pop() else {
            // It began before the recording.
            let cut = !task.fills.began();
            return must(cut, "event", "a return", format!("no `{begin}` is open"));
        };
        if open.name != begin {
            let model = format!("the end of `{}`", open.name);
            task.stack.push(open);
            return Err(("event", format!("the end of `{begin}`").into(), model.into()));
        }
        let verdict = self.judge_end(&open, args);
        if let Some(parent) = task.stack.last_mut() {
            parent.passes += open.passes + i64::from(open.name == "reclaim");
            if open.name == "reclaim" {
                let pages = |of: i64| Pages(of.unsigned_abs());
                parent.own.push((pages(open.args[0]), pages(args[0])));
            }
            parent.last = args.first().copied();
            if open.name == "charge" && open.args[0].unsigned_abs() & ACCOUNT == 0 {
                parent.charged = Some(open.args[1]);
            }
        }
        if open.name == "add" && args[0] == ENOMEM {
            task.failed = Some(open.args[0]);
        }
        if open.name == "retry" && args[2] == ENOMEM {
            task.failed = Some(open.args[0]);
        }
        verdict
    }

    fn judge_end(&mut self, open: &Open, args: &[i64]) -> Verdict {
        match open.name {
            "fault" => must(args[1] == open.passes, "passes_in_fault", args[1], open.passes),
            "add" => {
                let wanted = match (open.cached, open.last) {
                    (Some(_), _) => 0,
                    (None, Some(0)) => EEXIST,
                    (None, _) => ENOMEM,
                };
                must(args[0] == wanted, "ret", args[0], wanted)
            }
            "charge" => self.charged(open, args[0]),
            "reclaim" => {
                let (asked, freed) = (Pages(open.args[0].unsigned_abs()), args[0]);
                let usage = Pages(open.args[3].unsigned_abs());
                let most = self.group.pass_bound(asked).map_or(usage, |bound| bound.min(usage));
                must(
                    freed >= 0 && freed <= most.raw(),
                    "reclaimed",
                    freed,
                    format!("at most {}", most.0),
                )?;
                must(freed >= open.shrunk, "reclaimed", freed, format!("{} or more", open.shrunk))
            }
            "batch" => {
                if open.own.is_empty() {
                    return must(args[0] == 1, "answer", args[0], 1);
                }
                must(open.own.len() == 1, "passes", open.own.len(), 1)?;
                must((0..=1).contains(&args[0]), "answer", args[0], "0 or 1")
            }
            "retry" => {
                must(args[0] == open.args[0], "index", args[0], open.args[0])?;
                must(args[3] == open.args[3], "attempt", args[3], open.args[3])?;
                // The last call inside is the second add after a yes, the batch reclaim after a no.
                let last = open.last.unwrap_or_default();
                if args[1] == 0 {
                    must(last == 0, "answer", args[1], last)?;
                    return must(args[2] == ENOMEM, "final_ret", args[2], ENOMEM);
                }
                must(args[2] == last, "final_ret", args[2], last)
            }
            _ => Ok(()),
        }
    }

    /// Whether the charge can end like that after those passes.
    fn charged(&mut self, open: &Open, result: i64) -> Verdict {
        must(result == 0 || result == ENOMEM, "ret", result, "0 or -12")?;
        let gfp = gfp_of(open.args[0].unsigned_abs());
        let nr = Pages(open.args[1].unsigned_abs());
        let passes = open.own.len();
        let possible = self.group.charge_can_end(gfp, nr, passes, result == 0);
        let model = format!("not after {passes} passes");
        must(possible, "ret", result, model)
    }
}
