//! What a search answers, and what a spec expects.

use crate::claim::Rung;
use crate::cost::{Bound, Rational};
use crate::verdict::Verdict;
use serde_json::Value as Json;
use std::fmt;

/// The answer where a verdict is not all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A cost.
    Number(Bound<u64>),
    /// A ratio.
    Ratio(Bound<Rational>),
    /// How high an operation stands.
    Rung(Rung),
    /// From which point of a sweep on something holds.
    From(Threshold),
}

/// From which point of a sweep on something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// From that value of its first parameter.
    At(u64),
    /// From none.
    Never,
}

/// What a spec expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A verdict.
    Verdict(Verdict),
    /// A value, exactly.
    Value(Value),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Ratio(ratio) => ratio.fmt(f),
            Self::Rung(rung) => rung.fmt(f),
            Self::From(Threshold::At(from)) => from.fmt(f),
            Self::From(Threshold::Never) => f.write_str("never"),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verdict(verdict) => f.write_str(crate::report::word(*verdict)),
            Self::Value(value) => value.fmt(f),
        }
    }
}

impl Value {
    /// As scripts read it.
    pub fn json(self) -> Json {
        match self {
            Self::Number(Bound::Most(number)) | Self::From(Threshold::At(number)) => {
                Json::from(number)
            }
            Self::From(Threshold::Never) => Json::Null,
            Self::Number(Bound::Unbounded) | Self::Ratio(_) | Self::Rung(_) => {
                Json::from(self.to_string())
            }
        }
    }
}

impl Expected {
    /// As scripts read it.
    pub fn json(self) -> Json {
        match self {
            Self::Verdict(_) => Json::from(self.to_string()),
            Self::Value(value) => value.json(),
        }
    }
}
