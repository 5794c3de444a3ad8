//! `consume_stock()`: takes pages that the CPU charged in advance.

use crate::env::Call;
use crate::ids::MemcgId;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::step::Ctx;
use crate::units::Pages;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "consume_stock",
    file: "mm/memcontrol.c",
    versions: ALL_VERSIONS,
    left_out: "the failing trylock of 7.3, which only an interrupt on the same CPU can cause",
    points: &[],
};

/// Whether the stock of this CPU covered all of `nr_pages`. A smaller stock is left as it is.
///
/// The limits, memory.high and the events are not looked at. One step: only this CPU and its
/// drain work touch the stock, and the kernel keeps the two apart.
pub fn consume_stock(kernel: &mut Ctx<'_>, memcg: MemcgId, nr_pages: Pages) -> bool {
    let hit = kernel.call(Call::ConsumeStock { memcg, nr_pages }, |kernel| {
        let cpu = &mut kernel.world.cpus[kernel.task.cpu.index()];
        let Some(found) = cpu.slots.iter_mut().find(|slot| slot.is_some_and(|s| s.memcg == memcg))
        else {
            return 0;
        };
        let Some(slot) = found.as_mut().filter(|slot| slot.nr_pages >= nr_pages) else {
            return 0;
        };
        slot.nr_pages -= nr_pages;
        if slot.nr_pages == Pages::ZERO {
            *found = None;
        }
        1
    });
    hit != 0
}
