//! The windows of one task among its events: every add, its result and its mark, in order.

use crate::conform::trace::control::{Adversity, Filler, Via, Window};
use serde_json::{Value, json};

const ENOMEM: i64 = -12;
const EEXIST: i64 = -17;
const NORETRY: i64 = 0x1_0000;
const ACCOUNT: i64 = 0x40_0000;

/// An add that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::conform::trace) struct Tried {
    pub(in crate::conform::trace) index: u64,
    pub(in crate::conform::trace) pages: u64,
    pub(in crate::conform::trace) result: i64,
}

/// A difference at an event, which its position tells.
type Difference = (usize, (&'static str, Value, Value));

/// A window that is being filled.
struct Active {
    at: usize,
    via: Via,
    window: Window,
    /// Adds with their position, and whether base pages had begun.
    tried: Vec<(usize, Tried, bool)>,
    marks: Vec<(usize, i64)>,
    asked: Vec<(usize, u64)>,
    unbounded: Vec<(usize, [u64; 3])>,
    answers: Vec<bool>,
    base: bool,
}

/// The windows of a task.
#[derive(Default)]
pub(super) struct Fills {
    began: bool,
    active: Option<Active>,
    /// The add that is open: its page, and the pages of its folio once they are known.
    open: Option<(u64, u64)>,
}

impl Fills {
    /// Whether a call is known to have begun within the recording.
    pub(super) const fn began(&self) -> bool {
        self.began
    }

    /// Takes an event; a window that it ends is judged.
    pub(super) fn event(
        &mut self,
        at: usize,
        name: &str,
        args: &[i64],
        filler: &mut Filler,
    ) -> Vec<Difference> {
        let page = |nth: usize| args[nth].unsigned_abs();
        match name {
            "fault" | "read" | "sync" | "async" | "fault_ret" => {
                self.began |= matches!(name, "fault" | "read");
                return self.close(filler);
            }
            "window" => {
                let differences = self.close(filler);
                let order = u8::try_from(args[3]).unwrap_or(u8::MAX).min(63);
                let window = Window { start: page(0), size: page(1), async_size: page(2), order };
                self.active = Some(Active::new(at, Via::Order, window));
                return differences;
            }
            "unbounded" => return self.unbounded(at, args, filler),
            "add" if args[1] & NORETRY != 0 => self.open = Some((page(0), 0)),
            "charge" if args[0] & ACCOUNT == 0 => {
                if let Some((_, pages)) = &mut self.open {
                    *pages = page(1);
                }
            }
            "add_ret" => {
                if let (Some((index, pages)), Some(active)) = (self.open.take(), &mut self.active) {
                    let tried = Tried { index, pages, result: args[0] };
                    active.tried.push((at, tried, active.base));
                }
            }
            "mark" => self.active.iter_mut().for_each(|active| active.marks.push((at, args[0]))),
            "retry" => self.active.iter_mut().for_each(|active| active.asked.push((at, page(2)))),
            "batch_ret" => {
                self.active.iter_mut().for_each(|active| active.answers.push(args[0] == 1));
            }
            _ => {}
        }
        Vec::new()
    }

    /// Base pages: of the window that is being filled, or a window of their own.
    fn unbounded(&mut self, at: usize, args: &[i64], filler: &mut Filler) -> Vec<Difference> {
        let [index, nr, lookahead] = [args[0], args[1], args[2]].map(i64::unsigned_abs);
        if let Some(active) = &mut self.active
            && !active.base
            && active.via == Via::Order
            && (active.window.start..active.window.start + active.window.size).contains(&index)
        {
            active.base = true;
            active.unbounded.push((at, [index, nr, lookahead]));
            return Vec::new();
        }
        let differences = self.close(filler);
        let window = Window { start: index, size: nr, async_size: lookahead, order: 0 };
        let mut active = Active::new(at, Via::Unbounded, window);
        active.unbounded.push((at, [index, nr, lookahead]));
        self.active = Some(active);
        differences
    }

    fn close(&mut self, filler: &mut Filler) -> Vec<Difference> {
        self.active.take().and_then(|active| active.judge(filler)).into_iter().collect()
    }
}

impl Active {
    fn new(at: usize, via: Via, window: Window) -> Self {
        Self {
            at,
            via,
            window,
            tried: Vec::new(),
            marks: Vec::new(),
            asked: Vec::new(),
            unbounded: Vec::new(),
            answers: Vec::new(),
            base: via == Via::Unbounded,
        }
    }

    /// What was in the cache and what failed, as the adds show.
    fn adversity(&self, file_pages: u64) -> Adversity {
        let mut world = Adversity { answers: self.answers.clone(), ..Adversity::default() };
        let added = |page: &u64| {
            self.tried.iter().any(|(_, tried, _)| {
                tried.result == 0 && (tried.index..tried.index + tried.pages).contains(page)
            })
        };
        let in_base =
            |page: &u64| self.tried.iter().any(|(_, tried, base)| *base && tried.index == *page);
        for (_, tried, base) in &self.tried {
            match tried.result {
                ENOMEM => *world.enomem.entry(tried.index).or_default() += 1,
                EEXIST if *base => world.raced.push(tried.index),
                EEXIST => {
                    let mut pages = tried.index..tried.index + tried.pages;
                    if !pages.any(|page| !added(&page) && !in_base(&page)) {
                        world.vanished.push(tried.index);
                    }
                }
                _ => {}
            }
        }
        let whole = (self.window.start + self.window.size).min(file_pages);
        let stopped = self.tried.last().filter(|(_, tried, _)| tried.result == ENOMEM);
        let end = stopped.map_or(whole, |(_, tried, _)| tried.index);
        world.present = (self.window.start..end)
            .filter(|page| !added(page) && !in_base(page) && !world.enomem.contains_key(page))
            .collect();
        world
    }

    fn judge(&self, filler: &mut Filler) -> Option<Difference> {
        let world = self.adversity(filler.file_pages());
        let model = filler.fill(self.via, self.window, &world);
        let text = |tried: Option<&Tried>| {
            tried.map_or(Value::Null, |tried| json!([tried.index, tried.pages, tried.result]))
        };
        let recorded: Vec<_> = self.tried.iter().map(|(_, tried, _)| *tried).collect();
        let most = recorded.len().max(model.tried.len());
        if let Some(nth) = (0..most).find(|nth| recorded.get(*nth) != model.tried.get(*nth)) {
            let at = self.tried.get(nth).or(self.tried.last()).map_or(self.at, |(at, ..)| *at);
            let add = ("add", text(recorded.get(nth)), text(model.tried.get(nth)));
            return Some((at, add));
        }
        let most = self.marks.len().max(model.marked.len());
        let differs = |nth: &usize| match (self.marks.get(*nth), model.marked.get(*nth)) {
            (Some((_, -1)), Some(_)) => false,
            (Some((_, recorded)), Some(model)) => recorded.unsigned_abs() != *model,
            _ => true,
        };
        if let Some(nth) = (0..most).find(differs) {
            let at = self.marks.get(nth).map_or(self.at, |(at, _)| *at);
            let recorded = json!(self.marks.get(nth).map(|(_, index)| index));
            return Some((at, ("mark", recorded, json!(model.marked.get(nth)))));
        }
        let unbounded: Vec<_> = self.unbounded.iter().map(|(_, run)| *run).collect();
        if unbounded != model.unbounded {
            let at = self.unbounded.first().map_or(self.at, |(at, _)| *at);
            return Some((at, ("unbounded", json!(unbounded), json!(model.unbounded))));
        }
        let asked: Vec<_> = self.asked.iter().map(|(_, asked)| *asked).collect();
        (asked != model.asked).then(|| {
            let at = self.asked.first().map_or(self.at, |(at, _)| *at);
            (at, ("asked", json!(asked), json!(model.asked)))
        })
    }
}
