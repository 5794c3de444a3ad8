use super::*;
use crate::check::{Options, check, retake};
use crate::cli::Engine;
use crate::engine::{Budget, Quiet};
use crate::spec::parse;
use crate::verdict::Trace;

#[test]
fn probe() {
    let file = std::env::var("SPEC").unwrap_or("specs/faults/two-at-random-one-fault.toml".into());
    let text = std::fs::read_to_string(format!("../{file}")).expect("there");
    let spec = parse(&file, &text).unwrap_or_else(|_| panic!("parses"));
    for design in &spec.designs {
        for point in &spec.points {
            let options = Options { fuse: Fuse::OwnLocal, budget: Budget::default(), engine: Engine::Native, threads: 2, asked: None };
            let t = std::time::Instant::now();
            match check(&spec, design, point, &options, &mut Quiet) {
                Ok(checked) => for judged in &checked.judged {
                    if let Some(path) = &judged.counterexample {
                        let t = std::time::Instant::now();
                        let found = identify(&checked.scenario, Fuse::OwnLocal, path);
                        println!("{} {} {:?} {found:?} {}+{} {:?}", design.name, judged.name(&checked.scenario), path.identity, path.stem(), path.cycle(), t.elapsed());
                    }
                },
                Err(why) => println!("{}: {why}", design.name),
            }
            println!("{:?}", t.elapsed());
        }
    }
}
