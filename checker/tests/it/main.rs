//! What crosses modules: engines against each other, progress against an independent witness, the
//! model against another way of modelling.

mod budgets;
mod engines;
mod explorer;
mod lasso;
mod messages;
mod rendering;
mod scenarios;
