//! What crosses modules: engines against each other, progress against an independent witness, the
//! model against another way of modelling and against the kernel's own results.

mod budgets;
mod conform;
mod engines;
mod explorer;
mod lasso;
mod messages;
mod rendering;
mod scenarios;
