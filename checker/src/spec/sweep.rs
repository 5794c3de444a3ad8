//! `[sweep]`: parameters, and the points they span.
//!
//! A parameter stands wherever the spec has its name behind a `$` as a string; each point of the
//! sweep is the spec with numbers in their places.

use super::problem::Source;
use super::tree::{Kind, Table, Value, shorten};
use super::world::{PAGES_MOST, word_is};

/// The most points a sweep may have.
const POINTS_MOST: usize = 1000;

/// Values of the parameters, in their order.
pub(super) type Values = Vec<(String, u64)>;

/// The points of a sweep; without one, the one point that has no parameter.
pub(super) fn points(source: &mut Source<'_>, root: &Table<'_>) -> Vec<Values> {
    let one = vec![Values::new()];
    let Some(value) = root.get("sweep") else { return one };
    let Some(table) = value.table(source, "sweep") else { return one };
    let mut points = one;
    for entry in &table.entries {
        if !word_is(&entry.key) {
            let message = format!("`{}` can't be the name of a parameter", shorten(&entry.key));
            source.problem(entry.key_at, message);
        }
        // One value stands for those that can't be used, so that the rest is looked at as well.
        let mut values = values(source, &entry.key, &entry.value).unwrap_or_else(|| vec![1]);
        if points.len() * values.len() > POINTS_MOST {
            let message = format!("the sweep has more than {POINTS_MOST} points");
            source.problem(entry.key_at, message);
            values.truncate(1);
        }
        if word_is(&entry.key) && !root.entries.iter().any(|other| uses(&other.value, &entry.key)) {
            let message = format!("nothing in the spec is `${}`", entry.key);
            let hint = "a parameter stands, behind a `$`, where a number does";
            source.problem_with_hint(entry.key_at, message, hint);
        }
        let with = |point: &Values, value: u64| {
            let mut point = point.clone();
            point.push((entry.key.clone(), value));
            point
        };
        points = points
            .iter()
            .flat_map(|point| values.iter().map(move |value| with(point, *value)))
            .collect();
    }
    points
}

/// Whether a value has the parameter in it.
fn uses(value: &Value<'_>, name: &str) -> bool {
    match &value.kind {
        Kind::Text(text) => text.split(' ').any(|word| word.strip_prefix('$') == Some(name)),
        Kind::List(list) => list.iter().any(|item| uses(item, name)),
        Kind::Table(table) => table.entries.iter().any(|entry| uses(&entry.value, name)),
        Kind::Number(_) | Kind::Flag(_) | Kind::Other => false,
    }
}

/// `[2, 3]`, or `"2..12"`, which has both ends.
fn values(source: &mut Source<'_>, key: &str, value: &Value<'_>) -> Option<Vec<u64>> {
    let values = match &value.kind {
        Kind::List(list) => {
            let number = |item: &Value<'_>| item.within(0, PAGES_MOST);
            list.iter().map(number).collect::<Option<Vec<u64>>>()
        }
        Kind::Text(text) => text.split_once("..").and_then(|(first, last)| {
            let (first, last) = (first.trim().parse::<u64>().ok()?, last.trim().parse().ok()?);
            (last <= PAGES_MOST && last - first.min(last) < POINTS_MOST as u64)
                .then(|| (first..=last).collect())
        }),
        Kind::Number(_) | Kind::Flag(_) | Kind::Table(_) | Kind::Other => None,
    };
    let mut sorted = values.clone().unwrap_or_default();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.is_empty() || Some(sorted.len()) != values.as_ref().map(Vec::len) {
        value.wrong(source, key, "a list of different numbers, or a range such as `\"2..12\"`");
        return None;
    }
    values
}

/// The spec at a point: every `$name` is the parameter's number.
pub(super) fn at<'a>(source: &mut Source<'_>, table: &Table<'a>, point: &Values) -> Table<'a> {
    let mut table = table.clone();
    for entry in table.entries.iter_mut().filter(|entry| entry.key != "sweep") {
        put(source, &mut entry.value, point);
    }
    table
}

/// An operation with numbers in the places of its parameters.
fn words(source: &mut Source<'_>, at: usize, text: &str, point: &Values) -> String {
    let word = |word: &str| match word.strip_prefix('$').filter(|name| word_is(name)) {
        Some(name) => match parameter(source, at, name, point) {
            Some(number) => number.to_string(),
            None => word.to_owned(),
        },
        None => word.to_owned(),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The number of a parameter.
fn parameter(source: &mut Source<'_>, at: usize, name: &str, point: &Values) -> Option<u64> {
    let found = point.iter().find(|(parameter, _)| parameter == name).map(|(_, number)| *number);
    if found.is_none() {
        let message = format!("no parameter of the sweep is named `{}`", shorten(name));
        let names = point.iter().map(|(name, _)| name.as_str());
        source.unknown(at, message, name, "parameters", names);
    }
    found
}

fn put(source: &mut Source<'_>, value: &mut Value<'_>, point: &Values) {
    match &mut value.kind {
        Kind::Text(text) => {
            let Some(name) = text.strip_prefix('$') else { return };
            if let Some(number) = parameter(source, value.at, name, point) {
                value.kind = Kind::Number(i128::from(number));
            }
        }
        Kind::List(list) => {
            for item in list {
                match &mut item.kind {
                    // An operation, or folios.
                    Kind::Text(text) if text.contains(' ') => {
                        *text = words(source, item.at, text, point);
                    }
                    Kind::Text(_)
                    | Kind::Number(_)
                    | Kind::Flag(_)
                    | Kind::List(_)
                    | Kind::Table(_)
                    | Kind::Other => put(source, item, point),
                }
            }
        }
        Kind::Table(table) => {
            table.entries.iter_mut().for_each(|entry| put(source, &mut entry.value, point));
        }
        Kind::Number(_) | Kind::Flag(_) | Kind::Other => {}
    }
}
