//! Passes of the handler of memory.high.

use super::{Class, Judge};
use crate::conform::trace::group::Round;
use crate::conform::trace::verdict::{Verdict, must};
use crate::conform::trace::{gfp_of, hex};
use mm_model::design::ReadaheadCharge;
use mm_model::units::Pages;
use serde_json::json;

impl Judge<'_> {
    /// A pass of the handler of memory.high.
    pub(super) fn high(&mut self, nth: usize) -> Verdict {
        let pass = self.passes[nth];
        let own = *self.group.levels.last().expect("there is a level");
        let over = pass.usage > own.high
            || (self.tasks > 1 && pass.usage + self.given_back(nth) > own.high);
        must(
            over,
            "usage_before_pages",
            pass.usage.0,
            format!("above memory.high, {}", own.high.0),
        )?;
        must(pass.usage <= own.max, "usage_before_pages", pass.usage.0, own.max.0)?;
        if let Some((first, usage, rounds)) = self.handlers.get(pass.task).cloned() {
            let mut rounds = rounds;
            let before = rounds.last().expect("a round").usage;
            // Others may have given pages back between the look at the overage and the pass.
            let shared = self.tasks > 1;
            let higher = [before, pass.usage + self.given_back(nth)].into_iter().filter(|_| shared);
            for seen in std::iter::once(pass.usage).chain(higher) {
                rounds.last_mut().expect("a round").usage = seen;
                let asked = self.group.handle_over_high(usage, first, &rounds);
                if asked.len() > rounds.len() && asked.last() == Some(&pass.asked) {
                    rounds.push(Round { usage: pass.usage, freed: pass.freed });
                    self.handlers.insert(self.passes[nth].task, (first, usage, rounds));
                    return Ok(());
                }
            }
        }
        self.first_round(nth)?;
        let round = Round { usage: pass.usage, freed: pass.freed };
        self.handlers.insert(self.passes[nth].task, (pass.asked, pass.usage, vec![round]));
        Ok(())
    }

    /// The first round asks for what the task has charged over memory.high since the last time.
    fn first_round(&mut self, nth: usize) -> Verdict {
        let pass = self.passes[nth];
        let batch = self.group.scenario().kernel.memcg_charge_batch;
        let own = *self.group.levels.last().expect("there is a level");
        let unlimited = self.group.levels.iter().all(|level| level.max == Pages::UNLIMITED);
        let whole = |pages: Pages| !unlimited || pages.0.is_multiple_of(batch.0);
        let usage = Pages(pass.usage.0.max(own.high.0 + 1));
        match pass.class {
            Class::InCharge => {
                let gfp = gfp_of(pass.gfp);
                must(
                    gfp.allow_blocking(),
                    "charge_gfp",
                    hex(pass.gfp),
                    "flags that allow direct reclaim",
                )?;
                // Only charges that may not block leave more than a batch behind: those of
                // readahead in some designs, in all the first try of a node, under a lock.
                let defers =
                    self.group.scenario().design.readahead_charge == ReadaheadCharge::NonBlocking;
                let mut near = None;
                for added in [batch, pass.charge] {
                    let Some(before) = pass.asked.0.checked_sub(added.0).map(Pages) else {
                        continue;
                    };
                    let Some(usage) = usage.0.checked_sub(added.0).map(Pages) else { continue };
                    if !whole(before) || (before > batch + batch && !defers) {
                        continue;
                    }
                    let asked = self.group.charge_over_high((usage, before), gfp, pass.charge, &[]);
                    if asked.first() == Some(&pass.asked) {
                        return Ok(());
                    }
                    near = asked.first().copied().or(near);
                }
                let model = near.map_or("no pass in such a charge".into(), |asked| json!(asked.0));
                Err(("asked_pages", pass.asked.0.into(), model))
            }
            _ if pass.asked == Pages::ZERO => {
                Err(("asked_pages", 0.into(), "pages over memory.high".into()))
            }
            Class::ReturnToUser => {
                must(pass.charge == Pages::ZERO, "charge_pages", pass.charge.0, 0)?;
                must(pass.gfp == 0, "charge_gfp", hex(pass.gfp), hex(0))?;
                let asked = self.group.handle_over_high(usage, pass.asked, &[]);
                must(
                    asked.first() == Some(&pass.asked),
                    "asked_pages",
                    pass.asked.0,
                    json!(asked),
                )?;
                let model = format!("a multiple of {}", batch.0);
                must(whole(pass.asked), "asked_pages", pass.asked.0, model)
            }
            Class::Worker => must(pass.asked == batch, "asked_pages", pass.asked.0, batch.0),
            Class::Speculative
            | Class::Demanded
            | Class::Demand
            | Class::ReadaheadNode
            | Class::DemandNode
            | Class::Other
            | Class::Unsplit
            | Class::Batch => Ok(()),
        }
    }
}
