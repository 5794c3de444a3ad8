//! The whole program, with everything it touches as a parameter, so that a test can run it.

use crate::cli::{self, Cli, Command, Conform, Format, List, OutputFile, When};
use crate::spec::{self, NamedDesign, Problems, Spec, library};
use crate::status::Outcome;
use crate::{conform, list};
use clap::Parser;
use clap::error::ErrorKind;
use mm_model::design::PRESETS;
use mm_model::machine::Fuse;
use std::cell::OnceCell;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

mod bench;
mod bless;
mod check;
mod explain;
mod explore;
mod replay;

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
    /// Called by a command that can be interrupted and still report: from then on an interrupt
    /// sets the flag in place of ending the process.
    pub interrupts: &'a dyn Fn() -> Arc<AtomicBool>,
    /// Whether this is an automatic run, which must not rewrite what it judges by.
    pub ci: bool,
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
    let Streams { out, err, out_color, err_terminal, interrupts, ci } = streams;
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, out, err),
    };
    let out_color = match cli.color {
        When::Auto => out_color,
        When::Always => true,
        When::Never => false,
    };
    let interrupted = OnceCell::new();
    let mut program = Program { out, err, out_color, err_terminal, interrupts, interrupted, ci };
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
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = write!(out, "{text}");
        return Outcome::AsExpected.status();
    }
    let _ = write!(err, "{text}");
    Outcome::Usage.status()
}

struct Program<'a> {
    out: &'a mut dyn Write,
    err: &'a mut (dyn Write + Send),
    out_color: bool,
    err_terminal: bool,
    interrupts: &'a dyn Fn() -> Arc<AtomicBool>,
    interrupted: OnceCell<Arc<AtomicBool>>,
    ci: bool,
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

fn sink<'a>(
    out: &'a mut dyn Write,
    color: bool,
    output: &OutputFile,
) -> Result<Sink<'a>, Problems> {
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
    /// Set once the user has had enough; from the first call on an interrupt ends nothing by
    /// itself.
    fn interrupted(&self) -> Arc<AtomicBool> {
        Arc::clone(self.interrupted.get_or_init(self.interrupts))
    }

    fn command(&mut self, command: &Command) -> Result<Outcome, Failure> {
        match command {
            Command::Check(args) => self.check(args),
            Command::List(args) => self.list(args),
            Command::Conform(args) => self.conform(args),
            Command::Explore(args) => self.explore(args),
            Command::Explain(args) => self.explain(args),
            Command::Replay(args) => self.replay(args),
            Command::Bless(args) => self.bless(args),
            Command::Bench(args) => self.bench(args),
        }
    }

    fn conform(&mut self, args: &Conform) -> Result<Outcome, Failure> {
        let mut sink = sink(self.out, self.out_color, &args.output.file)?;
        Ok(conform::run(&args.files, args.output.format, &mut sink.to, self.err)?)
    }

    fn list(&mut self, args: &List) -> Result<Outcome, Failure> {
        let text = match args.output.format {
            Format::Human => list::human(args.what)?,
            Format::Json => list::json(args.what)?,
        };
        sink(self.out, self.out_color, &args.output.file)?.write(&text)?;
        Ok(Outcome::AsExpected)
    }
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
    let path = Path::new(name);
    let toml = path.extension().is_some_and(|extension| extension == "toml");
    if toml || name.contains('/') || path.is_file() {
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
