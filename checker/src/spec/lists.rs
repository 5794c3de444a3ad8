//! What reclaim knows of a memcg: `min`, `low`, and the lists on its `nodes`.

use super::ops::{flag_names, folio_flag};
use super::problem::Source;
use super::tree::{Table, Value, shorten};
use super::world::PAGES_MOST;
use mm_model::lru::{FolioFlags, LruList, Run};
use mm_model::scenario::{Pass, Reclaim};
use mm_model::units::Pages;

/// The largest order of a folio in a spec: PMD_ORDER of the largest base page.
const ORDER_MOST: u64 = 13;

/// The most nodes of a spec.
const NODES_MOST: usize = 16;

/// Reads them; `lru` pages are clean file pages of the first node where passes walk.
pub(super) fn read(
    source: &mut Source<'_>,
    table: &Table<'_>,
    pass: Pass,
    lru: &mut Pages,
) -> Option<Reclaim> {
    let written = ["min", "low", "nodes"].map(|key| (key, table.get(key)));
    if pass == Pass::Answered {
        for (key, value) in written {
            let Some(value) = value else { continue };
            let message =
                format!("`{key}` is `{}`, but no pass looks at it", shorten(value.written));
            source.problem_with_hint(value.at, message, HINT);
        }
        return Some(Reclaim::default());
    }
    let mut count = |key| match table.get(key) {
        Some(value) => value.number(source, key, 0, PAGES_MOST).map(Pages),
        None => Some(Pages::ZERO),
    };
    let (min, low) = (count("min"), count("low"));
    let listed = std::mem::take(lru);
    let nodes = match table.get("nodes") {
        Some(value) if listed > Pages::ZERO => {
            let message = format!("`nodes` is `{}`, beside `lru`", shorten(value.written));
            let hint = "`lru = 4` is short for `nodes = [[\"inactive-file 4\"]]`";
            source.problem_with_hint(value.at, message, hint);
            None
        }
        Some(value) => nodes(source, value),
        None => Some(vec![vec![(LruList::InactiveFile, Run::base_pages(listed))]]),
    };
    Some(Reclaim { min: min?, low: low?, nodes: nodes? })
}

const HINT: &str = "passes look at lists and protection where they walk: `pass = \"walked\"` in \
                    `[granularity]`";

fn nodes(source: &mut Source<'_>, value: &Value<'_>) -> Option<Vec<Vec<(LruList, Run)>>> {
    let list = value.list(source, "nodes")?;
    if list.is_empty() || list.len() > NODES_MOST {
        let message = format!("`nodes` has `{}` nodes", list.len());
        source.problem(value.at, format!("{message}, but must have 1 to {NODES_MOST}"));
        return None;
    }
    let mut nodes = Vec::new();
    for node in list {
        let runs: Option<Vec<_>> =
            node.list(source, "nodes")?.iter().map(|item| run(source, item)).collect();
        nodes.push(runs?);
    }
    Some(nodes)
}

/// `LIST FOLIOS [order N] [FLAG]…`
fn run(source: &mut Source<'_>, value: &Value<'_>) -> Option<(LruList, Run)> {
    let text = value.text(source, "nodes")?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let (list, folios, rest) = match words.as_slice() {
        [list, folios, rest @ ..] => (*list, folios.parse().ok(), rest),
        [..] => ("", None, &[][..]),
    };
    let Some(nr_folios) = folios.filter(|folios| (1..=PAGES_MOST).contains(folios)) else {
        let message = format!("`{}` is not written as `{USAGE}`", shorten(text));
        source.problem_with_hint(
            value.at,
            message,
            format!("the flags are: {}", flag_names().join(", ")),
        );
        return None;
    };
    let names: Vec<(&str, LruList)> = LruList::ALL.map(|list| (list.into(), list)).to_vec();
    let found = names.iter().find(|(name, _)| *name == list).map(|(_, list)| *list);
    if found.is_none() {
        let message = format!("no list is named `{}`", shorten(list));
        source.unknown(value.at, message, list, "lists", names.iter().map(|(name, _)| *name));
    }
    let (order, rest) = match rest {
        ["order", order, rest @ ..] => (order.parse().ok(), rest),
        rest => (Some(0), rest),
    };
    let order = order.filter(|order| u64::from(*order) <= ORDER_MOST);
    if order.is_none() {
        let message = format!("the order in `{}` is not a number", shorten(text));
        source.problem(value.at, format!("{message} from 0 to {ORDER_MOST}"));
    }
    let flags: Option<FolioFlags> =
        rest.iter().map(|flag| folio_flag(source, value, flag)).collect();
    Some((found?, Run { flags: flags?, order: order?, nr_folios }))
}

/// How folios of a list are written.
const USAGE: &str = "LIST FOLIOS [order N] [FLAG]…";
