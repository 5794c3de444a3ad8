//! Bad specs: what is wrong, where, and what was probably meant; and never a panic.

use crate::support::mmcheck_on;
use mm_checker::spec::parse;

mod actors;
mod designs;
mod files;
mod garbled;
mod inputs;
mod lists;
mod ring;
mod symmetry;
mod top_level;
mod world;

const GOOD: &str = r#"title = "Two tasks"
tier = "pr"
designs = ["linux-7.3"]

[kernel]
memcg_charge_batch = 1

[world]
oom = ["none"]

[[memcg]]
name = "job"
max = 4
lru = 1

[[actor]]
name = "A"
memcg = "job"
does = ["charge 1 kernel", "uncharge 1"]
repeat = true

[[worker]]
cpu = 0

[design.mine]
base = "linux-7.3"
noretry = "ignored"

[expect.mine]
charges-conserved = "holds"
"#;

/// What `mmcheck` says about a good spec with one thing replaced.
fn with(good: &str, bad: &str) -> String {
    assert!(GOOD.contains(good), "{good}");
    of(&GOOD.replacen(good, bad, 1))
}

/// A good spec, and what is said of it with another text in the place of some.
fn refuses(spec: &str, changes: &[(&str, &str, &str)]) {
    parse("good.toml", spec).expect("the spec is right");
    for (good, bad, message) in changes {
        let text = spec.replacen(good, bad, 1);
        assert_ne!(text, spec, "{good} is there");
        let said = of(&text);
        assert!(said.contains(message), "{bad}: {said}");
    }
}

fn of(spec: &str) -> String {
    let ran = mmcheck_on(&[("bad.toml", spec.as_bytes())], &["check", "@bad.toml"]);
    assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{}", ran.err);
    ran.err
}

#[test]
fn the_good_spec_is_good() {
    assert!(parse("good.toml", GOOD).is_ok());
}
