//! Recordings of running kernels are behaviours of the model, and a recording that says something
//! else is not.

use crate::docs::{fresh, table};
use mm_checker::cli::Format;
use mm_checker::conform::{Reached, reached, run};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}

/// What one recording showed.
#[derive(Clone, Debug, Deserialize)]
struct Report {
    cases: usize,
    passed: usize,
    skipped: usize,
    failures: Vec<Failure>,
}

#[derive(Clone, Debug, Deserialize)]
struct Failure {
    id: String,
    #[serde(rename = "where")]
    place: String,
    expected: Value,
    got: Value,
}

/// Runs recordings: the exit status and the reports.
fn conform(files: &[PathBuf]) -> (u8, Vec<Report>, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = run(files, Format::Json, &mut out, &mut err).expect("memory takes all output");
    let mut report: Value = serde_json::from_slice(&out).expect("the report is JSON");
    let reports = serde_json::from_value(report["files"].take()).expect("a list of reports");
    (status.status(), reports, String::from_utf8(err).expect("messages are text"))
}

/// Runs text as a recording.
fn conform_text(text: &str) -> (u8, Vec<Report>, String) {
    let dir = tempfile::tempdir().expect("a directory for the file");
    let file = dir.path().join("recording");
    fs::write(&file, text).expect("the file is written");
    let (status, report, err) = conform(std::slice::from_ref(&file));
    (status, report, err.replace(&*file.display().to_string(), "FILE"))
}

fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(recordings()).expect("the recordings are there");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "csv"))
        .collect();
    files.sort();
    files
}

/// What a recording showed, and what of the model it went through.
pub(crate) struct Recording {
    report: Report,
    pub(crate) reached: Reached,
}

/// Every recording by the name of its file; half of them by a thread each.
pub(crate) fn ran() -> &'static BTreeMap<String, Recording> {
    static RAN: OnceLock<BTreeMap<String, Recording>> = OnceLock::new();
    RAN.get_or_init(|| {
        let files = files();
        let one = |file: &PathBuf| {
            let ((_, mut reports, err), reached) = reached(|| conform(std::slice::from_ref(file)));
            assert_eq!(err, "");
            let name = file.file_name().and_then(|name| name.to_str()).expect("a name");
            let report = reports.pop().expect("a report for the file");
            (name.to_owned(), Recording { report, reached })
        };
        let half = |odd: usize| files.iter().skip(odd).step_by(2).map(one).collect::<Vec<_>>();
        std::thread::scope(|scope| {
            let threads = [0, 1].map(|odd| scope.spawn(move || half(odd)));
            threads.into_iter().flat_map(|thread| thread.join().expect("it ends")).collect()
        })
    })
}

fn reports() -> impl Iterator<Item = (&'static String, &'static Report)> {
    ran().iter().map(|(name, recording)| (name, &recording.report))
}

/// A row that no choice explains, and why it is let pass.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unexplained {
    file: String,
    line: usize,
    #[serde(rename = "reason")]
    _reason: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    unexplained: Vec<Unexplained>,
}

fn unexplained() -> BTreeSet<(String, String)> {
    let text =
        fs::read_to_string(recordings().join("unexplained.toml")).expect("the list is there");
    let list: List = toml::from_str(&text).expect("the list is TOML");
    list.unexplained.into_iter().map(|row| (row.file, format!("line {}", row.line))).collect()
}

#[test]
fn every_recorded_row_is_a_behaviour_of_the_model_but_those_listed() {
    let listed = unexplained();
    let failed: BTreeMap<_, _> = reports()
        .flat_map(|(name, report)| report.failures.iter().map(move |failure| (name, failure)))
        .map(|(name, failure)| ((name.clone(), failure.id.clone()), failure))
        .collect();
    let new: Vec<_> = failed.iter().filter(|(row, _)| !listed.contains(*row)).collect();
    assert!(new.is_empty(), "not explained: {new:#?}");
    let explained: Vec<_> = listed.iter().filter(|row| !failed.contains_key(*row)).collect();
    assert!(explained.is_empty(), "these can be taken off the list: {explained:#?}");
}

#[test]
fn of_no_recording_more_than_one_row_in_a_hundred_is_unexplained() {
    for (name, report) in reports() {
        assert_eq!(report.skipped, 0, "{name}");
        assert!(report.cases > 0 && report.passed * 100 >= report.cases * 99, "{name}");
    }
}

#[test]
fn every_recording_of_a_single_reader_is_reproduced_exactly() {
    let single: Vec<_> = reports().filter(|(name, _)| name.starts_with("S1.")).collect();
    assert!(single.len() > 100, "{}", single.len());
    for (name, report) in single {
        assert_eq!(report.passed, report.cases, "{name}");
    }
}

/// Kind of recording and kernel, by the name of a file.
pub(crate) fn kind(name: &str) -> (&'static str, &str) {
    let kinds = [
        (".passes.", "passes"),
        (".windows.", "windows"),
        (".batch.", "batch reclaims"),
        (".raw.", "every event"),
    ];
    let stage = &name[..2];
    let kind = match stage {
        "S1" => "S1, a single reader",
        "S3" => "S3, memory.reclaim",
        _ => {
            let kind = kinds.iter().find(|(part, _)| name.contains(part)).expect("a known kind").1;
            match (stage, kind) {
                ("S4", "passes") => "S4, passes over memory.high",
                ("S4", "batch reclaims") => "S4, batch reclaims",
                (_, "passes") => "S2, passes",
                (_, "windows") => "S2, windows",
                (_, "batch reclaims") => "S2, batch reclaims",
                _ => "S2, every event",
            }
        }
    };
    let rest = &name[3..];
    let kernels = ["6.1up", "6.12", "6.1", "7.2", "7.3p3", "7.3"];
    let kernel = kernels.into_iter().find(|kernel| rest.starts_with(&format!("{kernel}.")));
    (kind, kernel.expect("a known kernel"))
}

#[test]
fn what_recordings_show_is_written_down() {
    let mut rows: BTreeMap<_, (usize, usize, usize)> = BTreeMap::new();
    for (name, report) in reports() {
        let (files, cases, passed) = rows.entry(kind(name)).or_default();
        *files += 1;
        *cases += report.cases;
        *passed += report.passed;
    }
    let rows = rows.into_iter().map(|((kind, kernel), (files, cases, passed))| {
        let numbers = [files, cases, passed, cases - passed].map(|number| number.to_string());
        [vec![kind.to_owned(), kernel.to_owned()], numbers.to_vec()].concat()
    });
    let text = table("recordings | kernel | files | rows | explained | not explained", rows);
    fresh("docs/conformance.md", [("recordings".to_owned(), text)]);
}

/// The columns of the events of a raw recording, which no header names.
const EVENTS: &[(&str, &[&str])] = &[
    ("fault", &["ino", "pgoff", "flags"]),
    ("fault_ret", &["vm_fault", "passes_in_fault"]),
    ("read", &["pos"]),
    ("sync", &["index", "req", "ra_start", "ra_size", "ra_async"]),
    ("async", &["index", "folio_index", "req", "ra_start", "ra_size", "ra_async"]),
    ("window", &["start", "size", "async", "order"]),
    ("unbounded", &["index", "nr", "lookahead"]),
    ("add", &["index", "gfp", "caller"]),
    ("add_ret", &["ret"]),
    ("mark", &["index"]),
    ("cached", &["ino", "index", "order"]),
    ("charge", &["gfp", "nr_pages", "usage"]),
    ("charge_ret", &["ret"]),
    ("reclaim", &["asked", "gfp", "options", "usage", "class"]),
    ("reclaim_ret", &["reclaimed"]),
    ("shrink", &["nid", "scanned", "reclaimed", "priority"]),
    ("evict", &["ino", "index", "order"]),
    ("high_enter", &["caller"]),
    ("reclaim_high", &["nr", "gfp"]),
    ("retry", &["index", "left", "asked", "attempt"]),
    ("retry_done", &["index", "answer", "final_ret", "attempt"]),
    ("batch", &["asked", "gfp"]),
    ("batch_ret", &["answer"]),
    ("capped", &["index", "left", "attempts"]),
];

/// A row of the table of columns: the rows it is of, the column, and whether it binds.
struct Column {
    rows: String,
    name: String,
    binds: bool,
}

/// The table of `docs/conformance.md`.
fn columns() -> Vec<Column> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/conformance.md");
    let text = fs::read_to_string(path).expect("the document is there");
    let table = text.split("## Which columns bind").nth(1).expect("the table is there");
    let cells = |line: &str| {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    };
    let rows = table.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let rows = rows.take_while(|line| line.starts_with('|')).map(cells);
    rows.flat_map(|cells| {
        let names: Vec<_> =
            cells[1].split(", ").map(|name| name.trim_matches('`').to_owned()).collect();
        let rows = cells[0].trim_matches('`').to_owned();
        let binds = cells[2] == "yes";
        names.into_iter().map(move |name| Column { rows: rows.clone(), name, binds })
    })
    .collect()
}

/// Which rows of which recordings a row of the table is about, and where their columns are.
fn place(rows: &str, column: &str) -> (Vec<PathBuf>, Option<(usize, String)>, usize) {
    let (stage, event) = rows.split_once(' ').unwrap_or((rows, ""));
    let (part, field, first) = match stage {
        "S1" => ("S1.", 0, 2),
        "S3" => ("S3.", 0, 1),
        "raw" => (".raw.", 2, 3),
        "passes" => (".passes.", 0, 0),
        "windows" => (".windows.", 0, 0),
        "batch" => (".batch.", 0, 0),
        _ => panic!("no recordings are called {stage}"),
    };
    let of_stage = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.contains(part))
    };
    let files: Vec<_> = files().into_iter().filter(of_stage).collect();
    let names: Vec<String> = if stage == "raw" {
        let events = EVENTS.iter().find(|(name, _)| *name == event).expect("a known event").1;
        events.iter().map(|name| (*name).to_owned()).collect()
    } else {
        let text = fs::read_to_string(&files[0]).expect("it is read");
        let header = text.lines().nth(1).expect("a header").trim_start_matches("# ").to_owned();
        let header = header
            .split(" | ")
            .find(|part| event.is_empty() || part.split(',').next() == Some(event));
        let names = header.expect("the header names these rows").split(',').skip(first);
        names.map(str::to_owned).collect()
    };
    // Kernels differ in what they call the same column.
    let alias = |name: &str| name.replace("memcg_usage", "usage").replace("_calls", "");
    let at = names.iter().position(|name| alias(name) == column);
    let at = at.unwrap_or_else(|| panic!("{rows} have no column {column}: {names:?}"));
    let wanted = (!event.is_empty()).then(|| (field, event.to_owned()));
    (files, wanted, first + at)
}

/// Other values for a field.
fn others(value: &str, column: &[&str]) -> Vec<String> {
    let mut others = match value.parse::<i64>() {
        Ok(number) => [number + 1, number + 1_000_003, -1, 0, number * 2 + 64]
            .iter()
            .map(i64::to_string)
            .collect(),
        Err(_) => ["0x0", "0", "order", "unbounded"].map(str::to_owned).to_vec(),
    };
    others.extend(column.iter().copied().map(str::to_owned).take(40));
    others.retain(|other| other != value);
    others.dedup();
    others
}

/// Whether some recording with one field changed is found out.
fn caught(rows: &str, column: &str) -> bool {
    let (files, wanted, field) = place(rows, column);
    let is_wanted = |fields: &[&str]| {
        fields.len() > field && wanted.as_ref().is_none_or(|(at, name)| fields[*at] == name)
    };
    let mut tried = 0;
    for file in files {
        let text = fs::read_to_string(file).expect("it is read");
        let lines: Vec<&str> = text.lines().collect();
        let row = |line: &&str| {
            let fields: Vec<&str> = line.split(',').collect();
            (!line.starts_with('#') && is_wanted(&fields)).then(|| fields[field].to_owned())
        };
        let values: Vec<_> =
            lines.iter().enumerate().filter_map(|(nth, line)| Some((nth, row(line)?))).collect();
        let distinct: BTreeSet<&str> = values.iter().map(|(_, value)| value.as_str()).collect();
        let distinct: Vec<_> = distinct.into_iter().collect();
        let Some((nth, value)) = values.get(values.len() / 2) else { continue };
        for other in others(value, &distinct) {
            let mut fields: Vec<&str> = lines[*nth].split(',').collect();
            fields[field] = &other;
            let changed = fields.join(",");
            let mut lines = lines.clone();
            lines[*nth] = &changed;
            let (status, ..) = conform_text(&lines.join("\n"));
            // A value that can't be read does not show that the column binds.
            if status == 1 {
                return true;
            }
            tried += 1;
        }
        if tried > 150 {
            return false;
        }
    }
    false
}

#[test]
fn a_changed_field_of_every_column_that_binds_is_noticed() {
    let columns = columns();
    let binding: Vec<_> = columns.iter().filter(|column| column.binds).collect();
    assert!(binding.len() > 90, "{}", binding.len());
    let escaped: Vec<_> = binding
        .iter()
        .filter(|column| !caught(&column.rows, &column.name))
        .map(|column| format!("{} {}", column.rows, column.name))
        .collect();
    assert_eq!(escaped, [""; 0]);
}

#[test]
fn every_column_of_every_recording_is_in_the_table() {
    let known: BTreeSet<_> =
        columns().into_iter().map(|column| (column.rows, column.name)).collect();
    let mut missing = BTreeSet::new();
    for (event, names) in EVENTS {
        missing.extend(names.iter().map(|name| (format!("raw {event}"), (*name).to_owned())));
    }
    for file in files() {
        let text = fs::read_to_string(&file).expect("it is read");
        let name = file.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let header = text.lines().nth(1).expect("a header").trim_start_matches("# ");
        let alias = |name: &str| name.replace("memcg_usage", "usage").replace("_calls", "");
        for part in header.split(" | ") {
            let (rows, first) = match &name[..2] {
                "S1" | "S3" => {
                    (format!("{} {}", &name[..2], part.split(',').next().unwrap_or_default()), 1)
                }
                _ if name.contains(".raw.") => continue,
                _ if name.contains(".passes.") => ("passes".to_owned(), 0),
                _ if name.contains(".windows.") => ("windows".to_owned(), 0),
                _ => ("batch".to_owned(), 0),
            };
            missing.extend(part.split(',').skip(first).map(|column| (rows.clone(), alias(column))));
        }
    }
    let missing: Vec<_> = missing.difference(&known).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The recording of that name with its lines changed.
fn changed(name: &str, change: impl FnOnce(&mut Vec<String>)) -> Report {
    let text = fs::read_to_string(recordings().join(name)).expect("it is read");
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let intact = lines.clone();
    change(&mut lines);
    assert_ne!(lines, intact, "the corruption changes the recording");
    let (status, mut reports, err) = conform_text(&lines.join("\n"));
    assert_eq!((status, err.as_str()), (1, ""));
    reports.remove(0)
}

fn replace(line: &mut String, from: &str, to: &str) {
    assert!(line.contains(from), "{line}");
    *line = line.replace(from, to);
}

/// The first line that has this text.
fn with(lines: &mut [String], text: &str) -> usize {
    lines
        .iter()
        .position(|line| !line.starts_with('#') && line.contains(text))
        .expect("some line has it")
}

#[test]
fn a_moved_mark_is_noticed_where_it_was() {
    let report = changed("S1.7.3.xfs.ra768.seq4k.csv", |lines| {
        let marked = with(lines, ",1,0x112c4a,0,ra");
        replace(&mut lines[marked], ",1,0x112c4a", ",0,0x112c4a");
        replace(&mut lines[marked + 1], ",0,0x112c4a", ",1,0x112c4a");
    });
    assert_eq!(
        (report.failures[0].id.as_str(), report.failures[0].place.as_str()),
        ("line 7", "marked")
    );
}

#[test]
fn a_changed_request_of_a_pass_is_noticed() {
    let report = changed("S3.7.2.ext4.lru0x0000.file64.small.csv", |lines| {
        replace(&mut lines[3], ",8,60,", ",9,60,");
    });
    let failure = &report.failures[0];
    assert_eq!((failure.id.as_str(), failure.place.as_str()), ("line 4", "asked"));
    assert_eq!((&failure.expected, &failure.got), (&Value::from(9), &Value::from(8)));
}

#[test]
fn a_batch_reclaim_out_of_order_is_noticed() {
    let report = changed("S2.7.3p3.xfs.N4.seq.batch.csv", |lines| lines.swap(2, 3));
    assert_eq!(report.failures[0].place, "t_us");
}

#[test]
fn a_pass_in_a_place_that_makes_none_is_noticed() {
    // With the patch, a charge of readahead may not reclaim.
    let report = changed("S2.7.3p3.xfs.N4.seq.passes.csv", |lines| {
        replace(
            &mut lines[2],
            "ra_batch,544,576,0,0x0,32",
            "ra_speculative,544,576,32,0x11284a,32",
        );
    });
    assert_eq!(
        (report.failures[0].id.as_str(), report.failures[0].place.as_str()),
        ("line 3", "class")
    );
}

#[test]
fn an_impossible_amount_is_noticed() {
    let report = changed("S2.7.2.ext4.N1.seq.lru0x0000.passes.csv", |lines| {
        let cut = lines[2].rfind(',').expect("fields");
        lines[2].truncate(cut);
        lines[2].push_str(",100000");
    });
    let failure = &report.failures[0];
    assert_eq!((failure.id.as_str(), failure.place.as_str()), ("line 3", "reclaimed_pages"));
}

#[test]
fn a_charge_that_fails_after_one_pass_is_noticed() {
    let (_, report, err) = conform_text(
        "# S2 kernel=7.3 N=1 kind=rand max=3M high=- fs=ext4o0 ra=128 lru_gen=0x0007\n\
         # t_us,task,event,args\n\
         1,T0,fault,7,5,0x0\n\
         2,T0,charge,0x112cca,1,768\n\
         3,T0,reclaim,1,0x112cca,2,768,ra_speculative\n\
         4,T0,reclaim_ret,32\n\
         5,T0,charge_ret,-12\n\
         6,T0,fault_ret,0x0,1\n",
    );
    assert_eq!(err, "");
    let failure = &report[0].failures[0];
    assert_eq!((failure.id.as_str(), failure.place.as_str()), ("line 7", "ret"));
}

#[test]
fn malformed_recordings_are_located() {
    let head = "# S2 kernel=7.3 N=1 kind=rand max=3M high=- fs=ext4o0 ra=128\n";
    let bad = [
        (
            "# S1 kernel=5.4 fs=xfs ra128 pattern=seq4k\n".to_owned(),
            "FILE:1:1: no kernel is called `5.4`",
        ),
        (
            format!("{head}# a,b,c\n"),
            "FILE:2:1: the columns of this recording are those of no known kind",
        ),
        (
            format!("{head}# t_us,task,event,args\n1,T0,fold,3\n"),
            "FILE:3:6: no event is called `fold`",
        ),
        (
            format!("{head}# t_us,task,event,args\n1,T0,add_ret,x\n"),
            "FILE:3:14: `x` is not a number",
        ),
    ];
    for (text, message) in bad {
        let (status, _, err) = conform_text(&text);
        assert_eq!(status, 2, "{err}");
        assert!(err.starts_with(message), "{err}");
    }
}
