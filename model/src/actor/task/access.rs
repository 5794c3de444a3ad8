//! An instruction that accesses a page of a mapped file: it faults until the page is mapped when
//! it retires.

use crate::actor::OpenOperations;
use crate::env::{Errno, Event, Operation};
use crate::gfp::Gfp;
use crate::ids::{FileId, MemcgId};
use crate::mm::filemap::filemap_fault::FilemapFault;
use crate::mm::memcontrol::mem_cgroup_handle_over_high::MemCgroupHandleOverHigh;
use crate::mm::memcontrol::try_charge_memcg::TryChargeMemcg;
use crate::page_cache::{FolioFlags, Pin};
use crate::scenario::{Scenario, TaskContext, VmFlags};
use crate::step::{Ctx, Frame, Guard, Locality, Next};
use crate::units::{PageIndex, Pages};
use serde::{Deserialize, Serialize};

/// The instruction, or one fault of it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Access {
    file: FileId,
    index: PageIndex,
    vm_flags: VmFlags,
    /// Nothing is asked but that one fault ends.
    one_fault: bool,
    at: At,
}

/// Where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum At {
    /// In filemap_fault().
    Fault(FilemapFault),
    /// Maps the page, which the fault holds.
    Map,
    /// On its way back to user space, with the page mapped or not, answering for memory.high.
    ReturnToUser { mapped: bool, callee: MemCgroupHandleOverHigh },
    /// Back at the instruction.
    Retire,
}

type ToNext = Next<Access, ()>;

impl Access {
    /// The first fault of the instruction.
    pub(super) fn enter(
        kernel: &mut Ctx<'_>,
        (file, index, vm_flags): (FileId, PageIndex, VmFlags),
        one_fault: bool,
    ) -> Self {
        if !one_fault {
            kernel.note(Event::Begin(Operation::Access, Gfp::KERNEL));
        }
        let callee = FilemapFault::enter(file, index, vm_flags);
        Self { file, index, vm_flags, one_fault, at: At::Fault(callee) }.fault(kernel)
    }

    /// Faults.
    fn fault(self, kernel: &mut Ctx<'_>) -> Self {
        kernel.current.nr_memcg_reclaims = 0;
        kernel.note(Event::Begin(Operation::Fault, Gfp::KERNEL));
        let callee = FilemapFault::enter(self.file, self.index, self.vm_flags);
        Self { at: At::Fault(callee), ..self }
    }

    /// After filemap_fault(). Out of memory, the instruction faults again, whatever was killed.
    fn faulted(self, kernel: &mut Ctx<'_>, result: Result<(), Errno>) -> ToNext {
        let Err(errno) = result else { return Next::Goto(Self { at: At::Map, ..self }) };
        kernel.note(Event::End(Operation::Fault, Gfp::KERNEL, errno as i64));
        if self.one_fault {
            return Next::Return(());
        }
        if errno == Errno::EFAULT {
            return Self::end(kernel, Err(errno));
        }
        self.leave(kernel, false)
    }

    fn map(self, kernel: &mut Ctx<'_>) -> ToNext {
        let cache = kernel.cache(self.file);
        let folio = cache.folio(self.index).expect("a folio that is held stays");
        let used = FolioFlags::REFERENCED | FolioFlags::USED;
        cache.change(folio.index, used, FolioFlags::empty());
        kernel.note(Event::End(Operation::Fault, Gfp::KERNEL, 0));
        if self.one_fault {
            return Next::Return(());
        }
        self.leave(kernel, true)
    }

    fn leave(self, kernel: &mut Ctx<'_>, mapped: bool) -> ToNext {
        if kernel.current.memcg_nr_pages_over_high > Pages::ZERO {
            kernel.note(Event::Begin(Operation::ReturnToUser, Gfp::KERNEL));
            let callee = MemCgroupHandleOverHigh::enter();
            return Next::Goto(Self { at: At::ReturnToUser { mapped, callee }, ..self });
        }
        self.left(kernel, mapped)
    }

    fn left(self, kernel: &mut Ctx<'_>, mapped: bool) -> ToNext {
        Next::Goto(if mapped { Self { at: At::Retire, ..self } } else { self.fault(kernel) })
    }

    fn retire(self, kernel: &mut Ctx<'_>) -> ToNext {
        if kernel.world.unmapped.contains(kernel.me) {
            kernel.world.unmapped.remove(kernel.me);
            return Next::Goto(self.fault(kernel));
        }
        Self::end(kernel, Ok(()))
    }

    fn end(kernel: &mut Ctx<'_>, result: Result<(), Errno>) -> ToNext {
        let result = result.map_or_else(|errno| errno as i64, |()| 0);
        kernel.note(Event::End(Operation::Access, Gfp::KERNEL, result));
        Next::Return(())
    }

    /// The page it has mapped and not yet used.
    pub(super) const fn maps(&self) -> Option<(FileId, PageIndex)> {
        match self.at {
            At::Retire | At::ReturnToUser { mapped: true, .. } => Some((self.file, self.index)),
            At::ReturnToUser { mapped: false, .. } | At::Fault(_) | At::Map => None,
        }
    }

    /// The folios it holds.
    pub(super) fn pins(&self) -> Option<Pin> {
        match &self.at {
            At::Fault(callee) => callee.pins(),
            At::Map => Some(Pin::page(self.file, self.index)),
            At::ReturnToUser { .. } | At::Retire => None,
        }
    }

    /// What is open within the operation, outermost first.
    pub(super) fn open(&self) -> OpenOperations {
        let access = (!self.one_fault).then_some((Operation::Access, Gfp::KERNEL));
        let (within, reads_ahead) = match &self.at {
            At::Fault(callee) => (Some(Operation::Fault), callee.reads_ahead()),
            At::Map => (Some(Operation::Fault), false),
            At::ReturnToUser { .. } => (Some(Operation::ReturnToUser), false),
            At::Retire => (None, false),
        };
        let within = within.map(|operation| (operation, Gfp::KERNEL));
        let ahead = reads_ahead.then_some((Operation::Readahead, Gfp::READAHEAD));
        access.into_iter().chain(within).chain(ahead).collect()
    }
}

impl Frame for Access {
    type Output = ();

    fn step(self, kernel: &mut Ctx<'_>) -> ToNext {
        match self.at {
            At::Fault(callee) => callee.step(kernel).within(
                |callee| Self { at: At::Fault(callee), ..self },
                |result| self.faulted(kernel, result),
            ),
            At::Map => self.map(kernel),
            At::ReturnToUser { mapped, callee } => callee.step(kernel).within(
                |callee| Self { at: At::ReturnToUser { mapped, callee }, ..self },
                |()| {
                    kernel.note(Event::End(Operation::ReturnToUser, Gfp::KERNEL, 0));
                    self.left(kernel, mapped)
                },
            ),
            At::Retire => self.retire(kernel),
        }
    }

    fn locality(&self, scenario: &Scenario, task: &TaskContext) -> Locality {
        match &self.at {
            At::Fault(callee) => callee.locality(scenario, task),
            At::Map => Locality::Shared,
            At::ReturnToUser { callee, .. } => callee.locality(scenario, task),
            // A page that is gone from a file of its own comes back with the fault alone.
            At::Retire => {
                let inode = scenario.file(self.file).inode;
                Locality::LocalIf(Guard::RangeAbsent(inode, self.index, 0))
            }
        }
    }

    fn in_flight(&self, scenario: &Scenario, level: MemcgId) -> Pages {
        match &self.at {
            At::Fault(callee) => callee.in_flight(scenario, level),
            At::ReturnToUser { callee, .. } => callee.in_flight(scenario, level),
            At::Map | At::Retire => Pages::ZERO,
        }
    }

    fn charging(&self) -> Option<&TryChargeMemcg> {
        if let At::Fault(callee) = &self.at { callee.charging() } else { None }
    }

    fn stack(&self, into: &mut Vec<(&'static str, &'static str)>) {
        match &self.at {
            At::Fault(callee) => callee.stack(into),
            At::ReturnToUser { callee, .. } => callee.stack(into),
            At::Map => into.push(("finish_fault", "Map")),
            At::Retire => into.push(("user space", "Retire")),
        }
    }
}
