//! Reclaim passes under contention: which charge or handler may have made each, what it asked for
//! and what it freed.

use super::group::{CPUS, Group, Round};
use super::verdict::{Verdict, must};
use super::{Malformed, Recording, Row, Verdicts, differs, gfp_bits, gfp_of, hex, readahead_gfp};
use crate::conform::CaseOutcome;
use mm_model::gfp::Gfp;
use mm_model::units::Pages;
use serde_json::json;
use std::collections::BTreeMap;

mod high;

/// A pass.
#[derive(Clone, Copy, Debug)]
struct Pass<'a> {
    line: usize,
    start: i64,
    end: i64,
    task: &'a str,
    class: Class,
    fault: i64,
    folio: i64,
    charge: Pages,
    gfp: u64,
    asked: Pages,
    usage: Pages,
    freed: Pages,
}

/// Who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Speculative,
    Demanded,
    Demand,
    ReadaheadNode,
    DemandNode,
    Other,
    /// A charge with readahead's flags of which no more is known.
    Unsplit,
    Batch,
    ReturnToUser,
    InCharge,
    Worker,
}

const CLASSES: &[(&str, Class)] = &[
    ("ra_speculative", Class::Speculative),
    ("ra_demanded", Class::Demanded),
    ("demand_alloc", Class::Demand),
    ("ra_xarray_node", Class::ReadaheadNode),
    ("demand_xarray_node", Class::DemandNode),
    ("other_charge", Class::Other),
    ("ra_charge_unsplit", Class::Unsplit),
    ("ra_batch", Class::Batch),
    ("high_return_to_user", Class::ReturnToUser),
    ("high_in_charge", Class::InCharge),
    ("high_worker", Class::Worker),
];

impl Class {
    fn parse(row: &Row<'_>, field: usize) -> Result<Self, Malformed> {
        let text = row.text(field)?;
        let class = CLASSES.iter().find(|(name, _)| *name == text).map(|(_, class)| *class);
        class.ok_or_else(|| row.malformed(field, format!("no pass is of class `{text}`")))
    }

    const fn high(self) -> bool {
        matches!(self, Self::ReturnToUser | Self::InCharge | Self::Worker)
    }
}

impl<'a> Pass<'a> {
    fn parse(row: &Row<'a>) -> Result<Self, Malformed> {
        row.demand(11)?;
        let count = |field| row.count(field);
        Ok(Self {
            line: row.line,
            start: row.number(0)?,
            end: row.number(1)?,
            task: row.text(2)?,
            class: Class::parse(row, 3)?,
            fault: row.number(4)?,
            folio: row.number(5)?,
            charge: Pages(count(6)?),
            gfp: count(7)?,
            asked: Pages(count(8)?),
            usage: Pages(count(9)?),
            freed: Pages(count(10)?),
        })
    }

    fn holds_fault(&self) -> bool {
        (self.folio..self.folio + self.charge.raw()).contains(&self.fault)
    }
}

/// What all passes of a recording are judged with.
struct Judge<'a> {
    group: Group,
    file_system: &'a str,
    tasks: usize,
    file_pages: i64,
    /// Pages of the largest window.
    window: u64,
    passes: Vec<Pass<'a>>,
    /// What each task's handler of memory.high has done so far, the first ask first.
    handlers: BTreeMap<&'a str, (Pages, Pages, Vec<Round>)>,
}

/// Judges every pass.
pub(super) fn run(recording: &Recording<'_>) -> Result<Verdicts, Malformed> {
    let header = &recording.header;
    let passes = recording.rows.iter().map(Pass::parse).collect::<Result<Vec<_>, _>>()?;
    let file_system = header.file_system();
    let ra_pages = header.number("ra")? / 4;
    let mut judge = Judge {
        group: Group::parse(header)?,
        file_system,
        tasks: usize::try_from(header.number("N")?).unwrap_or(usize::MAX),
        file_pages: i64::try_from(header.file_pages()).expect("a small file"),
        window: ra_pages.max(header.kernel.file_system(file_system).1),
        passes,
        handlers: BTreeMap::new(),
    };
    let mut verdicts = Verdicts::default();
    for nth in 0..judge.passes.len() {
        let outcome = match judge.judge(nth) {
            Ok(()) => CaseOutcome::Passed,
            Err((column, recorded, model)) => differs(column, recorded, model),
        };
        verdicts.add(judge.passes[nth].line, outcome);
    }
    Ok(verdicts)
}

impl Judge<'_> {
    fn judge(&mut self, nth: usize) -> Verdict {
        self.order(nth)?;
        let pass = self.passes[nth];
        if !pass.class.high() {
            self.handlers.remove(pass.task);
        }
        match pass.class {
            Class::Batch => self.batch(nth)?,
            Class::ReturnToUser | Class::InCharge | Class::Worker => self.high(nth)?,
            Class::Speculative
            | Class::Demanded
            | Class::Demand
            | Class::ReadaheadNode
            | Class::DemandNode
            | Class::Other
            | Class::Unsplit => {
                self.place(&pass)?;
                self.mask(&pass)?;
                self.charge(nth)?;
            }
        }
        self.freed(&pass)
    }

    /// Passes of one task follow each other; the rows are in the order of their ends.
    fn order(&self, nth: usize) -> Verdict {
        let pass = self.passes[nth];
        let task = pass.task.strip_prefix('T').and_then(|task| task.parse::<usize>().ok());
        let tasks = format!("T0 to T{}", self.tasks - 1);
        must(task.is_some_and(|task| task < self.tasks), "task", pass.task, tasks)?;
        let last = nth.checked_sub(1).map_or(i64::MIN, |last| self.passes[last].end);
        must(pass.end >= last, "t_end_us", pass.end, format!("{last} or later"))?;
        let before = self.before(nth).map_or(i64::MIN, |before| before.end);
        let model = format!("{before} to {}", pass.end);
        must((before..=pass.end).contains(&pass.start), "t_start_us", pass.start, model)
    }

    /// The last pass of the same task.
    fn before(&self, nth: usize) -> Option<&Pass<'_>> {
        let task = self.passes[nth].task;
        self.passes[..nth].iter().rev().find(|pass| pass.task == task)
    }

    /// The folio lies where its class says: at the fault or elsewhere in its window.
    fn place(&self, pass: &Pass<'_>) -> Verdict {
        let Pass { fault, folio, charge, .. } = *pass;
        let in_file = |index: i64| index < self.file_pages;
        must(fault >= -1 && in_file(fault), "fault_pgoff", fault, "a page of the file, or -1")?;
        must(folio >= -1 && in_file(folio), "folio_index", folio, "a page of the file, or -1")?;
        match pass.class {
            Class::Demanded => {
                let model = format!("a folio that holds page {fault}");
                must(pass.holds_fault(), "folio_index", folio, model)?;
            }
            Class::Speculative => {
                let model = format!("a folio without page {fault}");
                must(!pass.holds_fault(), "folio_index", folio, model)?;
                if fault >= 0 {
                    // The window around the fault, or the one after a window with its mark there.
                    let window = i64::try_from(self.window).expect("a small number");
                    let near = (fault - window..=fault + 2 * window).contains(&folio);
                    must(near, "folio_index", folio, format!("near page {fault}"))?;
                }
            }
            Class::Demand => {
                let same = fault < 0 || folio == fault;
                must(same, "folio_index", folio, fault)?;
                return must(charge == Pages(1), "charge_pages", charge.0, 1);
            }
            Class::ReadaheadNode | Class::DemandNode => {
                return must(charge == Pages(1), "charge_pages", charge.0, 1);
            }
            Class::Other
            | Class::Unsplit
            | Class::Batch
            | Class::ReturnToUser
            | Class::InCharge
            | Class::Worker => return Ok(()),
        }
        let orders = self.group.folio_orders();
        let fits = orders
            .iter()
            .any(|order| charge == Pages::of_order(*order) && folio % charge.raw() == 0);
        let sizes: Vec<_> = orders.iter().map(|order| 1_u64 << order).collect();
        must(fits, "charge_pages", charge.0, json!(sizes))
    }

    /// The flags are those of such a charge, and let it reclaim.
    fn mask(&mut self, pass: &Pass<'_>) -> Verdict {
        const ACCOUNT: u64 = 0x40_0000;
        // What a node of the tree keeps of its folio's flags.
        const NODE: u64 = 0x20_0000 | 0x1_fce0;
        let readahead = self.group.readahead_mask();
        let demand = self.group.demand_mask();
        let folio = readahead_gfp(readahead, self.file_system);
        let wanted = match pass.class {
            Class::Speculative | Class::Demanded => Some((folio, readahead)),
            Class::ReadaheadNode => Some((ACCOUNT | (folio & NODE), readahead)),
            Class::Demand => Some((0x10_004a | gfp_bits(demand), demand)),
            Class::DemandNode => Some((ACCOUNT | 0x40 | gfp_bits(demand), demand)),
            Class::Unsplit => Some((0, readahead)),
            Class::Other | Class::Batch | Class::ReturnToUser | Class::InCharge | Class::Worker => {
                None
            }
        };
        if let Some((raw, mask)) = wanted {
            must(pass.gfp == raw, "charge_gfp", hex(pass.gfp), hex(raw))?;
            return must(
                mask.allow_blocking(),
                "class",
                class_name(pass.class),
                "no pass in such a charge",
            );
        }
        let unknown = pass.charge == Pages::ZERO && pass.gfp == 0;
        let blocking = gfp_of(pass.gfp).allow_blocking();
        must(unknown || blocking, "charge_gfp", hex(pass.gfp), "flags that allow direct reclaim")
    }

    /// Some level refused the charge, and what the pass was asked for follows.
    fn charge(&mut self, nth: usize) -> Verdict {
        let pass = self.passes[nth];
        let gfp = match pass.class {
            Class::Unsplit => self.group.readahead_mask(),
            Class::Other if pass.gfp == 0 => Gfp::KERNEL,
            Class::Speculative
            | Class::Demanded
            | Class::Demand
            | Class::ReadaheadNode
            | Class::DemandNode
            | Class::Other
            | Class::Batch
            | Class::ReturnToUser
            | Class::InCharge
            | Class::Worker => gfp_of(pass.gfp),
        };
        let known = pass.charge > Pages::ZERO;
        let charge = if known { pass.charge } else { pass.asked };
        self.refused(nth, |group, level, usage| group.charge(level, usage, gfp, charge))
    }

    fn batch(&mut self, nth: usize) -> Verdict {
        let pass = self.passes[nth];
        must(pass.charge == Pages::ZERO, "charge_pages", pass.charge.0, 0)?;
        must(pass.gfp == 0, "charge_gfp", hex(pass.gfp), hex(0))?;
        must(
            pass.folio >= 0 && pass.folio < self.file_pages,
            "folio_index",
            pass.folio,
            "a page of the file",
        )?;
        let fits = pass.asked.0 <= self.window;
        must(fits, "asked_pages", pass.asked.0, format!("no more than a window, {}", self.window))?;
        let makes = self.group.scenario().design.readahead_max_memcg_reclaims > 0;
        must(makes, "class", class_name(pass.class), "this kernel has no batch reclaim")?;
        self.refused(nth, |group, level, usage| group.batch(level, usage, pass.asked))
    }

    /// Runs a charge with the usage that was recorded; usage may have been higher when the level
    /// refused, if pages were given back until the pass began.
    fn refused(
        &mut self,
        nth: usize,
        mut first: impl FnMut(&mut Group, usize, Pages) -> Vec<Pages>,
    ) -> Verdict {
        let pass = self.passes[nth];
        let given_back = self.given_back(nth);
        let mut nearest = None;
        // Another CPU's attempt shows in the counter before it is taken back.
        let attempts = Pages(if self.tasks > 1 { self.attempt().0 * (CPUS - 1) } else { 0 });
        for level in 0..self.group.levels.len() {
            let max = self.group.levels[level].max;
            if max != Pages::UNLIMITED && pass.usage > max + attempts {
                continue;
            }
            let highest = max.min(pass.usage + given_back).max(pass.usage);
            for usage in [pass.usage, highest] {
                if let Some(asked) = first(&mut self.group, level, usage).first() {
                    if *asked == pass.asked {
                        return Ok(());
                    }
                    nearest = Some(*asked);
                }
            }
        }
        if let Some(asked) = nearest {
            return Err(("asked_pages", pass.asked.0.into(), asked.0.into()));
        }
        let max: Vec<_> = self.group.levels.iter().map(|level| level.max.0).collect();
        let model = format!("no more than the limit, and with the charge above it: {max:?}");
        Err(("usage_before_pages", pass.usage.0.into(), model.into()))
    }

    /// The most that can have been given back between the refusal and the begin of the pass: what
    /// others' passes freed since the task's last one, and every stock.
    fn given_back(&self, nth: usize) -> Pages {
        let pass = self.passes[nth];
        let since = self.before(nth).map_or(i64::MIN, |before| before.end);
        let others = self.passes.iter().filter(|other| {
            other.task != pass.task && other.start <= pass.start && other.end >= since
        });
        let freed: Pages = others.map(|other| other.freed).sum();
        let stock = self.group.scenario().kernel.memcg_charge_batch.0 * CPUS;
        let drains =
            self.tasks > 1 || self.before(nth).is_some_and(|last| last.folio == pass.folio);
        freed + if drains { Pages(stock) } else { Pages::ZERO }
    }

    /// The most that one attempt adds to a counter.
    fn attempt(&self) -> Pages {
        self.group.scenario().kernel.memcg_charge_batch.max(self.group.largest_folio())
    }

    /// A pass frees no more than its lists let it.
    fn freed(&self, pass: &Pass<'_>) -> Verdict {
        let bound = self.group.pass_bound(pass.asked);
        let most = bound.map_or(pass.usage, |bound| bound.min(pass.usage));
        must(pass.freed <= most, "reclaimed_pages", pass.freed.0, format!("at most {}", most.0))
    }
}

fn class_name(class: Class) -> &'static str {
    CLASSES.iter().find(|(_, known)| *known == class).expect("every class has a name").0
}
