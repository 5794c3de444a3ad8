//! Tests of the checker through its public interface, in one binary.

mod conform;
mod windows;
