//! The operations of a program on files.

use super::actors::Places;
use super::problem::Source;
use super::tree::{Value, shorten};
use super::world::PAGES_MOST;
use mm_model::ids::FileId;
use mm_model::kernel::Kernel;
use mm_model::scenario::{Op, Pick, VmFlags, Where};

/// Bytes of a page.
const PAGE_SIZE: u64 = 4096;

/// How a mapping is going to be used, by its name in a spec.
const VM_FLAGS: [(&str, VmFlags); 4] = [
    ("seq", VmFlags::SEQ_READ),
    ("rand", VmFlags::RAND_READ),
    ("huge", VmFlags::HUGEPAGE),
    ("huge-rand", VmFlags::HUGEPAGE.union(VmFlags::RAND_READ)),
];

/// The operation of these words; the first is its name, and there are as many as it needs.
pub(super) fn op(
    source: &mut Source<'_>,
    value: &Value<'_>,
    places: &Places<'_>,
    words: &[&str],
) -> Option<Op> {
    let file = file(source, value, places, words[1]);
    match words[0] {
        "read" => {
            let pos = place(words[2], |word| bytes(source, value, word, 0));
            let count = bytes(source, value, words[3], 1);
            let (file, pos, count) = (file?, pos?, count?);
            if pos == Where::Next && count != (Pick { unit: PAGE_SIZE, ..Pick::just(1) }) {
                let message = format!("`read ... next {}` is not one page", shorten(words[3]));
                source.problem_with_hint(value.at, message, "write `read FILE next 1`");
            }
            Some(Op::Read { file, pos, count })
        }
        "fault" | "access" => {
            let index = place(words[2], |word| pages(source, value, word, 0));
            let vm_flags =
                words.get(3).map_or(Some(VmFlags::empty()), |name| vm_flags(source, value, name));
            let (file, index, vm_flags) = (file?, index?, vm_flags?);
            Some(match words[0] {
                "fault" => Op::Fault { file, index, vm_flags },
                _ => Op::Access { file, index, vm_flags },
            })
        }
        "willneed" => {
            let index = pages(source, value, words[2], 0);
            let nr_pages = pages(source, value, words[3], 1);
            Some(Op::WillNeed { file: file?, index: index?, nr_pages: nr_pages? })
        }
        _ => {
            let start = pages(source, value, words[2], 0);
            let size = pages(source, value, words[3], 1);
            let async_size = pages(source, value, words[4], 0);
            let most = u64::from(Kernel::default().max_pagecache_order);
            let order = pick(source, value, words[5], "orders", (0, most));
            let (file, start, size) = (file?, start?, size?);
            Some(Op::Window { file, start, size, async_size: async_size?, order: order? })
        }
    }
}

fn file(
    source: &mut Source<'_>,
    value: &Value<'_>,
    places: &Places<'_>,
    name: &str,
) -> Option<FileId> {
    let found = places.files.iter().position(|file| file.name == name);
    if found.is_none() && !places.file_names.contains(&name) {
        let message = format!("no file is named `{}`", shorten(name));
        source.unknown(value.at, message, name, "files", places.file_names.iter().copied());
    }
    found.map(FileId::from)
}

fn vm_flags(source: &mut Source<'_>, value: &Value<'_>, name: &str) -> Option<VmFlags> {
    let found = VM_FLAGS.iter().find(|(known, _)| *known == name).map(|(_, flags)| *flags);
    if found.is_none() {
        let message = format!("no mapping is used as `{}`", shorten(name));
        let names = VM_FLAGS.iter().map(|(name, _)| *name);
        source.unknown(value.at, message, name, "uses of a mapping", names);
    }
    found
}

/// `next`, or a place in the file.
fn place(word: &str, number: impl FnOnce(&str) -> Option<Pick>) -> Option<Where> {
    if word == "next" { Some(Where::Next) } else { number(word).map(Where::At) }
}

/// Pages, as a number or a range, or bytes, as a number with a `b`; what comes back is bytes.
fn bytes(source: &mut Source<'_>, value: &Value<'_>, word: &str, least: u64) -> Option<Pick> {
    if let Some(number) = word.strip_suffix('b') {
        return pick(source, value, number, "bytes", (least, PAGES_MOST * PAGE_SIZE));
    }
    let pages = pages(source, value, word, least)?;
    Some(Pick { unit: PAGE_SIZE, ..pages })
}

fn pages(source: &mut Source<'_>, value: &Value<'_>, word: &str, least: u64) -> Option<Pick> {
    pick(source, value, word, "pages", (least, PAGES_MOST))
}

/// `N`, or `FIRST..LAST` with both ends.
fn pick(
    source: &mut Source<'_>,
    value: &Value<'_>,
    word: &str,
    of: &str,
    (least, most): (u64, u64),
) -> Option<Pick> {
    let number = |word: &str| word.parse().ok().filter(|number| (least..=most).contains(number));
    let (first, last) = word.split_once("..").unwrap_or((word, word));
    let found = number(first).zip(number(last)).filter(|(first, last)| first <= last);
    if found.is_none() {
        let written = shorten(value.written.trim_matches('"'));
        let message = format!("`{}` in `{written}` is not a number", shorten(word));
        let range = format!("of {of} from {least} to {most}, or a range of them as `0..3`");
        source.problem(value.at, format!("{message} {range}"));
    }
    found.map(|(first, last)| Pick::range(first, last))
}
