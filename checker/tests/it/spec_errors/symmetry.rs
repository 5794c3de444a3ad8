//! Tasks that do not stand for one another, and what can't be asked of those that do.

use super::of;
use insta::assert_snapshot;
use mm_checker::spec::parse;

/// A good spec of two tasks that are alike.
const ALIKE: &str = r#"title = "Two tasks"
symmetry = true

[kernel]
memcg_charge_batch = 1

[[memcg]]
name = "job"
max = 4

[[memcg]]
name = "other"

[[file]]
name = "a"
pages = 4
ra-pages = 2

[[file]]
name = "b"
pages = 4
ra-pages = 2

[[actor]]
name = "A"
memcg = "job"
does = ["read a 0 1"]

[[actor]]
name = "B"
memcg = "job"
does = ["read b 0 1"]

[expect."linux-7.3"]
charges-conserved = "holds"
"#;

fn with(good: &str, bad: &str) -> String {
    assert!(ALIKE.contains(good), "{good}");
    of(&ALIKE.replacen(good, bad, 1))
}

#[test]
fn a_good_spec_of_tasks_that_are_alike_is_good() {
    assert!(parse("good.toml", ALIKE).is_ok());
}

#[test]
fn it_is_not_a_flag() {
    assert_snapshot!(with("symmetry = true", "symmetry = \"tasks\""), @r#"
    bad.toml:2:12: `symmetry` is `"tasks"`, which is not `true` or `false`
    "#);
}

#[test]
fn tasks_differ_in_what_they_do() {
    assert_snapshot!(with("read b 0 1", "read b 1 1"), @"
    bad.toml:2:12: no task stands for another

    hint: tasks are alike that have the same memcg, flags and program, each on a CPU and with files of its own, or of all
    ");
}

#[test]
fn tasks_differ_in_their_memcg() {
    let other = with("memcg = \"job\"\ndoes = [\"read b", "memcg = \"other\"\ndoes = [\"read b");
    assert!(other.contains("no task stands for another"), "{other}");
}

#[test]
fn tasks_differ_in_their_files() {
    let other = with("name = \"b\"\npages = 4", "name = \"b\"\npages = 5");
    assert!(other.contains("no task stands for another"), "{other}");
}

#[test]
fn one_task_uses_the_file_of_the_other_too() {
    let other = with("[\"read b 0 1\"]", "[\"read b 0 1\", \"read a 0 1\"]");
    assert!(other.contains("no task stands for another"), "{other}");
}

#[test]
fn cpus_have_stocks() {
    assert_snapshot!(with("memcg_charge_batch = 1", "memcg_charge_batch = 2"), @"
    bad.toml:2:12: no task stands for another

    hint: drain_all_stock() goes from CPU to CPU: `memcg_charge_batch = 1`
    ");
}

#[test]
fn a_task_sends_a_signal() {
    assert_snapshot!(with("[\"read b 0 1\"]", "[\"read b 0 1\", \"signal A\"]"), @"
    bad.toml:2:12: no task stands for another

    hint: who sends a signal to a task knows it from others
    ");
}

#[test]
fn passes_walk() {
    let walked = ALIKE.replacen("[[memcg]]", "[granularity]\npass = \"walked\"\n\n[[memcg]]", 1);
    let charges =
        walked.replace("read a 0 1", "charge 1 kernel").replace("read b 0 1", "charge 1 kernel");
    let files = charges.find("[[file]]").zip(charges.find("[[actor]]"));
    let (from, to) = files.expect("the spec has files");
    assert_snapshot!(of(&format!("{}{}", &charges[..from], &charges[to..])), @r#"
    bad.toml:2:12: no task stands for another

    hint: what CPUs have collected is put on the lists from CPU to CPU: `pass = "answered"`
    "#);
}

#[test]
fn progress_is_asked() {
    let progress = "charges-conserved = \"holds\"\n\"livelock-free read\" = \"holds\"";
    assert_snapshot!(with("charges-conserved = \"holds\"", progress), @"
    bad.toml:36:1: `livelock-free read` is not a safety property

    hint: with `symmetry`, a task may be another one from step to step: only safety can be asked
    ");
}
