//! The state graph around a counterexample, for Graphviz: all of it where it is small.

use super::Story;
use crate::node::{Node, expand, follow, initial};
use indexmap::IndexMap;
use mm_model::ids::ActorId;
use rustc_hash::FxBuildHasher;
use std::fmt::Write as _;
use std::ops::ControlFlow;

/// More states than this are no picture. Only the path is drawn then.
const MOST: usize = 150;

/// An arrow: from, to, and who steps.
type Arrow = (usize, usize, ActorId);

/// The graph, with the counterexample in bold.
pub fn dot(story: &Story<'_>) -> String {
    let (mut nodes, arrows) = everything(story).unwrap_or_default();
    let whole = !nodes.is_empty();
    let (path, taken) = walk(story, &mut nodes);
    let mut text = String::from("digraph counterexample {\n");
    let _ = writeln!(text, "  label={};", quoted(&title(story, whole)));
    text.push_str("  labelloc=t;\n  node [shape=circle, fontsize=10];\n  edge [fontsize=9];\n");
    for at in 0..nodes.len() {
        let style = if path.contains(&at) { ", style=filled, fillcolor=\"#ffe8a3\"" } else { "" };
        let shape = if path.last() == Some(&at) && story.path.cycle_from.is_none() {
            ", shape=doublecircle"
        } else {
            ""
        };
        let _ = writeln!(text, "  s{at} [label=\"{at}\"{style}{shape}];");
    }
    for (at, (from, to, actor)) in taken.iter().enumerate() {
        let looping = story.path.cycle_from.is_some_and(|start| at >= start);
        let color = if looping { "#b00020" } else { "#1a5fb4" };
        let place = story.tell(at).place;
        let label = quoted(&format!("{}. {}, {place}", at + 1, story.name(*actor)));
        let _ =
            writeln!(text, "  s{from} -> s{to} [label={label}, penwidth=2, color=\"{color}\"];");
    }
    for (from, to, actor) in &arrows {
        if !taken.contains(&(*from, *to, *actor)) {
            let label = quoted(story.name(*actor));
            let _ = writeln!(text, "  s{from} -> s{to} [label={label}, color=gray];");
        }
    }
    text.push_str("}\n");
    text
}

fn title(story: &Story<'_>, whole: bool) -> String {
    let part = if whole { "" } else { " (the path only: the graph is too large to draw)" };
    format!("{}, {}: {}{part}", story.spec.file, story.design_name(), story.headline())
}

/// Every state and transition, unless they are too many.
fn everything(story: &Story<'_>) -> Option<(IndexMap<Node, (), FxBuildHasher>, Vec<Arrow>)> {
    let mut nodes: IndexMap<Node, (), FxBuildHasher> = IndexMap::default();
    let mut arrows = Vec::new();
    nodes.insert(initial(story.scenario).0, ());
    let mut at = 0;
    while let Some((node, ())) = nodes.get_index(at) {
        let node = node.clone();
        let within = expand(story.scenario, &story.fuse.into(), &node, |edge, to| {
            let to = nodes.insert_full(to, ()).0;
            arrows.push((at, to, edge.actor));
            if nodes.len() > MOST { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if within.is_break() {
            return None;
        }
        at += 1;
    }
    Some((nodes, arrows))
}

/// The nodes of the path, and its arrows; nodes that are not known yet are added.
fn walk(
    story: &Story<'_>,
    nodes: &mut IndexMap<Node, (), FxBuildHasher>,
) -> (Vec<usize>, Vec<Arrow>) {
    let mut node = initial(story.scenario).0;
    let mut at = nodes.insert_full(node.clone(), ()).0;
    let (mut path, mut arrows) = (vec![at], Vec::new());
    for step in &story.path.steps {
        let (_, next) = follow(story.scenario, &story.fuse.into(), &node, &step.choice())
            .expect("a counterexample is a path");
        let to = nodes.insert_full(next.clone(), ()).0;
        arrows.push((at, to, step.actor));
        (node, at) = (next, to);
        path.push(at);
    }
    (path, arrows)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
