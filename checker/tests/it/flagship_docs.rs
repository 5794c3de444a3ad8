//! `docs/flagship.md`: why the specs of accesses are as large as they are, and what remains
//! unreached in the whole search of each.

mod elsewhere;

use self::elsewhere::{ANSWERS_ELSEWHERE, Elsewhere, POINTS_ELSEWHERE};
use crate::docs::{fresh, table};
use mm_checker::reach::{ANSWERS, Answer, By, Reach, reach};
use mm_checker::spec::{Spec, Tier, library};
use mm_model::mm::FUNCTIONS;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// Specs of tier nightly that are small enough to be searched here as well.
const NIGHTLY: &[&str] = &["faults/counter-steps", "faults/stocks", "faults/window-of-three"];

/// A flagship spec, and what each of its designs goes through.
struct Flagship {
    name: String,
    spec: Spec,
    designs: Vec<(String, Reach)>,
}

static SPECS: LazyLock<Vec<Spec>> = LazyLock::new(|| {
    let found = library::load(&[]).expect("specs are good");
    found.into_iter().map(|found| found.spec).collect()
});

fn name(spec: &Spec) -> String {
    let name = spec.file.strip_prefix("specs/").and_then(|name| name.strip_suffix(".toml"));
    name.expect("the binary carries it").to_owned()
}

fn is_flagship(spec: &Spec) -> bool {
    let name = name(spec);
    name.starts_with("faults/") || name.starts_with("cross/")
}

/// Every flagship that is small enough, searched.
static FLAGSHIPS: LazyLock<Vec<Flagship>> = LazyLock::new(|| {
    let flagship = |spec: &Spec| {
        let name = name(spec);
        let small = spec.tier == Tier::Pr || NIGHTLY.contains(&name.as_str());
        let designs = spec.designs.iter().map(|design| {
            let threads = std::thread::available_parallelism().map_or(1, usize::from);
            (design.name.clone(), reach(&spec.scenario(&design.design), threads))
        });
        small.then(|| Flagship { name, spec: spec.clone(), designs: designs.collect() })
    };
    SPECS.iter().filter(|spec| is_flagship(spec)).filter_map(flagship).collect()
});

/// All that some flagship goes through.
fn together() -> Reach {
    let mut all = Reach::default();
    for (_, reach) in FLAGSHIPS.iter().flat_map(|flagship| &flagship.designs) {
        all.points.extend(&reach.points);
        all.called.extend(&reach.called);
        all.given.extend(&reach.given);
        all.mattered.extend(&reach.mattered);
    }
    all
}

/// Program points of functions that take part which are not among those reached, by function, in
/// the order of the kernel's files.
fn unreached(reach: &Reach) -> Vec<(&'static str, Vec<&'static str>)> {
    let taking_part = FUNCTIONS.iter().filter(|function| reach.takes_part(function.name));
    let missed = taking_part.map(|function| {
        let missed = |point: &&&str| !reach.points.contains(&(function.name, **point));
        (function.name, function.points.iter().filter(missed).copied().collect())
    });
    missed.filter(|(_, points): &(_, Vec<_>)| !points.is_empty()).collect()
}

/// Answers that nobody gave, of the world and of functions that take part, and those of the world
/// that never made a difference.
fn unanswered(reach: &Reach) -> Vec<Answer> {
    let missed = |answer: &&Answer| match answer.by {
        By::Function(name) => reach.takes_part(name) && !reach.given.contains(answer),
        By::World(_) => !reach.mattered.contains(answer),
    };
    ANSWERS.iter().filter(missed).copied().collect()
}

fn code(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

fn words(answer: Answer) -> String {
    match answer.by {
        By::Function(name) => format!("`{name}`: {}", answer.words),
        By::World(_) => answer.words.to_owned(),
    }
}

/// The spec that goes there, searched to see whether it does.
fn there(elsewhere: &Elsewhere, goes: impl Fn(&Reach) -> bool) -> String {
    let Some((file, design)) = elsewhere.by else { return String::new() };
    let spec = SPECS.iter().find(|spec| name(spec) == file).expect("the spec is there");
    let design = spec.designs.iter().find(|it| it.name == design).expect("the design is there");
    assert!(goes(&reach(&spec.scenario(&design.design), 1)), "{file} {} goes there", design.name);
    format!("`{file}`")
}

/// What no flagship reaches, each with the reason.
fn nowhere() -> [(String, String); 2] {
    let all = together();
    let mut missed: BTreeMap<&str, Vec<&str>> = unreached(&all).into_iter().collect();
    let rows = POINTS_ELSEWHERE.iter().map(|elsewhere| {
        let Elsewhere { of, points, why, .. } = elsewhere;
        let left = missed.get_mut(of).unwrap_or_else(|| panic!("{of} is reached"));
        for point in *points {
            let at = left.iter().position(|it| it == point);
            left.remove(at.unwrap_or_else(|| panic!("{of} {point} is reached")));
        }
        let goes = |reach: &Reach| points.iter().all(|it| reach.points.contains(&(*of, *it)));
        vec![format!("`{of}`"), code(points), (*why).to_owned(), there(elsewhere, goes)]
    });
    let points = table("function | points | why | reached in", rows);
    missed.retain(|_, points| !points.is_empty());
    assert!(missed.is_empty(), "no flagship reaches {missed:?}, and nobody says why");
    let mut missed = unanswered(&all);
    let rows = ANSWERS_ELSEWHERE.iter().map(|elsewhere| {
        let Elsewhere { of, why, .. } = elsewhere;
        let at = missed.iter().position(|answer| words(*answer) == *of);
        let answer = missed.remove(at.unwrap_or_else(|| panic!("{of} is an answer")));
        let goes = |reach: &Reach| reach.given.contains(&answer);
        vec![words(answer), (*why).to_owned(), there(elsewhere, goes)]
    });
    let answers = table("answer | why | given in", rows);
    assert!(missed.is_empty(), "no flagship has {missed:?}, and nobody says why");
    [("points".to_owned(), points), ("answers".to_owned(), answers)]
}

/// What a design leaves out that some flagship reaches.
fn leaves_out(reach: &Reach, all: &Reach) -> String {
    let mut lines = String::new();
    let points = unreached(reach).into_iter().filter_map(|(function, points)| {
        let elsewhere = |point: &&str| all.points.contains(&(function, *point));
        let points: Vec<&str> = points.into_iter().filter(elsewhere).collect();
        (!points.is_empty()).then(|| format!("`{function}` {}", points.join(" ")))
    });
    let points: Vec<String> = points.collect();
    let none = || "none".to_owned();
    let listed = |list: Vec<String>| if list.is_empty() { none() } else { list.join("; ") };
    let _ = writeln!(lines, "  - points: {}", listed(points));
    let missed = unanswered(reach);
    let answers = missed.into_iter().filter(|answer| !unanswered(all).contains(answer));
    let told = answers.map(|answer| {
        let asked = reach.given.contains(&answer);
        if asked { format!("{} (in vain)", words(answer)) } else { words(answer) }
    });
    let _ = writeln!(lines, "  - answers: {}", listed(told.collect()));
    lines
}

/// Each flagship with what it says of its size, and what it leaves out.
fn each() -> String {
    let all = together();
    let mut text = String::new();
    for Flagship { name, spec, designs } in FLAGSHIPS.iter() {
        let about = spec.about.as_deref().unwrap_or_else(|| panic!("{name} says why")).trim();
        let _ = writeln!(text, "### `{name}`\n{}.\n\n{about}\n", spec.title);
        let mut groups: Vec<(Vec<String>, String)> = Vec::new();
        for (design, reach) in designs {
            let design = format!("`{design}`");
            let leaves_out = leaves_out(reach, &all);
            match groups.iter_mut().find(|(_, other)| *other == leaves_out) {
                Some((designs, _)) => designs.push(design),
                None => groups.push((vec![design], leaves_out)),
            }
        }
        for (designs, leaves_out) in groups {
            let _ = write!(text, "- {} not:\n{leaves_out}", designs.join(", "));
        }
        text.push('\n');
    }
    text
}

/// The flagships that are too large to be searched here, with what they say of their size.
fn nightly() -> String {
    let large = SPECS.iter().filter(|spec| {
        is_flagship(spec) && !FLAGSHIPS.iter().any(|flagship| flagship.name == name(spec))
    });
    let rows = large.map(|spec| {
        let about = spec.about.as_deref().unwrap_or_else(|| panic!("{} says why", spec.file));
        vec![format!("`{}`", name(spec)), about.trim().replace('\n', " ")]
    });
    table("spec | why it is so large", rows)
}

#[test]
fn each_flagship_says_why_it_is_so_large_and_what_it_leaves_out() {
    let [points, answers] = nowhere();
    let each = ("specs".to_owned(), each());
    fresh("docs/flagship.md", [points, answers, each, ("nightly".to_owned(), nightly())]);
}
