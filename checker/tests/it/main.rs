//! What crosses modules: engines against each other, progress against an independent witness, the
//! model against another way of modelling.

mod budgets;
mod cli;
mod docs;
mod engines;
mod explorer;
mod lasso;
mod list;
mod messages;
mod rendering;
mod scenarios;
mod spec_errors;
mod support;
