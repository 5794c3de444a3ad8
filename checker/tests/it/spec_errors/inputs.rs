//! What is no text, no spec or not there.

use crate::support::mmcheck_on;
use insta::assert_snapshot;

#[test]
fn what_is_not_utf8_is_placed() {
    let ran = mmcheck_on(&[("bad.toml", b"title = 1\nx = \"\xff\"")], &["check", "@bad.toml"]);
    assert_snapshot!(ran.all(), @"
    status 2
    -- stdout
    -- stderr
    bad.toml:2:6: the byte `0xff` is not UTF-8
    ");
}

#[test]
fn a_missing_file_is_named() {
    assert_snapshot!(mmcheck_on(&[], &["check", "@missing.toml"]).all(), @"
    status 2
    -- stdout
    -- stderr
    missing.toml: there is no such file

    hint: `mmcheck list specs` names those that the binary carries
    ");
}

#[test]
fn a_directory_without_specs_is_named() {
    let ran = mmcheck_on(&[("specs/readme.md", b"none")], &["check", "@specs"]);
    assert_snapshot!(ran.all(), @"
    status 2
    -- stdout
    -- stderr
    specs: there is no spec in this directory

    hint: a spec is a file whose name ends in `.toml`
    ");
}

#[test]
fn the_problems_of_several_files_are_sorted_by_file() {
    let files: &[(&str, &[u8])] = &[("d/b.toml", b"x = 1"), ("d/a/z.toml", b"title = 3")];
    assert_snapshot!(mmcheck_on(files, &["check", "@d"]).all(), @"
    status 2
    -- stdout
    -- stderr
    d/a/z.toml:1:1: there is no `[[memcg]]`
    d/a/z.toml:1:1: there is no `[[actor]]`
    d/a/z.toml:1:9: `title` is `3`, which is not a string
    d/b.toml:1:1: the top level has no key `x`
    d/b.toml:1:1: the top level lacks the key `title`
    d/b.toml:1:1: there is no `[[memcg]]`
    d/b.toml:1:1: there is no `[[actor]]`

    hint: a charge needs one: `[[memcg]]` with a `name`
    hint: something must happen: `[[actor]]` with a `name`, a `memcg` and what it `does`
    hint: the keys of the top level are: title, about, source, tier, symmetry, designs, kernel, granularity, world, ram, memcg, cpu, file, actor, worker, kswapd, design, sweep, expect
    ");
}

#[test]
fn a_design_file_is_checked_as_well() {
    let files: &[(&str, &[u8])] = &[("mine.toml", b"bases = \"linux-7.3\"\nnofail = 1\n")];
    assert_snapshot!(mmcheck_on(files, &["check", "--design", "@mine.toml"]).all(), @"
    status 2
    -- stdout
    -- stderr
    mine.toml:1:1: a design file has no key `bases`
    mine.toml:1:1: a design file lacks the key `base`
    mine.toml:2:10: `nofail` is `1`, which is not a string

    hint: did you mean `base`?
    ");
}
