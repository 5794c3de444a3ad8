//! `mmcheck bless`: what `check` finds becomes what is expected.

use super::check::{budget, select, threads};
use super::{Failure, Program, Sink};
use crate::check::{Judged, Options, Swept, sweep};
use crate::cli::{Bless, Engine};
use crate::report::progress::{Shown, Style};
use crate::spec::pin::{Pins, pin};
use crate::spec::{Problems, Spec, asked, library, parse};
use crate::status::Outcome;
use crate::value::Expected;
use mm_model::machine::Fuse;
use similar::TextDiff;
use std::fs;
use std::path::Path;

impl Program<'_> {
    pub(super) fn bless(&mut self, args: &Bless) -> Result<Outcome, Failure> {
        if self.ci {
            let hint = "bless where you work, and commit the difference".to_owned();
            let message =
                "`CI` is set: a run that judges a change must not rewrite what it expects";
            return Err(Problems::of_usage(message, Some(hint)).into());
        }
        let mut found = library::load(&args.paths)?;
        select(&mut found, args.tier);
        let options = Options {
            fuse: Fuse::OwnLocal,
            budget: budget(&args.budget, &self.interrupted()),
            engine: Engine::Auto,
            threads: threads(args.threads),
            asked: None,
        };
        let style = Style::new(args.progress, self.err_terminal);
        let mut worst = Outcome::AsExpected;
        for library::Found { spec, .. } in &found {
            worst = worst.max(self.bless_spec(spec, &options, style)?);
        }
        if found.is_empty() {
            writeln!(self.err, "mmcheck: no spec was selected\n\nhint: try `--tier all`")?;
            return Ok(Outcome::NothingDecided);
        }
        Ok(worst)
    }

    /// Pins all that a spec decides, or nothing of it.
    fn bless_spec(
        &mut self,
        spec: &Spec,
        options: &Options,
        style: Style,
    ) -> Result<Outcome, Failure> {
        let file = Path::new(&spec.file);
        if !file.is_file() {
            let hint = "name a file or a directory on disk".to_owned();
            let message = "it is compiled into the binary, and can't be rewritten";
            return Err(Problems::of_file(&spec.file, message, Some(hint)).into());
        }
        let mut pins = Vec::new();
        for design in &spec.designs {
            let mut progress = Shown::new(style, self.err, &spec.file, &design.name);
            let swept = sweep(spec, design, options, &mut progress);
            progress.clear();
            match swept {
                Ok(swept) if swept.points.iter().all(|point| point.stopped.is_none()) => {
                    pins.extend(pins_of(&swept));
                }
                Ok(_) => {
                    let (file, name) = (&spec.file, &design.name);
                    writeln!(self.err, "{file}: not blessed: the search of {name} was cut short")?;
                    return Ok(Outcome::Unknown);
                }
                Err(error) => {
                    let place = format!("{}, {}", spec.file, design.name);
                    writeln!(self.err, "mmcheck: internal error: {place}: {error}")?;
                    return Ok(Outcome::Internal);
                }
            }
        }
        let old = library::read(file)?;
        let scenario = spec.scenario(&spec.designs[0].design);
        let usual = |key: &str| {
            asked(key, &scenario.actors).map_or_else(|| key.to_owned(), |it| it.name(&scenario))
        };
        let new = pin(&old, &pins, usual);
        confirm(spec, &new, &pins);
        if new != old {
            fs::write(file, &new).map_err(|error| {
                let message = format!("it can't be written: {error}");
                Problems::of_file(&spec.file, message, None)
            })?;
            let diff = TextDiff::from_lines(&old, &new);
            let text = diff.unified_diff().header(&spec.file, &spec.file).to_string();
            Sink { to: Box::new(&mut *self.out), color: false }.write(&text)?;
        }
        Ok(Outcome::AsExpected)
    }
}

/// What to expect of a spec. Of a sweep that is what is the same at every point, and thresholds,
/// but no count.
fn pins_of(swept: &Swept) -> Option<Pins> {
    let (first, others) = swept.points.split_first()?;
    let answer =
        |judged: &Judged| judged.value.map_or(Expected::Verdict(judged.verdict), Expected::Value);
    let pin = |judged: &Judged| (judged.name(&first.scenario), answer(judged));
    let same = |judged: &&Judged| {
        others.iter().all(|point| {
            let mut all = point.judged.iter();
            all.any(|other| other.claim == judged.claim && answer(other) == answer(judged))
        })
    };
    let judged = first.judged.iter().filter(same);
    Some(Pins {
        design: first.design.name.clone(),
        answers: judged.chain(&swept.thresholds).map(pin).collect(),
        counts: others.is_empty().then_some((first.states, first.transitions)),
    })
}

/// Makes sure that the rewritten text is still the same spec, and expects what was found.
fn confirm(old: &Spec, text: &str, pins: &[Pins]) {
    let new = parse(&old.file, text).unwrap_or_else(|problems| panic!("bless wrote {problems}"));
    assert_eq!(new.designs, old.designs, "{}: the designs are kept", old.file);
    for Pins { design, answers, counts } in pins {
        let read = &new.expectations[design];
        if let Some((states, transitions)) = counts {
            assert_eq!((read.states, read.transitions), (Some(*states), Some(*transitions)));
        }
        let pinned = read.answers.len() + read.thresholds.len();
        assert!(pinned >= answers.len(), "{}: every verdict is pinned", old.file);
    }
}
