//! The whole program, with everything it touches as a parameter, so that a test can run it.

use crate::check::{Checked, Options, check};
use crate::cli::{BudgetArgs, Check, Cli, Command, Conform, Explore, Format, List, Output, When};
use crate::engine::{Budget, stateright};
use crate::report::progress::{Shown, Style};
use crate::report::{human, json, outcome};
use crate::spec::{self, NamedDesign, Problems, Spec, library};
use crate::status::Outcome;
use crate::{cli, list};
use clap::Parser;
use clap::error::ErrorKind;
use mm_model::design::PRESETS;
use mm_model::machine::Fuse;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The outside of the program.
pub struct Streams<'a> {
    /// Data.
    pub out: &'a mut dyn Write,
    /// Everything else.
    pub err: &'a mut (dyn Write + Send),
    /// Whether `out` shows colour.
    pub out_color: bool,
    /// Whether `err` is a terminal.
    pub err_terminal: bool,
    /// Set to stop a search.
    pub interrupted: Arc<AtomicBool>,
}

/// Why a command came to no result.
enum Failure {
    /// What the user gave can't be used.
    Problems(Problems),
    /// Writing failed.
    Io(io::Error),
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Runs the program and returns its exit status. Arguments begin with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, streams: Streams<'_>) -> u8 {
    let Streams { out, err, out_color, err_terminal, interrupted } = streams;
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, out, err),
    };
    let out_color = match cli.color {
        When::Auto => out_color,
        When::Always => true,
        When::Never => false,
    };
    let mut program = Program { out, err, out_color, err_terminal, interrupted };
    match catch_unwind(AssertUnwindSafe(|| program.command(&cli.command))) {
        Ok(Ok(outcome)) => outcome.status(),
        Ok(Err(Failure::Problems(problems))) => {
            let _ = write!(program.err, "{problems}");
            Outcome::Usage.status()
        }
        // Whoever reads has had enough: that is no error.
        Ok(Err(Failure::Io(error))) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Ok(Err(Failure::Io(error))) => {
            let _ = writeln!(program.err, "mmcheck: the results can't be written: {error}");
            Outcome::Internal.status()
        }
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
            let message = message.unwrap_or("a panic");
            let _ = writeln!(program.err, "mmcheck: internal error: {message}");
            Outcome::Internal.status()
        }
    }
}

/// Help and version are data; what is wrong with the command line is not.
fn usage(error: &clap::Error, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let text = error.render();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = write!(out, "{text}");
            Outcome::AsExpected.status()
        }
        _ => {
            let _ = write!(err, "{text}");
            Outcome::Usage.status()
        }
    }
}

struct Program<'a> {
    out: &'a mut dyn Write,
    err: &'a mut (dyn Write + Send),
    out_color: bool,
    err_terminal: bool,
    interrupted: Arc<AtomicBool>,
}

/// Where the results of a command go.
struct Sink<'a> {
    to: Box<dyn Write + 'a>,
    color: bool,
}

impl Sink<'_> {
    fn write(&mut self, text: &str) -> io::Result<()> {
        if self.color {
            self.to.write_all(text.as_bytes())?;
        } else {
            write!(self.to, "{}", anstream::adapter::strip_str(text))?;
        }
        self.to.flush()
    }
}

fn sink<'a>(out: &'a mut dyn Write, color: bool, output: &Output) -> Result<Sink<'a>, Problems> {
    let Some(path) = &output.output else { return Ok(Sink { to: Box::new(out), color }) };
    let file = File::create(path).map_err(|error| {
        Problems::of_file(
            &path.display().to_string(),
            format!("it can't be written: {error}"),
            None,
        )
    })?;
    Ok(Sink { to: Box::new(file), color: false })
}

const fn fuse(search: &cli::Search) -> Fuse {
    if search.no_fuse { Fuse::No } else { Fuse::OwnLocal }
}

impl Program<'_> {
    fn command(&mut self, command: &Command) -> Result<Outcome, Failure> {
        match command {
            Command::Check(args) => self.check(args),
            Command::List(args) => self.list(args),
            Command::Conform(args) => self.conform(args),
            Command::Explore(args) => self.explore(args),
        }
    }

    fn list(&mut self, args: &List) -> Result<Outcome, Failure> {
        let text = match args.output.format {
            Format::Human => list::human(args.what)?,
            Format::Json => list::json(args.what)?,
        };
        sink(self.out, self.out_color, &args.output)?.write(&text)?;
        Ok(Outcome::AsExpected)
    }

    fn check(&mut self, args: &Check) -> Result<Outcome, Failure> {
        let tasks = tasks(args)?;
        let options = self.options(args);
        let style = Style::new(args.progress, self.err_terminal);
        let mut sink = sink(self.out, self.out_color, &args.output)?;
        let mut outcomes = Vec::new();
        let mut results = Vec::new();
        let mut totals = human::Totals::default();
        let mut spec_shown = None;
        for (spec, design) in &tasks {
            if self.interrupted.load(Ordering::Relaxed) {
                outcomes.push(Outcome::Unknown);
                writeln!(self.err, "mmcheck: interrupted: {} is left out", spec.file)?;
                break;
            }
            let mut progress = Shown::new(style, self.err, &spec.file, &design.name);
            let checked = check(spec, design, &options, &mut progress);
            progress.clear();
            let checked: Checked = match checked {
                Ok(checked) => checked,
                Err(error) => {
                    let place = format!("{}, {}", spec.file, design.name);
                    writeln!(self.err, "mmcheck: internal error: {place}: {error}")?;
                    outcomes.push(Outcome::Internal);
                    continue;
                }
            };
            outcomes.push(outcome(&checked));
            totals.add(&checked);
            match args.output.format {
                Format::Human => {
                    if spec_shown != Some(&spec.file) {
                        spec_shown = Some(&spec.file);
                        sink.write(&human::spec(&spec.file, &spec.title))?;
                    }
                    sink.write(&human::result(&checked, args.verbose))?;
                }
                Format::Json => results.push(checked),
            }
        }
        match args.output.format {
            Format::Human => sink.write(&totals.line())?,
            Format::Json => sink.write(&json::results(&results))?,
        }
        if tasks.is_empty() {
            writeln!(self.err, "mmcheck: no spec was selected\n\nhint: try `--tier all`")?;
        }
        Ok(outcomes.into_iter().max().unwrap_or(Outcome::NothingDecided))
    }

    fn options(&self, args: &Check) -> Options {
        let BudgetArgs { max_states, max_memory, timeout } = args.budget;
        let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
        Options {
            fuse: fuse(&args.search),
            budget: Budget {
                max_states,
                max_memory,
                timeout,
                interrupted: Arc::clone(&self.interrupted),
            },
            engine: args.engine,
            threads: args.threads.map_or_else(cpus, usize::from),
        }
    }

    fn conform(&mut self, args: &Conform) -> Result<Outcome, Failure> {
        let files: Vec<&PathBuf> = args.files.iter().collect();
        let message = format!("`conform` can't read `{}` yet", files[0].display());
        Err(Problems::of_usage(message, None).into())
    }

    fn explore(&mut self, args: &Explore) -> Result<Outcome, Failure> {
        let found = library::load(std::slice::from_ref(&args.spec))?;
        let [library::Found { spec, .. }] = &found[..] else {
            let name = args.spec.display().to_string();
            return Err(Problems::of_file(&name, "it is not one spec but several", None).into());
        };
        let designs = chosen(&found, args.design.design.as_deref())?;
        let (_, design) = &designs[0];
        let scenario = spec.scenario(&design.design);
        let err = &mut self.err;
        let served = stateright::serve(&scenario, fuse(&args.search), args.listen, |addr| {
            let _ = writeln!(err, "{} under {}: http://{addr}", spec.file, design.name);
        });
        served.map_err(|error| Problems::of_usage(error.to_string(), None))?;
        Ok(Outcome::AsExpected)
    }
}

/// Every spec with every design that is to be checked.
fn tasks(args: &Check) -> Result<Vec<(Spec, NamedDesign)>, Problems> {
    let mut found = library::load(&args.paths)?;
    found.retain(|found| match args.tier {
        Some(tier) => tier.selects(found.spec.tier),
        None => found.named || cli::TierFilter::Pr.selects(found.spec.tier),
    });
    chosen(&found, args.design.design.as_deref())
}

/// The specs with their own designs, or those among them that have the one asked for.
fn chosen(
    found: &[library::Found],
    design: Option<&str>,
) -> Result<Vec<(Spec, NamedDesign)>, Problems> {
    let specs = found.iter().map(|found| &found.spec);
    let Some(name) = design else {
        let pair = |spec: &Spec| {
            let designs = spec.designs.iter().cloned();
            designs.map(|design| (spec.clone(), design)).collect::<Vec<_>>()
        };
        return Ok(specs.flat_map(pair).collect());
    };
    let own = |spec: &Spec| spec.designs.iter().find(|own| own.name == name).cloned();
    if specs.clone().any(|spec| own(spec).is_some()) || spec::preset(name).is_some() {
        let preset = || spec::preset(name).map(spec::from_preset);
        let with = |spec: &Spec| Some((spec.clone(), own(spec).or_else(preset)?));
        return Ok(specs.filter_map(with).collect());
    }
    if name.contains('/') || Path::new(name).exists() || name.ends_with(".toml") {
        let text = library::read(Path::new(name))?;
        let design = spec::design_file(name, &text)?;
        return Ok(specs.map(|spec| (spec.clone(), design.clone())).collect());
    }
    let mut names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    for spec in specs {
        let own = spec.designs.iter().map(|design| design.name.as_str());
        let new: Vec<&str> = own.filter(|own| !names.contains(own)).collect();
        names.extend(new);
    }
    let hint = spec::near(name, "designs", names);
    Err(Problems::of_usage(format!("no design is named `{name}`"), Some(hint)))
}
