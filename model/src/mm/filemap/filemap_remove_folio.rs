//! `filemap_remove_folio()`: takes a folio out of the page cache and gives back its charge.

use crate::env::{Call, FileCall};
use crate::ids::InodeId;
use crate::mm::vmscan::try_to_free_mem_cgroup_pages::uncharge_freed;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::page_cache::Folio;
use crate::step::Ctx;
use crate::units::{PageIndex, Pages};
use crate::world::Added;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "filemap_remove_folio",
    file: "mm/filemap.c",
    versions: ALL_VERSIONS,
    left_out: "the reference that keeps the charge a little longer: removal and uncharge are one \
               step",
    points: &[],
};

/// Removes the folio that starts at `index`; with the last one goes the node of the tree.
pub fn filemap_remove_folio(kernel: &mut Ctx<'_>, inode: InodeId, index: PageIndex) -> Folio {
    let state = &mut kernel.world.inodes[inode.index()];
    let folio = state.cache.remove(index);
    let mut nr_pages = folio.nr_pages();
    if state.cache.next_folio(PageIndex(0)).is_none() {
        nr_pages += state.nodes;
        state.nodes = Pages::ZERO;
    }
    if let Some(memcg) = kernel.scenario.inodes[inode.index()].memcg {
        kernel.world.memcg(memcg).order.retain(|added| *added != Added::Folio(inode, index));
        kernel.call(Call::File(FileCall::MemCgroupUncharge { memcg, nr_pages }), |kernel| {
            uncharge_freed(kernel, memcg, nr_pages);
            0
        });
    }
    let call = FileCall::FilemapRemoveFolio { inode, index, order: folio.order };
    kernel.returned(Call::File(call), 0);
    folio
}
