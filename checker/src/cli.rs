//! The command line: types and help, nothing else.

use crate::spec::Tier;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Searches every interleaving of the memory-cgroup model.
#[derive(Debug, Parser)]
#[command(name = "mmcheck", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = EXIT_STATUS)]
pub struct Cli {
    /// When to use colour; `auto` heeds NO_COLOR.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto")]
    pub color: When,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_STATUS: &str = "\
Exit status:
  0   every verdict is as expected
  1   some verdict differs from what is expected
  2   usage, or a bad spec
  3   only pinned numbers of states or transitions differ
  4   nothing was decided: no spec was selected
  5   a budget ran out before all was decided
  70  internal error
When several apply: 70, 2, 1, 5, 3, 4, 0.";

/// A subcommand.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Search specs, and compare the verdicts with what they expect
    Check(Check),
    /// List what there is
    List(List),
    /// Run vectors or traces of the real kernel against the model
    Conform(Conform),
    /// Walk through the states of a spec in the browser
    Explore(Explore),
    /// Show how a property is violated
    Explain(Explain),
    /// Take a stored counterexample again
    Replay(Replay),
    /// Write the verdicts and numbers that `check` finds into the spec files, as expectations
    Bless(Bless),
    /// Measure states per CPU second and bytes per state, engine against engine
    Bench(Bench),
}

/// `mmcheck check`.
#[derive(Args, Debug)]
pub struct Check {
    /// Spec files, or directories of them; without any, those that the binary carries
    #[arg(value_name = "SPEC|DIR")]
    pub paths: Vec<PathBuf>,
    /// Check only specs of this tier; `pr` unless specs are named one by one
    #[arg(long, value_enum)]
    pub tier: Option<TierFilter>,
    /// The design.
    #[command(flatten)]
    pub design: DesignArg,
    /// The form of the results
    #[arg(long, value_enum, default_value = "human")]
    pub format: CheckFormat,
    /// The file.
    #[command(flatten)]
    pub output: OutputFile,
    /// The budget.
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// The search.
    #[command(flatten)]
    pub search: Search,
    /// Which engines search
    #[arg(long, value_enum, default_value = "auto")]
    pub engine: Engine,
    /// Threads of an engine; all CPUs by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Progress on stderr; `auto` shows it on a terminal
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub progress: ProgressWhen,
    /// Show every verdict, and every counterexample
    #[arg(long, short)]
    pub verbose: bool,
}

/// `mmcheck bless`.
#[derive(Args, Debug)]
pub struct Bless {
    /// Spec files, or directories of them; without any, the directory `specs`
    #[arg(value_name = "SPEC|DIR", default_value = "specs")]
    pub paths: Vec<PathBuf>,
    /// Bless only specs of this tier; `pr` unless specs are named one by one
    #[arg(long, value_enum)]
    pub tier: Option<TierFilter>,
    /// The budget.
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// Threads of the fast engine; all CPUs by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Progress on stderr; `auto` shows it on a terminal
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub progress: ProgressWhen,
}

/// `mmcheck list`.
#[derive(Args, Debug)]
pub struct List {
    /// What to list
    #[arg(value_enum)]
    pub what: What,
    /// The results.
    #[command(flatten)]
    pub output: Output,
}

/// `mmcheck conform`.
#[derive(Args, Debug)]
pub struct Conform {
    /// Vectors or traces, one JSON object a line
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The results.
    #[command(flatten)]
    pub output: Output,
}

/// `mmcheck explain`.
#[derive(Args, Debug)]
pub struct Explain {
    /// What to search, and for what
    #[command(flatten)]
    pub question: Question,
    /// The form of the story
    #[arg(long, value_enum, default_value = "human")]
    pub format: ExplainFormat,
    /// The file.
    #[command(flatten)]
    pub output: OutputFile,
}

/// A violation to be shown.
#[derive(Args, Debug)]
pub struct Question {
    /// The spec
    #[arg(value_name = "SPEC")]
    pub spec: PathBuf,
    /// The design.
    #[command(flatten)]
    pub design: DesignArg,
    /// The property; without it, one that is violated
    #[arg(long, value_name = "NAME")]
    pub property: Option<String>,
    /// The budget.
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// The search.
    #[command(flatten)]
    pub search: Search,
}

/// `mmcheck replay`.
#[derive(Args, Debug)]
pub struct Replay {
    /// What `mmcheck explain --format json` wrote
    #[arg(value_name = "TRACE.json")]
    pub file: PathBuf,
}

/// `mmcheck explore`.
#[derive(Args, Debug)]
pub struct Explore {
    /// What to search before it is served
    #[command(flatten)]
    pub question: Question,
    /// Open it in the browser
    #[arg(long)]
    pub open: bool,
    /// Where to serve it; port 0 is any free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:3000")]
    pub listen: SocketAddr,
}

/// The design, for those who want another one.
#[derive(Args, Debug)]
pub struct DesignArg {
    /// Use this design in place of a spec's own: a name, or a TOML file
    #[arg(long, value_name = "NAME|FILE")]
    pub design: Option<String>,
}

/// `mmcheck bench`.
#[derive(Args, Debug)]
pub struct Bench {
    /// `anchor`, a protocol whose counts are known, or spec files; `anchor` by default
    #[arg(value_name = "anchor|SPEC")]
    pub what: Vec<PathBuf>,
    /// The design.
    #[command(flatten)]
    pub design: DesignArg,
    /// The budget.
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// The search.
    #[command(flatten)]
    pub search: Search,
    /// The results.
    #[command(flatten)]
    pub output: Output,
}

/// How the results are written, and where.
#[derive(Args, Debug)]
pub struct Output {
    /// The form of the results
    #[arg(long, value_enum, default_value = "human")]
    pub format: Format,
    /// The file.
    #[command(flatten)]
    pub file: OutputFile,
}

/// Where the results are written.
#[derive(Args, Debug)]
pub struct OutputFile {
    /// Write the results to this file
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What ends a search early.
#[derive(Args, Debug)]
pub struct BudgetArgs {
    /// Stop a search after this many distinct states
    #[arg(long, value_name = "N")]
    pub max_states: Option<u64>,
    /// Stop a search that takes more memory than this, such as `2G` or `512M`
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_memory: Option<u64>,
    /// Stop a search that takes longer than this, such as `30s` or `5m`
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub timeout: Option<Duration>,
}

/// How a scenario is searched.
#[derive(Args, Debug)]
pub struct Search {
    /// Make every local step a transition of its own
    #[arg(long)]
    pub no_fuse: bool,
}

/// `--color`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "the names say it")]
pub enum When {
    Auto,
    Always,
    Never,
}

/// `--progress`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressWhen {
    /// On a terminal
    Auto,
    /// As lines of text
    Always,
    /// Not at all
    Never,
    /// As lines of JSON
    Json,
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people
    Human,
    /// One JSON value
    Json,
}

/// `--format` of `check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Text for people
    Human,
    /// One JSON value
    Json,
    /// A table of what is expected, without times: the same whenever the results are
    Markdown,
}

/// `--format` of `explain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    /// A timeline for a terminal
    Human,
    /// A timeline in plain ASCII, at most 72 columns wide
    Mail,
    /// A page in one file, to step through
    Html,
    /// A sequence diagram
    Svg,
    /// A file for `mmcheck replay`
    Json,
    /// The Informal Trace Format
    Itf,
    /// The state graph for Graphviz, or only the path where that is large
    Dot,
}

/// `--engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// All of them up to 50,000 states, and beyond these the fast one
    Auto,
    /// All of them, compared with each other
    All,
    /// The fast one: everything
    Native,
    /// The oracle: everything, slowly
    Reference,
    /// The independent one: safety properties only
    Stateright,
}

/// `--tier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TierFilter {
    /// Seconds
    Pr,
    /// Minutes
    Nightly,
    /// Whatever it takes
    All,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// Specs that the binary carries
    Specs,
    /// Named designs, with their decisions
    Designs,
    /// Properties, with what they claim
    Properties,
    /// Costs that can be measured
    Costs,
    /// Kernel functions that are modelled
    Functions,
}

impl TierFilter {
    /// Whether specs of that tier are checked.
    pub fn selects(self, tier: Tier) -> bool {
        match self {
            Self::Pr => tier == Tier::Pr,
            Self::Nightly => tier == Tier::Nightly,
            Self::All => true,
        }
    }
}

/// Splits a number from its unit.
fn quantity(text: &str) -> Option<(u64, &str)> {
    let unit = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    number.parse().ok().map(|number| (number, unit))
}

fn size(text: &str) -> Result<u64, String> {
    let bytes = quantity(text).and_then(|(number, unit)| {
        let shift = match unit {
            "" | "B" => 0,
            "K" | "KiB" => 10,
            "M" | "MiB" => 20,
            "G" | "GiB" => 30,
            "T" | "TiB" => 40,
            _ => return None,
        };
        number.checked_mul(1 << shift)
    });
    bytes.ok_or_else(|| "a size is a number of bytes, or one with K, M, G or T".to_owned())
}

fn duration(text: &str) -> Result<Duration, String> {
    let duration = quantity(text).and_then(|(number, unit)| match unit {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" | "min" => number.checked_mul(60).map(Duration::from_secs),
        "h" => number.checked_mul(3600).map(Duration::from_secs),
        _ => None,
    });
    duration.ok_or_else(|| "a duration is a number with ms, s, m or h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_powers_of_1024() {
        assert_eq!(size("512"), Ok(512));
        assert_eq!(size("2G"), Ok(2 << 30));
        assert_eq!(size("1MiB"), Ok(1 << 20));
        for wrong in ["", "G", "2g", "1.5G", "-1", "99999999999999T"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_name_their_unit() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("5m"), Ok(Duration::from_mins(5)));
        assert_eq!(duration("10ms"), Ok(Duration::from_millis(10)));
        for wrong in ["", "30", "s", "1d", "-1s", "99999999999999999999s", "9999999999999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
