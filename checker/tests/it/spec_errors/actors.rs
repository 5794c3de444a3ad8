//! Actors and what they do.

use super::{GOOD, of, with};
use insta::assert_snapshot;

#[test]
fn a_memcg_is_unknown() {
    assert_snapshot!(with("memcg = \"job\"", "memcg = \"jbo\""), @"
    bad.toml:18:9: no memcg is named `jbo`

    hint: did you mean `job`?
    ");
}

#[test]
fn an_actor_does_nothing() {
    assert_snapshot!(with("[\"charge 1 kernel\", \"uncharge 1\"]", "[]"), @"bad.toml:19:8: `does` has `0` operations, but must have 1 to 255");
}

#[test]
fn an_actor_repeats_uncharges_only() {
    assert_snapshot!(with("\"charge 1 kernel\", ", ""), @r#"
    bad.toml:19:8: `does` is `["uncharge 1"]`, which soon has nothing to uncharge

    hint: a task that repeats must also charge, or it spins in user space for ever
    "#);
}

#[test]
fn an_operation_is_misspelt() {
    assert_snapshot!(with("charge 1 kernel", "chrage 1 kernel"), @"
    bad.toml:19:9: no operation is named `chrage`

    hint: did you mean `charge`?
    ");
}

#[test]
fn an_operation_lacks_its_class() {
    assert_snapshot!(with("charge 1 kernel", "charge 1"), @"
    bad.toml:19:9: `charge 1` is not written as `charge PAGES CLASS`

    hint: the classes are: nonblocking, nonblocking_high, noreclaim, readahead, readahead_nodirect, kernel, nofs, retry_mayfail, nofail
    ");
}

#[test]
fn a_gfp_class_is_misspelt() {
    assert_snapshot!(with("charge 1 kernel", "charge 1 kernal"), @"
    bad.toml:19:9: no gfp class is named `kernal`

    hint: did you mean `kernel`?
    ");
}

#[test]
fn a_charge_of_no_pages() {
    assert_snapshot!(with("charge 1 kernel", "charge 0 kernel"), @"bad.toml:19:9: `0` in `charge 0 kernel` is not a number of pages from 1 to 4294967296");
}

#[test]
fn a_flag_is_misspelt() {
    assert_snapshot!(with("repeat = true", "flags = [\"diyng\"]"), @"
    bad.toml:20:10: `flags` can't be `diyng`

    hint: did you mean `dying`?
    ");
}

#[test]
fn a_flag_is_no_list() {
    assert_snapshot!(with("repeat = true", "repeat = \"yes\""), @r#"bad.toml:20:10: `repeat` is `"yes"`, which is not `true` or `false`"#);
}

#[test]
fn a_cpu_is_out_of_range() {
    assert_snapshot!(with("cpu = 0", "cpu = 1"), @"bad.toml:23:7: `cpu` is `1`, which is not a number from 0 to 0");
}

#[test]
fn two_workers_on_a_cpu() {
    assert_snapshot!(with("[design.mine]", "[[worker]]\ncpu = 0\nname = \"w\"\n\n[design.mine]"), @"bad.toml:26:7: CPU `0` has two workers");
}

#[test]
fn an_actor_has_a_name_of_two_words() {
    assert_snapshot!(with("name = \"A\"", "name = \"A B\""), @r#"bad.toml:17:8: `name` is `"A B"`, which is not one word"#);
}

#[test]
fn actors_and_memcgs_are_limited_in_number() {
    let actor = |at: usize| {
        format!("[[actor]]\nname = \"x{at}\"\nmemcg = \"job\"\ncpu = 0\ndoes = [\"uncharge 1\"]\n")
    };
    let many: String = (0..300).map(actor).collect();
    assert_snapshot!(of(&format!("{GOOD}{many}")), @"bad.toml:1526:1: there are `302` actors, more than 255");
}
