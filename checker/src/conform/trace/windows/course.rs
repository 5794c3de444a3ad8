//! The courses that a window under contention can have taken.

use super::Record;
use crate::conform::trace::control::{Adversity, Via};

/// What becomes of an add that finds no memory, and of the attempts after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    /// No attempt is left, or none is made.
    Final,
    /// A batch reclaim says no.
    No,
    /// It says yes, and the second add fails as well.
    Again,
    /// It says yes, and a folio is in the way of the second add.
    InTheWay,
}

impl Failure {
    const ALL: [Self; 4] = [Self::Final, Self::No, Self::Again, Self::InTheWay];

    const fn answer(self) -> Option<bool> {
        match self {
            Self::Final => None,
            Self::No => Some(false),
            Self::Again | Self::InTheWay => Some(true),
        }
    }

    const fn adds(self) -> u64 {
        match self {
            Self::Final | Self::No | Self::InTheWay => 1,
            Self::Again => 2,
        }
    }
}

/// Why a window of large folios goes on with base pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Break {
    /// A page of the folio is in the cache.
    Exists,
    /// One was, and is reclaimed before the base pages get to it.
    Vanishes,
    NoMemory(Failure),
}

/// A course of a window: where its large folios end, why, and where its base pages end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// Large folios added before the break.
    folios: usize,
    /// Nothing if all were added.
    breaks: Option<Break>,
    /// Adds that succeeded after a batch reclaim, before the break and after it.
    retried: [u64; 2],
    /// How the last add failed, if it ended the window.
    stop: Option<Failure>,
    /// Whether the page that would get the mark was there before.
    mark_present: bool,
}

/// The courses whose counts are those of the record.
pub(super) fn courses(
    record: &Record<'_>,
    folios: &[(u64, u64)],
    large: bool,
    cap: u64,
) -> Vec<Course> {
    let mut courses = Vec::new();
    let loops = large && record.via == Via::Order;
    let mut breaks = vec![None];
    if loops {
        breaks.extend([Break::Exists, Break::Vanishes].map(Some));
        breaks.extend(Failure::ALL.map(|failure| Some(Break::NoMemory(failure))));
    }
    let mut stops = vec![None];
    stops.extend(Failure::ALL.map(Some));
    for breaks in breaks {
        for stop in &stops {
            for before in 0..=cap {
                for after in 0..=cap {
                    for mark_present in [false, true] {
                        let course = Course {
                            folios: 0,
                            breaks,
                            retried: [before, after],
                            stop: *stop,
                            mark_present,
                        };
                        if counts(record, &course, loops) {
                            courses.extend(lengths(record, folios, course, loops));
                        }
                    }
                }
            }
        }
    }
    courses
}

/// Whether the failures of a course are as many as were counted.
fn counts(record: &Record<'_>, course: &Course, loops: bool) -> bool {
    let failures = [
        course.breaks.and_then(|breaks| match breaks {
            Break::NoMemory(failure) => Some(failure),
            Break::Exists | Break::Vanishes => None,
        }),
        course.stop,
    ];
    let retried: u64 = course.retried.iter().sum();
    let adds: u64 = failures.iter().flatten().map(|failure| failure.adds()).sum();
    let batches = failures.iter().flatten().filter(|failure| failure.answer().is_some()).count();
    let whole = loops && course.breaks.is_none();
    adds + retried == record.enomem_adds
        && batches as u64 + retried == record.batch_reclaims
        && !(whole && (course.stop.is_some() || course.retried[1] > 0))
        && (loops || course.retried[0] == 0)
}

/// The course with each number of large folios that the counts allow.
fn lengths(record: &Record<'_>, folios: &[(u64, u64)], course: Course, loops: bool) -> Vec<Course> {
    if !loops {
        return vec![course];
    }
    let most = if course.breaks.is_some() { folios.len().saturating_sub(1) } else { folios.len() };
    let least = if course.breaks.is_some() { 0 } else { folios.len() };
    let fits = |count: &usize| {
        let pages: u64 = folios[..*count].iter().map(|(_, pages)| pages).sum();
        let base = record.pages_added.checked_sub(pages);
        base.is_some_and(|base| base + *count as u64 == record.folios_added)
    };
    (least..=most).filter(fits).map(|folios| Course { folios, ..course }).collect()
}

/// What the world must have done for that course, if it can.
pub(super) fn adversity(
    record: &Record<'_>,
    folios: &[(u64, u64)],
    course: &Course,
    file_pages: u64,
) -> Option<Adversity> {
    let mut world = Adversity::default();
    let window = record.window;
    let end = (window.start + window.size).min(file_pages);
    let large: u64 = folios[..course.folios].iter().map(|(_, pages)| pages).sum();
    let tail = window.start + large;
    // The last add that succeeded only when it was tried again is where adds last failed.
    let retried = usize::try_from(course.retried[0]).ok()?;
    let starts = folios[..course.folios].iter().map(|(index, _)| *index);
    let last = record.failed_at.filter(|at| *at < tail && course.retried[1] == 0);
    for index in retries(starts, retried, last)? {
        world.enomem.insert(index, 1);
        world.answers.push(true);
    }
    let mut forced = None;
    match course.breaks {
        Some(Break::Exists) => forced = Some(folios[course.folios]),
        Some(Break::Vanishes) => world.vanished.push(tail),
        Some(Break::NoMemory(failure)) => {
            *world.enomem.entry(tail).or_default() += usize::try_from(failure.adds()).ok()?;
            world.answers.extend(failure.answer());
            if failure == Failure::InTheWay {
                world.raced.push(tail);
            }
        }
        None => {}
    }
    let stop = match course.stop {
        None => end,
        Some(_) => record.failed_at.filter(|stop| (tail..end).contains(stop))?,
    };
    let added = record.pages_added.checked_sub(large)?;
    let absent = usize::try_from((stop - tail).checked_sub(added)?).ok()?;
    let mark = window.start.wrapping_add(window.size).wrapping_sub(window.async_size);
    let kept = record.failed_at.filter(|_| course.retried[1] > 0 && course.stop.is_none());
    let range = (tail..stop, kept);
    let present = present(range, absent, forced, (mark, course.mark_present))?;
    if course.breaks == Some(Break::NoMemory(Failure::InTheWay)) && !present.contains(&tail) {
        return None;
    }
    let raced = record.eexist.checked_sub(u64::from(course.breaks.is_some_and(|breaks| {
        matches!(breaks, Break::Exists | Break::Vanishes | Break::NoMemory(Failure::InTheWay))
    })))?;
    let (late, early) =
        present.split_at(usize::try_from(raced).ok().filter(|raced| *raced <= present.len())?);
    world.raced.extend(late);
    world.present.extend(early);
    let rest = (tail..stop).filter(|page| !present.contains(page));
    let last = record.failed_at.filter(|at| *at >= tail && course.stop.is_none());
    for page in retries(rest, usize::try_from(course.retried[1]).ok()?, last)? {
        *world.enomem.entry(page).or_default() += 1;
        world.answers.push(true);
    }
    if let Some(failure) = course.stop {
        *world.enomem.entry(stop).or_default() += usize::try_from(failure.adds()).ok()?;
        world.answers.extend(failure.answer());
        if failure == Failure::InTheWay {
            world.raced.push(stop);
        }
    }
    Some(world)
}

/// So many pages of the range that were there, without the one that is `kept` free: one of the folio
/// in the way, the page of the mark or not, and the last ones.
fn present(
    (range, kept): (std::ops::Range<u64>, Option<u64>),
    count: usize,
    forced: Option<(u64, u64)>,
    (mark, mark_present): (u64, bool),
) -> Option<Vec<u64>> {
    let mut pages = Vec::new();
    if mark_present {
        pages.push(Some(mark).filter(|mark| range.contains(mark))?);
    }
    if let Some((first, size)) = forced {
        let inside = |page: &u64| (first..first + size).contains(page);
        if !pages.iter().any(inside) {
            pages.push(
                (first..first + size).rev().find(|page| *page != mark && range.contains(page))?,
            );
        }
    }
    let more = count.checked_sub(pages.len())?;
    let free: Vec<u64> = range
        .rev()
        .filter(|page| *page != mark && Some(*page) != kept && !pages.contains(page))
        .take(more)
        .collect();
    pages.extend(&free);
    (free.len() == more).then_some(pages)
}

/// So many of the places, the last of them the one that is known.
fn retries(places: impl Iterator<Item = u64>, count: usize, last: Option<u64>) -> Option<Vec<u64>> {
    let Some(last) = last.filter(|_| count > 0) else {
        let places: Vec<_> = places.take(count).collect();
        return (places.len() == count).then_some(places);
    };
    let mut before: Vec<_> = places.take_while(|place| *place <= last).collect();
    if before.pop() != Some(last) {
        return None;
    }
    before.truncate(count - 1);
    before.push(last);
    (before.len() == count).then_some(before)
}
