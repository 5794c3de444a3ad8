//! mmcheck: searches every interleaving of the memory-cgroup model.

pub mod claim;
pub mod cli;
pub mod engine;
pub mod graph;
pub mod liveness;
pub mod node;
pub mod render;
pub mod replay;
pub mod spec;
pub mod verdict;
