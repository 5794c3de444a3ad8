//! Files whose pages lie in a ring.

use super::refuses;
use mm_checker::spec::parse;

/// A good spec of a task that goes to any page of a ring.
const RING: &str = r#"title = "A ring"

[world]
io = "file"

[[memcg]]
name = "job"

[[file]]
name = "a"
pages = 4
ring = true
ra-pages = 3

[[actor]]
name = "A"
memcg = "job"
does = ["access a 0..3"]
repeat = true
"#;

#[test]
fn what_a_ring_can_not_be_used_for() {
    let refused = [
        ("0..3\"", "0..3\", \"read a 0 1\"", "the ring `a` is not only mapped at random"),
        ("0..3\"", "0..3 seq\"", "the ring `a` is not only mapped at random"),
        ("0..3\"", "0..3 huge\"", "the ring `a` is not only mapped at random"),
        ("access a 0..3", "access a next", "the ring `a` is not only mapped at random"),
        ("0..3", "0..4", "an access goes more than once round the ring `a`"),
        ("pages = 4", "pages = 2", "the ring `a` has no room for a window"),
        ("pages = 4", "pages = 0", "the ring `a` has no room for a window"),
        ("ra-pages = 3", "ra-pages = 4", "windows of the ring `a` have 4 pages"),
        ("ring = true", "ring = true\npooled = true", "`ring` beside `pooled`"),
        ("ring = true", "ring = true\nmax-order = 1", "`ring` beside large folios"),
        ("ring = true", "ring = true\nexpands = \"blocks 1\"", "the ring `a` is expanded"),
        ("ring = true", "ring = true\nra = { size = 2 }", "begins in the middle of readahead"),
        ("ring = true", "ring = true\ncached = [\"2 mark\"]", "begins in the middle of readahead"),
        ("io = \"file\"", "io = \"batch\"", "reads of the ring `a` end by batch"),
        ("io = \"file\"", "tree-nodes = true", "`tree-nodes` beside the ring `a`"),
        (
            "[[actor]]",
            "[[actor]]\nname = \"B\"\nmemcg = \"job\"\ndoes = [\"access a 0\"]\n\n[[actor]]",
            "the ring `a` is shared",
        ),
        ("[[actor]]", "[[file]]\nname = \"b\"\nof = \"a\"\n\n[[actor]]", "the ring `a` is shared"),
        (
            "[[actor]]",
            "[[file]]\nname = \"b\"\nof = \"a\"\nring = true\n\n[[actor]]",
            "`ring` is `true`, beside `of`",
        ),
    ];
    refuses(RING, &refused);
}

#[test]
fn what_a_ring_can_begin_with() {
    for more in ["ra = { mmap-miss = 3 }", "cached = [\"2\"]", "random = true"] {
        let text = RING.replacen("ring = true", &format!("ring = true\n{more}"), 1);
        parse("good.toml", &text).unwrap_or_else(|_| panic!("{more} is right"));
    }
}
