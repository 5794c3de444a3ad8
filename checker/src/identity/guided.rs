//! Gives the answers of a step that does what the pooled run did, where they follow from that, and
//! else tries all.

use super::named::{Account, Identified, Names};
use mm_model::choose::Choose;
use mm_model::env::{Ask, Call, Env, Event, FileCall, Question};
use mm_model::ids::MemcgId;
use mm_model::scenario::Scenario;
use mm_model::units::Pages;
use mm_model::world::World;
use std::collections::BTreeMap;

/// The answers. Which of the folios that the pooled run knows go is told by that run. Of the others
/// nobody will use one again, so the first do.
pub(super) struct Guided<'a> {
    wanted: &'a Account,
    names: &'a Identified<'a>,
    scenario: &'a Scenario,
    choose: Choose,
    /// What was asked, with the answers.
    pub(super) asked: Vec<(Question, u64)>,
    /// Pages still to be freed.
    left: BTreeMap<MemcgId, i64>,
}

impl<'a> Guided<'a> {
    pub(super) fn new(
        wanted: &'a Account,
        names: &'a Identified<'a>,
        scenario: &'a Scenario,
    ) -> Self {
        let left = wanted.uncounted(|inode| scenario.inodes[inode.index()].memcg);
        let choose = Choose::default();
        Self { wanted, names, scenario, choose, asked: Vec::new(), left }
    }

    /// Goes on to the next combination of the answers that are not known. False after the last.
    pub(super) fn advance(&mut self) -> bool {
        self.asked.clear();
        self.left = self.wanted.uncounted(|inode| self.scenario.inodes[inode.index()].memcg);
        self.choose.advance()
    }

    /// What happened.
    pub(super) fn events(&self) -> &[Event] {
        self.choose.events()
    }
}

impl Env for Guided<'_> {
    fn answer(&mut self, question: Question) -> u64 {
        let answer = match question.ask {
            Ask::Evicts(inode, index) if self.names.knows(inode, index) => {
                let at = (self.names.inode(inode), self.names.of_inode(inode, index));
                u64::from(self.wanted.removes(at.0, at.1))
            }
            Ask::Evicts(inode, _) => {
                let memcg = self.scenario.inodes[inode.index()].memcg;
                let left = memcg.and_then(|memcg| self.left.get(&memcg));
                u64::from(left.is_some_and(|left| *left > 0))
            }
            Ask::PassFrees(_)
            | Ask::PassIsEmpty(_)
            | Ask::OomOutcome(_)
            | Ask::ChargeMoving
            | Ask::Folio(..)
            | Ask::CgroupDying(_)
            | Ask::RestartsSyscall
            | Ask::Pick(_)
            | Ask::ReadEnds(_)
            | Ask::FolioAllocFails(_)
            | Ask::NodeAllocFails(_)
            | Ask::Congested(_)
            | Ask::FsExpands(_)
            | Ask::FsLeaves(_) => self.choose.answer(question),
        };
        self.asked.push((question, answer));
        answer
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Reclaimed(memcg, pages) => {
                *self.left.entry(memcg).or_default() -= pages.raw();
            }
            // It is one of those the run knows, which were not to be counted.
            Event::Returned(
                Call::File(FileCall::FilemapRemoveFolio { inode, index, order }),
                _,
            ) if self.names.knows(inode, index) => {
                if let Some(memcg) = self.scenario.inodes[inode.index()].memcg {
                    *self.left.entry(memcg).or_default() += Pages::of_order(order).raw();
                }
            }
            Event::Returned(..)
            | Event::AboveMax(..)
            | Event::Begin(..)
            | Event::Requested(_)
            | Event::Fulfilled(..)
            | Event::Unused(..)
            | Event::Restarted(_)
            | Event::Signalled(_)
            | Event::Turned(..)
            | Event::End(..)
            | Event::Wrapped(_)
            | Event::ReadAhead(_) => {}
        }
        self.choose.note(event);
    }

    fn stepped(&mut self) {
        self.choose.stepped();
    }

    fn stub(&mut self, _: &mut World, _: Call) -> Option<i64> {
        None
    }
}
