//! How far a search is, on stderr.

use crate::cli::ProgressWhen;
use crate::engine::Progress;
use serde_json::json;
use std::io::Write;
use std::time::{Duration, Instant};

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Not at all.
    Silent,
    /// On one line of a terminal, over and over.
    Line,
    /// As lines of text.
    Text,
    /// As lines of JSON.
    Json,
}

impl Style {
    /// The style asked for.
    pub const fn new(when: ProgressWhen, terminal: bool) -> Self {
        match when {
            ProgressWhen::Auto if terminal => Self::Line,
            ProgressWhen::Auto | ProgressWhen::Never => Self::Silent,
            ProgressWhen::Always => Self::Text,
            ProgressWhen::Json => Self::Json,
        }
    }

    const fn interval(self) -> Duration {
        match self {
            Self::Silent | Self::Line => Duration::from_millis(200),
            Self::Text | Self::Json => Duration::from_secs(1),
        }
    }
}

/// Shows the progress of one search.
pub struct Shown<'a> {
    style: Style,
    err: &'a mut (dyn Write + Send),
    spec: &'a str,
    design: &'a str,
    last: Option<Instant>,
}

impl<'a> Shown<'a> {
    /// Of that spec and design.
    pub fn new(
        style: Style,
        err: &'a mut (dyn Write + Send),
        spec: &'a str,
        design: &'a str,
    ) -> Self {
        Self { style, err, spec, design, last: None }
    }

    /// Takes the line away, so that a result can be written.
    pub fn clear(&mut self) {
        if self.style == Style::Line && self.last.is_some() {
            let _ = write!(self.err, "\r\x1b[2K").and_then(|()| self.err.flush());
        }
    }
}

impl Progress for Shown<'_> {
    fn update(&mut self, states: u64, transitions: u64, depth: u64, waiting: u64) {
        let soon = self.last.is_some_and(|last| last.elapsed() < self.style.interval());
        if self.style == Style::Silent || soon {
            return;
        }
        self.last = Some(Instant::now());
        let (spec, design) = (self.spec, self.design);
        let text = format!(
            "{spec} {design}: {states} states, {transitions} transitions, depth {depth}, \
             {waiting} waiting"
        );
        let text = match self.style {
            Style::Silent => return,
            Style::Line => format!("\r\x1b[2K{text}"),
            Style::Text => format!("{text}\n"),
            Style::Json => {
                let line = json!({
                    "spec": spec, "design": design, "states": states,
                    "transitions": transitions, "depth": depth, "waiting": waiting,
                });
                format!("{line}\n")
            }
        };
        // Nothing depends on whether progress could be shown.
        let _ = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
    }
}
