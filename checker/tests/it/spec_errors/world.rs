//! Memcgs, constants and the outside world.

use super::{GOOD, of, with};
use insta::assert_snapshot;

#[test]
fn a_number_is_negative() {
    assert_snapshot!(with("max = 4", "max = -4"), @r#"bad.toml:13:7: `max` is `-4`, which is not a number of pages from 0 to 4294967296, or `"max"`"#);
}

#[test]
fn a_number_is_a_string() {
    assert_snapshot!(with("lru = 1", "lru = \"one\""), @r#"bad.toml:14:7: `lru` is `"one"`, which is not a number from 0 to 4294967296"#);
}

#[test]
fn a_number_is_a_fraction() {
    assert_snapshot!(with("lru = 1", "lru = 1.5"), @"bad.toml:14:7: `lru` is `1.5`, which is not a number from 0 to 4294967296");
}

#[test]
fn a_number_is_beyond_all_bounds() {
    assert_snapshot!(with("max = 4", "max = 99999999999999999999999999"), @r#"bad.toml:13:7: `max` is `99999999999999999999999999`, which is not a number of pages from 0 to 4294967296, or `"max"`"#);
}

#[test]
fn a_batch_of_zero_divides_by_zero() {
    assert_snapshot!(with("batch = 1", "batch = 0"), @"bad.toml:6:22: `memcg_charge_batch` is `0`, which is not a number from 1 to 4294967296");
}

#[test]
fn a_stock_without_slots() {
    assert_snapshot!(with("memcg_charge_batch = 1", "nr_memcg_stock = 0"), @"bad.toml:6:18: `nr_memcg_stock` is `0`, which is not a number from 1 to 255");
}

#[test]
fn an_oom_killer_without_outcome() {
    assert_snapshot!(with("[\"none\"]", "[]"), @r#"
    bad.toml:9:7: `oom` is `[]`, but the OOM killer must do something

    hint: a killer that finds nothing to kill is `oom = ["none"]`
    "#);
}

#[test]
fn empty_passes_are_rationed_to_none() {
    assert_snapshot!(with("oom = [\"none\"]", "pass-may-fail = 0"), @"
    bad.toml:9:17: `pass-may-fail` is `0`, which is not `true`, `false` or a number from 1 to 255

    hint: a number is how many passes of each operation of a task may free nothing although they could; `false` is none, `true` any
    ");
}

#[test]
fn empty_passes_are_rationed_beyond_what_is_counted() {
    assert_snapshot!(with("oom = [\"none\"]", "pass-may-fail = 256"), @"
    bad.toml:9:17: `pass-may-fail` is `256`, which is not `true`, `false` or a number from 1 to 255

    hint: a number is how many passes of each operation of a task may free nothing although they could; `false` is none, `true` any
    ");
}

#[test]
fn empty_passes_are_a_word() {
    assert_snapshot!(with("oom = [\"none\"]", "pass-may-fail = \"once\""), @r#"
    bad.toml:9:17: `pass-may-fail` is `"once"`, which is not `true`, `false` or a number from 1 to 255

    hint: a number is how many passes of each operation of a task may free nothing although they could; `false` is none, `true` any
    "#);
}

#[test]
fn empty_passes_are_answered_where_passes_walk() {
    let walks = "pass-may-fail = 1\n[granularity]\npass = \"walked\"";
    assert_snapshot!(with("oom = [\"none\"]", walks), @"
    bad.toml:9:17: `pass-may-fail` beside passes that walk

    hint: they free what the lists hold: folios can be `locked` or `writeback`
    ");
}

#[test]
fn an_oom_outcome_is_there_twice() {
    assert_snapshot!(with("[\"none\"]", "[\"kill\", \"kill\"]"), @r#"bad.toml:9:16: `oom` has `"kill"` twice"#);
}

#[test]
fn an_oom_outcome_is_unknown() {
    assert_snapshot!(with("[\"none\"]", "[\"kil\"]"), @"
    bad.toml:9:8: `oom` can't be `kil`

    hint: did you mean `kill`?
    ");
}

#[test]
fn more_pages_than_the_limit_at_the_start() {
    assert_snapshot!(with("lru = 1", "lru = 3\nanon = 2"), @"
    bad.toml:13:7: the `max` of `job` is `4`, below its 5 pages

    hint: a memcg starts with its own pages, on lists or `anon`, and those below it
    ");
}

#[test]
fn a_parent_is_unknown() {
    assert_snapshot!(with("max = 4", "parent = \"other\""), @"
    bad.toml:13:10: no memcg is named `other`

    hint: the memcgs are: job
    ");
}

#[test]
fn a_memcg_lies_in_itself() {
    assert_snapshot!(with("max = 4", "parent = \"job\""), @"bad.toml:13:10: the `parent` of `job` is `job`, and so it lies in itself or in such a ring");
}

#[test]
fn two_memcgs_have_one_name() {
    assert_snapshot!(with("[[actor]]", "[[memcg]]\nname = \"job\"\n\n[[actor]]"), @"bad.toml:17:8: two memcgs are named `job`");
}

#[test]
fn swap_is_limited_for_some_only() {
    assert_snapshot!(with("[[actor]]", "[[memcg]]\nname = \"b\"\nmemsw-max = 9\n\n[[actor]]"), @r#"
    bad.toml:11:1: `job` lacks the key `memsw-max`
    bad.toml:18:13: the `memsw-max` of `b` is `9`, below its `max` of max

    hint: swap is accounted for every memcg or for none; `memsw-max = "max"` does not limit it
    "#);
}

#[test]
fn swap_is_limited_below_memory() {
    assert_snapshot!(with("max = 4", "max = 4\nmemsw-max = 3"), @"bad.toml:14:13: the `memsw-max` of `job` is `3`, below its `max` of 4");
}

#[test]
fn a_constant_is_out_of_its_range() {
    for (bad, range) in [
        ("force_page_cache_ra_chunk = 0", "from 1 to"),
        ("max_pagecache_order = 10", "from 0 to 9"),
        ("mmap_lotsamiss = 6554", "from 0 to 6553"),
    ] {
        let said = with("[kernel]\n", &format!("[kernel]\n{bad}\n"));
        assert!(said.contains(range), "{bad}: {said}");
    }
}

#[test]
fn more_pages_than_can_be_listed() {
    let ordered = GOOD.replacen("[world]", "[world]\nevicts = \"fifo\"", 1);
    assert_snapshot!(of(&ordered.replacen("lru = 1\n", "lru = 4097\n", 1)), @r#"
    bad.toml:15:7: `lru` is `4097`, too many to go in an order

    hint: up to 4096 are listed: `evicts = "any"` counts them
    "#);
}
