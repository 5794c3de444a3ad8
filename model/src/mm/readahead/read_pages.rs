//! `read_pages()`: gives the batch gathered so far to the file system.

use crate::design::LeftoverFolios;
use crate::env::{Ask, Call, FileCall, Wrap};
use crate::ids::MemcgId;
use crate::mm::filemap::filemap_remove_folio::filemap_remove_folio;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::readahead::readahead_expand::ReadaheadExpand;
use crate::mm::readahead::{ReadaheadControl, wraps};
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::page_cache::{Folio, FolioFlags};
use crate::scenario::{Expand, Io, Scenario, TaskContext};
use crate::step::{Ctx, Frame, Locality, Next};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function, with what a file system does in its readahead operation.
pub const KERNEL: KernelFn = KernelFn {
    name: "read_pages",
    file: "mm/readahead.c",
    versions: ALL_VERSIONS,
    left_out: "the time a read takes: a folio is uptodate as soon as it is given to the file \
               system; a read that fails; plugging",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReadPages {
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
    /// Nothing to read, or a file system that may ask for more.
    Enter(ReadaheadControl),
    /// In readahead_expand(), which the file system calls.
    Expand(ReadaheadExpand),
    /// The file system reads the batch, or a part of it.
    Read(ReadaheadControl),
}

type ToNext = Next<ReadPages, ReadaheadControl>;

impl ReadPages {
    /// The call.
    pub const fn enter(ractl: ReadaheadControl) -> Self {
        Self { at: At::Enter(ractl) }
    }

    fn begin(kernel: &mut Ctx<'_>, ractl: ReadaheadControl) -> ToNext {
        if ractl.nr_pages == Pages::ZERO {
            return Next::Return(ractl);
        }
        let inode = kernel.scenario.file(ractl.file).inode;
        let expands = kernel.scenario.inode(ractl.file).expands.filter(|_| !ractl.expanded);
        if let Some(expand) = expands
            && kernel.ask(Ask::FsExpands(inode), 1) == 1
        {
            let last = ractl.next_index().wrapping_sub(Pages(1));
            let (first, last) = match expand {
                Expand::Range(first, last) => (first, last),
                Expand::Blocks(order) => {
                    let block = Pages(Pages::of_order(order).0 - 1);
                    (ractl.index.align_down(order), last.align_down(order) + block)
                }
            };
            let ractl = ReadaheadControl { expanded: true, ..ractl };
            let callee = ReadaheadExpand::enter(kernel.scenario, ractl, first, last);
            return Next::Goto(Self { at: At::Expand(callee) });
        }
        Self::read(kernel, ractl)
    }

    /// The whole batch is one bio: its folios are unlocked together, now or when the read ends.
    fn read(kernel: &mut Ctx<'_>, mut ractl: ReadaheadControl) -> ToNext {
        let ReadaheadControl { file, index, nr_pages, .. } = ractl;
        let leaves = leaves(kernel, &ractl);
        let mut read = Pages::ZERO;
        let mut next = index;
        while let Some(folio) = batch_folio(kernel, &ractl, next) {
            next = folio.end();
            if leaves.is_some_and(|leaves| folio.index >= leaves) {
                leave(kernel, &ractl, folio);
            } else {
                let first = read == Pages::ZERO;
                let (set, clear) = match kernel.scenario.policy.file.io {
                    Io::AtOnce => (FolioFlags::UPTODATE, FolioFlags::LOCKED),
                    Io::Batch if first => {
                        (FolioFlags::READING | FolioFlags::BIO, FolioFlags::empty())
                    }
                    Io::File | Io::Batch | Io::Page => (FolioFlags::READING, FolioFlags::empty()),
                };
                kernel.cache(file).change(folio.index, set, clear);
                read += folio.nr_pages();
            }
        }
        let call = FileCall::ReadPages { file, index, nr_pages };
        kernel.returned(Call::File(call), read.raw());
        ractl.index = ractl.next_index();
        ractl.nr_pages = Pages::ZERO;
        Next::Return(ractl)
    }
}

/// The next folio of a batch.
fn batch_folio(kernel: &mut Ctx<'_>, ractl: &ReadaheadControl, from: PageIndex) -> Option<Folio> {
    let end = ractl.next_index();
    kernel.cache(ractl.file).next_folio(from).filter(|folio| folio.index < end)
}

/// The first page of a batch that the file system leaves unread, if it leaves any.
fn leaves(kernel: &mut Ctx<'_>, ractl: &ReadaheadControl) -> Option<PageIndex> {
    if !kernel.scenario.policy.file.fs_leaves {
        return None;
    }
    let first = batch_folio(kernel, ractl, ractl.index);
    let folios: Vec<_> =
        std::iter::successors(first, |folio| batch_folio(kernel, ractl, folio.end()))
            .map(|folio| folio.index)
            .collect();
    let inode = kernel.scenario.file(ractl.file).inode;
    let leaves = kernel.ask(Ask::FsLeaves(inode), folios.len() as u64);
    let leaves = usize::try_from(leaves).expect("no more than there are");
    folios.get(folios.len() - leaves).copied()
}

/// What becomes of a folio the file system did not read.
fn leave(kernel: &mut Ctx<'_>, ractl: &ReadaheadControl, folio: Folio) {
    let inode = kernel.scenario.file(ractl.file).inode;
    let nr_pages = folio.nr_pages();
    let removed = match kernel.scenario.design.leftover_folios {
        LeftoverFolios::Removed => true,
        LeftoverFolios::ShrinkWindow => {
            let ra = *kernel.ra(ractl.file);
            wraps(kernel, Wrap::WindowSize, ra.size < nr_pages);
            let before_mark = ra.async_size >= nr_pages;
            let ra = kernel.ra(ractl.file);
            ra.size = wrapping_sub_u32(ra.size, nr_pages);
            if before_mark {
                ra.async_size -= nr_pages;
            }
            before_mark
        }
    };
    if removed {
        filemap_remove_folio(kernel, inode, folio.index);
    } else {
        kernel.cache(ractl.file).change(folio.index, FolioFlags::empty(), FolioFlags::LOCKED);
    }
}

/// The size of a window is an unsigned int.
fn wrapping_sub_u32(size: Pages, nr_pages: Pages) -> Pages {
    Pages(size.0.wrapping_sub(nr_pages.0) & u64::from(u32::MAX))
}

impl Frame for ReadPages {
    type Output = ReadaheadControl;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        match self.at {
            At::Enter(ractl) => Self::begin(kernel, ractl),
            At::Expand(callee) => callee.step(kernel).within(
                |callee| Self { at: At::Expand(callee) },
                |ractl| Next::Goto(Self { at: At::Read(ractl) }),
            ),
            At::Read(ractl) => Self::read(kernel, ractl),
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Enter(ractl) if ractl.nr_pages == Pages::ZERO => Locality::Local,
            At::Enter(_) | At::Read(_) => Locality::Shared,
            At::Expand(callee) => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Enter(_) | At::Read(_) => Pages::ZERO,
            At::Expand(callee) => callee.in_flight(scenario, level),
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::Expand(callee) = &self.at { callee.charging() } else { None }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::Enter(_) | At::Read(_) => {}
            At::Expand(callee) => callee.stack(into),
        }
    }
}
