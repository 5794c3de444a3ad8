//! Nothing that can be written is a panic.

use super::GOOD;
use mm_checker::engine::{Budget, Quiet, reference};
use mm_checker::spec::{library, parse};
use mm_model::machine::Fuse;

/// Numbers that look random and are the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).expect("it is below a usize")
    }
}

/// Reads a spec, and if it is one, begins to search it. Nothing may panic.
fn survives(text: &str) {
    if let Ok(spec) = parse("fuzz.toml", text) {
        let budget = Budget { max_states: Some(50), ..Budget::default() };
        for design in &spec.designs {
            let scenario = spec.scenario(&design.design);
            reference::explore(&scenario, Fuse::OwnLocal, &budget, &mut Quiet, false);
        }
    }
}

#[test]
fn a_spec_that_ends_early_is_never_a_panic() {
    for (_, text) in library::EMBEDDED {
        // Expectations are many lines of one kind: of them only whole ones are left.
        let expectations = text.find("\n[expect").unwrap_or(text.len());
        for (at, cut) in text.char_indices() {
            if at < expectations || cut == '\n' {
                survives(&text[..at]);
            }
        }
    }
}

#[test]
fn a_deeply_nested_spec_is_never_a_panic() {
    survives(&format!("title = {}", "[".repeat(100_000)));
    survives(&format!("title{} = 1", ".a".repeat(100_000)));
}

#[test]
fn a_garbled_spec_is_never_a_panic() {
    const ALPHABET: &[u8] = b"0123456789-_=[]{}\"'.,# \nabcemx\\";
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
    let texts = library::EMBEDDED.iter().map(|(_, text)| *text).chain([GOOD]);
    for text in texts {
        for _ in 0..1500 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..=draw.below(3) {
                let at = draw.below(bytes.len());
                let new = ALPHABET[draw.below(ALPHABET.len())];
                match draw.below(3) {
                    0 => bytes[at] = new,
                    1 => bytes.insert(at, new),
                    _ => drop(bytes.remove(at)),
                }
            }
            survives(&String::from_utf8_lossy(&bytes));
        }
    }
}
