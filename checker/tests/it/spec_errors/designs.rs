//! Designs and what is expected of them.

use super::{GOOD, of, with};
use insta::assert_snapshot;

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

    hint: the designs are: linux-7.3, linux-6.1, linux-7.2, linux-6.12, reclaim-min-32, reclaim-min-32-7.3, reclaim-whole-7.3, readahead-batch-reclaim, mark-round-up
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
fn a_number_of_a_design_that_is_none() {
    let bad = "noretry = \"ignored\"\nreclaim-batch-divisor = 0\nreclaim-floor = \"no\"";
    assert_snapshot!(with("noretry = \"ignored\"", bad), @r#"
    bad.toml:28:25: `reclaim-batch-divisor` is `0`, which is not a number from 1 to 255
    bad.toml:29:17: `reclaim-floor` is `"no"`, which is not a number from 0 to 255
    "#);
}

#[test]
fn a_claim_is_made_once() {
    let twice = "\"livelock-free charge\" = \"holds\"\n\"livelock-free charge under weak\" = \"violated\"\n";
    assert_snapshot!(
        with("charges-conserved = \"holds\"", twice),
        @"
    bad.toml:31:1: `livelock-free charge under weak` asks what `livelock-free charge` asks above
    "
    );
}

#[test]
fn a_value_is_a_number_or_a_word() {
    let claims = "\"reclaim-passes per charge\" = \"many\"\n\"ladder charge\" = \"holds\"\n\
                  \"reclaim-passes per-each charge\" = \"1/0\"\n";
    assert_snapshot!(with("charges-conserved = \"holds\"", claims), @r#"
    bad.toml:30:31: `reclaim-passes per charge` is `"many"`, which is not a number, `"unbounded"` or `"vacuous"`
    bad.toml:31:19: `ladder charge` can't be `holds`
    bad.toml:32:36: `reclaim-passes per-each charge` is `"1/0"`, which is not a number, a fraction `"p/q"`, `"unbounded"` or `"vacuous"`

    hint: the values of `ladder charge` are: none, livelock-free, starvation-free, wait-free, vacuous
    "#);
}
