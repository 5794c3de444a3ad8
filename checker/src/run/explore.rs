//! `mmcheck explore`.

use super::explain::Answered;
use super::{Failure, Program, fuse};
use crate::cli::Explore;
use crate::engine::stateright::{ServeError, Served, complete, deep_link, serve};
use crate::report::human;
use crate::spec::Problems;
use crate::status::Outcome;
use crate::verdict::{Choice, Trace};
use mm_model::machine::Fuse;
use std::io;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// More states than this are not visited again for the Explorer's own list of properties.
const MOST: u64 = 200_000;

/// How often an interrupt is looked for.
const PAUSE: Duration = Duration::from_millis(50);

impl Program<'_> {
    pub(super) fn explore(&mut self, args: &Explore) -> Result<Outcome, Failure> {
        let answered = match self.answer(&args.question)? {
            Ok(answered) => answered,
            Err(outcome) => return Ok(outcome),
        };
        // One design can be walked through at a time: the first that has something to show.
        let shown = answered.iter().find(|one| !one.violated().is_empty());
        let Some(one) = shown.or_else(|| answered.first()) else {
            return Ok(Outcome::NothingDecided);
        };
        let fuse = fuse(&args.question.search);
        let paths = paths(one);
        let lassos: Vec<(String, Trace)> =
            paths.iter().filter(|(_, trace)| trace.cycle_from.is_some()).cloned().collect();
        let served = serve(&one.checked.scenario, fuse, args.listen, &lassos);
        let Served { addr, thread } = served.map_err(|error| problem(&error))?;
        if !addr.ip().is_loopback() {
            writeln!(self.err, "mmcheck: warning: anyone who reaches {addr} can use the Explorer")?;
        }
        if one.checked.stopped.is_none() && one.checked.states <= MOST {
            complete(addr)?;
        }
        let links = self.links(one, &paths, fuse, &format!("http://{addr}"))?;
        if args.open {
            let url = links.first().cloned().unwrap_or_else(|| format!("http://{addr}"));
            if let Err(error) = open(&url) {
                writeln!(self.err, "mmcheck: no browser can be started: {error}")?;
            }
        }
        let interrupted = self.interrupted();
        while !interrupted.load(Ordering::Relaxed) && !thread.is_finished() {
            std::thread::sleep(PAUSE);
        }
        Ok(if thread.is_finished() { Outcome::Internal } else { Outcome::AsExpected })
    }

    /// Says where it is served, with a link to each counterexample.
    fn links(
        &mut self,
        one: &Answered,
        paths: &[(String, Trace)],
        fuse: Fuse,
        root: &str,
    ) -> io::Result<Vec<String>> {
        let Answered { spec, checked, .. } = one;
        writeln!(self.out, "{} under {}: {root}", spec.file, checked.design.name)?;
        if paths.is_empty() {
            writeln!(self.out, "  nothing is violated")?;
        }
        let mut links = Vec::new();
        for ((name, Trace { choices, .. }), judged) in paths.iter().zip(one.violated()) {
            let link = deep_link(&checked.scenario, fuse, choices);
            let link = format!("{root}/{}", link.expect("a counterexample is a path"));
            let how = judged.counterexample.as_ref().map(human::length).unwrap_or_default();
            writeln!(self.out, "  {name}: {how}\n    {link}")?;
            links.push(link);
        }
        writeln!(self.out, "Ctrl-C ends it.")?;
        self.out.flush()?;
        Ok(links)
    }
}

/// What is violated, with the way into it.
fn paths(one: &Answered) -> Vec<(String, Trace)> {
    let path = |judged: &crate::check::Judged| {
        let path = judged.counterexample.as_ref()?;
        let choices: Vec<Choice> = path.steps.iter().map(crate::replay::Step::choice).collect();
        let name = human::name(&one.checked.scenario, judged);
        Some((name, Trace { choices, cycle_from: path.cycle_from }))
    };
    one.violated().into_iter().filter_map(path).collect()
}

fn problem(error: &ServeError) -> Problems {
    let hint = match error {
        ServeError::Bind(..) => Some("`--listen 127.0.0.1:0` takes any free port".to_owned()),
        ServeError::UiFolder => Some("run it from another directory".to_owned()),
        ServeError::Silent(_) => None,
    };
    Problems::of_usage(error.to_string(), hint)
}

/// Shows a page in the user's browser.
fn open(url: &str) -> io::Result<()> {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}
