//! The device an inode's folios are read from: ends the reads that were submitted.

use crate::env::Ask;
use crate::ids::InodeId;
use crate::page_cache::{Folio, FolioFlags};
use crate::pooling::{is_old, pool};
use crate::scenario::Io;
use crate::step::{Ctx, Guard, Locality};

/// Ends a read: unlocks its folios, which are up to date then.
pub(crate) fn step(inode: InodeId, kernel: &mut Ctx<'_>) {
    let together = kernel.scenario.policy.file.io == Io::Batch;
    let begins = if together { FolioFlags::BIO } else { FolioFlags::READING };
    let cache = &kernel.world.inodes[inode.index()].cache;
    let reads: Vec<Folio> = cache.folios().filter(|folio| folio.flags.contains(begins)).collect();
    let nth = kernel.ask(Ask::ReadEnds(inode), reads.len() as u64 - 1);
    let mut folio = reads[usize::try_from(nth).expect("one of a few")];
    loop {
        let clear = FolioFlags::LOCKED | FolioFlags::READING | FolioFlags::BIO;
        let cache = &mut kernel.world.inodes[inode.index()].cache;
        cache.change(folio.index, FolioFlags::UPTODATE, clear);
        let next = cache.folio(folio.end());
        if is_old(kernel.scenario, inode, &folio) {
            pool(kernel, inode, &folio);
        }
        let same = FolioFlags::READING | FolioFlags::BIO;
        match next.filter(|next| together && next.flags & same == FolioFlags::READING) {
            Some(next) => folio = next,
            None => return,
        }
    }
}

/// It waits for a read.
pub(crate) const fn locality(inode: InodeId) -> Locality {
    Locality::BlockedUntil(Guard::ReadSubmitted(inode))
}
