//! The story as one page: nothing is fetched, so that it can be sent as an attachment.

use super::svg::{Theme, escaped, svg};
use super::{Story, closing::closing, world};
use serde::Serialize;

const PAGE: &str = include_str!("page.html");

#[derive(Serialize)]
struct Data<'a> {
    cycle_from: Option<usize>,
    /// The states: before the first step, and after each.
    states: Vec<Vec<world::Item>>,
    steps: Vec<Step<'a>>,
}

#[derive(Serialize)]
struct Step<'a> {
    actor: &'a str,
    place: String,
    happened: Vec<String>,
    answers: Vec<String>,
    changes: Vec<world::Change>,
}

/// The page.
///
/// # Panics
/// Never: the values are plain.
pub fn html(story: &Story<'_>) -> String {
    let count = story.path.steps.len();
    let step = |at| {
        let told = story.tell(at);
        Step {
            actor: story.name(told.actor),
            place: told.place,
            happened: told.happened,
            answers: told.answers,
            changes: told.changes,
        }
    };
    let data = Data {
        cycle_from: story.path.cycle_from,
        states: (0..=count).map(|at| world::items(story.scenario, story.before(at))).collect(),
        steps: (0..count).map(step).collect(),
    };
    let json = serde_json::to_string(&data).expect("plain values can be written");
    let closing: Vec<String> =
        closing(story).iter().map(|text| format!("<p>{}</p>", escaped(text))).collect();
    let title = format!("{}: {}", story.claim.name(story.scenario), story.spec.title);
    // Each place is filled once, in the order of the page: what is filled in may look like one.
    let fields = [
        ("TITLE", escaped(&title)),
        ("HEADLINE", escaped(&story.headline())),
        ("SPEC", escaped(&story.spec.file)),
        ("ABOUT", escaped(&story.spec.title)),
        ("DESIGN", escaped(&story.design_name())),
        ("QUESTION", escaped(&story.question())),
        ("DIAGRAM", svg(story, &story.headline(), Theme::Readers)),
        ("CLOSING", closing.join("\n")),
        ("ROWS", rows(&data)),
        ("COMMAND", escaped(&story.command())),
        ("VERSION", env!("CARGO_PKG_VERSION").to_owned()),
        // Nothing in it ends the script.
        ("DATA", json.replace('<', "\\u003c")),
    ];
    let mut page = String::new();
    let mut rest = PAGE;
    for (name, value) in fields {
        let mark = format!("{{{{{name}}}}}");
        let (before, after) = rest.split_once(&mark).expect("the page has every place, in order");
        page.push_str(before);
        page.push_str(&value);
        rest = after;
    }
    page + rest
}

/// The steps as rows of a table.
fn rows(data: &Data<'_>) -> String {
    let row = |(at, step): (usize, &Step<'_>)| {
        let changes = step.changes.iter().map(|change| {
            let world::Change { item, fact, from, to, .. } = change;
            format!("{item} {fact} from {from} to {to}")
        });
        let changes: Vec<String> = changes.collect();
        let happened: Vec<String> = step.happened.iter().chain(&step.answers).cloned().collect();
        let looping = data.cycle_from.is_some_and(|from| at >= from);
        format!(
            "<tr{}><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            if looping { " class=\"loop\"" } else { "" },
            at + 1,
            escaped(step.actor),
            escaped(&step.place),
            escaped(&happened.join("; ")),
            escaped(&changes.join("; ")),
            if looping { "yes" } else { "no" },
        )
    };
    data.steps.iter().enumerate().map(row).collect::<Vec<_>>().join("\n")
}
