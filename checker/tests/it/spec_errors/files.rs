//! Files, and what is done with them.

use super::{of, refuses};
use insta::assert_snapshot;
use mm_checker::spec::parse;

/// A good spec with two openings of a file.
const FILES: &str = r#"title = "A file"

[[memcg]]
name = "job"

[[memcg]]
name = "other"

[[file]]
name = "a"
pages = 8
min-order = 1
max-order = 2
cached = ["0 order 1", "2 order 1 mark"]
expands = "blocks 2"

[[file]]
name = "b"
of = "a"
ra-pages = 4

[[actor]]
name = "A"
memcg = "job"
does = ["read a 0..3 1", "fault a 0 seq", "window a 0 4 0..4 1"]

[[actor]]
name = "B"
memcg = "job"
does = ["willneed b 0 4", "read b 100b 10b"]
"#;

fn with(good: &str, bad: &str) -> String {
    assert!(FILES.contains(good), "{good}");
    of(&FILES.replacen(good, bad, 1))
}

#[test]
fn a_good_spec_with_files_is_good() {
    assert!(parse("good.toml", FILES).is_ok());
}

#[test]
fn a_file_that_is_not_there() {
    assert_snapshot!(with("read a 0..3", "read ab 0..3"), @"
    bad.toml:25:9: no file is named `ab`

    hint: the files are: a, b
    ");
}

#[test]
fn two_files_have_one_name() {
    assert_snapshot!(with("name = \"b\"", "name = \"a\""), @"
    bad.toml:18:8: two files are named `a`
    bad.toml:30:9: no file is named `b`
    bad.toml:30:27: no file is named `b`

    hint: the files are: a, a
    ");
}

#[test]
fn a_file_without_a_length() {
    assert_snapshot!(with("pages = 8\n", ""), @"bad.toml:9:1: [[file]] lacks the key `pages`");
}

#[test]
fn another_opening_of_what_is_not_open_yet() {
    let later = "of = \"c\"\n[[file]]\nname = \"c\"\npages = 4\n";
    assert_snapshot!(with("of = \"a\"", later), @"bad.toml:19:6: `of` is `c`, which comes only later");
}

#[test]
fn another_opening_of_a_file_that_is_not_there() {
    assert_snapshot!(with("of = \"a\"", "of = \"aa\""), @"
    bad.toml:19:6: no file is named `aa`

    hint: the files are: a, b
    ");
}

#[test]
fn another_opening_with_pages_of_its_own() {
    assert_snapshot!(with("of = \"a\"", "of = \"a\"\npages = 8\nmax-order = 3"), @"
    bad.toml:20:9: `pages` is `8`, beside `of`
    bad.toml:21:13: `max-order` is `3`, beside `of`

    hint: it belongs to the file whose pages these are
    ");
}

#[test]
fn folio_orders_that_cross() {
    assert_snapshot!(with("max-order = 2", "max-order = 0"), @"bad.toml:13:13: `max-order` is `0`, below the `min-order` of 1");
    assert_snapshot!(with("max-order = 2", "max-order = 10"), @"bad.toml:13:13: `max-order` is `10`, which is not a number from 0 to 9");
}

#[test]
fn folios_that_cannot_be_cached() {
    assert_snapshot!(with("2 order 1 mark", "1 order 1"), @r#"bad.toml:14:24: `cached` is `"1 order 1"`, which is not `PAGE [order N] [mark]` with a page that fits the order"#);
    assert_snapshot!(with("2 order 1 mark", "0 order 2"), @r#"bad.toml:14:24: the folio `"0 order 2"` lies over another"#);
    assert_snapshot!(with("2 order 1 mark", "8 order 1"), @r#"bad.toml:14:24: the folio `"8 order 1"` lies beyond the end of a file of 8 pages"#);
    assert_snapshot!(with("2 order 1 mark", "2 order 1 marked"), @r#"bad.toml:14:24: `cached` is `"2 order 1 marked"`, which is not `PAGE [order N] [mark]` with a page that fits the order"#);
    assert_snapshot!(with("2 order 1 mark", "two"), @r#"bad.toml:14:24: `cached` is `"two"`, which is not `PAGE [order N] [mark]` with a page that fits the order"#);
}

#[test]
fn an_expansion_that_is_none() {
    assert_snapshot!(with("blocks 2", "blocks"), @r#"bad.toml:15:11: `expands` is `"blocks"`, which is not `blocks ORDER` or `range FIRST LAST`"#);
    assert_snapshot!(with("blocks 2", "range 7 4"), @r#"bad.toml:15:11: `expands` is `"range 7 4"`, which is not `blocks ORDER` or `range FIRST LAST`"#);
}

#[test]
fn a_readahead_state_that_is_none() {
    assert_snapshot!(with("ra-pages = 4", "ra = { start = 0, length = 4 }"), @"
    bad.toml:20:19: `ra` has no key `length`

    hint: the keys of `ra` are: start, size, async-size, order, mmap-miss, prev-pos
    ");
    assert_snapshot!(with("ra-pages = 4", "ra = { size = 4, async-size = 5 }"), @"bad.toml:20:31: `async-size` is `5`, which is not a number from 0 to 4");
}

#[test]
fn a_range_that_goes_backwards() {
    assert_snapshot!(with("0..3 1", "3..0 1"), @"bad.toml:25:9: `3..0` in `read a 3..0 1` is not a number of pages from 0 to 4294967296, or a range of them as `0..3`");
    assert_snapshot!(with("0..3 1", "0-3 1"), @"bad.toml:25:9: `0-3` in `read a 0-3 1` is not a number of pages from 0 to 4294967296, or a range of them as `0..3`");
}

#[test]
fn a_number_of_bytes_that_is_none() {
    assert_snapshot!(with("100b 10b", "100b 0b"), @"bad.toml:30:27: `0` in `read b 100b 0b` is not a number of bytes from 1 to 17592186044416, or a range of them as `0..3`");
    assert_snapshot!(with("100b 10b", "100k 10b"), @"bad.toml:30:27: `100k` in `read b 100k 10b` is not a number of pages from 0 to 4294967296, or a range of them as `0..3`");
    assert_snapshot!(with("willneed b 0 4", "willneed b 0 4b"), @"bad.toml:30:9: `4b` in `willneed b 0 4b` is not a number of pages from 1 to 4294967296, or a range of them as `0..3`");
}

#[test]
fn a_window_of_no_page_or_of_folios_that_are_too_large() {
    assert_snapshot!(with("window a 0 4", "window a 0 0"), @"bad.toml:25:43: `0` in `window a 0 0 0..4 1` is not a number of pages from 1 to 4294967296, or a range of them as `0..3`");
    assert_snapshot!(with("0..4 1", "0..4 10"), @"bad.toml:25:43: `10` in `window a 0 4 0..4 10` is not a number of orders from 0 to 9, or a range of them as `0..3`");
}

#[test]
fn an_operation_on_a_file_that_is_not_written_so() {
    assert_snapshot!(with("window a 0 4 0..4 1", "window a 0 4"), @"bad.toml:25:43: `window a 0 4` is not written as `window FILE START SIZE ASYNC-SIZE ORDER`");
    assert_snapshot!(with("fault a 0 seq", "fault a 0 sequential"), @"
    bad.toml:25:26: no mapping is used as `sequential`

    hint: the uses of a mapping are: seq, rand, huge, huge-rand
    ");
    assert_snapshot!(with("fault a 0 seq", "fault a 0 seq rand"), @"bad.toml:25:26: `fault a 0 seq rand` is not written as `fault FILE PAGE [seq|rand|huge|huge-rand]`");
}

#[test]
fn a_file_that_nobody_uses() {
    let unused = "[[file]]\nname = \"c\"\npages = 4\n\n[[actor]]\nname = \"B\"";
    assert_snapshot!(with("[[actor]]\nname = \"B\"", unused), @"
    bad.toml:27:1: no task uses the file `c`

    hint: an `[[actor]]` may `read`, `fault`, `willneed` or fill a `window` of it
    ");
}

#[test]
fn a_file_that_tasks_of_two_memcgs_use() {
    let other = "name = \"B\"\nmemcg = \"other\"";
    assert_snapshot!(with("name = \"B\"\nmemcg = \"job\"", other), @"
    bad.toml:17:1: tasks of `job` and of `other` use `b`

    hint: the pages of a file belong to one memcg: give each memcg its own file
    ");
}

#[test]
fn a_pooled_file_is_small_mapped_and_of_one_task() {
    assert_snapshot!(with("pages = 8", "pages = 65\npooled = true"), @r#"
    bad.toml:9:1: the pooled file `a` is shared
    bad.toml:11:9: `pages` is `65`, more than a pooled file needs to have
    bad.toml:14:13: `pooled` beside large folios, up to order 2
    bad.toml:18:1: the pooled file `b` is shared

    hint: its pages are told apart only while one access of one task runs
    hint: it stands for a large file: a window of it is enough, and at most 64 pages
    hint: a large folio is freed whole, and pages that are only counted are not
    "#);
    let alone = FILES.replace("willneed b 0 4\", \"read b 100b 10b", "charge 1 kernel");
    let alone = alone.replace("[[file]]\nname = \"b\"\nof = \"a\"\nra-pages = 4\n", "");
    let read = alone.replace("pages = 8", "pages = 8\npooled = true");
    assert_snapshot!(of(&read), @"
    bad.toml:9:1: the pooled file `a` has pages at the start
    bad.toml:14:13: `pooled` beside large folios, up to order 2

    hint: nobody comes back to pages that were there before: `lru` counts them
    hint: a large folio is freed whole, and pages that are only counted are not
    ");
}

#[test]
fn files_beside_passes_that_walk() {
    let walked = "[granularity]\npass = \"walked\"\n\n[[memcg]]\nname = \"job\"";
    assert_snapshot!(with("[[memcg]]\nname = \"job\"", walked), @r#"
    bad.toml:12:1: there is a `[[file]]`, but passes walk lists

    hint: the world answers for passes that free pages of files: `pass = "answered"`
    "#);
}

/// A good spec of a task that goes through a pooled file in order.
const IN_ORDER: &str = r#"title = "In order"

[world]
io = "file"

[[memcg]]
name = "job"

[[file]]
name = "a"
pages = 64
pooled = true
ra-pages = 4

[[actor]]
name = "A"
memcg = "job"
does = ["access a next seq"]
repeat = true

[expect."linux-7.3"]
"pages-evicted-unused per-each access" = 0
"#;

#[test]
fn what_a_pooled_file_can_not_be_used_for() {
    let refused = [
        ("pooled = true\n", "", "`next` of `a`, which is not pooled"),
        ("next seq\"", "next\", \"access a 3\"", "is not only used in order"),
        ("access a next seq", "read a next 2", "`read ... next 2` is not one page"),
        ("next seq", "next huge", "is used in order, by huge pages"),
        ("io = \"file\"", "io = \"batch\"", "end by batch"),
        ("pages = 64", "pages = 63", "has a start or an end"),
        ("ra-pages = 4", "ra-pages = 9", "are too long"),
        ("io = \"file\"", "tree-nodes = true", "`tree-nodes` beside the pooled file `a`"),
        ("io = \"file\"", "fs-leaves = true", "`fs-leaves` beside `a`, which is used in order"),
        ("pooled = true", "pooled = true\nra = { size = 4 }", "does not begin as just opened"),
        ("pooled = true", "pooled = true\ncached = [\"3\"]", "has pages at the start"),
        ("ra-pages = 4", "ra-pages = 0", "is not read ahead"),
        ("io = \"file\"", "evicts = \"none\"", "`evicts = \"none\"` beside the pooled file `a`"),
        ("access a next seq", "access a 3", "may miss too often"),
        ("pages-evicted-unused per-each", "pages-evicted-unused per", "that are only counted"),
        ("pages-evicted-unused per-each access", "peak speculative-pages", "that are only counted"),
    ];
    refuses(IN_ORDER, &refused);
    let at_random = IN_ORDER.replacen("access a next seq", "access a 3 seq", 1);
    let said = of(&at_random.replacen("[world]", "[kernel]\nmmap_lotsamiss = 0\n\n[world]", 1));
    assert!(said.contains("is not only mapped at random"), "{said}");
}

#[test]
fn a_cached_folio_is_none_of_its_mapping() {
    assert_snapshot!(with("cached = [\"0 order 1\"", "cached = [\"0\""), @r#"
    bad.toml:14:11: the folio `"0"` is none of its mapping

    hint: `min-order` and `max-order` say which folios the mapping has
    "#);
}

#[test]
fn large_folios_go_in_an_order_beside_another_memcg() {
    let ordered = FILES.replacen("[[memcg]]", "[world]\nevicts = \"lru\"\n\n[[memcg]]", 1);
    let said = of(&ordered.replacen("name = \"other\"", "name = \"other\"\nlru = 1", 1));
    assert!(said.contains("large folios of `a` go in order"), "{said}");
}
