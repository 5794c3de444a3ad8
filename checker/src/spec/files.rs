//! `[[file]]`: open files and their pages.

mod pooled;
mod ring;
mod uses;
pub(super) use pooled::Around;
pub(super) use uses::{devices, settle};

use super::keys;
use super::problem::Source;
use super::tree::{Table, Value, names, shorten, tables};
use super::world::{KIND_MOST, PAGES_MOST, name};
use mm_model::ids::InodeId;
use mm_model::page_cache::{Folio, FolioFlags, PageCache};
use mm_model::pooling::POOLED_MOST;
use mm_model::scenario::{Expand, FileConfig, InodeConfig, Layout, Store};
use mm_model::units::{PageIndex, Pages};
use mm_model::world::FileRaState;

/// The largest folio order of a mapping, as the kernel's own page cache has it.
pub(super) const ORDER_MOST: u64 = 9;

/// The pages of a window where a spec does not say: 128 KiB, the kernel's `VM_READAHEAD_PAGES`.
const RA_PAGES: Pages = Pages(32);

/// Open files, the inodes behind them, and where in the text each file begins.
#[derive(Default)]
pub(super) struct Files {
    pub(super) inodes: Vec<InodeConfig>,
    pub(super) open: Vec<FileConfig>,
    pub(super) at: Vec<usize>,
}

/// Reads them. Whose memory a file's pages are and who shares it is known only with the actors.
pub(super) fn read(source: &mut Source<'_>, root: &Table<'_>) -> Files {
    let found = tables(root, source, "file");
    let all = names(root, "file");
    let mut read = Files::default();
    if found.len() > KIND_MOST {
        let message = format!("there are `{}` files, too many", found.len());
        source.problem(found[KIND_MOST].at, message);
        return read;
    }
    for table in found {
        let Some(file) = file(source, table, &mut read, &all) else { continue };
        if read.open.iter().any(|other| other.name == file.name) {
            let at = table.get("name").map_or(table.at, |name| name.at);
            source.problem(at, format!("two files are named `{}`", file.name));
        }
        read.open.push(file);
        read.at.push(table.at);
    }
    read
}

fn file(
    source: &mut Source<'_>,
    table: &Table<'_>,
    read: &mut Files,
    all: &[&str],
) -> Option<FileConfig> {
    table.only(source, keys::FILE.name, &keys::FILE.names());
    let name = name(source, table, keys::FILE.name)?;
    let inode = if let Some(value) = table.get("of") {
        same_inode(source, table, (&name, value), read, all)
    } else {
        let inode = inode(source, table, &name)?;
        read.inodes.push(inode);
        Some(InodeId::from(read.inodes.len() - 1))
    };
    let mut pages = |key, default| match table.get(key) {
        Some(value) => value.number(source, key, 0, PAGES_MOST).map(Pages),
        None => Some(default),
    };
    let ra_pages = pages("ra-pages", RA_PAGES)?;
    let io_pages = pages("io-pages", ra_pages)?;
    let random = match table.get("random") {
        Some(value) => value.flag(source, "random"),
        None => Some(false),
    };
    let ra = match table.get("ra") {
        Some(value) => readahead_state(source, value),
        None => Some(FileRaState::default()),
    };
    let (inode, random, ra) = (inode?, random?, ra?);
    Some(FileConfig { name, inode, ra_pages, io_pages, random, ra, shared: false })
}

/// The inode of another open file.
fn same_inode(
    source: &mut Source<'_>,
    table: &Table<'_>,
    (name, value): (&str, &Value<'_>),
    read: &Files,
    all: &[&str],
) -> Option<InodeId> {
    for key in OF_INODE {
        let Some(written) = table.get(key) else { continue };
        let message = format!("`{key}` is `{}`, beside `of`", shorten(written.written));
        source.problem_with_hint(
            written.at,
            message,
            "it belongs to the file whose pages these are",
        );
    }
    let of = value.text(source, "of")?;
    let found = read.open.iter().find(|file| file.name == of).map(|file| file.inode);
    let place = |name: &str| all.iter().position(|other| *other == name);
    match (found, place(of)) {
        (None, None) => {
            let message = format!("no file is named `{}`", shorten(of));
            source.unknown(value.at, message, of, "files", all.iter().copied());
        }
        (None, at) if at >= place(name) => {
            let message = format!("`of` is `{}`, which comes only later", shorten(of));
            source.problem(value.at, message);
        }
        // Something else is wrong with that file.
        (Some(_) | None, _) => {}
    }
    found
}

/// Keys of the pages, which two open files of one inode share.
const OF_INODE: [&str; 7] =
    ["pages", "min-order", "max-order", "expands", "cached", "pooled", "ring"];

fn inode(source: &mut Source<'_>, table: &Table<'_>, name: &str) -> Option<InodeConfig> {
    let pages = table.require(source, keys::FILE.name, "pages")?;
    let pages = pages.number(source, "pages", 0, PAGES_MOST)?;
    let mut order = |key| match table.get(key) {
        Some(value) => value.number(source, key, 0, ORDER_MOST),
        None => Some(0),
    };
    let (min_order, max_order) = (order("min-order")?, order("max-order"));
    let max_order = if table.get("max-order").is_some() { max_order? } else { min_order };
    if min_order > max_order {
        let at = table.get("max-order").map_or(table.at, |value| value.at);
        let message = format!("`max-order` is `{max_order}`, below the `min-order` of {min_order}");
        source.problem(at, message);
        return None;
    }
    let layout = layout(source, table, pages, max_order)?;
    let expands = match table.get("expands") {
        Some(value) => Some(expand(source, value)?),
        None => None,
    };
    let cached = match table.get("cached") {
        Some(value) => cached(source, value, pages, (min_order, max_order))?,
        None => Vec::new(),
    };
    let small = |order: u64| u8::try_from(order).expect("an order is small");
    let (min_order, max_order) = (small(min_order), small(max_order));
    let beyond = match expands {
        Some(Expand::Range(_, last)) => last.0 + 1,
        Some(Expand::Blocks(order)) => pages.next_multiple_of(1 << order),
        None => 0,
    };
    let end = pages.next_multiple_of(1 << max_order).max(beyond);
    let store = if end <= PageCache::LAST_BIT.0 + 1 { Store::Bits } else { Store::Tree };
    Some(InodeConfig {
        name: name.to_owned(),
        memcg: None,
        last_page: pages.checked_sub(1).map(PageIndex),
        min_order,
        max_order,
        store,
        cached,
        expands,
        shared: false,
        layout,
    })
}

/// Which of its pages are told apart.
fn layout(
    source: &mut Source<'_>,
    table: &Table<'_>,
    pages: u64,
    max_order: u64,
) -> Option<Layout> {
    let mut flag = |key| match table.get(key) {
        Some(value) => value.flag(source, key),
        None => Some(false),
    };
    let (layout, key, hint) = match (flag("pooled")?, flag("ring")?) {
        (false, false) => return Some(Layout::Line),
        (true, false) => {
            let hint = "a large folio is freed whole, and pages that are only counted are not";
            (Layout::Pooled, "pooled", hint)
        }
        (false, true) => {
            let hint = "a large folio lies at a multiple of its size, and a ring is turned";
            (Layout::Ring, "ring", hint)
        }
        (true, true) => {
            let at = table.get("ring").map_or(table.at, |value| value.at);
            let hint = "in a ring every page has its identity, in a pooled file only a few";
            source.problem_with_hint(at, "`ring` beside `pooled`".to_owned(), hint);
            return None;
        }
    };
    if max_order > 0 {
        let at =
            table.get("max-order").or(table.get("min-order")).map_or(table.at, |value| value.at);
        let message = format!("`{key}` beside large folios, up to order {max_order}");
        source.problem_with_hint(at, message, hint);
    }
    if layout == Layout::Pooled && pages > POOLED_MOST.0 {
        let at = table.get("pages").map_or(table.at, |value| value.at);
        let message = format!("`pages` is `{pages}`, more than a pooled file needs to have");
        let hint = "it stands for a large file: a window of it is enough, and at most 64 pages";
        source.problem_with_hint(at, message, hint);
    }
    Some(layout)
}

/// `blocks ORDER` or `range FIRST LAST`.
fn expand(source: &mut Source<'_>, value: &Value<'_>) -> Option<Expand> {
    let text = value.text(source, "expands")?;
    let number = |word: &str, most: u64| word.parse().ok().filter(|number| *number <= most);
    let found = match text.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["blocks", order] => number(order, ORDER_MOST)
            .map(|order| Expand::Blocks(u8::try_from(order).expect("an order is small"))),
        ["range", first, last] => number(first, PAGES_MOST)
            .zip(number(last, PAGES_MOST))
            .filter(|(first, last)| first <= last)
            .map(|(first, last)| Expand::Range(PageIndex(first), PageIndex(last))),
        [..] => None,
    };
    if found.is_none() {
        value.wrong(source, "expands", "`blocks ORDER` or `range FIRST LAST`");
    }
    found
}

/// Folios that are cached at the start.
fn cached(
    source: &mut Source<'_>,
    value: &Value<'_>,
    pages: u64,
    (min_order, max_order): (u64, u64),
) -> Option<Vec<Folio>> {
    let mut folios: Vec<Folio> = Vec::new();
    for item in value.list(source, "cached")? {
        let folio = folio(source, item)?;
        let overlaps = |other: &Folio| other.index < folio.end() && folio.index < other.end();
        if folios.iter().any(overlaps) {
            let message = format!("the folio `{}` lies over another", shorten(item.written));
            source.problem(item.at, message);
            return None;
        }
        if folio.index.0 >= pages {
            let message = format!("the folio `{}` lies beyond the end", shorten(item.written));
            source.problem(item.at, format!("{message} of a file of {pages} pages"));
            return None;
        }
        let order = u64::from(folio.order);
        // 6.1 has folios of any order where a mapping has large ones at all.
        if order < min_order || (order > 0 && max_order == 0) {
            let message = format!("the folio `{}` is none of its mapping", shorten(item.written));
            let hint = "`min-order` and `max-order` say which folios the mapping has";
            source.problem_with_hint(item.at, message, hint);
            return None;
        }
        folios.push(folio);
    }
    Some(folios)
}

/// `PAGE [order N] [mark]`
fn folio(source: &mut Source<'_>, value: &Value<'_>) -> Option<Folio> {
    let text = value.text(source, "cached")?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let (page, rest) = words.split_first().map_or((None, &[][..]), |(page, rest)| {
        (page.parse().ok().filter(|page| *page <= PAGES_MOST), rest)
    });
    let (order, rest) = match rest {
        ["order", order, rest @ ..] => {
            (order.parse().ok().filter(|order| u64::from(*order) <= ORDER_MOST), rest)
        }
        rest => (Some(0), rest),
    };
    let marked = match rest {
        [] => Some(false),
        ["mark"] => Some(true),
        [..] => None,
    };
    let aligned = |(page, order): &(u64, u8)| page.is_multiple_of(1 << order);
    let Some(((page, order), marked)) = page.zip(order).filter(aligned).zip(marked) else {
        value.wrong(source, "cached", "`PAGE [order N] [mark]` with a page that fits the order");
        return None;
    };
    let mut flags = FolioFlags::UPTODATE;
    flags.set(FolioFlags::READAHEAD, marked);
    Some(Folio { index: PageIndex(page), order, flags })
}

/// The readahead state at the start.
fn readahead_state(source: &mut Source<'_>, value: &Value<'_>) -> Option<FileRaState> {
    let table = value.table(source, "ra")?;
    table.only(source, "`ra`", &["start", "size", "async-size", "order", "mmap-miss", "prev-pos"]);
    let mut number = |key, most| match table.get(key) {
        Some(value) => value.number(source, key, 0, most).map(Some),
        None => Some(None),
    };
    let start = number("start", PAGES_MOST)?.unwrap_or(0);
    let size = number("size", PAGES_MOST)?.unwrap_or(0);
    let async_size = number("async-size", size)?.unwrap_or(0);
    let order = number("order", ORDER_MOST)?.unwrap_or(0);
    let mmap_miss = number("mmap-miss", u64::from(u16::MAX))?.unwrap_or(0);
    let prev_pos = number("prev-pos", PAGES_MOST * 4096)?;
    let fresh = FileRaState::default();
    Some(FileRaState {
        start: PageIndex(start),
        size: Pages(size),
        async_size: Pages(async_size),
        order: u8::try_from(order).expect("an order is small"),
        mmap_miss: u16::try_from(mmap_miss).expect("it was checked"),
        prev_pos: prev_pos.map_or(fresh.prev_pos, u64::cast_signed),
    })
}
