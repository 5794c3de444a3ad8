//! The story as text: a column for each actor, for a terminal or a mail.

use super::world::Item;
use super::{Story, closing::closing, world, wrap};
use std::fmt::Write as _;

const HEAD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const LOOP: &str = "\x1b[33m";
const PLAIN: &str = "\x1b[0m";

/// Columns before the first actor's: the loop's bracket and the number of the step.
const MARGIN: usize = 8;
/// Columns the text of the last actor has at least.
const ROOM: usize = 40;

/// How a story is written.
pub struct Page {
    width: usize,
    ascii: bool,
}

/// For a terminal.
pub const TERMINAL: Page = Page { width: 100, ascii: false };
/// For a mail to a list.
pub const MAIL: Page = Page { width: 72, ascii: true };

/// Signs, as the page allows.
struct Signs {
    arrow: &'static str,
    lane: &'static str,
    side: &'static str,
    top: &'static str,
    bottom: &'static str,
    rule: &'static str,
}

impl Page {
    const fn signs(&self) -> Signs {
        if self.ascii {
            Signs { arrow: "->", lane: ":", side: "|", top: "+", bottom: "+", rule: "-" }
        } else {
            Signs { arrow: "→", lane: "│", side: "┃", top: "┏", bottom: "┗", rule: "━" }
        }
    }
}

/// The whole story as text.
pub fn timeline(story: &Story<'_>, page: &Page) -> String {
    let mut text = String::new();
    let mut say = |line: &str| {
        for line in wrap(line, page.width) {
            let _ = writeln!(text, "{line}");
        }
    };
    say(&format!("{}: {}", story.spec.file, story.spec.title));
    say(&format!("design: {}", story.design_name()));
    say(&format!("{}.", story.headline()));
    say(&story.question());
    text.push('\n');
    text.push_str(&scene(story, page, "At the start:", 0));
    text.push('\n');
    text.push_str(&rows(story, page));
    text.push('\n');
    let end = match story.path.cycle_from {
        Some(_) => "On every round through the beginning of the loop:",
        None => "At the end:",
    };
    text.push_str(&scene(story, page, end, story.path.steps.len()));
    for paragraph in closing(story) {
        text.push('\n');
        for line in wrap(&paragraph, page.width) {
            let _ = writeln!(text, "{line}");
        }
    }
    text.push('\n');
    text.push_str(&reproduce(story, page));
    if page.ascii { plain(&text) } else { text }
}

/// The command, broken where a shell allows it.
fn reproduce(story: &Story<'_>, page: &Page) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!("Found by mmcheck {version}. To see it again:\n");
    let mut line = String::from("  $");
    for part in story.command_parts() {
        if line.chars().count() + part.chars().count() + 3 > page.width {
            let _ = writeln!(text, "{line} \\");
            line = String::from("     ");
        }
        let _ = write!(line, " {part}");
    }
    let _ = writeln!(text, "{line}");
    text
}

/// The state before a step.
fn scene(story: &Story<'_>, page: &Page, title: &str, at: usize) -> String {
    let mut text = format!("{title}\n");
    for Item { part, name, depth, facts, .. } in world::items(story.scenario, story.before(at)) {
        let quiet = |name: &str, value: &str| {
            [("held by", "nobody"), ("stock", "empty")].contains(&(name, value))
        };
        let facts: Vec<String> = facts
            .iter()
            .filter(|fact| !quiet(&fact.name, &fact.value))
            .map(|fact| match &*fact.name {
                world::PLACE => fact.value.clone(),
                name => format!("{name} {}", fact.value),
            })
            .collect();
        if facts.is_empty() {
            continue;
        }
        let facts = if part == "actor" { facts.join("; ") } else { facts.join(", ") };
        let indent = 2 + 2 * depth;
        for (at, line) in
            wrap(&format!("{name}: {facts}"), page.width - indent - 4).iter().enumerate()
        {
            let indent = if at == 0 { indent } else { indent + 4 };
            let _ = writeln!(text, "{:indent$}{line}", "");
        }
    }
    text
}

/// Where the columns begin.
fn columns(count: usize, page: &Page) -> Vec<usize> {
    let room = page.width - MARGIN - ROOM;
    let stride = if count > 1 { (room / (count - 1)).min(30) } else { 0 };
    (0..count).map(|at| MARGIN + at * stride).collect()
}

fn rows(story: &Story<'_>, page: &Page) -> String {
    let cast = story.cast();
    let columns = columns(cast.len(), page);
    let signs = page.signs();
    let mut text = format!("{:MARGIN$}", "");
    for (at, actor) in cast.iter().enumerate() {
        let width = columns.get(at + 1).map_or(0, |next| next - columns[at]);
        let name: String = story.name(*actor).chars().take(width.max(12) - 1).collect();
        let _ = write!(text, "{name:width$}");
    }
    let mut text = format!("{HEAD}{}{PLAIN}\n", text.trim_end());
    for at in 0..story.path.steps.len() {
        let looping = story.path.cycle_from.is_some_and(|from| at >= from);
        if story.path.cycle_from == Some(at) {
            let Signs { top, rule, .. } = signs;
            let _ = writeln!(text, "{LOOP}{top}{rule}{rule}{PLAIN} repeats for ever:");
        }
        let side = if looping { signs.side } else { " " };
        let told = story.tell(at);
        let column = cast.iter().position(|actor| *actor == told.actor).unwrap_or_default();
        let width = page.width - columns[column] - 2;
        for (line, body) in lines(&told, width, &signs).iter().enumerate() {
            let number = if line == 0 { (at + 1).to_string() } else { String::new() };
            let mut row = format!("{number:>5}  ");
            for lane in &columns[..column] {
                let pad = lane - (row.chars().count() + 1);
                let _ = write!(row, "{:pad$}{}", "", signs.lane);
            }
            let pad = columns[column] - (row.chars().count() + 1);
            let _ = writeln!(text, "{LOOP}{side}{PLAIN}{row}{:pad$}{body}", "");
        }
    }
    if let Some(from) = story.path.cycle_from {
        let Signs { bottom, rule, .. } = signs;
        let _ = writeln!(text, "{LOOP}{bottom}{rule}{rule}{PLAIN} and on with step {}", from + 1);
    }
    text
}

/// A step: where, what happened, what the world answered, what changed.
fn lines(told: &super::Told, width: usize, signs: &Signs) -> Vec<String> {
    let mut lines = Vec::new();
    let mut say = |text: &str, style: &str| {
        for (at, line) in wrap(text, width - 2).into_iter().enumerate() {
            let indent = if at == 0 { "" } else { "  " };
            let end = if style.is_empty() { "" } else { PLAIN };
            lines.push(format!("{indent}{style}{line}{end}"));
        }
    };
    say(&told.place, HEAD);
    for happened in &told.happened {
        say(happened, "");
    }
    for answer in &told.answers {
        say(&format!("[{answer}]"), "");
    }
    let of_one = |one: &world::Change, next: &world::Change| {
        (one.part, &one.item) == (next.part, &next.item)
    };
    let changed = told.changes.chunk_by(of_one).map(|changes| {
        let facts = changes.iter().map(|change| {
            let world::Change { fact, from, to, .. } = change;
            format!("{fact} {from} {} {to}", signs.arrow)
        });
        format!("{} {}", changes[0].item, facts.collect::<Vec<_>>().join(", "))
    });
    let changed: Vec<String> = changed.collect();
    if !changed.is_empty() {
        say(&format!("* {}", changed.join("; ")), DIM);
    }
    lines
}

/// Without colour, and with nothing that a mail could garble.
fn plain(text: &str) -> String {
    let text = anstream::adapter::strip_str(text).to_string();
    text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect()
}
