//! What is wrong with a file, and where.

use std::fmt;
use std::ops::AddAssign;

/// A problem in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: `FILE:LINE:COLUMN`, or only the file if it could not be read.
    pub place: String,
    /// What is wrong, with the bad value in backticks.
    pub message: String,
    /// A way out.
    pub hint: Option<String>,
}

/// Problems, in the order they are to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// One that concerns a file as a whole.
    pub fn of_file(file: &str, message: impl Into<String>, hint: Option<String>) -> Self {
        Self(vec![Problem { place: file.to_owned(), message: message.into(), hint }])
    }

    /// One that concerns no file.
    pub fn of_usage(message: impl Into<String>, hint: Option<String>) -> Self {
        Self::of_file("mmcheck", message, hint)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl AddAssign for Problems {
    fn add_assign(&mut self, more: Self) {
        self.0.extend(more.0);
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Problem { place, message, .. } in &self.0 {
            writeln!(f, "{place}: {message}")?;
        }
        let mut hints: Vec<&str> = Vec::new();
        for hint in self.0.iter().filter_map(|problem| problem.hint.as_deref()) {
            if !hints.contains(&hint) {
                hints.push(hint);
            }
        }
        if !hints.is_empty() {
            writeln!(f)?;
        }
        hints.iter().try_for_each(|hint| writeln!(f, "hint: {hint}"))
    }
}

/// Collects the problems of one file while it is read.
pub(super) struct Source<'a> {
    file: &'a str,
    text: &'a str,
    found: Vec<(usize, Problem)>,
}

impl<'a> Source<'a> {
    pub(super) const fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text, found: Vec::new() }
    }

    /// The text of the file.
    pub(super) const fn text(&self) -> &'a str {
        self.text
    }

    /// Notes a problem at a byte of the file.
    pub(super) fn problem(&mut self, at: usize, message: impl Into<String>) {
        self.note(at, message.into(), None);
    }

    /// Notes a problem with a way out.
    pub(super) fn problem_with_hint(
        &mut self,
        at: usize,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.note(at, message.into(), Some(hint.into()));
    }

    /// Notes a name that is none of those allowed.
    pub(super) fn unknown<'n>(
        &mut self,
        at: usize,
        message: impl Into<String>,
        name: &str,
        kind: &str,
        allowed: impl IntoIterator<Item = &'n str>,
    ) {
        let hint = near(name, kind, allowed);
        self.note(at, message.into(), Some(hint));
    }

    fn note(&mut self, at: usize, message: String, hint: Option<String>) {
        let place = place(self.file, self.text, at);
        self.found.push((at, Problem { place, message, hint }));
    }

    /// Whether a problem was noted.
    pub(super) fn is_clean(&self) -> bool {
        self.found.is_empty()
    }

    /// What was noted, in the order of the file.
    pub(super) fn finish(mut self) -> Problems {
        self.found.sort_by_key(|(at, _)| *at);
        // Each point of a sweep is read, and what is wrong with one mostly is with all.
        self.found.dedup();
        Problems(self.found.into_iter().map(|(_, problem)| problem).collect())
    }
}

/// `FILE:LINE:COLUMN` of a byte; lines and columns count from 1, columns in characters.
pub fn place(file: &str, text: &str, at: usize) -> String {
    let before = &text[..text.floor_char_boundary(at)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{file}:{line}:{column}")
}

/// How alike a name must be to be offered: the part of its letters that stays when letters are
/// added, dropped, changed or swapped.
const ALIKE: f64 = 0.6;

/// Offers the name that was probably meant, or lists them all.
pub fn near<'n>(name: &str, kind: &str, allowed: impl IntoIterator<Item = &'n str>) -> String {
    let allowed: Vec<&str> = allowed.into_iter().collect();
    let likeness = |candidate: &str| strsim::normalized_damerau_levenshtein(name, candidate);
    let best = allowed.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match best {
        Some(best) if likeness(best) >= ALIKE => format!("did you mean `{best}`?"),
        Some(_) => format!("the {kind} are: {}", allowed.join(", ")),
        None => format!("there are no {kind}"),
    }
}
