//! Verdicts, formats, and every exit status.

use crate::support::{mmcheck, mmcheck_on, run};
use insta::assert_snapshot;
use mm_checker::Streams;
use serde_json::Value;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// One task charges a page that must not fail, and ends.
const SPEC: &str = r#"title = "A charge that must not fail"
[kernel]
memcg_charge_batch = 1
nr_memcg_stock = 1
max_reclaim_retries = 0
swap_cluster_max = 1
[[memcg]]
name = "job"
max = 0
[[actor]]
name = "A"
memcg = "job"
does = ["charge 1 nofail"]
[design.refused]
base = "linux-7.3"
nofail = "refused"
[expect.refused]
"#;

const NOFAIL: &str = "specs/controls/nofail-refused.toml";

fn check(expectations: &str, args: &[&str]) -> crate::support::Ran {
    let spec = format!("{SPEC}{expectations}");
    let args: Vec<&str> = ["check", "@one.toml"].iter().chain(args).copied().collect();
    mmcheck_on(&[("one.toml", spec.as_bytes())], &args)
}

#[test]
fn an_expected_violation_is_a_success() {
    assert_snapshot!(check(r#"errors-legitimate = "violated""#, &[]).all(), @"
    status 0
    -- stdout
    one.toml: A charge that must not fail
      ok          refused (a change of linux-7.3): 7 hold, 1 violated, 7 vacuous, 9 states
        !           charges-conserved                 vacuous   it never applied, so this says nothing
        !           speculative-charge-never-ooms     vacuous   it never applied, so this says nothing
        !           deadlock-free                     vacuous   it never applied, so this says nothing
        !           eagain-tells-the-truth            vacuous   it never applied, so this says nothing
        !           overreclaim-within-bound          vacuous   it never applied, so this says nothing
        !           high-write-reached                vacuous   it never applied, so this says nothing
        !           stockpile-enomem-tells-the-truth  vacuous   it never applied, so this says nothing
    1 search: 1 as expected, 7 without expectation, 7 vacuous and without expectation
    hint: `mmcheck explain one.toml --design refused --property errors-legitimate` shows how it comes about
    -- stderr
    ");
}

#[test]
fn an_unexpected_violation_is_shown() {
    assert_snapshot!(check(r#"errors-legitimate = "holds""#, &[]).all(), @"
    status 1
    -- stdout
    one.toml: A charge that must not fail
      UNEXPECTED  refused (a change of linux-7.3): 7 hold, 1 violated, 7 vacuous, 9 states
        !           charges-conserved                 vacuous   it never applied, so this says nothing
        !           speculative-charge-never-ooms     vacuous   it never applied, so this says nothing
        UNEXPECTED  errors-legitimate                 violated  in 8 steps; expected holds
        !           deadlock-free                     vacuous   it never applied, so this says nothing
        !           eagain-tells-the-truth            vacuous   it never applied, so this says nothing
        !           overreclaim-within-bound          vacuous   it never applied, so this says nothing
        !           high-write-reached                vacuous   it never applied, so this says nothing
        !           stockpile-enomem-tells-the-truth  vacuous   it never applied, so this says nothing
    1 search: 0 as expected, 1 unexpected, 7 without expectation, 7 vacuous and without expectation
    hint: `mmcheck explain one.toml --design refused --property errors-legitimate` shows how it comes about
    -- stderr
    ");
}

#[test]
fn a_known_violation_that_vanished_is_unexpected() {
    assert_snapshot!(check(r#"usage-within-max = "violated""#, &[]).all(), @"
    status 1
    -- stdout
    one.toml: A charge that must not fail
      UNEXPECTED  refused (a change of linux-7.3): 7 hold, 1 violated, 7 vacuous, 9 states
        !           charges-conserved                 vacuous   it never applied, so this says nothing
        UNEXPECTED  usage-within-max                  holds     expected violated
        !           speculative-charge-never-ooms     vacuous   it never applied, so this says nothing
        !           deadlock-free                     vacuous   it never applied, so this says nothing
        !           eagain-tells-the-truth            vacuous   it never applied, so this says nothing
        !           overreclaim-within-bound          vacuous   it never applied, so this says nothing
        !           high-write-reached                vacuous   it never applied, so this says nothing
        !           stockpile-enomem-tells-the-truth  vacuous   it never applied, so this says nothing
    1 search: 0 as expected, 1 unexpected, 7 without expectation, 7 vacuous and without expectation
    hint: `mmcheck explain one.toml --design refused --property errors-legitimate` shows how it comes about
    -- stderr
    ");
}

#[test]
fn other_numbers_than_pinned_are_drift() {
    assert_snapshot!(check("states = 1000\ntransitions = 1", &[]).all(), @"
    status 3
    -- stdout
    one.toml: A charge that must not fail
      DRIFT       refused (a change of linux-7.3): 7 hold, 1 violated, 7 vacuous, 9 states
        !           charges-conserved                 vacuous   it never applied, so this says nothing
        !           speculative-charge-never-ooms     vacuous   it never applied, so this says nothing
        !           deadlock-free                     vacuous   it never applied, so this says nothing
        !           eagain-tells-the-truth            vacuous   it never applied, so this says nothing
        !           overreclaim-within-bound          vacuous   it never applied, so this says nothing
        !           high-write-reached                vacuous   it never applied, so this says nothing
        !           stockpile-enomem-tells-the-truth  vacuous   it never applied, so this says nothing
        DRIFT       9 states, pinned 1,000
        DRIFT       8 transitions, pinned 1
    1 search: 0 as expected, 1 with other numbers than pinned, 8 without expectation, 7 vacuous and without expectation
    hint: `mmcheck explain one.toml --design refused --property errors-legitimate` shows how it comes about
    -- stderr
    ");
}

#[test]
fn a_changed_verdict_outweighs_drift() {
    let ran = check("states = 1000\nerrors-legitimate = \"holds\"", &[]);
    assert_eq!(ran.status, 1);
}

#[test]
fn pinned_numbers_are_those_of_fused_steps() {
    let ran = check("states = 1000", &["--no-fuse"]);
    assert_eq!(ran.status, 0, "{}", ran.all());
}

#[test]
fn a_spent_budget_leaves_what_is_open_unknown() {
    assert_snapshot!(check(r#"usage-within-max = "holds""#, &["--max-states", "1"]).all(), @"
    status 5
    -- stdout
    one.toml: A charge that must not fail
      unknown     refused (a change of linux-7.3): 15 unknown, 2 states, stopped by --max-states
    1 search: 0 as expected, 15 unknown
    -- stderr
    ");
}

#[test]
fn an_interrupt_leaves_everything_unknown() {
    assert_snapshot!(run(&["check", NOFAIL], true).all(), @"
    status 5
    -- stdout
    0 searches: 0 as expected
    -- stderr
    mmcheck: interrupted before 2 of 2 searches
    ");
}

#[test]
fn nothing_selected_is_nothing_decided() {
    assert_snapshot!(check("", &["--tier", "nightly"]).all(), @"
    status 4
    -- stdout
    0 searches: 0 as expected
    -- stderr
    mmcheck: no spec was selected

    hint: try `--tier all`
    ");
}

#[test]
fn progress_needs_the_reference_engine() {
    let ran = check(r#""livelock-free charge" = "holds""#, &["--engine", "stateright"]);
    assert_eq!(ran.status, 5, "{}", ran.all());
}

/// Others take the margin that a pass leaves, again and again.
#[test]
fn a_lasso_shows_where_its_cycle_begins() {
    let spec = r#"title = "Starved of the margin"
[kernel]
memcg_charge_batch = 1
nr_memcg_stock = 1
max_reclaim_retries = 0
swap_cluster_max = 1
[[memcg]]
name = "job"
max = 1
[[actor]]
name = "A"
memcg = "job"
does = ["charge 1 readahead", "uncharge 1"]
[[actor]]
name = "B"
memcg = "job"
does = ["charge 1 kernel", "uncharge 1"]
repeat = true
[expect."linux-7.3"]
"starvation-free charge of A" = "holds"
"#;
    let ran = mmcheck_on(&[("one.toml", spec.as_bytes())], &["check", "@one.toml"]);
    assert_snapshot!(ran.all(), @"
    status 1
    -- stdout
    one.toml: Starved of the margin
      UNEXPECTED  linux-7.3: 12 hold, 2 violated, 5 vacuous, 37 states
        !           deadlock-free                                vacuous   it never applied, so this says nothing
        !           eagain-tells-the-truth                       vacuous   it never applied, so this says nothing
        !           overreclaim-within-bound                     vacuous   it never applied, so this says nothing
        !           high-write-reached                           vacuous   it never applied, so this says nothing
        !           stockpile-enomem-tells-the-truth             vacuous   it never applied, so this says nothing
        UNEXPECTED  starvation-free charge of A (weak fairness)  violated  after 4 steps, a cycle of 5; expected holds
    1 search: 0 as expected, 1 unexpected, 13 without expectation, 5 vacuous and without expectation
    hint: `mmcheck explain one.toml --design linux-7.3 --property 'starvation-free charge of A'` shows how it comes about
    -- stderr
    ");
}

#[test]
fn verbose_shows_every_verdict_and_every_counterexample() {
    assert_snapshot!(check(r#"errors-legitimate = "violated""#, &["-v"]).all());
}

#[test]
fn a_directory_of_the_binary_can_be_named_anywhere() {
    let ran = mmcheck(&["check", "specs/charge"]);
    assert!(ran.out.contains("specs/charge/two-chargers.toml"), "{}", ran.all());
}

#[test]
fn a_design_can_replace_those_of_a_spec() {
    let spec = NOFAIL;
    let ran = mmcheck_on(
        &[("mine.toml", b"base = \"linux-6.1\"\nnofail = \"refused\"")],
        &["check", spec, "--design", "@mine.toml", "--format", "json"],
    );
    let json: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    let designs: Vec<&Value> = json["results"]
        .as_array()
        .expect("results")
        .iter()
        .map(|result| &result["design"])
        .collect();
    assert_eq!(designs, ["mine"]);
    assert_eq!(json["results"][0]["base"], "linux-6.1");
    let legitimate = property(&json["results"][0], "errors-legitimate");
    assert_eq!(legitimate["verdict"], "violated");
    assert_eq!(legitimate["ok"], Value::Null, "a design without expectations is neither");
    assert_eq!(ran.status, 0);
}

#[test]
fn a_design_with_a_specs_own_name_meets_its_expectations() {
    let ran = mmcheck(&["check", "--design", "forgets", "--format", "json"]);
    let json: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    let results = json["results"].as_array().expect("results");
    assert_eq!(results.len(), 1, "only one spec has that design");
    assert_eq!(property(&results[0], "charges-conserved")["ok"], true);
}

fn property<'a>(result: &'a Value, name: &str) -> &'a Value {
    let properties = result["properties"].as_array().expect("properties");
    properties.iter().find(|property| property["name"] == name).expect("the property is there")
}

#[test]
#[expect(clippy::too_many_lines, reason = "the whole form is the promise")]
fn json_has_the_promised_form() {
    let ran = check(r#"errors-legitimate = "violated""#, &["--format", "json"]);
    let mut json: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    let seconds = json["results"][0]["seconds"].take();
    assert!(seconds.is_f64(), "{seconds}");
    let kept = |property: &Value| {
        ["errors-legitimate", "livelock-free charge"].iter().any(|name| property["name"] == *name)
    };
    json["results"][0]["properties"].as_array_mut().expect("properties").retain(kept);
    assert_snapshot!(format!("{json:#}"), @r#"
    {
      "results": [
        {
          "base": "linux-7.3",
          "complete": true,
          "depth": 8,
          "design": "refused",
          "engines": [
            {
              "agrees": null,
              "name": "reference",
              "states": 9
            },
            {
              "agrees": true,
              "name": "native",
              "states": 9
            },
            {
              "agrees": true,
              "name": "stateright",
              "states": 9
            }
          ],
          "properties": [
            {
              "actor": null,
              "cycle": 0,
              "expected": "violated",
              "fairness": null,
              "kind": "safety",
              "name": "errors-legitimate",
              "ok": true,
              "operation": null,
              "stem": 8,
              "value": null,
              "verdict": "violated"
            },
            {
              "actor": null,
              "cycle": 0,
              "expected": null,
              "fairness": "weak",
              "kind": "progress",
              "name": "livelock-free charge",
              "ok": null,
              "operation": "charge",
              "stem": 0,
              "value": null,
              "verdict": "holds"
            }
          ],
          "seconds": null,
          "spec": "one.toml",
          "states": 9,
          "transitions": 8
        }
      ],
      "schema": 1,
      "version": "0.1.0"
    }
    "#);
}

#[test]
fn markdown_has_a_row_for_each_search_and_no_times() {
    let expected = "errors-legitimate = \"violated\"\nusage-within-max = \"violated\"\n\
                    \"livelock-free charge\" = \"holds\"";
    assert_snapshot!(check(expected, &["--format", "markdown"]).all(), @"
    status 1
    -- stdout
    | spec | design | violated | values | holds | vacuous | states | transitions |
    |---|---|---|---|---:|---:|---:|---:|
    | one.toml | refused | usage-within-max: holds, **expected violated**; errors-legitimate (8 steps) | ladder charge: wait-free | 6 | 7 | 9 | 8 |
    -- stderr
    ");
}

#[test]
fn markdown_shows_where_a_cycle_begins() {
    let spec = "specs/charge/small-charge-starves.toml";
    let ran = mmcheck(&["check", spec, "--format", "markdown"]);
    assert!(ran.out.contains("3 steps, then 7 for ever"), "{}", ran.all());
}

#[test]
fn results_can_go_to_a_file() {
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let path = directory.path().join("out.json");
    let path = path.to_str().expect("its name is text");
    let ran = mmcheck(&["list", "designs", "--format", "json", "--output", path]);
    assert_eq!(ran.out, "");
    assert_eq!(
        std::fs::read_to_string(path).expect("it was written"),
        mmcheck(&["list", "designs", "--format", "json"]).out
    );
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    assert_snapshot!(mmcheck(&["list", "designs", "--output", "/nowhere/x"]).all(), @"
    status 2
    -- stdout
    -- stderr
    /nowhere/x: it can't be written: No such file or directory (os error 2)
    ");
}

#[test]
fn colour_is_only_there_on_demand() {
    let colored = |args: &[&str]| mmcheck(args).out.contains('\x1b');
    assert!(!colored(&["check", NOFAIL]));
    assert!(colored(&["check", NOFAIL, "--color", "always"]));
    assert!(!colored(&["check", NOFAIL, "--color", "always", "--format", "json"]));
}

#[test]
fn progress_goes_to_stderr_as_lines_of_json() {
    let ran = mmcheck(&["check", NOFAIL, "--progress", "json"]);
    let first: Value =
        serde_json::from_str(ran.err.lines().next().expect("a line")).expect("it is JSON");
    assert_eq!(first["spec"], NOFAIL);
    assert_eq!(mmcheck(&["check", NOFAIL]).err, "");
}

#[test]
fn an_unknown_subcommand_is_a_usage_error() {
    assert_snapshot!(mmcheck(&["chekc"]).all(), @"
    status 2
    -- stdout
    -- stderr
    error: unrecognized subcommand 'chekc'

      tip: a similar subcommand exists: 'check'

    Usage: mmcheck [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn an_unknown_flag_is_a_usage_error() {
    assert_snapshot!(mmcheck(&["check", "--max-state", "3"]).all(), @"
    status 2
    -- stdout
    -- stderr
    error: unexpected argument '--max-state' found

      tip: a similar argument exists: '--max-states'

    Usage: mmcheck check --max-states <N> [SPEC|DIR]...

    For more information, try '--help'.
    ");
}

#[test]
fn a_size_without_a_known_unit_is_a_usage_error() {
    assert_snapshot!(mmcheck(&["check", "--max-memory", "2X"]).all(), @"
    status 2
    -- stdout
    -- stderr
    error: invalid value '2X' for '--max-memory <SIZE>': a size is a number of bytes, or one with K, M, G or T

    For more information, try '--help'.
    ");
}

#[test]
fn no_subcommand_is_a_usage_error_and_help_is_not() {
    assert_eq!(mmcheck(&[]).status, 2);
    let help = mmcheck(&["--help"]);
    assert_eq!((help.status, help.err.as_str()), (0, ""));
    assert!(help.out.contains("70  internal error"), "{}", help.out);
}

#[test]
fn a_design_nobody_has_is_a_usage_error() {
    assert_snapshot!(mmcheck(&["check", "--design", "linux-7.4"]).all(), @"
    status 2
    -- stdout
    -- stderr
    mmcheck: no design is named `linux-7.4`

    hint: did you mean `linux-7.2`?
    ");
}

#[test]
fn the_explorer_wants_one_spec() {
    assert_snapshot!(mmcheck(&["explore", "specs/charge"]).all(), @"
    status 2
    -- stdout
    -- stderr
    specs/charge: it is not one spec but several
    ");
}

/// Fails in its own way.
struct Broken(fn() -> io::Result<usize>);

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        (self.0)()
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn with_broken_stdout(write: fn() -> io::Result<usize>) -> (u8, String) {
    let mut err = Vec::new();
    let streams = Streams {
        out: &mut Broken(write),
        err: &mut err,
        out_color: false,
        err_terminal: false,
        interrupts: &Arc::default,
        ci: false,
    };
    let status = mm_checker::run(["mmcheck", "list", "designs"].map(OsString::from), streams);
    (status, String::from_utf8(err).expect("it is UTF-8"))
}

#[test]
fn a_panic_is_an_internal_error() {
    let ran = with_broken_stdout(|| panic!("a pipe of the wrong colour"));
    assert_eq!(ran, (70, "mmcheck: internal error: a pipe of the wrong colour\n".to_owned()));
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let ran = with_broken_stdout(|| Err(io::ErrorKind::BrokenPipe.into()));
    assert_eq!(ran, (0, String::new()));
}

#[test]
fn a_closed_pipe_ends_the_process_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mmcheck"))
        .args(["list", "functions", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(0), &b""[..]));
}
