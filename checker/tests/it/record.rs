//! The script that records a trace: what it makes of the text of tracefs, and what the model says of
//! that.
//!
//! The stored text has the events of two requests, one fulfilled and one that ran out of pages,
//! among those of other tasks that reclaim at the same time.

use crate::docs::root;
use mm_checker::cli::Format;
use mm_checker::conform::run;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn stored(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record").join(name);
    fs::read_to_string(path).expect("the sample is there")
}

/// What the script makes of a text of tracefs.
fn convert(raw: &str) -> Output {
    let mut script = Command::new("sh")
        .arg(root().join("docs/how-to/record-a-trace.sh"))
        .args(["--convert", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    let mut input = script.stdin.take().expect("a pipe");
    // A text that is refused need not be read to its end.
    let _ = input.write_all(raw.as_bytes());
    drop(input);
    script.wait_with_output().expect("it ends")
}

fn converted(raw: &str) -> String {
    let output = convert(raw);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaint.is_empty(), "{complaint}");
    String::from_utf8(output.stdout).expect("rows are text")
}

/// Holds rows against the model: the exit status and what was said.
fn conform(rows: &str) -> (u8, String) {
    let dir = tempfile::tempdir().expect("a directory for the file");
    let file = dir.path().join("recording.csv");
    fs::write(&file, rows).expect("the file is written");
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = run(std::slice::from_ref(&file), Format::Human, &mut out, &mut err)
        .expect("memory takes all output");
    (status.status(), String::from_utf8([out, err].concat()).expect("messages are text"))
}

/// The sample with one text in it replaced, once.
fn changed(from: &str, to: &str) -> String {
    let sample = stored("sample.txt");
    assert!(sample.contains(from), "the sample has no {from}");
    sample.replacen(from, to, 1)
}

#[test]
fn text_of_tracefs_becomes_the_rows_of_a_recording() {
    assert_eq!(converted(&stored("sample.txt")), stored("sample.csv"));
}

#[test]
fn a_file_is_converted_as_standard_input_is() {
    let output = Command::new("sh")
        .args(["docs/how-to/record-a-trace.sh", "--convert", "checker/tests/record/sample.txt"])
        .current_dir(root())
        .output()
        .expect("there is a shell");
    assert_eq!(String::from_utf8_lossy(&output.stdout), stored("sample.csv"));
}

#[test]
fn the_model_explains_every_row_of_a_converted_trace() {
    let (status, said) = conform(&converted(&stored("sample.txt")));
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("28 cases, 28 passed"), "{said}");
}

#[test]
fn a_trace_of_something_else_is_converted_and_not_explained() {
    for (from, to, column) in [
        ("asked=48 ", "asked=49 ", "asked"),
        ("options=6 ", "options=2 ", "reclaim_options"),
        ("usage=12238", "usage=13238", "usage_before_pages"),
        ("ret=-11", "ret=3", "errno"),
    ] {
        let (status, said) = conform(&converted(&changed(from, to)));
        assert_eq!(status, 1, "{to}: {said}");
        assert!(said.contains(column), "{to}: {said}");
    }
}

#[test]
fn a_trace_with_gaps_is_refused() {
    for (from, to, complaint) in [
        ("written: 130/130", "written: 120/130", "events were lost"),
        ("mm_vmscan_memcg_reclaim_end", "other", "a pass begins inside of another"),
        ("mmcheck_pass", "other", "a pass ends that did not begin"),
        ("mmcheck_reclaim:", "other:", "no write to memory.reclaim before this"),
        ("mmcheck_reclaim_ret:", "other:", "no write to memory.reclaim before this"),
        ("mmcheck before", "other", "no write to memory.reclaim before this"),
        ("mmcheck after", "other", "the request before this has no end"),
        ("mmcheck run", "other", "the kernel and the run are not named"),
        ("usage=", "use=", "does not say usage="),
        ("[001]", "001", "this is not an event of tracefs"),
    ] {
        let output = convert(&changed(from, to));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{from}: {said}");
        assert!(said.contains(complaint), "{from}: {said}");
    }
}

#[test]
fn a_trace_without_a_request_is_refused() {
    let output = convert("# tracer: nop\n#\n");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("there is no request"), "{said}");
}
