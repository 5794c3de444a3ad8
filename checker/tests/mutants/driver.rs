//! Runs the program as often as it is asked to, each time as the mutant it is asked to be: there is
//! nothing to start and to load for a run of milliseconds. A line asks for a run, a line answers.

use mm_checker::{Streams, run};
use mm_model::mutant;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn main() {
    // A mutant may panic in every case, and nobody reads it.
    std::panic::set_hook(Box::new(|_| {}));
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("lines are text");
        let words: Vec<&str> = line.split('\t').collect();
        let [id, most, args @ ..] = &words[..] else { panic!("no run: {line}") };
        let id = id.parse().expect("the mutant is a number");
        mutant::turn(id, most.parse().expect("the choices are a number"));
        let printed = printed(args);
        let (choices, reached) = mutant::made();
        let mut answer = format!("{choices}\t{printed}");
        if id == 0 {
            reached.iter().for_each(|id| answer += &format!("\t{id}"));
        }
        println!("{answer}");
    }
}

/// What the program prints and exits with, in short; but for times, which differ.
fn printed(args: &[&str]) -> u64 {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let streams = Streams {
        out: &mut out,
        err: &mut err,
        out_color: false,
        err_terminal: false,
        interrupts: &|| Arc::new(AtomicBool::new(false)),
        ci: false,
    };
    let status = run(["mmcheck"].iter().chain(args).map(Into::into), streams);
    let mut hasher = DefaultHasher::new();
    status.hash(&mut hasher);
    for word in String::from_utf8_lossy(&out).split(' ').filter(|word| !is_time(word)) {
        word.hash(&mut hasher);
    }
    hasher.finish()
}

/// Whether a word is such as `0.1s`.
fn is_time(word: &str) -> bool {
    let number = word.trim_end_matches(['\n', ',']).strip_suffix('s');
    number.is_some_and(|number| number.parse::<f64>().is_ok())
}
