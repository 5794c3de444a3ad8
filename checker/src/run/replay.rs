//! `mmcheck replay`.

use super::{Failure, Program};
use crate::cli::Replay;
use crate::explain::trace::{Again, open};
use crate::spec::library;
use crate::status::Outcome;

impl Program<'_> {
    pub(super) fn replay(&mut self, args: &Replay) -> Result<Outcome, Failure> {
        let file = args.file.display().to_string();
        let opened = open(&file, &library::read(&args.file)?)?;
        let name = opened.name();
        let outcome = match opened.again() {
            Again::Holds => {
                let steps = crate::explain::steps(opened.len());
                writeln!(self.out, "{name}: violated still, in the same {steps}")?;
                Outcome::AsExpected
            }
            Again::Diverged(0, what) => {
                writeln!(self.out, "{name}: the model starts from another state: {what}")?;
                Outcome::Differs
            }
            Again::Diverged(step, what) => {
                writeln!(self.out, "{name}: the model diverges at step {step}: {what}")?;
                Outcome::Differs
            }
            Again::Refuted(why) => {
                writeln!(self.out, "{name}: every step is as it was, but {why}")?;
                Outcome::Differs
            }
        };
        Ok(outcome)
    }
}
