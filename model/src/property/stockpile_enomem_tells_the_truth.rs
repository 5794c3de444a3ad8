//! `stockpile-enomem-tells-the-truth`.

use super::{Property, Transition};
use crate::env::{Errno, Event, Operation};
use crate::scenario::Op;
use crate::units::Pages;

/// What is refused could not be had. The proposal does not keep this: memory.high is no limit of a
/// charge.
pub(super) const PROPERTY: Property = Property {
    name: "stockpile-enomem-tells-the-truth",
    claim: "MADV_STOCKPILE returns -ENOMEM only if a charge of its goal fits below no memory.max of \
            the task's memcgs, or the goal is more than the machine has",
    when: "MADV_STOCKPILE ends with -ENOMEM, and nobody writes memory.max",
    applies: |step| refused(step).is_some() && !step.scenario.max_is_written(),
    holds: |step| {
        refused(step).is_none_or(|goal| {
            let scenario = step.scenario;
            let actor = step.from.map(|(_, actor)| actor).expect("an actor has stepped");
            let memcg = scenario.actors[actor.index()].task.memcg;
            let max = |level: crate::ids::MemcgId| step.to.world.memcgs[level.index()].memory.max;
            let ram = scenario.ram.is_some_and(|ram| goal > ram.total - ram.reserve);
            ram || scenario.lineage(memcg).any(|level| goal > max(level))
        })
    },
};

/// The goal of a call that ends with -ENOMEM.
fn refused(step: &Transition<'_>) -> Option<Pages> {
    let (from, actor) = step.from?;
    let enomem = Errno::ENOMEM as i64;
    let refused = |event: &Event| matches!(event, Event::End(Operation::Stockpile, _, result) if *result == enomem);
    step.events.iter().any(refused).then_some(())?;
    let config = &step.scenario.actors[actor.index()];
    match config.op(from.actors[actor.index()].op()?) {
        Op::Stockpile { nr_pages } => Some(nr_pages),
        Op::Charge { .. }
        | Op::Uncharge { .. }
        | Op::LruAdd { .. }
        | Op::WriteReclaim { .. }
        | Op::WriteHigh { .. }
        | Op::WriteMax { .. }
        | Op::Signal { .. }
        | Op::Mark { .. }
        | Op::Read { .. }
        | Op::Fault { .. }
        | Op::Access { .. }
        | Op::WillNeed { .. }
        | Op::Window { .. } => None,
    }
}
