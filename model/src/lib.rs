//! How Linux charges, reclaims and reads ahead memory under a memory cgroup, as state machines.
//!
//! Every modelled kernel function is a file under [`mm`], at the path of the kernel's own tree: an
//! enum of its program points and a `step` that performs one atomic action. What the outside world
//! decides is asked through [`env::Env`]; who answers makes the difference between a search, a
//! conformance run, a simulation and a replay. There is no search here, no I/O, no clock and no
//! thread.
//!
//! Read in this order: [`scenario`], [`world`], [`step`], [`mod@env`], one function such as
//! [`mm::memcontrol::try_charge_memcg`], [`machine`].

#![allow(
    clippy::large_enum_variant,
    clippy::large_types_passed_by_value,
    reason = "a frame holds its callee by value, so that a state is flat and a step copies nothing \
              but itself; the compiler passes the larger ones by reference anyway"
)]

pub mod actor;
pub mod choose;
pub mod design;
pub mod env;
pub mod gfp;
pub mod ids;
pub mod kernel;
pub mod lru;
pub mod machine;
pub mod measure;
pub mod mm;
pub mod page_cache;
pub mod pooling;
pub mod property;
pub mod ring;
pub mod scenario;
pub mod state;
pub mod step;
pub mod units;
pub mod world;
