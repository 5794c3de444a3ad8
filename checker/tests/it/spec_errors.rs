//! Bad specs: what is wrong, where, and what was probably meant; and never a panic.

use crate::support::mmcheck_on;
use insta::assert_snapshot;
use mm_checker::engine::{Budget, Quiet, reference};
use mm_checker::spec::{library, parse};
use mm_model::machine::Fuse;

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

fn of(spec: &str) -> String {
    let ran = mmcheck_on(&[("bad.toml", spec.as_bytes())], &["check", "@bad.toml"]);
    assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{}", ran.err);
    ran.err
}

#[test]
fn the_good_spec_is_good() {
    assert!(parse("good.toml", GOOD).is_ok());
}

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
fn a_memcg_is_unknown() {
    assert_snapshot!(with("memcg = \"job\"", "memcg = \"jbo\""), @"
    bad.toml:18:9: no memcg is named `jbo`

    hint: did you mean `job`?
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
fn a_single_section_where_a_list_is_meant() {
    assert_snapshot!(with("[[memcg]]", "[memcg]"), @"
    bad.toml:11:1: `memcg` is not a list of tables
    bad.toml:18:9: no memcg is named `job`

    hint: write each one as `[[memcg]]`
    hint: there are no memcgs
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
fn a_decision_is_unknown() {
    assert_snapshot!(with("noretry", "no-retry"), @"
    bad.toml:27:1: [design.mine] has no key `no-retry`

    hint: did you mean `noretry`?
    ");
}

#[test]
fn a_decision_has_an_unknown_value() {
    assert_snapshot!(with("\"ignored\"", "\"ignore\""), @"
    bad.toml:27:11: `noretry` can't be `ignore`

    hint: did you mean `ignored`?
    ");
}

#[test]
fn a_design_has_no_base() {
    assert_snapshot!(with("base = \"linux-7.3\"\n", ""), @"bad.toml:25:1: [design.mine] lacks the key `base`");
}

#[test]
fn a_design_has_the_name_of_a_preset() {
    assert_snapshot!(with("[design.mine]", "[design.\"linux-6.1\"]"), @"
    bad.toml:25:9: `linux-6.1` is the name of a design that is known already
    bad.toml:29:9: no design is named `mine`

    hint: the designs are: linux-7.3, linux-6.1, linux-6.12, reclaim-min-32, reclaim-min-32-7.3, reclaim-whole-7.3, readahead-batch-reclaim, mark-round-up
    ");
}

#[test]
fn an_expectation_is_of_no_design() {
    assert_snapshot!(with("[expect.mine]", "[expect.mien]"), @"
    bad.toml:29:9: no design is named `mien`

    hint: did you mean `mine`?
    ");
}

#[test]
fn an_expectation_is_of_a_known_design_that_the_spec_does_not_check() {
    assert_snapshot!(with("[expect.mine]", "[expect.\"linux-6.1\"]"), @r#"
    bad.toml:29:9: `linux-6.1` is not among the designs of this spec

    hint: `designs = ["linux-7.3", "linux-6.1"]` checks it as well
    "#);
    // A design of the spec's own takes the place of the default.
    let spec = GOOD.replace("designs = [\"linux-7.3\"]\n", "");
    assert_snapshot!(of(&spec.replace("[expect.mine]", "[expect.\"linux-7.3\"]")), @r#"
    bad.toml:28:9: `linux-7.3` is not among the designs of this spec

    hint: `designs = ["linux-7.3"]` checks it as well
    "#);
}

#[test]
fn a_property_is_misspelt() {
    assert_snapshot!(with("charges-conserved", "charge-conserved"), @"
    bad.toml:30:1: no property is named `charge-conserved`

    hint: did you mean `charges-conserved`?
    ");
}

#[test]
fn a_starving_actor_is_unknown() {
    assert_snapshot!(with("charges-conserved", "\"starvation-free charge of B\""), @"
    bad.toml:30:1: no actor is named `B`

    hint: the actors are: A, kworker/0
    ");
}

#[test]
fn an_expected_verdict_is_unknown() {
    assert_snapshot!(with("\"holds\"", "\"unknown\""), @"
    bad.toml:30:21: `charges-conserved` can't be `unknown`

    hint: the values of `charges-conserved` are: holds, violated, vacuous
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
fn actors_and_memcgs_are_limited_in_number() {
    let actor = |at: usize| {
        format!("[[actor]]\nname = \"x{at}\"\nmemcg = \"job\"\ncpu = 0\ndoes = [\"uncharge 1\"]\n")
    };
    let many: String = (0..300).map(actor).collect();
    assert_snapshot!(of(&format!("{GOOD}{many}")), @"bad.toml:1526:1: there are `302` actors, more than 255");
}

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
    hint: the keys of the top level are: title, about, source, tier, designs, kernel, granularity, world, ram, memcg, cpu, actor, worker, kswapd, design, sweep, expect
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
        for (at, _) in text.char_indices() {
            survives(&text[..at]);
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

    hint: passes look at lists and protection where they walk: `pass = "walked"` in `[granularity]`
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
fn a_number_of_a_design_that_is_none() {
    let bad = "noretry = \"ignored\"\nreclaim-batch-divisor = 0\nreclaim-floor = \"no\"";
    assert_snapshot!(with("noretry = \"ignored\"", bad), @r#"
    bad.toml:29:17: `reclaim-floor` is `"no"`, which is not a number from 0 to 255
    "#);
}
