//! Lists that passes walk, and the memory of the machine.

use super::of;
use insta::assert_snapshot;
use mm_checker::spec::parse;

/// A good spec in which passes walk and the machine's memory counts.
const WALKED: &str = r#"title = "A request"

[granularity]
pass = "walked"

[ram]
total = 8
free = 2

[[memcg]]
name = "job"
nodes = [["inactive-file 4", "active-anon 1 order 2 dirty"], ["inactive-file 1"]]

[[actor]]
name = "A"
memcg = "job"
does = ["write memory.reclaim 1", "set dirty 1", "signal B"]

[[actor]]
name = "B"
memcg = "job"
does = ["write job/memory.high max", "madvise-stockpile 1"]

[[kswapd]]
low = 1
high = 2
"#;

fn walked_with(good: &str, bad: &str) -> String {
    assert!(WALKED.contains(good), "{good}");
    of(&WALKED.replacen(good, bad, 1))
}

#[test]
fn a_good_spec_with_lists_is_good() {
    assert!(parse("good.toml", WALKED).is_ok());
}

#[test]
fn a_file_nobody_can_write() {
    assert_snapshot!(walked_with("memory.reclaim 1", "memory.reclam 1"), @"
    bad.toml:17:9: no file that can be written is named `memory.reclam`

    hint: did you mean `memory.reclaim`?
    ");
}

#[test]
fn a_file_of_a_memcg_that_is_not_there() {
    assert_snapshot!(walked_with("job/memory.high", "jobs/memory.high"), @"
    bad.toml:22:9: no memcg is named `jobs`

    hint: did you mean `job`?
    ");
}

#[test]
fn a_request_for_the_maximum() {
    assert_snapshot!(walked_with("memory.reclaim 1", "memory.reclaim max"), @"
    bad.toml:17:9: `max` in `write memory.reclaim max` is not a number of pages from 1 to 4294967296
    ");
}

#[test]
fn a_write_without_a_number() {
    assert_snapshot!(walked_with("memory.reclaim 1", "memory.reclaim"), @"
    bad.toml:17:9: `write memory.reclaim` is not written as `write FILE PAGES`

    hint: the files are: memory.reclaim, memory.high, memory.max
    ");
}

#[test]
fn a_signal_to_nobody() {
    assert_snapshot!(walked_with("signal B", "signal C"), @"
    bad.toml:17:50: no task is named `C`

    hint: the tasks are: A, B
    ");
}

#[test]
fn a_flag_folios_do_not_have() {
    assert_snapshot!(walked_with("set dirty 1", "set dirtied 1"), @"
    bad.toml:17:35: no flag of a folio is named `dirtied`

    hint: the flags are: locked, young, referenced, dirty, writeback, pinned
    ");
}

#[test]
fn lists_that_cannot_be_read() {
    assert_snapshot!(walked_with("inactive-file 4", "inactiv-file 4"), @"
    bad.toml:12:11: no list is named `inactiv-file`

    hint: did you mean `inactive-file`?
    ");
    assert_snapshot!(walked_with("inactive-file 4", "inactive-file"), @"
    bad.toml:12:11: `inactive-file` is not written as `LIST FOLIOS [order N] [FLAG]…`

    hint: the flags are: locked, young, referenced, dirty, writeback, pinned
    ");
    assert_snapshot!(walked_with("order 2", "order 99"), @"
    bad.toml:12:30: the order in `active-anon 1 order 99 dirty` is not a number from 0 to 13
    ");
}

#[test]
fn lists_no_pass_looks_at() {
    assert_snapshot!(walked_with("\"walked\"", "\"answered\""), @r#"
    bad.toml:12:9: `nodes` is `[["inactive-file 4", "active-anon 1 orde…`, but no pass looks at it
    bad.toml:17:35: `set dirty 1` where the world answers for passes

    hint: passes look at lists and protection where they walk: `pass = "walked"` in `[granularity]`
    hint: only a pass that walks lists looks at folios: `pass = "walked"`
    "#);
}

#[test]
fn lists_beside_the_number_they_stand_for() {
    assert_snapshot!(walked_with("name = \"job\"", "name = \"job\"\nlru = 4"), @r#"
    bad.toml:13:9: `nodes` is `[["inactive-file 4", "active-anon 1 orde…`, beside `lru`

    hint: `lru = 4` is short for `nodes = [["inactive-file 4"]]`
    "#);
}

#[test]
fn kswapd_without_the_memory_of_the_machine() {
    assert_snapshot!(walked_with("[ram]\ntotal = 8\nfree = 2\n", ""), @"
    bad.toml:21:1: there is a `[[kswapd]]`, but no `[ram]`

    hint: it is woken by free pages: `[ram]` with `total` and `free`
    ");
}

#[test]
fn kswapd_that_would_never_sleep_or_comes_twice() {
    assert_snapshot!(walked_with("low = 1\nhigh = 2", "low = 2\nhigh = 1"), @"
    bad.toml:26:8: the `high` of `kswapd` is `1`, below its `low` of 2
    ");
    assert_snapshot!(walked_with("high = 2", "high = 2\n[[kswapd]]\nlow = 1\nhigh = 1"), @"bad.toml:27:1: there are two `[[kswapd]]`");
}

#[test]
fn more_memory_free_than_there_is() {
    assert_snapshot!(walked_with("free = 2", "free = 9"), @"bad.toml:8:8: `free` is `9`, more than the `total` of 8");
}

#[test]
fn an_answered_pass_looks_at_no_flags() {
    let answered = "title = \"A\"\n\n[[memcg]]\nname = \"job\"\n\n[[actor]]\nname = \"A\"\n\
                    memcg = \"job\"\ndoes = [\"charge 1 kernel\", \"set dirty 1\", \"clear dirty 1\"]\n";
    assert_snapshot!(of(answered), @r#"
    bad.toml:9:28: `set dirty 1` where the world answers for passes
    bad.toml:9:43: `clear dirty 1` where the world answers for passes

    hint: only a pass that walks lists looks at folios: `pass = "walked"`
    "#);
}
