//! Every small window in which one folio is there already or cannot be had.

use super::{FAR, Quiet, Window, design, fill_with, scenario};
use mm_model::page_cache::{Folio, FolioFlags};
use mm_model::scenario::{Scenario, Store};
use mm_model::units::{PageIndex, Pages};
use mm_model::world::World;

/// What goes wrong with a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// This folio, of the mapping's least order, is there already.
    Present(u64),
    /// After so many folios there is no memory for one.
    NoMemoryAfter(u32),
}

/// What came of a window.
struct Outcome {
    seen: Quiet,
    /// Folios it has added.
    added: Vec<Folio>,
    /// The folio that it has added and that holds the page the mark belongs to.
    holder: Option<Folio>,
}

fn outcome(scenario: &mut Scenario, mut world: World, window: Window, trouble: Trouble) -> Outcome {
    let mut fails_after = None;
    match trouble {
        Trouble::Present(index) => world.inodes[0].cache.insert(Folio {
            index: PageIndex(index),
            order: window.min_order,
            flags: FolioFlags::UPTODATE,
        }),
        Trouble::NoMemoryAfter(folios) => fails_after = Some(folios),
    }
    let seen = fill_with(scenario, &mut world, window, fails_after);
    let of_window =
        |folio: &Folio| !matches!(trouble, Trouble::Present(index) if folio.index.0 == index);
    let added: Vec<Folio> = world.inodes[0].cache.folios().filter(of_window).collect();
    let mark = PageIndex(window.start + window.size - window.async_size);
    let holds = |folio: &&Folio| folio.index <= mark && mark < folio.end();
    let holder = added.iter().find(holds).copied();
    Outcome { seen, added, holder }
}

/// Windows up to 16 pages that start up to page 12, with every mark and order, in a file that ends far behind, each
/// with every page in the way and every allocation failing.
fn windows(min_order: u8) -> impl Iterator<Item = (Window, Trouble)> {
    let starts = (0..=12).flat_map(|start| (1..=16).map(move |size| (start, size)));
    let windows = starts.flat_map(move |(start, size)| {
        let marks = (0..=size).flat_map(|async_size| (0..=4).map(move |order| (async_size, order)));
        marks.map(move |(async_size, order)| Window {
            start,
            size,
            async_size,
            order,
            min_order,
            last_page: FAR,
        })
    });
    windows.flat_map(move |window| {
        let least = 1 << min_order;
        let first = window.start / least;
        let present = first..=(window.start + window.size - 1) / least;
        let no_memory = (0..=5).map(Trouble::NoMemoryAfter);
        let troubles = present.map(move |at| Trouble::Present(at * least)).chain(no_memory);
        troubles.map(move |trouble| (window, trouble))
    })
}

/// Size and start first.
fn smallest(
    preset: &str,
    min_order: u8,
    wrong: impl Fn(Window, &Outcome) -> bool,
) -> Option<(Window, Trouble)> {
    let mut scenario = scenario(design(preset), Store::Bits);
    let empty = scenario.initial().world;
    windows(min_order)
        .filter(|(window, trouble)| {
            wrong(*window, &outcome(&mut scenario, empty.clone(), *window, *trouble))
        })
        .min_by_key(|(window, _)| (window.size, window.start, window.async_size, window.order))
}

#[test]
fn after_a_failure_the_mark_is_where_it_belongs_or_nowhere_and_nothing_is_past_the_end() {
    let mut scenario = scenario(design("linux-7.3"), Store::Bits);
    let empty = scenario.initial().world;
    let mut cases = 0_u64;
    for (window, trouble) in windows(0) {
        let Outcome { seen, added, holder } =
            outcome(&mut scenario, empty.clone(), window, trouble);
        let on_holder = holder.is_some_and(|folio| folio.flags.contains(FolioFlags::READAHEAD));
        let end = PageIndex(window.start) + Pages(window.size);
        assert_eq!(seen.marks, u32::from(holder.is_some()), "{window:?} {trouble:?}");
        assert_eq!(on_holder, holder.is_some(), "{window:?} {trouble:?}");
        assert!(added.iter().all(|folio| folio.end() <= end), "{window:?} {trouble:?}");
        assert_eq!(seen.wraps, 0, "{window:?} {trouble:?}");
        cases += 1;
    }
    assert_eq!(cases, 165_360);
}

#[test]
fn the_smallest_windows_that_are_marked_twice_or_overrun_have_four_pages() {
    let twice = |_: Window, came: &Outcome| came.seen.marks > 1;
    let past_the_end = |window: Window, came: &Outcome| {
        let end = PageIndex(window.start) + Pages(window.size);
        came.added.iter().any(|folio| folio.end() > end)
    };
    let found = ["linux-6.12", "linux-6.1"].map(|preset| {
        [smallest(preset, 0, twice), smallest(preset, 0, past_the_end)]
            .map(|found| found.map(|(at, trouble)| (at.start, at.size, at.async_size, trouble)))
    });
    let expected = [Some((1, 4, 2, Trouble::Present(4))), Some((1, 4, 0, Trouble::Present(2)))];
    assert_eq!(found, [expected, expected]);
}

#[test]
fn a_window_is_dropped_just_where_its_first_folio_fails_and_begins_before_it() {
    let mut scenario = scenario(design("linux-7.3"), Store::Bits);
    let empty = scenario.initial().world;
    let mut dropped = 0_u64;
    for min_order in 1..=2 {
        for (window, trouble) in windows(min_order) {
            let Outcome { seen, added, .. } =
                outcome(&mut scenario, empty.clone(), window, trouble);
            let least = 1 << min_order;
            let one_folio = (window.start + window.size - 1) / least == window.start / least;
            let all_there = matches!(trouble, Trouble::Present(_)) && one_folio;
            if seen.wraps > 0 {
                assert!(!window.start.is_multiple_of(least), "{window:?} {trouble:?}");
                assert_eq!(added, [], "{window:?} {trouble:?}");
                dropped += 1;
            } else if !all_there {
                assert_ne!(added, [], "{window:?} {trouble:?}");
            }
        }
    }
    assert_eq!(dropped, 26_597);
    // A window of the one folio that is there already misses nothing.
    let misses = |window: Window, came: &Outcome| came.seen.wraps > 0 && window.size > 1;
    let smallest = |preset| {
        let found = smallest(preset, 1, misses);
        found.map(|(at, trouble)| (at.start, at.size, at.async_size, trouble))
    };
    assert_eq!(smallest("linux-7.3"), Some((1, 2, 0, Trouble::Present(0))));
    assert_eq!(smallest("linux-6.12"), None);
}

#[test]
fn base_folios_of_a_minimum_order_round_their_mark_up_and_can_lose_it() {
    let lost = |window: Window, came: &Outcome| {
        window.async_size > 0 && came.seen.marks == 0 && came.holder.is_some()
    };
    let elsewhere = |_: Window, came: &Outcome| {
        let marked = came.holder.is_some_and(|folio| folio.flags.contains(FolioFlags::READAHEAD));
        came.seen.marks == 1 && !marked
    };
    let found = [smallest("linux-7.3", 1, lost), smallest("linux-7.3", 1, elsewhere)]
        .map(|found| found.map(|(at, trouble)| (at.start, at.size, at.async_size, trouble)));
    assert_eq!(
        found,
        [Some((0, 2, 1, Trouble::NoMemoryAfter(0))), Some((0, 3, 2, Trouble::Present(0)))]
    );
}
