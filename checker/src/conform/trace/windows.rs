//! Windows under contention: how each was filled, where it stopped, and what that cost.

use super::control::{Adversity, Filled, Filler, Via, Window};
use super::group::Group;
use super::verdict::{Verdict, must};
use super::{Malformed, Recording, Row, Verdicts, differs};
use crate::conform::CaseOutcome;
use mm_model::units::Pages;
use mm_model::world::FileRaState;
use serde_json::{Value, json};
use std::collections::BTreeMap;

mod course;
use course::{adversity, courses};

/// A window and what came of it.
#[derive(Clone, Copy, Debug)]
struct Record<'a> {
    line: usize,
    task: &'a str,
    time: i64,
    fault: i64,
    via: Via,
    window: Window,
    pages_added: u64,
    folios_added: u64,
    eexist: u64,
    enomem_adds: u64,
    last_add_ret: i64,
    failed_at: Option<u64>,
    marks: u64,
    passes: u64,
    batch_reclaims: u64,
}

impl<'a> Record<'a> {
    fn parse(row: &Row<'a>) -> Result<Self, Malformed> {
        row.demand(17)?;
        let via = match row.text(3)? {
            "order" => Via::Order,
            "unbounded" => Via::Unbounded,
            other => return Err(row.malformed(3, format!("no window is submitted via `{other}`"))),
        };
        let order = row.count(7)?;
        let order = u8::try_from(order)
            .ok()
            .filter(|order| *order < 64)
            .ok_or_else(|| row.malformed(7, format!("{order} is no folio order")))?;
        let window =
            Window { start: row.count(4)?, size: row.count(5)?, async_size: row.count(6)?, order };
        Ok(Self {
            line: row.line,
            task: row.text(1)?,
            time: row.number(0)?,
            fault: row.number(2)?,
            via,
            window,
            pages_added: row.count(8)?,
            folios_added: row.count(9)?,
            eexist: row.count(10)?,
            enomem_adds: row.count(11)?,
            last_add_ret: row.number(12)?,
            failed_at: u64::try_from(row.number(13)?).ok(),
            marks: row.count(14)?,
            passes: row.count(15)?,
            batch_reclaims: row.count(16)?,
        })
    }

    /// The columns that the model determines from what the world did.
    fn columns(&self) -> [(&'static str, Value); 8] {
        [
            ("batch_reclaims", json!(self.batch_reclaims)),
            ("enomem_adds", json!(self.enomem_adds)),
            ("last_add_ret", json!(self.last_add_ret)),
            ("failed_at", json!(self.failed_at)),
            ("eexist", json!(self.eexist)),
            ("pages_added", json!(self.pages_added)),
            ("folios_added", json!(self.folios_added)),
            ("marks", json!(self.marks)),
        ]
    }
}

/// The same columns of what the model did. Marks were told by where their folio is: that of a folio
/// that failed counts if the next one took its place.
fn columns_of(filled: &Filled, marks: u64) -> [Value; 8] {
    let reused = (filled.marks..=filled.marks + filled.lost_marks).contains(&marks);
    let marks = if reused { marks } else { filled.marks };
    [
        json!(filled.asked.len()),
        json!(filled.enomem_adds),
        json!(filled.last_add_ret),
        json!(filled.failed_at),
        json!(filled.eexist),
        json!(filled.pages_added),
        json!(filled.folios_added),
        json!(marks),
    ]
}

/// Judges every window.
pub(super) fn run(recording: &Recording<'_>) -> Result<Verdicts, Malformed> {
    let header = &recording.header;
    let mut judge = Judge {
        filler: header.filler()?,
        group: Group::parse(header)?,
        large: header.kernel.file_system(header.file_system()).0 > 0,
        tasks: (0..header.number("N")?).map(|task| format!("T{task}")).collect(),
        states: BTreeMap::new(),
    };
    let records = recording.rows.iter().map(Record::parse).collect::<Result<Vec<_>, _>>()?;
    let mut verdicts = Verdicts::default();
    let mut before = i64::MIN;
    for record in &records {
        let verdict =
            must(record.time >= before, "t_us", record.time, format!("{before} or later"))
                .and_then(|()| judge.judge(record));
        before = before.max(record.time);
        let outcome = match verdict {
            Ok(()) => CaseOutcome::Passed,
            Err((column, recorded, model)) => differs(column, recorded, model),
        };
        verdicts.add(record.line, outcome);
    }
    Ok(verdicts)
}

struct Judge {
    filler: Filler,
    group: Group,
    large: bool,
    tasks: Vec<String>,
    /// The state that each task's file was left with.
    states: BTreeMap<String, FileRaState>,
}

impl Judge {
    fn judge(&mut self, record: &Record<'_>) -> Verdict {
        let pages = self.filler.file_pages();
        let fault = record.fault >= -1 && record.fault < i64::try_from(pages).expect("small");
        must(fault, "fault_pgoff", record.fault, "a page of the file, or -1")?;
        must(record.window.start < pages, "start", record.window.start, "a page of the file")?;
        let known = self.tasks.iter().any(|task| task == record.task);
        must(known, "task", record.task, json!(self.tasks))?;
        let decided = self.decided(record);
        let filled = self.filled(record);
        let state = self.filler.ra();
        self.states.insert(record.task.to_owned(), state);
        decided.and(filled).and_then(|()| self.passes(record))
    }

    /// A fault submits a window around itself, or the one behind its mark.
    fn decided(&mut self, record: &Record<'_>) -> Verdict {
        let Ok(fault) = u64::try_from(record.fault) else { return Ok(()) };
        let state = self.states.get(record.task).copied().unwrap_or_default();
        let recorded = record.window;
        let mut windows = Vec::new();
        // What follows the marked folio in the cache matters for a mark of another stream only.
        for end in [0, recorded.start] {
            windows = self.filler.windows(state, fault, end);
            if windows.contains(&(record.via, recorded)) {
                return Ok(());
            }
        }
        let fields = |of: Window| [of.start, of.size, of.async_size, of.order.into()];
        let alike = |of: &&(Via, Window)| {
            fields(of.1).iter().zip(fields(recorded)).filter(|(model, of)| **model == *of).count()
        };
        let nearest = windows.iter().max_by_key(alike);
        let Some((via, nearest)) = nearest else {
            return Err(("fault_pgoff", record.fault.into(), "no window at this fault".into()));
        };
        let names = ["start", "size", "async_size", "order"];
        let (recorded, model) = (fields(recorded), fields(*nearest));
        let differing = (0..4).find(|nth| recorded[*nth] != model[*nth]);
        if let Some(nth) = differing {
            return Err((names[nth], recorded[nth].into(), model[nth].into()));
        }
        let model = if *via == Via::Order { "order" } else { "unbounded" };
        Err(("via", "another".into(), model.into()))
    }

    /// Some course of the window explains what was counted.
    fn filled(&mut self, record: &Record<'_>) -> Verdict {
        let folios = self.filler.folios(record.via, record.window);
        let mut nearest: Option<(usize, Filled)> = None;
        for course in courses(record, &folios, self.large, self.cap()) {
            let Some(adversity) = adversity(record, &folios, &course, self.filler.file_pages())
            else {
                continue;
            };
            let filled = self.filler.fill(record.via, record.window, &adversity);
            let alike = record
                .columns()
                .iter()
                .zip(columns_of(&filled, record.marks))
                .take_while(|((_, recorded), model)| recorded == model)
                .count();
            if alike == 8 {
                return Ok(());
            }
            if nearest.as_ref().is_none_or(|(most, _)| alike > *most) {
                nearest = Some((alike, filled));
            }
        }
        let (at, filled) = nearest.unwrap_or_else(|| {
            (0, self.filler.fill(record.via, record.window, &Adversity::default()))
        });
        let at = record
            .columns()
            .iter()
            .zip(columns_of(&filled, record.marks))
            .position(|((_, recorded), model)| *recorded != model)
            .unwrap_or(at);
        let (column, recorded) = record.columns()[at].clone();
        Err((column, recorded, columns_of(&filled, record.marks)[at].clone()))
    }

    fn cap(&self) -> u64 {
        self.group.scenario().design.readahead_max_memcg_reclaims.into()
    }

    /// A charge that fails makes as many passes as the model's; a batch reclaim makes one at most.
    fn passes(&mut self, record: &Record<'_>) -> Verdict {
        let each = self.passes_of_failing_charge();
        let least = each * record.enomem_adds;
        must(record.passes >= least, "passes", record.passes, format!("{least} or more"))?;
        if each == 0 {
            let most = record.batch_reclaims;
            return must(record.passes <= most, "passes", record.passes, format!("at most {most}"));
        }
        // A charge that reclaims at all does so again only if others took what the pass freed.
        let adds = record.folios_added + record.eexist + record.enomem_adds;
        let retries = u64::from(self.group.scenario().kernel.max_reclaim_retries);
        let most = least + adds * retries;
        must(record.passes <= most, "passes", record.passes, format!("at most {most}"))
    }

    fn passes_of_failing_charge(&mut self) -> u64 {
        let mask = self.group.readahead_mask();
        self.group.passes_of_failing_charge(mask, Pages(1))
    }
}
