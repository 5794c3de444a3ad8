//! The command line.

use mm_checker::conform::{self, Format};
use std::process::ExitCode;

fn main() -> std::io::Result<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_none_or(|command| command != "conform") {
        return Ok(ExitCode::from(2));
    }
    let (options, files): (Vec<_>, Vec<_>) = args.partition(|arg| arg == "--format=json");
    let format = if options.is_empty() { Format::Human } else { Format::Json };
    let files: Vec<_> = files.into_iter().map(Into::into).collect();
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr().lock());
    conform::run(&files, format, &mut out, &mut err).map(ExitCode::from)
}
