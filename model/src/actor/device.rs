//! The device an inode's folios are read from: ends the reads that were submitted.

use crate::env::Ask;
use crate::ids::InodeId;
use crate::page_cache::{Folio, FolioFlags};
use crate::pooling::pool_old;
use crate::scenario::Io;
use crate::step::{Ctx, Guard, Locality};

/// Ends a read: unlocks its folios, which are up to date then.
pub(crate) fn step(inode: InodeId, kernel: &mut Ctx<'_>) {
    let io = kernel.scenario.policy.file.io;
    let cache = &kernel.world.inodes[inode.index()].cache;
    let mut reads: Vec<Vec<Folio>> = Vec::new();
    for folio in cache.folios().filter(|folio| folio.flags.contains(FolioFlags::READING)) {
        let begins = match io {
            Io::File => false,
            Io::Batch => folio.flags.contains(FolioFlags::BIO),
            Io::Page | Io::AtOnce => true,
        };
        match reads.last_mut().filter(|_| !begins) {
            Some(read) => read.push(folio),
            None => reads.push(vec![folio]),
        }
    }
    let nth = kernel.ask(Ask::ReadEnds(inode), reads.len() as u64 - 1);
    for folio in &reads[usize::try_from(nth).expect("one of a few")] {
        let clear = FolioFlags::LOCKED | FolioFlags::READING | FolioFlags::BIO;
        let cache = &mut kernel.world.inodes[inode.index()].cache;
        cache.change(folio.index, FolioFlags::UPTODATE, clear);
    }
    pool_old(kernel, inode);
}

/// It waits for a read.
pub(crate) const fn locality(inode: InodeId) -> Locality {
    Locality::BlockedUntil(Guard::ReadSubmitted(inode))
}
