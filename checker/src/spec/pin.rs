//! Writes expectations into the text of a spec, and leaves all else as it is written. The only
//! user of the `toml_edit` crate.

use crate::value::Expected;
use toml_edit::{DocumentMut, Item, Key, Table, Value, value};

/// What is expected of a design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pins {
    /// Its name.
    pub design: String,
    /// Claims with their answers, in the order they are written.
    pub answers: Vec<(String, Expected)>,
    /// Distinct states, and transitions between them.
    pub counts: Option<(u64, u64)>,
}

/// The text of a spec with these expectations. Comments stay with their entries, however `usual`
/// spells what these ask; entries that have no answer go.
///
/// # Panics
/// If the text is no spec, which whoever searched it has parsed.
pub fn pin(text: &str, pins: &[Pins], usual: impl Fn(&str) -> String) -> String {
    let mut document: DocumentMut = text.parse().expect("a spec is TOML");
    let root = document.as_table_mut();
    let expect = table_of(root, "expect");
    // `[expect]` itself has nothing to say.
    expect.set_implicit(true);
    for pins in pins {
        let new = !expect.contains_key(&pins.design);
        let table = table_of(expect, &pins.design);
        table.set_implicit(false);
        if new {
            table.decor_mut().set_prefix("\n");
        }
        fill(table, pins, &usual);
    }
    let mut text = document.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The table of that name, made if there is none, and written with a header of its own.
fn table_of<'t>(parent: &'t mut Table, name: &str) -> &'t mut Table {
    let item = parent.entry(name).or_insert_with(toml_edit::table);
    if !item.is_table() {
        let inline = std::mem::take(item);
        *item = Item::Table(inline.into_table().expect("a spec's expectations are tables"));
    }
    if let Some(mut key) = parent.key_mut(name) {
        // The space before the `=` that was there.
        key.leaf_decor_mut().clear();
        key.dotted_decor_mut().clear();
    }
    let table = parent[name].as_table_mut().expect("it was made one");
    table.set_dotted(false);
    table
}

fn fill(table: &mut Table, pins: &Pins, usual: impl Fn(&str) -> String) {
    let number = |number: u64| value(i64::try_from(number).expect("a search ends before that"));
    let answer = |expected: &Expected| match expected.json().as_u64() {
        Some(found) => number(found),
        None => value(expected.to_string()),
    };
    let answers = pins.answers.iter().map(|(name, expected)| (name.as_str(), answer(expected)));
    let counts = pins.counts.map(|(states, transitions)| {
        [("states", number(states)), ("transitions", number(transitions))]
    });
    let written_as = |table: &Table, name: &str| {
        table.iter().map(|(key, _)| key.to_owned()).find(|key| usual(key) == name)
    };
    let entries: Vec<(Key, Item)> = answers
        .chain(counts.into_iter().flatten())
        .map(|(name, new)| {
            let old = written_as(table, name).and_then(|key| table.remove_entry(&key));
            match old {
                Some((key, old)) => (key, replaced(old, new)),
                None => (Key::new(name), new),
            }
        })
        .collect();
    table.clear();
    let width = entries.iter().map(|(key, _)| written(key).chars().count()).max();
    for (mut key, item) in entries {
        let pad = width.unwrap_or_default() - written(&key).chars().count() + 1;
        key.leaf_decor_mut().set_suffix(" ".repeat(pad));
        table.insert_formatted(&key, item);
    }
}

/// A key as it is written, with its quotes.
fn written(key: &Key) -> String {
    key.display_repr().into_owned()
}

/// The new value, with the space and the comment around the old one.
fn replaced(old: Item, new: Item) -> Item {
    match (old, new) {
        (Item::Value(old), Item::Value(mut new)) => {
            if plain(&old) == plain(&new) {
                return Item::Value(old);
            }
            *new.decor_mut() = old.decor().clone();
            Item::Value(new)
        }
        (_, new) => new,
    }
}

fn plain(value: &Value) -> (Option<&str>, Option<i64>) {
    (value.as_str(), value.as_integer())
}
