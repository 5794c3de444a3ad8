//! `mmcheck bless`.

use crate::support::{Ran, mmcheck, mmcheck_in_ci, run};
use insta::assert_snapshot;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// One task charges a page that must not fail; what is expected of it is half right, with comments.
const SPEC: &str = r#"# The head.
title = "A charge that must not fail"   # the title
[kernel]
memcg_charge_batch = 1
nr_memcg_stock = 1
max_reclaim_retries = 0
swap_cluster_max = 1

[[memcg]]
name = "job"
max = 0

[[actor]]
name = "A"
memcg = "job"
does = ["charge 1 nofail"]

[design.refused]
base = "linux-7.3"
nofail = "refused"

[design.kept]
base = "linux-7.3"

# What the model decides.
[expect.refused]
states = 3   # pinned in haste
# An error of the design.
errors-legitimate   = "holds"   # it is not
"livelock-free charge" = "holds"
"#;

/// A spec in a directory of its own.
struct Written {
    directory: TempDir,
    file: PathBuf,
}

impl Written {
    fn new(text: &str) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let file = directory.path().join("one.toml");
        fs::write(&file, text).expect("it is writable");
        Self { directory, file }
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.file).expect("it is there")
    }

    fn run(&self, args: &[&str], run: impl Fn(&[&str]) -> Ran) -> Ran {
        let file = self.file.to_str().expect("its name is text");
        let args: Vec<&str> = args.iter().map(|arg| if *arg == "@" { file } else { arg }).collect();
        let Ran { status, out, err } = run(&args);
        let root = format!("{}/", self.directory.path().display());
        Ran { status, out: out.replace(&root, ""), err: err.replace(&root, "") }
    }
}

#[test]
fn what_is_found_is_expected_from_then_on_and_all_else_stays_as_it_was_written() {
    let spec = Written::new(SPEC);
    let blessed = spec.run(&["bless", "@"], mmcheck);
    assert_snapshot!(blessed.all());
    assert_snapshot!(spec.text());
    let checked = spec.run(&["check", "@"], mmcheck);
    assert_eq!(checked.status, 0, "{}", checked.all());
    assert!(checked.out.contains("\n2 searches: 30 as expected\n"), "{}", checked.all());
}

#[test]
fn blessing_twice_changes_nothing() {
    let spec = Written::new(SPEC);
    spec.run(&["bless", "@"], mmcheck);
    let once = spec.text();
    let again = spec.run(&["bless", "@"], mmcheck);
    assert_eq!((again.status, again.out.as_str(), again.err.as_str()), (0, "", ""));
    assert_eq!(spec.text(), once);
}

#[test]
fn inline_tables_become_tables() {
    let (head, _) = SPEC.split_once("# What the model").expect("the spec has expectations");
    for expected in [
        "[expect]\nrefused = { errors-legitimate = \"holds\" }\n",
        "[expect]\nrefused.errors-legitimate = \"holds\"\n",
    ] {
        let spec = Written::new(&format!("{head}{expected}"));
        let blessed = spec.run(&["bless", "@"], mmcheck);
        assert_eq!(blessed.status, 0, "{}", blessed.all());
        assert!(spec.text().contains("[expect.refused]\n"), "{}", spec.text());
        assert_eq!(spec.run(&["check", "@"], mmcheck).status, 0);
    }
}

#[test]
fn nothing_is_pinned_from_a_search_that_was_cut_short() {
    let spec = Written::new(SPEC);
    assert_snapshot!(spec.run(&["bless", "@", "--max-states", "2"], mmcheck).all(), @"
    status 5
    -- stdout
    -- stderr
    one.toml: not blessed: the search of refused was cut short
    ");
    assert_eq!(spec.run(&["bless", "@"], |args| run(args, true)).status, 5);
    assert_eq!(spec.text(), SPEC);
}

#[test]
fn an_automatic_run_blesses_nothing() {
    let spec = Written::new(SPEC);
    assert_snapshot!(spec.run(&["bless", "@"], mmcheck_in_ci).all(), @"
    status 2
    -- stdout
    -- stderr
    mmcheck: `CI` is set: a run that judges a change must not rewrite what it expects

    hint: bless where you work, and commit the difference
    ");
    assert_eq!(spec.text(), SPEC);
}

#[test]
fn a_spec_of_the_binary_can_not_be_blessed() {
    let ran = mmcheck(&["bless", "specs/charge/two-chargers.toml"]);
    assert_eq!(ran.status, 2, "{}", ran.all());
    assert!(ran.err.contains("compiled into the binary"), "{}", ran.all());
}

#[test]
fn what_is_spelled_otherwise_is_replaced_and_what_has_no_value_is_vacuous() {
    let spec = Written::new(&SPEC.replace(
        "\"livelock-free charge\" = \"holds\"",
        "\"livelock-free charge under weak\" = \"violated\" # is it?\n\"reclaim-passes per read\" = 4",
    ));
    let blessed = spec.run(&["bless", "@"], mmcheck);
    assert_eq!(blessed.status, 0, "{}", blessed.all());
    let text = spec.text();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("is it?")).collect();
    assert_eq!(lines, ["\"livelock-free charge under weak\" = \"holds\" # is it?"]);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("per read")).collect();
    // What one design is asked, all are.
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines.iter().all(|line| line.ends_with("= \"vacuous\"")), "{text}");
    assert_eq!(spec.run(&["check", "@"], mmcheck).status, 0);
}
