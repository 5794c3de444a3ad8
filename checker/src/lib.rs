//! mmcheck: searches every interleaving of the memory-cgroup model.

pub mod check;
pub mod claim;
pub mod cli;
pub mod conform;
pub mod engine;
pub mod graph;
pub mod list;
pub mod liveness;
pub mod node;
pub mod render;
pub mod replay;
pub mod report;
pub mod run;
pub mod spec;
pub mod status;
pub mod verdict;

pub use run::{Streams, run};
