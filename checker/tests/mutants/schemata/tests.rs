//! What is changed, and what is left alone.

use super::*;

/// The changes that a function's mutants make.
fn changes(source: &str) -> Vec<String> {
    let mut schemata = Schemata::default();
    let rewritten = schemata.rewrite("f.rs", source);
    for id in 1..=schemata.mutants.len() {
        let choice = format!("mutant :: is ({id}usize)");
        assert_eq!(rewritten.matches(&choice).count(), 1, "{choice} in {rewritten}");
    }
    schemata.mutants.into_iter().map(|mutant| mutant.change).collect()
}

#[test]
fn a_comparison_has_its_neighbours_and_a_condition_both_values() {
    let found = changes("fn f() { if a < 2 { g() } }");
    let expected = ["`2` -> `3`", "`2` -> `1`", "`a < 2` -> `a <= 2`", "`a < 2` -> `a >= 2`"];
    assert_eq!(found[..4], expected);
    assert_eq!(found[4..], ["`a < 2` -> `true`", "`a < 2` -> `false`"]);
}

#[test]
fn a_condition_that_binds_names_can_only_fail() {
    let found = changes("fn f() { if let Some(x) = y && !x { g(x) } }");
    assert_eq!(found, ["`!x` -> `x`", "`let Some(x) = y && !x` -> `false`"]);
}

#[test]
fn arms_that_bind_nothing_do_what_the_next_one_does() {
    let found = changes("fn f() { match x { A => a(), B(y) => b(y), C => c() } }");
    assert_eq!(found, ["`A => a()` -> `A => c()`", "`C => c()` -> `C => a()`"]);
}

#[test]
fn an_effect_can_be_missing() {
    assert_eq!(changes("fn f() { *x = y; g(); h() }"), ["`*x = y;` -> ``", "`g();` -> ``"]);
}

#[test]
fn the_same_change_twice_is_counted() {
    let found = changes("fn f() { g(true, true) } fn h() { g(true) }");
    let expected = ["`true` -> `false`", "`true` -> `false` #2", "`true` -> `false`"];
    assert_eq!(found, expected);
}

#[test]
fn patterns_constants_and_descriptions_are_left_alone() {
    let source = "const A: u8 = 1; fn f(x: [u8; 2]) { let 1 = x; } fn stack() { g(1); }";
    assert!(changes(source).is_empty());
}

#[test]
fn constants_of_a_table_change() {
    let mut schemata = Schemata::default();
    let source = "constants! { /// Two.\n a: Pages = Pages(2), b: u8 = 3, }";
    schemata.rewrite_constants("kernel.rs", source);
    let found: Vec<_> = schemata.mutants.iter().map(|m| (&*m.function, &*m.change)).collect();
    let expected =
        [("a", "`2` -> `3`"), ("a", "`2` -> `1`"), ("b", "`3` -> `4`"), ("b", "`3` -> `2`")];
    assert_eq!(found, expected);
}
