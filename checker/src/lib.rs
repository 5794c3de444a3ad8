//! mmcheck: searches every interleaving of the memory-cgroup model.

pub mod bench;
pub mod check;
pub mod claim;
pub mod cli;
pub mod conform;
pub mod cost;
pub mod engine;
pub mod explain;
pub mod graph;
pub mod identity;
pub mod label;
pub mod ladder;
pub mod list;
pub mod liveness;
pub mod node;
#[cfg(test)]
mod oracle;
pub mod reach;
pub mod render;
pub mod replay;
pub mod report;
pub mod run;
pub mod spec;
pub mod status;
pub mod symmetry;
pub mod value;
pub mod verdict;

pub use run::{Streams, run};
