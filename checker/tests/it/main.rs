//! What crosses modules: engines against each other, progress against an independent witness, the
//! model against another way of modelling and against the kernel's own results.

mod bless;
mod budgets;
mod cli;
mod conform;
mod costs;
mod decisions;
mod docs;
mod drains;
mod empty_passes;
mod engines;
mod explain;
mod explore;
mod explorer;
mod flagship_docs;
mod lasso;
mod layouts;
mod limits_docs;
mod list;
mod loops_docs;
mod mails_docs;
mod messages;

mod reach_docs;
mod readahead_docs;
mod readers;
mod reclaim;
mod reclaim_bounds;
mod reclaim_docs;
mod record;
mod rendering;
mod replay;
mod scenarios;
mod spec_errors;
mod support;
mod traces;
mod windows;
