//! `mmcheck explore`.

use super::{Failure, Program, chosen, fuse};
use crate::cli::Explore;
use crate::engine::stateright;
use crate::spec::{Problems, library};
use crate::status::Outcome;

impl Program<'_> {
    pub(super) fn explore(&mut self, args: &Explore) -> Result<Outcome, Failure> {
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
