//! mmcheck: searches every interleaving of the memory-cgroup model.

pub mod conform;
pub mod engine;
pub mod node;
pub mod verdict;
