//! `mmcheck`: see [`mm_checker`].

use mm_checker::{Streams, run};
use std::io::IsTerminal;
use std::process::{ExitCode, exit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a shell reports for a process that an interrupt ended.
const ENDED_BY_INTERRUPT: i32 = 130;

fn main() -> ExitCode {
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let streams = Streams {
        out_color: anstream::AutoStream::choice(&out) != anstream::ColorChoice::Never,
        err_terminal: err.is_terminal(),
        out: &mut out,
        err: &mut err,
        interrupts: &interrupts,
        ci: std::env::var_os("CI").is_some_and(|value| !value.is_empty()),
    };
    ExitCode::from(run(std::env::args_os(), streams))
}

/// The first interrupt sets the flag, the second ends the process.
fn interrupts() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&interrupted);
    // Without the handler an interrupt ends the process, which is no reason not to run.
    let _ = ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            exit(ENDED_BY_INTERRUPT);
        }
    });
    interrupted
}
