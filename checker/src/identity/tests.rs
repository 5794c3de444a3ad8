use super::*;
use crate::check::retake;
use crate::engine::{Budget, Quiet, native};
use crate::liveness::{Fairness, starvation};
use crate::spec::library::EMBEDDED;
use crate::spec::parse;
use mm_model::env::Operation;
use mm_model::ids::ActorId;

const A: ActorId = ActorId(0);

#[test]
fn probe() {
    let file = std::env::var("SPEC").unwrap_or("specs/faults/two-at-random-one-fault.toml".into());
    let text = std::fs::read_to_string(format!("../{file}")).expect("there");
    let spec = parse(&file, &text).unwrap_or_else(|_| panic!("parses"));
    for design in &spec.designs {
        for point in &spec.points {
            let options = crate::check::Options { fuse: Fuse::OwnLocal, budget: Budget::default(), engine: crate::cli::Engine::Native, threads: 2, asked: None };
            let t = std::time::Instant::now();
            match crate::check::check(&spec, design, point, &options, &mut Quiet) {
                Ok(checked) => for judged in &checked.judged {
                    if let Some(path) = &judged.counterexample {
                        println!("{} {} {:?} {}+{}", design.name, judged.name(&checked.scenario), path.identity, path.stem(), path.cycle());
                    }
                },
                Err(why) => println!("{}: {why}", design.name),
            }
            println!("{:?}", t.elapsed());
        }
    }
}
