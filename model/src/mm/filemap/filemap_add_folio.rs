//! `filemap_add_folio()`: charges a folio, then puts it into the page cache.

use crate::env::{Ask, Call, Errno, FileCall};
use crate::gfp::Gfp;
use crate::ids::{FileId, MemcgId};
use crate::mm::memcontrol::memcg_uncharge::MemcgUncharge;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::mm::{ALL_VERSIONS, KernelFn};
use crate::page_cache::{Folio, FolioFlags};
use crate::scenario::{Scenario, TaskContext};
use crate::step::{Ctx, Frame, Guard, Locality, Next};
use crate::units::{PageIndex, Pages};
use crate::world::Added;
use serde::{Deserialize, Serialize};
use strum::VariantNames;

/// The modelled function.
pub const KERNEL: KernelFn = KernelFn {
    name: "filemap_add_folio",
    file: "mm/filemap.c",
    versions: ALL_VERSIONS,
    left_out: "shadow entries and their splitting, refault accounting, the per-CPU LRU batch; of \
               the tree's nodes all but the first, and of these only where the policy asks for it",
    points: At::VARIANTS,
};

/// One activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FilemapAddFolio {
    file: FileId,
    index: PageIndex,
    order: u8,
    gfp: Gfp,
    /// The folio carries the mark already.
    marked: bool,
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
    /// Charges the folio, before it is known whether another is in the way.
    Charge,
    /// In try_charge_memcg() for the folio.
    InCharge(TryChargeMemcg),
    /// Under the lock of the tree: finds a folio in the way, or stores the new one, or finds that
    /// a node is missing.
    Store { spare_node: bool },
    /// Allocates and charges a node.
    AllocNode,
    /// In try_charge_memcg() for the node.
    InChargeNode(TryChargeMemcg),
    /// Gives back what is not needed.
    Uncharge { result: Result<(), Errno>, nr_pages: Pages },
    /// In memcg_uncharge() of that.
    InUncharge { result: Result<(), Errno>, callee: MemcgUncharge },
}

type ToNext = Next<FilemapAddFolio, Result<(), Errno>>;

/// What a look into the tree showed.
enum Stored {
    Done { spare_node: bool },
    InTheWay,
    NodeMissing,
}

impl FilemapAddFolio {
    /// The call, for a locked folio that carries the mark or not.
    pub const fn enter(file: FileId, index: PageIndex, order: u8, gfp: Gfp, marked: bool) -> Self {
        Self { file, index, order, gfp, marked, at: At::Charge }
    }

    const fn nr_pages(self) -> Pages {
        Pages::of_order(self.order)
    }

    const fn goto(self, at: At) -> ToNext {
        Next::Goto(Self { at, ..self })
    }

    fn memcg(self, scenario: &Scenario) -> Option<MemcgId> {
        scenario.inode(self.file).memcg
    }

    fn finish(self, kernel: &mut Ctx<'_>, result: Result<(), Errno>) -> ToNext {
        let Self { file, index, order, gfp, marked, .. } = self;
        let call = FileCall::FilemapAddFolio { file, index, order, gfp, marked };
        kernel.returned(Call::File(call), result.map_or_else(|errno| errno as i64, |()| 0));
        Next::Return(result)
    }

    /// Charges pages to the memcg, if the inode has one; where the answer is given, at once.
    fn charge(
        self,
        kernel: &mut Ctx<'_>,
        nr_pages: Pages,
        in_charge: impl FnOnce(TryChargeMemcg, &mut Ctx<'_>) -> ToNext,
        charged: impl FnOnce(&mut Ctx<'_>, Result<(), Errno>) -> ToNext,
    ) -> ToNext {
        let Some(memcg) = self.memcg(kernel.scenario) else { return charged(kernel, Ok(())) };
        let call = FileCall::MemCgroupCharge { memcg, nr_pages, gfp: self.gfp };
        match kernel.stub(Call::File(call)) {
            Some(0) => charged(kernel, Ok(())),
            Some(_) => charged(kernel, Err(Errno::ENOMEM)),
            None => {
                let callee = TryChargeMemcg::enter(kernel.scenario, memcg, self.gfp, nr_pages);
                in_charge(callee, kernel)
            }
        }
    }

    fn in_charge(self, kernel: &mut Ctx<'_>, callee: TryChargeMemcg) -> ToNext {
        callee.step(kernel).within(
            |callee| Self { at: At::InCharge(callee), ..self },
            |charged| self.charged(kernel, charged),
        )
    }

    fn charged(self, kernel: &mut Ctx<'_>, charged: Result<(), Errno>) -> ToNext {
        match charged {
            Ok(()) => self.goto(At::Store { spare_node: false }),
            Err(errno) => self.finish(kernel, Err(errno)),
        }
    }

    fn in_charge_node(self, kernel: &mut Ctx<'_>, callee: TryChargeMemcg) -> ToNext {
        callee.step(kernel).within(
            |callee| Self { at: At::InChargeNode(callee), ..self },
            |charged| self.charged_node(charged),
        )
    }

    fn charged_node(self, charged: Result<(), Errno>) -> ToNext {
        match charged {
            Ok(()) => self.goto(At::Store { spare_node: true }),
            Err(errno) => self.uncharge(Err(errno), false),
        }
    }

    const fn uncharge(self, result: Result<(), Errno>, spare_node: bool) -> ToNext {
        let folio = if result.is_err() { self.nr_pages().0 } else { 0 };
        self.goto(At::Uncharge { result, nr_pages: Pages(folio + spare_node as u64) })
    }

    /// Looks for a folio in the way and stores this one, at once.
    fn look(self, kernel: &mut Ctx<'_>, spare_node: bool) -> Stored {
        let Self { file, index, order, .. } = self;
        let config = kernel.scenario.file(file);
        let wants_node = kernel.scenario.policy.file.tree_nodes
            && kernel.world.inodes[config.inode.index()].nodes == Pages::ZERO;
        let call = Call::File(FileCall::XasStore { inode: config.inode, index, order });
        let node_missing = Errno::ENOMEM as i64;
        let result = kernel.call(call, |kernel| {
            if kernel.cache(file).overlaps(index, order) {
                return Errno::EEXIST as i64;
            }
            if wants_node && !spare_node {
                return node_missing;
            }
            let mut flags = FolioFlags::LOCKED;
            flags.set(FolioFlags::READAHEAD, self.marked);
            kernel.cache(file).insert(Folio { index, order, flags });
            let memcg = self.memcg(kernel.scenario);
            if let Some(memcg) = memcg.filter(|_| kernel.scenario.policy.file.evicts.in_order()) {
                kernel.world.memcg(memcg).order.push(Added::Folio(config.inode, index));
            }
            kernel.world.allocate(Pages::of_order(order));
            0
        });
        match result {
            0 => {
                if self.marked {
                    kernel.returned(Call::File(FileCall::FolioSetReadahead { file, index }), 0);
                }
                let used = wants_node && spare_node;
                kernel.world.inodes[config.inode.index()].nodes += Pages(used.into());
                Stored::Done { spare_node: spare_node && !used }
            }
            result if result == node_missing => Stored::NodeMissing,
            _ => Stored::InTheWay,
        }
    }

    fn store(self, kernel: &mut Ctx<'_>, spare_node: bool) -> ToNext {
        match self.look(kernel, spare_node) {
            Stored::Done { spare_node: false } => self.finish(kernel, Ok(())),
            Stored::Done { spare_node: true } => self.uncharge(Ok(()), true),
            Stored::InTheWay => self.uncharge(Err(Errno::EEXIST), spare_node),
            Stored::NodeMissing => self.goto(At::AllocNode),
        }
    }

    fn alloc_node(self, kernel: &mut Ctx<'_>) -> ToNext {
        let inode = kernel.scenario.file(self.file).inode;
        let fails = u64::from(kernel.scenario.policy.file.node_alloc_fails);
        if kernel.ask(Ask::NodeAllocFails(inode), fails) == 1 {
            return self.uncharge(Err(Errno::ENOMEM), false);
        }
        self.charge(
            kernel,
            Pages(1),
            |callee, kernel| self.in_charge_node(kernel, callee),
            |_, charged| self.charged_node(charged),
        )
    }
}

impl Frame for FilemapAddFolio {
    type Output = Result<(), Errno>;

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        match self.at {
            At::Charge => self.charge(
                kernel,
                self.nr_pages(),
                |callee, kernel| self.in_charge(kernel, callee),
                |kernel, charged| self.charged(kernel, charged),
            ),
            At::InCharge(callee) => self.in_charge(kernel, callee),
            At::Store { spare_node } => self.store(kernel, spare_node),
            At::AllocNode => self.alloc_node(kernel),
            At::InChargeNode(callee) => self.in_charge_node(kernel, callee),
            At::Uncharge { result, nr_pages } => {
                let Some(memcg) = self.memcg(kernel.scenario) else {
                    return self.finish(kernel, result);
                };
                let call = FileCall::MemCgroupUncharge { memcg, nr_pages };
                if kernel.stub(Call::File(call)).is_some() {
                    return self.finish(kernel, result);
                }
                let callee = MemcgUncharge::enter(memcg, nr_pages);
                Self { at: At::InUncharge { result, callee }, ..self }.step(kernel)
            }
            At::InUncharge { result, callee } => callee.step(kernel).within(
                |callee| Self { at: At::InUncharge { result, callee }, ..self },
                |()| self.finish(kernel, result),
            ),
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            // How far a charge reaches at first is the same for a folio and for a node.
            At::Charge | At::AllocNode => match self.memcg(scenario) {
                Some(memcg) => TryChargeMemcg::enter(scenario, memcg, self.gfp, self.nr_pages())
                    .locality(scenario, task),
                None => Locality::Local,
            },
            // Reclaim frees the node with the last folio.
            At::Store { .. } if scenario.policy.file.tree_nodes => Locality::Shared,
            // Who adds first is evicted first.
            At::Store { .. } if scenario.policy.file.evicts.in_order() => Locality::Shared,
            At::Store { .. } => Locality::LocalIf(Guard::RangeAbsent(
                scenario.file(self.file).inode,
                self.index,
                self.order,
            )),
            At::InCharge(callee) | At::InChargeNode(callee) => callee.locality(scenario, task),
            At::Uncharge { .. } => Locality::Shared,
            At::InUncharge { callee, .. } => callee.locality(scenario, task),
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        let charged = |nr_pages| match self.memcg(scenario) {
            Some(memcg) if scenario.in_subtree(memcg, level) => nr_pages,
            Some(_) | None => Pages::ZERO,
        };
        match &self.at {
            At::Charge => Pages::ZERO,
            At::InCharge(callee) => callee.in_flight(scenario, level),
            At::Store { spare_node } => charged(self.nr_pages() + Pages((*spare_node).into())),
            At::AllocNode => charged(self.nr_pages()),
            At::InChargeNode(callee) => {
                charged(self.nr_pages()) + callee.in_flight(scenario, level)
            }
            At::Uncharge { nr_pages, .. } => charged(*nr_pages),
            At::InUncharge { callee, .. } => callee.in_flight(scenario, level),
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::InCharge(callee) | At::InChargeNode(callee) = &self.at {
            Some(callee)
        } else {
            None
        }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        into.push((KERNEL.name, self.at.into()));
        match &self.at {
            At::InCharge(callee) | At::InChargeNode(callee) => callee.stack(into),
            At::InUncharge { callee, .. } => callee.stack(into),
            At::Charge | At::Store { .. } | At::AllocNode | At::Uncharge { .. } => {}
        }
    }
}
