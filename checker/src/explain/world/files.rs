//! Page caches and readahead windows.

use super::{Fact, Item, fact};
use mm_model::page_cache;
use mm_model::scenario::{FileConfig, InodeConfig, Scenario};
use mm_model::state::State;
use mm_model::units::{PageIndex, Pages};
use mm_model::world::{FileRaState, Inode};
use serde::Serialize;

/// The pages of a file in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Strip {
    /// Pages of the file.
    pub pages: u64,
    /// What is in the page cache, by index.
    pub folios: Vec<Folio>,
    /// The last window of each open file.
    pub windows: Vec<Window>,
}

/// A folio in a strip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Folio {
    /// Its first page.
    pub index: u64,
    /// Its size, as a power of two.
    pub order: u8,
    /// The names of its flags.
    pub flags: Vec<String>,
}

/// A readahead window in a strip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Window {
    /// The open file.
    pub file: String,
    /// Its first page.
    pub start: u64,
    /// Its size.
    pub size: u64,
    /// The page whose folio is marked.
    pub mark: Option<u64>,
}

/// Page caches, with a fact for each folio.
pub(super) fn inodes(scenario: &Scenario, state: &State) -> Vec<Item> {
    let item = |(at, (config, inode)): (usize, (&InodeConfig, &Inode))| {
        let folios: Vec<page_cache::Folio> = inode.cache.folios().collect();
        let facts: Vec<Fact> = if folios.is_empty() {
            vec![fact("caches", "nothing".to_owned())]
        } else {
            folios.iter().map(told).collect()
        };
        let strip = Strip {
            pages: config.last_page.map_or(0, |last| last.0 + 1),
            folios: folios.iter().map(drawn).collect(),
            windows: drawn_windows(scenario, state, at),
        };
        let part = "page cache";
        Item { strip: Some(strip), ..Item::plain(part, config.name.clone(), facts) }
    };
    scenario.inodes.iter().zip(&state.world.inodes).enumerate().map(item).collect()
}

fn told(folio: &page_cache::Folio) -> Fact {
    let flags = flags(folio);
    let flags = if flags.is_empty() { "cached".to_owned() } else { flags.join(" ") };
    fact(pages(folio.index, folio.nr_pages()), flags)
}

fn flags(folio: &page_cache::Folio) -> Vec<String> {
    folio.flags.iter_names().map(|(name, _)| name.to_lowercase()).collect()
}

fn drawn(folio: &page_cache::Folio) -> Folio {
    Folio { index: folio.index.0, order: folio.order, flags: flags(folio) }
}

/// `page 3`, or `pages 4-7`.
fn pages(first: PageIndex, count: Pages) -> String {
    if count == Pages(1) {
        return format!("page {first}");
    }
    format!("pages {first}-{}", first.wrapping_add(count).wrapping_sub(Pages(1)))
}

/// The windows of the open files of an inode.
fn drawn_windows(scenario: &Scenario, state: &State, inode: usize) -> Vec<Window> {
    let files = scenario.files.iter().zip(&state.world.files);
    let window = |(config, ra): (&FileConfig, &FileRaState)| Window {
        file: config.name.clone(),
        start: ra.start.0,
        size: ra.size.0,
        mark: mark(ra).map(|mark| mark.0),
    };
    let mine = files.filter(|(config, _)| config.inode.index() == inode);
    mine.filter(|(_, ra)| ra.size > Pages::ZERO).map(window).collect()
}

/// The page at which the next window is started, if it lies in the window.
fn mark(ra: &FileRaState) -> Option<PageIndex> {
    let ahead = ra.size.0.checked_sub(ra.async_size.0)?;
    (ra.async_size > Pages::ZERO).then(|| ra.start.wrapping_add(Pages(ahead)))
}

/// What readahead remembers of each open file.
pub(super) fn windows(scenario: &Scenario, state: &State) -> Vec<Item> {
    let item = |(config, ra): (&FileConfig, &FileRaState)| {
        let mut facts = Vec::new();
        if ra.size > Pages::ZERO {
            facts.push(fact("window", pages(ra.start, ra.size)));
            facts.push(fact("async", ra.async_size.to_string()));
        }
        let numbers = [
            ("order", u64::from(ra.order)),
            ("missed faults", u64::from(ra.mmap_miss)),
            ("read up to byte", u64::try_from(ra.prev_pos).unwrap_or_default()),
        ];
        let known = numbers.into_iter().filter(|(_, number)| *number > 0);
        facts.extend(known.map(|(name, number)| fact(name, number.to_string())));
        Item::plain("readahead", format!("readahead of {}", config.name), facts)
    };
    scenario.files.iter().zip(&state.world.files).map(item).collect()
}
