//! What there is: `mmcheck list`.

use crate::claim::{LADDER, LIVELOCK_FREE, STARVATION_FREE, WAIT_FREE};
use crate::cli::What;
use crate::spec::{Problems, library};
use mm_model::design::{Design, PRESETS};
use mm_model::env::Operation;
use mm_model::measure::{Amount, MEASURES, Measure};
use mm_model::mm::FUNCTIONS;
use mm_model::property::PROPERTIES;
use serde_json::{Value, json};
use std::fmt::Write as _;
use strum::VariantArray;

/// A line of a list.
struct Item {
    name: String,
    summary: String,
    /// Further fields of the JSON form.
    more: Value,
}

/// The list as text for people.
pub fn human(what: What) -> Result<String, Problems> {
    let items = items(what)?;
    let width = items.iter().map(|item| item.name.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for Item { name, summary, .. } in &items {
        let _ = writeln!(text, "{name:<width$}  {summary}");
    }
    Ok(text)
}

/// The list as a JSON array of objects with at least `name` and `summary`.
pub fn json(what: What) -> Result<String, Problems> {
    let objects: Vec<Value> = items(what)?
        .into_iter()
        .map(|Item { name, summary, more }| {
            let mut object = json!({ "name": name, "summary": summary });
            if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
                object.extend(more);
            }
            object
        })
        .collect();
    Ok(format!("{:#}\n", Value::Array(objects)))
}

fn items(what: What) -> Result<Vec<Item>, Problems> {
    Ok(match what {
        What::Specs => specs()?,
        What::Designs => designs(),
        What::Properties => properties(),
        What::Costs => costs(),
        What::Functions => functions(),
    })
}

fn specs() -> Result<Vec<Item>, Problems> {
    let found = library::load(&[])?;
    let item = |found: library::Found| {
        let spec = found.spec;
        let designs: Vec<&str> = spec.designs.iter().map(|design| design.name.as_str()).collect();
        let more = json!({
            "tier": spec.tier.name(), "designs": designs, "source": spec.source,
            "about": spec.about,
        });
        Item { more, name: spec.file, summary: spec.title }
    };
    Ok(found.into_iter().map(item).collect())
}

fn designs() -> Vec<Item> {
    let decisions = |design: &Design| serde_json::to_value(design).unwrap_or_default();
    let item = |preset: &mm_model::design::Preset| Item {
        name: preset.name.to_owned(),
        summary: preset.summary.to_owned(),
        more: json!({ "decisions": decisions(&preset.design) }),
    };
    PRESETS.iter().map(item).collect()
}

fn properties() -> Vec<Item> {
    let safety = PROPERTIES.iter().map(|property| Item {
        name: property.name.to_owned(),
        summary: property.claim.to_owned(),
        more: json!({ "kind": "safety", "operation": null, "when": property.when }),
    });
    let ladder = Operation::VARIANTS.iter().flat_map(|operation| {
        [LIVELOCK_FREE, STARVATION_FREE, WAIT_FREE, LADDER].map(|line| Item {
            name: format!("{} {operation}", line.name),
            summary: line.claim.to_owned(),
            more: json!({
                "kind": if line.name == LADDER.name { "ladder" } else { "progress" },
                "operation": operation.to_string(),
                "when": format!("such an operation is open: {operation}"),
            }),
        })
    });
    safety.chain(ladder).collect()
}

fn costs() -> Vec<Item> {
    let item = |measure: &Measure| {
        let keys = match measure.amount {
            Amount::Sum(_) => vec![
                format!("{} per OPERATION", measure.name),
                format!("{} per-each OPERATION", measure.name),
            ],
            Amount::Level(_) => vec![format!("peak {}", measure.name)],
        };
        Item {
            name: measure.name.to_owned(),
            summary: measure.summary.to_owned(),
            more: json!({ "keys": keys }),
        }
    };
    MEASURES.iter().map(item).collect()
}

fn functions() -> Vec<Item> {
    let item = |function: &&mm_model::mm::KernelFn| Item {
        name: function.name.to_owned(),
        summary: format!("{} ({})", function.file, function.versions),
        more: json!({
            "file": function.file, "versions": function.versions, "points": function.points,
            "left_out": function.left_out,
        }),
    };
    FUNCTIONS.iter().map(item).collect()
}
