//! `mmcheck check`.

use super::{Failure, Program, chosen, fuse, sink};
use crate::check::{Options, Swept, sweep};
use crate::cli::{self, BudgetArgs, Check, CheckFormat};
use crate::engine::Budget;
use crate::report::progress::{Shown, Style};
use crate::report::totals::Totals;
use crate::report::{human, json, markdown, outcome};
use crate::spec::{NamedDesign, Problems, Spec, library};
use crate::status::Outcome;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

impl Program<'_> {
    pub(super) fn check(&mut self, args: &Check) -> Result<Outcome, Failure> {
        let tasks = tasks(args)?;
        let interrupted = self.interrupted();
        let options = options(args, &interrupted);
        let style = Style::new(args.progress, self.err_terminal);
        let mut sink = sink(self.out, self.out_color, &args.output)?;
        let mut outcomes = Vec::new();
        let mut results: Vec<Swept> = Vec::new();
        let mut totals = Totals::default();
        let mut spec_shown = None;
        for (done, (spec, design)) in tasks.iter().enumerate() {
            if interrupted.load(Ordering::Relaxed) {
                outcomes.push(Outcome::Unknown);
                let (left, all) = (tasks.len() - done, tasks.len());
                writeln!(self.err, "mmcheck: interrupted before {left} of {all} searches")?;
                break;
            }
            let mut progress = Shown::new(style, self.err, &spec.file, &design.name);
            let swept = sweep(spec, design, &options, &mut progress);
            progress.clear();
            let swept = match swept {
                Ok(swept) => swept,
                Err(error) => {
                    let place = format!("{}, {}", spec.file, design.name);
                    writeln!(self.err, "mmcheck: internal error: {place}: {error}")?;
                    outcomes.push(Outcome::Internal);
                    continue;
                }
            };
            outcomes.push(outcome(&swept));
            totals.add(&swept);
            match args.format {
                CheckFormat::Human => {
                    if spec_shown != Some(&spec.file) {
                        spec_shown = Some(&spec.file);
                        sink.write(&human::spec(&spec.file, &spec.title))?;
                    }
                    sink.write(&human::swept(&swept, args.verbose))?;
                }
                CheckFormat::Json | CheckFormat::Markdown => results.push(swept),
            }
        }
        match args.format {
            CheckFormat::Human => sink.write(&(totals.line() + &totals.hint()))?,
            CheckFormat::Json => sink.write(&json::results(&results))?,
            CheckFormat::Markdown => sink.write(&markdown::results(&results))?,
        }
        if tasks.is_empty() {
            writeln!(self.err, "mmcheck: no spec was selected\n\nhint: try `--tier all`")?;
        }
        Ok(outcomes.into_iter().max().unwrap_or(Outcome::NothingDecided))
    }
}

fn options(args: &Check, interrupted: &Arc<AtomicBool>) -> Options {
    Options {
        fuse: fuse(&args.search),
        budget: budget(&args.budget, interrupted),
        engine: args.engine,
        threads: threads(args.threads),
        asked: None,
    }
}

/// The budget of a search, which an interrupt ends as well.
pub(super) fn budget(args: &BudgetArgs, interrupted: &Arc<AtomicBool>) -> Budget {
    let BudgetArgs { max_states, max_memory, timeout } = *args;
    Budget { max_states, max_memory, timeout, interrupted: Arc::clone(interrupted) }
}

/// The threads asked for, or one for each CPU.
pub(super) fn threads(asked: Option<u16>) -> usize {
    let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or_else(cpus, usize::from)
}

/// Every spec with every design that is to be checked.
fn tasks(args: &Check) -> Result<Vec<(Spec, NamedDesign)>, Problems> {
    let mut found = library::load(&args.paths)?;
    select(&mut found, args.tier);
    chosen(&found, args.design.design.as_deref())
}

/// Keeps the specs of the tier, or of tier pr and those that were named one by one.
pub(super) fn select(found: &mut Vec<library::Found>, tier: Option<cli::TierFilter>) {
    found.retain(|found| match tier {
        Some(tier) => tier.selects(found.spec.tier),
        None => found.named || cli::TierFilter::Pr.selects(found.spec.tier),
    });
}
