//! Batch reclaims of readahead: what each was asked for, what it answered, and the add after it.

use super::control::{Adversity, Filler, Via, Window};
use super::group::{CPUS, Group, Round};
use super::verdict::{Verdict, must};
use super::{Malformed, Recording, Row, Verdicts, differs};
use crate::conform::CaseOutcome;
use mm_model::units::Pages;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const ENOMEM: i64 = -12;
const EEXIST: i64 = -17;

/// A failed add, and the batch reclaim after it.
#[derive(Clone, Copy, Debug)]
struct Attempt<'a> {
    line: usize,
    time: i64,
    task: &'a str,
    start: u64,
    size: u64,
    index: u64,
    asked: u64,
    nth: u64,
    passes: u64,
    usage: Option<Pages>,
    freed: Option<Pages>,
    answer: bool,
    second: Option<i64>,
}

impl<'a> Attempt<'a> {
    fn parse(row: &Row<'a>) -> Result<Self, Malformed> {
        row.demand(12)?;
        let unless_none =
            |field| row.number(field).map(|pages| u64::try_from(pages).ok().map(Pages));
        Ok(Self {
            line: row.line,
            time: row.number(0)?,
            task: row.text(1)?,
            start: row.count(2)?,
            size: row.count(3)?,
            index: row.count(4)?,
            asked: row.count(5)?,
            nth: row.count(6)?,
            passes: row.count(7)?,
            usage: unless_none(8)?,
            freed: unless_none(9)?,
            answer: match row.number(10)? {
                0 => false,
                1 => true,
                _ => return Err(row.malformed(10, "an answer is 0 or 1".to_owned())),
            },
            second: if row.text(11)?.is_empty() { None } else { Some(row.number(11)?) },
        })
    }

    const fn window(&self, order: u8) -> Window {
        Window { start: self.start, size: self.size, async_size: 0, order }
    }

    /// Failed adds of the folio at its index.
    fn failures(&self) -> usize {
        1 + usize::from(self.second == Some(ENOMEM))
    }
}

struct Judge<'a> {
    filler: Filler,
    group: Group,
    large: bool,
    tasks: u64,
    /// The last attempt of each task.
    last: BTreeMap<&'a str, Attempt<'a>>,
}

/// Judges every attempt.
pub(super) fn run(recording: &Recording<'_>) -> Result<Verdicts, Malformed> {
    let header = &recording.header;
    let mut judge = Judge {
        filler: header.filler()?,
        group: Group::parse(header)?,
        large: header.kernel.file_system(header.file_system()).0 > 0,
        tasks: header.number("N")?,
        last: BTreeMap::new(),
    };
    let attempts = recording.rows.iter().map(Attempt::parse).collect::<Result<Vec<_>, _>>()?;
    let mut verdicts = Verdicts::default();
    let mut before = i64::MIN;
    for attempt in &attempts {
        let verdict =
            must(attempt.time >= before, "t_us", attempt.time, format!("{before} or later"))
                .and_then(|()| judge.judge(attempt));
        before = before.max(attempt.time);
        judge.last.insert(attempt.task, *attempt);
        let outcome = match verdict {
            Ok(()) => CaseOutcome::Passed,
            Err((column, recorded, model)) => differs(column, recorded, model),
        };
        verdicts.add(attempt.line, outcome);
    }
    Ok(verdicts)
}

impl Judge<'_> {
    fn judge(&mut self, attempt: &Attempt<'_>) -> Verdict {
        let tasks: Vec<_> = (0..self.tasks).map(|task| format!("T{task}")).collect();
        let known = tasks.iter().any(|task| task == attempt.task);
        must(known, "task", attempt.task, json!(tasks))?;
        let cap = u64::from(self.group.scenario().design.readahead_max_memcg_reclaims);
        must((1..=cap).contains(&attempt.nth), "attempt_no", attempt.nth, format!("1 to {cap}"))?;
        let pages = attempt.start..attempt.start + attempt.size;
        must(
            pages.contains(&attempt.index),
            "index",
            attempt.index,
            json!([pages.start, pages.end]),
        )?;
        let inside = attempt.index < self.filler.file_pages();
        must(inside, "index", attempt.index, "a page of the file")?;
        self.asked(attempt)?;
        self.answered(attempt)?;
        self.second(attempt)
    }

    /// The rest of the window, after what the same control has tried before.
    fn asked(&mut self, attempt: &Attempt<'_>) -> Verdict {
        let mut earlier: Vec<Attempt<'_>> = Vec::new();
        if attempt.nth > 1 {
            let before = self.last.get(attempt.task).copied();
            let before = before.filter(|before| before.nth + 1 == attempt.nth);
            let Some(before) = before else {
                return Err((
                    "attempt_no",
                    attempt.nth.into(),
                    "1: the first of its control".into(),
                ));
            };
            // A control that goes on with another window has forgotten where it was.
            if (before.start, before.size) == (attempt.start, attempt.size) {
                earlier.push(before);
            }
        }
        let wanted: Vec<_> = earlier.iter().chain([attempt]).map(|of| of.asked).collect();
        let ways = if self.large && !earlier.is_empty() { 10 } else { 0 };
        let orders = (0..ways).map(|order| (Via::Order, order));
        let mut nearest = Value::Null;
        for (via, order) in std::iter::once((Via::Unbounded, 0)).chain(orders) {
            let asked = self.run(via, order, &earlier, attempt);
            if asked == wanted {
                return Ok(());
            }
            if asked.len() == wanted.len() {
                nearest = json!(asked.last());
            }
        }
        if nearest.is_null() {
            return Err(("attempt_no", attempt.nth.into(), "the window had ended".into()));
        }
        Err(("asked_pages", attempt.asked.into(), nearest))
    }

    /// What the batch reclaims of the window are asked for if its adds fail as recorded.
    fn run(
        &mut self,
        via: Via,
        order: u8,
        earlier: &[Attempt<'_>],
        attempt: &Attempt<'_>,
    ) -> Vec<u64> {
        let mut world = Adversity::default();
        for of in earlier {
            *world.enomem.entry(of.index).or_default() += of.failures();
            world.answers.push(of.answer);
            if of.second == Some(EEXIST) {
                world.raced.push(of.index);
            }
        }
        *world.enomem.entry(attempt.index).or_default() += attempt.failures();
        world.answers.push(attempt.answer);
        let mut asked = self.filler.fill(via, attempt.window(order), &world).asked;
        asked.truncate(earlier.len() + 1);
        asked
    }

    /// Whether it came to a pass, what that freed, and what was answered.
    fn answered(&mut self, attempt: &Attempt<'_>) -> Verdict {
        let asked = Pages(attempt.asked);
        let (Some(usage), Some(freed)) = (attempt.usage, attempt.freed) else {
            must(attempt.passes == 0, "passes", attempt.passes, 0)?;
            let answer = i64::from(attempt.answer);
            return must(attempt.answer, "answer", answer, 1);
        };
        must(attempt.passes == 1, "passes", attempt.passes, 1)?;
        let goal = asked.max(self.group.scenario().kernel.swap_cluster_max);
        let bound = self.group.pass_bound(goal).map_or(usage, |bound| bound.min(usage));
        must(freed <= bound, "reclaimed_pages", freed.0, format!("at most {}", bound.0))?;
        let batch = self.group.scenario().kernel.memcg_charge_batch;
        let attempts = Pages(if self.tasks > 1 { batch.0 * (CPUS - 1) } else { 0 });
        let levels = 0..self.group.levels.len();
        let alone = self.tasks == 1;
        let mut short = false;
        for level in levels {
            let max = self.group.levels[level].max;
            // Others may have given pages back after the look at the margin.
            let seen = if alone { usage } else { max };
            if max == Pages::UNLIMITED || usage > max + attempts {
                continue;
            }
            if self.group.batch(level, seen, asked).is_empty() {
                continue;
            }
            short = true;
            // And have taken what the pass freed, or given back more.
            let least = if alone { usage.saturating_sub(freed) } else { Pages::ZERO };
            let most = if alone { least } else { max };
            let answers = [least, most].map(|left| {
                let after = Round { usage: left, freed };
                self.group.batch_answer(level, seen, asked, after)
            });
            if answers.contains(&attempt.answer) {
                return Ok(());
            }
        }
        let model = i64::from(!attempt.answer);
        must(short, "usage_before_pages", usage.0, "usage that leaves too little room")?;
        Err(("answer", i64::from(attempt.answer).into(), model.into()))
    }

    /// The add is tried again after a yes only.
    fn second(&self, attempt: &Attempt<'_>) -> Verdict {
        let recorded = json!(attempt.second);
        let possible = match attempt.second {
            None => !attempt.answer,
            Some(0 | ENOMEM) => attempt.answer,
            Some(EEXIST) => attempt.answer && self.large,
            Some(_) => false,
        };
        let model =
            if attempt.answer { "0 or an error of an add" } else { "nothing: the answer is no" };
        must(possible, "second_add_ret", recorded, model)
    }
}
