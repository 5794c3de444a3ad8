//! The top level, and the text as a whole.

use super::{GOOD, of, with};
use insta::assert_snapshot;

#[test]
fn nothing_is_in_an_empty_file() {
    assert_snapshot!(of(" \n"), @"
    bad.toml:1:1: the file is empty

    hint: a spec has at least a `title`, a `[[memcg]]` and an `[[actor]]`
    ");
}

#[test]
fn the_title_is_missing() {
    assert_snapshot!(with("title = \"Two tasks\"\n", ""), @"bad.toml:1:1: the top level lacks the key `title`");
}

#[test]
fn a_key_is_misspelt() {
    assert_snapshot!(with("memcg_charge_batch", "memcg_charge_bach"), @"
    bad.toml:6:1: [kernel] has no key `memcg_charge_bach`

    hint: did you mean `memcg_charge_batch`?
    ");
}

#[test]
fn a_top_level_key_is_unknown() {
    assert_snapshot!(with("tier", "speed"), @"
    bad.toml:2:1: the top level has no key `speed`

    hint: did you mean `sweep`?
    ");
}

#[test]
fn the_syntax_is_wrong() {
    assert_snapshot!(with("max = 4", "max = = 4"), @"bad.toml:13:7: not TOML at `= 4`: extra `=`, expected nothing");
}

#[test]
fn a_string_does_not_end() {
    assert_snapshot!(with("\"Two tasks\"", "\"Two tasks"), @r#"bad.toml:1:19: not TOML where the line ends: invalid basic string, expected `"`"#);
}

#[test]
fn a_key_is_there_twice() {
    assert_snapshot!(with("max = 4", "max = 4\nmax = 5"), @"bad.toml:14:1: not TOML at `max = 5`: duplicate key");
}

#[test]
fn a_tier_is_unknown() {
    assert_snapshot!(with("\"pr\"", "\"prr\""), @"
    bad.toml:2:8: `tier` can't be `prr`

    hint: did you mean `pr`?
    ");
}

#[test]
fn a_preset_is_unknown() {
    assert_snapshot!(with("[\"linux-7.3\"]", "[\"linux-7.30\"]"), @"
    bad.toml:3:12: no design is named `linux-7.30`

    hint: did you mean `linux-7.3`?
    ");
}

#[test]
fn a_single_section_where_a_list_is_meant() {
    assert_snapshot!(with("[[memcg]]", "[memcg]"), @"
    bad.toml:11:1: `memcg` is not a list of tables
    bad.toml:18:9: no memcg is named `job`

    hint: write each one as `[[memcg]]`
    hint: there are no memcgs
    ");
}

#[test]
fn all_independent_problems_are_reported_in_one_go() {
    let spec = GOOD
        .replace("\"pr\"", "\"never\"")
        .replace("lru = 1", "lru = \"x\"")
        .replace("uncharge 1", "uncharge x")
        .replace("\"ignored\"", "\"ignore\"");
    assert_snapshot!(of(&spec), @r#"
    bad.toml:2:8: `tier` can't be `never`
    bad.toml:14:7: `lru` is `"x"`, which is not a number from 0 to 4294967296
    bad.toml:19:28: `x` in `uncharge x` is not a number of pages from 1 to 4294967296
    bad.toml:27:11: `noretry` can't be `ignore`

    hint: the values of `tier` are: pr, nightly
    hint: did you mean `ignored`?
    "#);
}

#[test]
fn a_parameter_stands_somewhere_and_one_that_is_wrong_is_still_one() {
    let swept = |limit: &str, sweep: &str| {
        with(
            "max = 4",
            &format!("max = {limit}\n\n[sweep]\n{sweep}\n\n[[memcg]]\nname = \"other\""),
        )
    };
    assert_snapshot!(swept("4", "limit = \"2..4\""), @"
    bad.toml:16:1: nothing in the spec is `$limit`

    hint: a parameter stands, behind a `$`, where a number does
    ");
    assert_snapshot!(swept("\"$limit\"", "limit = \"four\""), @r#"
    bad.toml:16:9: `limit` is `"four"`, which is not a list of different numbers, or a range such as `"2..12"`
    "#);
    assert_snapshot!(swept("\"$limit\"", "limit = [1, 2]\nother = \"1..2000\""), @r#"
    bad.toml:17:1: nothing in the spec is `$other`
    bad.toml:17:9: `other` is `"1..2000"`, which is not a list of different numbers, or a range such as `"2..12"`

    hint: a parameter stands, behind a `$`, where a number does
    "#);
}
