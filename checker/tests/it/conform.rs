//! The vectors of the real kernel pass, and a vector that says something else does not.

use mm_checker::cli::Format;
use mm_checker::conform::run;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn vectors(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name)
}

/// Runs files: the exit status, the report, and what went to stderr.
fn conform(files: &[PathBuf]) -> (u8, Value, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = run(files, Format::Json, &mut out, &mut err).expect("memory takes all output");
    let report = serde_json::from_slice(&out).expect("the report is JSON");
    (status.status(), report, String::from_utf8(err).expect("messages are text"))
}

/// Runs text as a file.
fn conform_text(text: &str) -> (u8, Value, String) {
    let dir = tempfile::tempdir().expect("a directory for the file");
    let file = dir.path().join("rows");
    fs::write(&file, text).expect("the file is written");
    let (status, report, err) = conform(std::slice::from_ref(&file));
    (status, report, err.replace(&*file.display().to_string(), "FILE"))
}

/// Corrupts the row of that id in a file and demands that this row fails, at that place, and no
/// other row does.
fn assert_caught(file: &str, id: &str, place: &str, corrupt: impl FnOnce(&mut Value)) {
    let text = fs::read_to_string(vectors(file)).expect("the vectors are read");
    let mut rows: Vec<Value> =
        text.lines().map(|row| serde_json::from_str(row).expect("a row is JSON")).collect();
    let row = rows.iter_mut().find(|row| row["id"] == id).expect("the row is there");
    let intact = row.clone();
    corrupt(row);
    assert_ne!(*row, intact, "the corruption changes the row");
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    let (status, report, err) = conform_text(&lines.join("\n"));
    assert_eq!(err, "");
    assert_eq!(status, 1);
    let failures = report["files"][0]["failures"].as_array().expect("a list of failures");
    let found: Vec<_> = failures.iter().map(|at| (&at["id"], &at["where"])).collect();
    assert_eq!(found, [(&json!(id), &json!(place))]);
    assert_eq!(report["files"][0]["passed"], rows.len() - 1);
}

fn calls(row: &mut Value) -> &mut Vec<Value> {
    row["calls"].as_array_mut().expect("a list of calls")
}

#[test]
fn every_vector_of_the_charge_path_passes() {
    let files = [vectors("charge.jsonl"), vectors("charge_sim.jsonl")];
    let (status, report, err) = conform(&files);
    assert_eq!((status, err.as_str()), (0, ""));
    let counts = |file: &Value| (file["cases"].clone(), file["passed"].clone());
    let counts: Vec<_> =
        report["files"].as_array().expect("a list of files").iter().map(counts).collect();
    assert_eq!(counts, [(json!(411), json!(411)), (json!(120), json!(120))]);
}

#[test]
fn every_vector_of_the_reclaim_loops_passes() {
    let files = ["reclaim.jsonl", "high.jsonl", "stockpile.jsonl"].map(vectors);
    let (status, report, err) = conform(&files);
    assert_eq!((status, err.as_str()), (0, ""));
    let counts = |file: &Value| (file["cases"].clone(), file["passed"].clone());
    let counts: Vec<_> =
        report["files"].as_array().expect("a list of files").iter().map(counts).collect();
    assert_eq!(counts, [297, 120, 120].map(|cases| (json!(cases), json!(cases))));
}

/// Two requests of the same memcgs and nodes in 6.12 and 7.3, the only ones in which many passes
/// share a walk: the kernel took 53 passes and freed 2065 pages, the model 52 and 2053. Both are
/// within the bound of a request in batches of 32 over four nodes, 127 * 4 + 30 beyond it. What
/// makes the difference is not known; `docs/abstraction.md` says what was tried. The list is not to
/// grow.
#[test]
fn every_vector_of_passes_passes_but_two_that_share_a_walk_for_long() {
    let (status, report, err) = conform(&[vectors("pass.jsonl")]);
    assert_eq!((status, err.as_str()), (1, ""));
    let file = &report["files"][0];
    assert_eq!(
        (&file["cases"], &file["passed"], &file["skipped"]),
        (&json!(267), &json!(265), &json!(0))
    );
    let failures = file["failures"].as_array().expect("a list of failures");
    let ids: Vec<_> = failures.iter().map(|failure| &failure["id"]).collect();
    assert_eq!(ids, ["pp0220", "pp0223"]);
    for failure in failures {
        assert_eq!(failure["where"], "asked");
        let passes = |side: &str| failure[side].as_array().expect("a list of passes").len();
        assert_eq!((passes("expected"), passes("got")), (53, 52));
    }
}

#[test]
fn another_batch_of_a_request_is_noticed() {
    assert_caught("reclaim.jsonl", "rp0120", "passes", |row| row["passes"][3][0] = json!(36865));
}

#[test]
fn a_drain_before_the_retries_are_used_up_is_noticed() {
    assert_caught("reclaim.jsonl", "rp0024", "drain_before_pass", |row| {
        row["drain_before_pass"][0] = json!(15);
    });
}

#[test]
fn another_error_of_a_request_is_noticed() {
    assert_caught("reclaim.jsonl", "rp0080", "result", |row| row["result"] = json!("EAGAIN"));
}

#[test]
fn another_sleep_over_high_is_noticed() {
    let text = fs::read_to_string(vectors("high.jsonl")).expect("the vectors are read");
    let rows = text.lines().map(|row| serde_json::from_str::<Value>(row).expect("a row is JSON"));
    let (id, at) = rows
        .filter(|row| row["cut"] == 0)
        .find_map(|row| {
            let calls = row["calls"].as_array().expect("a list of calls");
            let at = calls.iter().position(|call| call[0] == "sleep")?;
            Some((row["id"].as_str().expect("an id").to_owned(), at))
        })
        .expect("some handler sleeps");
    assert_caught("high.jsonl", &id, &format!("calls[{at}]"), |row| {
        let sleep = &mut calls(row)[at][1];
        *sleep = json!(sleep.as_u64().expect("ticks") + 1);
    });
}

#[test]
fn another_request_of_the_stockpile_is_noticed() {
    assert_caught("stockpile.jsonl", "tp0000", "calls[2]", |row| calls(row)[2][2] = json!(170));
}

#[test]
fn pages_from_another_memcg_are_noticed() {
    let text = fs::read_to_string(vectors("pass.jsonl")).expect("the vectors are read");
    let first = text.lines().next().expect("a row");
    let mut row: Value = serde_json::from_str(first).expect("a row is JSON");
    row["passes"][1]["freed"] = json!([[16], [48], [48]]);
    let (status, report, _) = conform_text(&row.to_string());
    assert_eq!(status, 1);
    assert_eq!(report["files"][0]["failures"][0]["where"], "passes[1].freed");
}

#[test]
fn every_vector_of_readahead_passes() {
    let files = ["window.jsonl", "stream.jsonl", "stream_budget.jsonl"].map(vectors);
    let (status, report, err) = conform(&files);
    assert_eq!((status, err.as_str()), (0, ""));
    let counts = |file: &Value| (file["cases"].clone(), file["passed"].clone());
    let counts: Vec<_> =
        report["files"].as_array().expect("a list of files").iter().map(counts).collect();
    let all = [(671, 671), (259, 259), (125, 125)];
    assert_eq!(counts, all.map(|(cases, passed)| (json!(cases), json!(passed))));
}

#[test]
fn another_mark_of_a_window_is_noticed() {
    assert_caught("window.jsonl", "wp0000", "folios", |row| row["folios"][1][2] = json!(1));
}

#[test]
fn another_error_of_an_add_is_noticed() {
    assert_caught("window.jsonl", "wp0470", "failed", |row| row["failed"][0][3] = json!("EEXIST"));
}

#[test]
fn another_batch_reclaim_of_a_window_is_noticed() {
    assert_caught("window.jsonl", "wp0470", "batch", |row| row["batch"][1][0] = json!(7));
}

#[test]
fn another_state_after_a_window_is_noticed() {
    assert_caught("window.jsonl", "wp0494", "state.async", |row| {
        row["state"]["async"] = json!(12);
    });
}

#[test]
fn another_readahead_of_a_stream_is_noticed() {
    assert_caught("stream.jsonl", "sp0000", "results[1].ev", |row| {
        row["results"][1]["ev"][0][1] = json!(33);
    });
}

#[test]
fn another_count_of_adds_of_a_budget_is_noticed() {
    assert_caught("stream_budget.jsonl", "bp0001", "results[1].adds", |row| {
        row["results"][1]["adds"] = json!(146);
    });
}

#[test]
fn another_result_of_a_charge_is_noticed() {
    assert_caught("charge.jsonl", "cp0000", "result", |row| row["result"] = json!(0));
}

#[test]
fn another_count_over_high_is_noticed() {
    assert_caught("charge.jsonl", "cp0263", "over_high", |row| row["over_high"] = json!(10));
}

#[test]
fn another_argument_of_a_call_is_noticed() {
    assert_caught("charge.jsonl", "cp0000", "calls[3]", |row| calls(row)[3][2] = json!(2));
}

#[test]
fn a_call_the_kernel_did_not_make_is_noticed() {
    assert_caught("charge.jsonl", "cp0006", "calls[0]", |row| drop(calls(row).remove(0)));
}

#[test]
fn a_call_only_the_kernel_made_is_noticed() {
    assert_caught("charge.jsonl", "cp0000", "calls[4]", |row| calls(row).push(json!(["notify"])));
}

#[test]
fn two_calls_in_the_other_order_are_noticed() {
    assert_caught("charge.jsonl", "cp0008", "calls[4]", |row| calls(row).swap(4, 5));
}

#[test]
fn a_difference_in_the_known_part_of_an_endless_charge_is_noticed() {
    assert_caught("charge.jsonl", "cp0243", "calls[60]", |row| calls(row)[60][2] = json!(2));
}

#[test]
fn another_version_of_the_kernel_is_noticed() {
    // Only 7.3 counts a MAX event after a forced charge.
    assert_caught("charge.jsonl", "cp0008", "calls[4]", |row| row["version"] = json!("7.3"));
}

#[test]
fn another_script_is_noticed() {
    assert_caught("charge.jsonl", "cp0007", "calls[3]", |row| row["input"]["trys"] = json!([0, 1]));
}

#[test]
fn another_result_of_a_later_operation_is_noticed() {
    assert_caught("charge_sim.jsonl", "xp0000", "steps[12].result", |row| {
        row["steps"][12]["result"] = json!(0);
    });
}

#[test]
fn another_usage_of_one_level_is_noticed() {
    assert_caught("charge_sim.jsonl", "xp0000", "steps[2].usage", |row| {
        row["steps"][2]["usage"][2] = json!(149);
    });
}

#[test]
fn another_stock_is_noticed() {
    assert_caught("charge_sim.jsonl", "xp0000", "steps[6].stock", |row| {
        row["steps"][6]["stock"] = json!(25);
    });
}

#[test]
fn an_operation_without_its_result_is_noticed() {
    assert_caught("charge_sim.jsonl", "xp0000", "steps", |row| {
        row["steps"].as_array_mut().expect("a list of steps").pop();
    });
}

#[test]
fn steps_after_a_cut_one_are_skipped_and_decide_nothing() {
    let text = fs::read_to_string(vectors("charge_sim.jsonl")).expect("the vectors are read");
    let first = text.lines().next().expect("a row");
    let mut row: Value = serde_json::from_str(first).expect("a row is JSON");
    row["steps"][0]["cut"] = json!(1);
    let (status, report, _) = conform_text(&row.to_string());
    assert_eq!(status, 4);
    assert_eq!(report["files"][0]["skipped"], 1);
    let reason = &report["files"][0]["skips"][0]["reason"];
    assert_eq!(reason, "nothing is known of the steps after steps[0], which was cut");
}

#[test]
fn a_file_without_cases_decides_nothing() {
    assert_eq!(conform_text("").0, 4);
}

/// A row of `charge` with these fields changed.
fn charge_row(changes: &[(&str, Value)]) -> String {
    let mut row = json!({
        "id": "a", "version": "6.1", "gfp_class": "kernel", "input": {}, "calls": [], "result": 0,
        "over_high": 0,
    });
    for (field, value) in changes {
        row[field] = value.clone();
    }
    row.to_string()
}

#[test]
fn malformed_rows_are_located() {
    let rows = [
        charge_row(&[("gfp_class", json!("kernal"))]),
        charge_row(&[("version", json!("6.2"))]),
        charge_row(&[("input", json!({"nr": -1}))]),
        charge_row(&[("input", json!({"trys": [3]}))]),
        charge_row(&[("speed", json!(1))]),
        charge_row(&[("id", json!(7))]),
        "{\"id\": \"a\", \"speed\": 1}".to_owned(),
        "{\"id\":".to_owned(),
    ];
    let (status, _, err) = conform_text(&rows.join("\n"));
    assert_eq!(status, 2);
    let (problems, hint) = err.split_once("\n\n").expect("a hint comes last");
    assert!(hint.starts_with("hint: the formats are charge, charge_sim"), "{hint}");
    insta::assert_snapshot!(problems, @r"
    FILE:1:32: no gfp class is named `kernal`; there are nonblocking, nonblocking_high, noreclaim, readahead, readahead_nodirect, kernel, nofs, retry_mayfail, nofail
    FILE:2:93: unknown variant `6.2`, expected one of `6.1`, `6.12`, `7.3`
    FILE:3:58: invalid value: integer `-1`, expected u64
    FILE:4:61: 3 is neither -1 nor one of 3 levels
    FILE:5:85: unknown field `speed`, expected one of `id`, `kind`, `version`, `gfp_class`, `input`, `result`, `cut`, `calls`, `over_high`
    FILE:6:39: invalid type: integer `7`, expected a string
    FILE:7:1: the fields of this row are those of no known format
    FILE:8:6: EOF while parsing a value
    ");
}

#[test]
fn a_file_that_is_not_there_is_bad_input() {
    let (status, _, err) = conform(&[PathBuf::from("no/such/file")]);
    assert_eq!(status, 2);
    assert!(err.starts_with("no/such/file: "), "{err}");
}

#[test]
fn a_number_beyond_what_the_kernel_can_count_is_a_difference_and_no_crash() {
    let huge = json!(u64::MAX / 8192);
    let input = json!({"nr": huge, "usage": [huge, huge, huge], "trys_def": -1});
    let (status, _, err) = conform_text(&charge_row(&[("input", input)]));
    assert_eq!((status, err.as_str()), (1, ""));
}

#[test]
fn people_see_the_differing_call_of_the_kernel_beside_the_models() {
    let dir = tempfile::tempdir().expect("a directory for the file");
    let file = dir.path().join("rows");
    let row = charge_row(&[("input", json!({"consume": [1]})), ("calls", json!([["notify"]]))]);
    fs::write(&file, row).expect("the file is written");
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let files = std::slice::from_ref(&file);
    let status = run(files, Format::Human, &mut out, &mut err).expect("memory takes all output");
    assert_eq!(status.status(), 1);
    let out = String::from_utf8(out).expect("the report is text");
    insta::assert_snapshot!(out.replace(&*file.display().to_string(), "FILE"), @r#"
    FILE: 1 cases, 0 passed, 1 failed, 0 skipped
      a calls[0]: kernel ["notify"], model ["consume",1,1]
    "#);
}
