//! `filemap_read()`: reads a file through the page cache.

use crate::design::PrevPosStore;
use crate::env::Errno;
use crate::ids::{FileId, MemcgId};
use crate::mm::filemap::filemap_get_pages::FilemapGetPages;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::ra_locality;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::page_cache::{FolioFlags, Pin};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "filemap_read",
    file: "mm/filemap.c",
    versions: ALL_VERSIONS,
    left_out: "the copy; reads of no bytes; files that end within a page; in \
               6.1 the values of ra->prev_pos between two folios of a batch",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FilemapRead {
    file: FileId,
    /// The next byte.
    pos: u64,
    /// The byte after the last one wanted.
    end: u64,
    at: At,
}

/// Program points.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    VariantNames,
)]
enum At {
    /// Loads ra->prev_pos, which a design stores again at the end of the read.
    LoadPrevPos,
    /// In filemap_get_pages(), for what is left.
    GetPages { prev_pos: i64, callee: FilemapGetPages },
    /// Stores ra->prev_pos, and goes on or ends.
    StorePrevPos { prev_pos: i64, result: Option<Result<(), Errno>> },
}

type ToNext = Next<FilemapRead, Result<(), Errno>>;

impl FilemapRead {
    /// The call, for `count` bytes from byte `pos` on.
    pub const fn enter(file: FileId, pos: u64, count: u64) -> Self {
        Self { file, pos, end: pos + count, at: At::LoadPrevPos }
    }

    /// Whether it is in a request to read ahead.
    pub(crate) const fn reads_ahead(&self) -> bool {
        matches!(&self.at, At::GetPages { callee, .. } if callee.reads_ahead())
    }

    /// The folios it holds.
    pub(crate) const fn pins(&self) -> Option<Pin> {
        if let At::GetPages { callee, .. } = &self.at { callee.pins() } else { None }
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    /// Bytes of the file.
    fn size(self, scenario: &Scenario) -> u64 {
        scenario.inode(self.file).last_page.map_or(0, |last| (last.0 + 1) * 4096)
    }

    /// The next round, or the end.
    fn next(self, scenario: &Scenario, prev_pos: i64) -> ToNext {
        if self.pos < self.end.min(self.size(scenario)) {
            let callee = FilemapGetPages::enter(scenario, self.file, self.pos, self.end - self.pos);
            return self.goto(At::GetPages { prev_pos, callee });
        }
        self.finish(scenario, prev_pos, Ok(()))
    }

    fn finish(self, scenario: &Scenario, prev_pos: i64, result: Result<(), Errno>) -> ToNext {
        match scenario.design.prev_pos_store {
            PrevPosStore::Batch => Next::Return(result),
            PrevPosStore::End => self.goto(At::StorePrevPos { prev_pos, result: Some(result) }),
        }
    }

    /// After a batch was found: it is copied, as far as it was wanted.
    fn copy(mut self, kernel: &mut Ctx<'_>, batch_end: PageIndex) -> ToNext {
        let scenario = kernel.scenario;
        let cache = kernel.cache(self.file);
        let mut next = cache.folio(PageIndex(self.pos / 4096));
        while let Some(folio) = next.filter(|folio| folio.index < batch_end) {
            let used = FolioFlags::REFERENCED | FolioFlags::USED;
            cache.change(folio.index, used, FolioFlags::empty());
            next = cache.folio(folio.end());
        }
        self.pos = (batch_end.0 * 4096).min(self.end).min(self.size(scenario));
        let prev_pos = self.pos.cast_signed();
        match scenario.design.prev_pos_store {
            PrevPosStore::Batch => self.goto(At::StorePrevPos { prev_pos, result: None }),
            PrevPosStore::End => self.next(scenario, prev_pos),
        }
    }
}

impl Frame for FilemapRead {
    type Output = Result<(), Errno>;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        let scenario = kernel.scenario;
        match self.at {
            At::LoadPrevPos => {
                let prev_pos = kernel.ra(self.file).prev_pos;
                self.next(scenario, prev_pos)
            }
            At::GetPages { prev_pos, callee } => callee.step(kernel).within(
                |callee| Self { at: At::GetPages { prev_pos, callee }, ..self },
                |found| match found {
                    Ok(end) => self.copy(kernel, end),
                    Err(errno) => self.finish(scenario, prev_pos, Err(errno)),
                },
            ),
            At::StorePrevPos { prev_pos, result } => {
                kernel.ra(self.file).prev_pos = prev_pos;
                match result {
                    Some(result) => Next::Return(result),
                    None => self.next(scenario, prev_pos),
                }
            }
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::LoadPrevPos | At::StorePrevPos { .. } => ra_locality(scenario, self.file),
            At::GetPages { callee, .. } => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::LoadPrevPos | At::StorePrevPos { .. } => Pages::ZERO,
            At::GetPages { callee, .. } => callee.in_flight(scenario, level),
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::GetPages { callee, .. } = &self.at { callee.charging() } else { None }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::LoadPrevPos | At::StorePrevPos { .. } => {}
            At::GetPages { callee, .. } => callee.stack(into),
        }
    }
}
