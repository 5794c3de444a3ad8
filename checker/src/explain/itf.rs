//! The story in the Informal Trace Format, which viewers of other checkers read.

use super::Story;
use mm_model::state::State;
use serde_json::{Map, Value, json};

/// The most that every reader of JSON takes for a whole number.
const EXACT: u64 = (1 << 53) - 1;

/// The states, with the index of the one that follows the last if there is a cycle.
///
/// # Panics
/// Never: the values are plain.
pub fn itf(story: &Story<'_>) -> String {
    let all = story.path.steps.len() + 1;
    // The last state of a lasso is the first of its cycle, which `loop` says.
    let shown = if story.path.cycle_from.is_some() { all - 1 } else { all };
    let states: Vec<Value> = (0..shown).map(|at| state(story, at)).collect();
    let mut itf = json!({
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "source": story.spec.file,
            "description": format!("{}: {}", story.design_name(), story.headline()),
            "status": "violation",
        },
        "vars": ["world", "actors", "last_actor", "last_step"],
        "states": states,
    });
    if let (Some(from), Some(object)) = (story.path.cycle_from, itf.as_object_mut()) {
        object.insert("loop".to_owned(), json!(from));
    }
    format!("{itf:#}\n")
}

fn state(story: &Story<'_>, at: usize) -> Value {
    let State { world, actors } = story.before(at);
    let names = story.scenario.actors.iter().map(|actor| actor.name.clone());
    let actors: Map<String, Value> =
        names.zip(actors).map(|(name, actor)| (name, plain(json!(actor)))).collect();
    let (last_actor, last_step) = match at.checked_sub(1) {
        Some(last) => {
            let told = story.tell(last);
            (story.name(told.actor).to_owned(), told.happened.join("; "))
        }
        None => (String::new(), String::new()),
    };
    json!({
        "#meta": { "index": at },
        "world": plain(json!(world)),
        "actors": actors,
        "last_actor": last_actor,
        "last_step": last_step,
    })
}

/// The format knows no null, and no number beyond what every reader takes exactly.
fn plain(value: Value) -> Value {
    match value {
        Value::Null => json!("none"),
        Value::Number(number) if number.as_u64().is_some_and(|number| number > EXACT) => {
            json!({ "#bigint": number.to_string() })
        }
        Value::Array(items) => Value::Array(items.into_iter().map(plain).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (key, plain(value))).collect())
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}
