//! `mmcheck bench`.

use super::check::budget;
use super::{Failure, Program, chosen, fuse, sink};
use crate::bench::{Anchor, Row, anchor, engines};
use crate::cli::{Bench, Format};
use crate::engine::Quiet;
use crate::spec::library;
use crate::status::Outcome;
use std::path::{Path, PathBuf};

impl Program<'_> {
    pub(super) fn bench(&mut self, args: &Bench) -> Result<Outcome, Failure> {
        let (known, specs): (Vec<&PathBuf>, Vec<&PathBuf>) =
            args.what.iter().partition(|what| what.as_path() == Path::new("anchor"));
        let specs: Vec<PathBuf> = specs.into_iter().cloned().collect();
        let found = if specs.is_empty() { Vec::new() } else { library::load(&specs)? };
        let budget = budget(&args.budget, &(self.interrupts)());
        let mut rows = Vec::new();
        if specs.is_empty() || !known.is_empty() {
            rows.extend(anchor(&Anchor::KNOWN, &budget, &mut Quiet));
        }
        for (spec, design) in chosen(&found, args.design.design.as_deref())? {
            let scenario = spec.scenario(&design.design);
            let name = format!("{} {}", spec.file, design.name);
            rows.extend(engines(&name, &scenario, fuse(&args.search), &budget, &mut Quiet));
        }
        let text = match args.output.format {
            Format::Human => rows.iter().map(line).collect(),
            Format::Json => {
                serde_json::to_string_pretty(&rows).expect("rows are plain values") + "\n"
            }
        };
        sink(self.out, self.out_color, &args.output.file)?.write(&text)?;
        Ok(Outcome::AsExpected)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate needs few digits")]
fn line(row: &Row) -> String {
    let Row { name, engine, states, transitions, cpu_seconds, bytes_per_state, found } = row;
    let mut parts = vec![
        format!("{states} states"),
        format!("{transitions} transitions"),
        format!("{cpu_seconds:.2} CPU s"),
    ];
    if *cpu_seconds > 0.0 {
        parts.push(format!("{:.0} states per CPU s", *states as f64 / cpu_seconds));
    }
    parts.extend(bytes_per_state.map(|bytes| format!("{bytes:.1} bytes per state")));
    parts.extend(found.clone());
    format!("{name}, {engine}: {}\n", parts.join(", "))
}
