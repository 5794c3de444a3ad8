//! A TOML file as a tree that knows where everything stands. The only user of the `toml` crate.

use super::problem::Source;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value, where it begins, and how it is written there.
#[derive(Clone)]
pub(super) struct Value<'a> {
    pub(super) at: usize,
    pub(super) written: &'a str,
    pub(super) kind: Kind<'a>,
}

/// What a value is.
#[derive(Clone)]
pub(super) enum Kind<'a> {
    Text(String),
    Number(i128),
    Flag(bool),
    List(Vec<Value<'a>>),
    Table(Table<'a>),
    /// Something no spec has a use for: a fraction, a date.
    Other,
}

/// A table: entries in the order of the file.
#[derive(Clone)]
pub(super) struct Table<'a> {
    pub(super) at: usize,
    pub(super) entries: Vec<Entry<'a>>,
}

/// A key with its value.
#[derive(Clone)]
pub(super) struct Entry<'a> {
    pub(super) key: String,
    pub(super) key_at: usize,
    pub(super) value: Value<'a>,
}

/// A key that a table may have.
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it means, and its default.
    pub summary: &'static str,
}

/// Reads the file; a syntax error is noted.
pub(super) fn parse<'a>(source: &mut Source<'a>) -> Option<Table<'a>> {
    let text = source.text();
    match DeTable::parse(text) {
        Ok(root) => Some(table(text, 0, root.get_ref())),
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            let line = text[text.floor_char_boundary(at)..].lines().next().unwrap_or_default();
            let reason = error.message().lines().collect::<Vec<_>>().join(", ");
            let place = match line.trim() {
                "" => "where the line ends".to_owned(),
                found => format!("at `{}`", shorten(found)),
            };
            source.problem(at, format!("not TOML {place}: {reason}"));
            None
        }
    }
}

fn table<'a>(text: &'a str, at: usize, table: &DeTable<'_>) -> Table<'a> {
    let mut entries: Vec<_> = table
        .iter()
        .map(|(key, entry)| Entry {
            key: key.get_ref().to_string(),
            key_at: key.span().start,
            value: value(text, entry),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_at);
    Table { at, entries }
}

fn value<'a>(text: &'a str, spanned: &Spanned<DeValue<'_>>) -> Value<'a> {
    let span = spanned.span();
    let kind = match spanned.get_ref() {
        DeValue::String(string) => Kind::Text(string.to_string()),
        DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
            .map_or(Kind::Other, Kind::Number),
        DeValue::Boolean(flag) => Kind::Flag(*flag),
        DeValue::Array(array) => Kind::List(array.iter().map(|item| value(text, item)).collect()),
        DeValue::Table(inner) => Kind::Table(table(text, span.start, inner)),
        DeValue::Float(_) | DeValue::Datetime(_) => Kind::Other,
    };
    Value { at: span.start, written: text.get(span).unwrap_or_default(), kind }
}

/// The beginning of what is written in the file, on one line.
pub(super) fn shorten(written: &str) -> String {
    const MOST: usize = 40;
    let line = written.split(['\n', '\r']).next().unwrap_or_default();
    let mut start: String = line.chars().take(MOST).collect();
    if start.len() < written.len() {
        start.push('…');
    }
    start
}

impl<'a> Table<'a> {
    /// Notes every key that is not one of `keys`.
    pub(super) fn only(&self, source: &mut Source<'_>, section: &str, keys: &[&str]) {
        for entry in self.entries.iter().filter(|entry| !keys.contains(&entry.key.as_str())) {
            source.unknown(
                entry.key_at,
                format!("{section} has no key `{}`", shorten(&entry.key)),
                &entry.key,
                &format!("keys of {section}"),
                keys.iter().copied(),
            );
        }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The value of a key that must be there.
    pub(super) fn require(
        &self,
        source: &mut Source<'_>,
        section: &str,
        key: &str,
    ) -> Option<&Value<'a>> {
        let value = self.get(key);
        if value.is_none() {
            source.problem(self.at, format!("{section} lacks the key `{key}`"));
        }
        value
    }
}

impl<'a> Value<'a> {
    /// Notes that the value is not what it should be.
    pub(super) fn wrong(&self, source: &mut Source<'_>, key: &str, expected: &str) {
        let written = shorten(self.written);
        source.problem(self.at, format!("`{key}` is `{written}`, which is not {expected}"));
    }

    /// The text it must be.
    pub(super) fn text(&self, source: &mut Source<'_>, key: &str) -> Option<&str> {
        if let Kind::Text(text) = &self.kind {
            return Some(text);
        }
        self.wrong(source, key, "a string");
        None
    }

    /// The flag it must be.
    pub(super) fn flag(&self, source: &mut Source<'_>, key: &str) -> Option<bool> {
        if let Kind::Flag(flag) = self.kind {
            return Some(flag);
        }
        self.wrong(source, key, "`true` or `false`");
        None
    }

    /// The number it must be.
    pub(super) fn number(
        &self,
        source: &mut Source<'_>,
        key: &str,
        least: u64,
        most: u64,
    ) -> Option<u64> {
        if let Some(number) = self.within(least, most) {
            return Some(number);
        }
        self.wrong(source, key, &format!("a number from {least} to {most}"));
        None
    }

    /// The number it is, if it is one in that range.
    pub(super) fn within(&self, least: u64, most: u64) -> Option<u64> {
        let Kind::Number(number) = self.kind else { return None };
        u64::try_from(number).ok().filter(|number| (least..=most).contains(number))
    }

    /// The list it must be.
    pub(super) fn list(&self, source: &mut Source<'_>, key: &str) -> Option<&[Self]> {
        if let Kind::List(list) = &self.kind {
            return Some(list);
        }
        self.wrong(source, key, "a list");
        None
    }

    /// The table it must be.
    pub(super) fn table(&self, source: &mut Source<'_>, key: &str) -> Option<&Table<'a>> {
        if let Kind::Table(table) = &self.kind {
            return Some(table);
        }
        self.wrong(source, key, "a table");
        None
    }

    /// The value of one of the names it must be.
    pub(super) fn one_of<T: Copy>(
        &self,
        source: &mut Source<'_>,
        key: &str,
        names: &[(&'static str, T)],
    ) -> Option<T> {
        let written = self.text(source, key)?;
        let found = names.iter().find(|(name, _)| *name == written).map(|(_, value)| *value);
        if found.is_none() {
            source.unknown(
                self.at,
                format!("`{key}` can't be `{}`", shorten(written)),
                written,
                &format!("values of `{key}`"),
                names.iter().map(|(name, _)| *name),
            );
        }
        found
    }
}

/// The names that the tables of a repeated section give, also of those that can't be used.
pub(super) fn names<'t>(root: &'t Table<'_>, section: &str) -> Vec<&'t str> {
    let Some(Value { kind: Kind::List(list), .. }) = root.get(section) else { return Vec::new() };
    let name = |item: &'t Value<'_>| match &item.kind {
        Kind::Table(table) => match &table.get("name")?.kind {
            Kind::Text(name) => Some(name.as_str()),
            Kind::Number(_) | Kind::Flag(_) | Kind::List(_) | Kind::Table(_) | Kind::Other => None,
        },
        Kind::Text(_) | Kind::Number(_) | Kind::Flag(_) | Kind::List(_) | Kind::Other => None,
    };
    list.iter().filter_map(name).collect()
}

/// The tables of a repeated section such as `[[memcg]]`.
pub(super) fn tables<'t, 'a>(
    root: &'t Table<'a>,
    source: &mut Source<'_>,
    section: &str,
) -> Vec<&'t Table<'a>> {
    let Some(value) = root.get(section) else { return Vec::new() };
    let Kind::List(list) = &value.kind else {
        let hint = format!("write each one as `[[{section}]]`");
        source.problem_with_hint(value.at, format!("`{section}` is not a list of tables"), hint);
        return Vec::new();
    };
    list.iter().filter_map(|item| item.table(source, section)).collect()
}
