//! Specs: a world, its actors, the designs to check, and what is expected of each.
//!
//! `docs/spec.md` is the reference of every key. Nothing here panics, whatever the file holds.

mod actors;
mod designs;
mod expect;
mod file_ops;
mod files;
mod kernel;
pub mod keys;
pub mod library;
mod lists;
mod ops;
mod parse;
pub mod pin;
mod problem;
mod sweep;
mod tree;
mod world;

pub use actors::{FLAGS, FlagDoc};
pub use designs::{design_file, from_preset, preset};
pub use expect::{Asked, Expectations, asked};
pub use ops::{OPS, OpDoc};
pub use parse::parse;
pub use problem::{Problem, Problems, near, place};
pub use tree::Key;

use crate::claim::Claim;
use mm_model::design::Design;
use mm_model::scenario::{InodeConfig, Scenario};
use std::collections::BTreeMap;

/// When a spec is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// With every change: it takes seconds.
    Pr,
    /// Every night: it takes minutes.
    Nightly,
}

/// A design with the name it has in a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedDesign {
    /// Its name.
    pub name: String,
    /// The named design it changes, or is.
    pub base: String,
    /// Its decisions.
    pub design: Design,
}

/// A spec.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The file, as it was named.
    pub file: String,
    /// What happens in it.
    pub title: String,
    /// More about it.
    pub about: Option<String>,
    /// Where the question comes from.
    pub source: Option<String>,
    /// When it is checked.
    pub tier: Tier,
    /// Whether tasks that do the same stand for one another, and only safety is asked.
    pub symmetry: bool,
    /// The designs to check, in order; at least one.
    pub designs: Vec<NamedDesign>,
    /// What is expected, by the name of the design.
    pub expectations: BTreeMap<String, Expectations>,
    /// The points of its sweep; one without parameters if it has no sweep.
    pub points: Vec<Point>,
}

/// A point of a sweep: a scenario with numbers in the places of parameters.
#[derive(Clone, Debug)]
pub struct Point {
    /// The parameters, in order, with their values here.
    pub values: Vec<(String, u64)>,
    scenario: Scenario,
}

impl Point {
    /// The scenario under a design.
    pub fn scenario(&self, design: &Design) -> Scenario {
        Scenario { design: design.clone(), ..self.scenario.clone() }
    }

    /// The value of the first parameter.
    pub fn first(&self) -> Option<u64> {
        self.values.first().map(|(_, value)| *value)
    }
}

impl Spec {
    /// The names of its actors, in order.
    pub fn actors(&self) -> Vec<&str> {
        let first = self.points.first();
        let actors = first.map(|point| point.scenario.actors.as_slice()).unwrap_or_default();
        actors.iter().map(|actor| actor.name.as_str()).collect()
    }

    /// Whether pages of a file are only counted.
    pub fn counts_pages(&self) -> bool {
        self.points.iter().any(|point| point.scenario.inodes.iter().any(InodeConfig::is_pooled))
    }

    /// The scenario under a design, at the first point of its sweep.
    ///
    /// # Panics
    /// Never: a sweep has a point.
    pub fn scenario(&self, design: &Design) -> Scenario {
        self.points.first().expect("a sweep has a point").scenario(design)
    }

    /// Everything that is expected of some design, also what thresholds ask of every point.
    pub fn claims(&self) -> impl Iterator<Item = Claim> {
        self.expectations
            .values()
            .flat_map(|expected| expected.answers.keys().chain(expected.thresholds.keys()))
            .copied()
    }
}

impl Tier {
    /// Its name in a spec.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pr => "pr",
            Self::Nightly => "nightly",
        }
    }
}
