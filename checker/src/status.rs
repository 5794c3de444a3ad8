//! The exit status, from everything that happened.

/// What happened, as far as the exit status tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Everything decided is as expected.
    AsExpected,
    /// Nothing was decided.
    NothingDecided,
    /// Pinned numbers differ.
    Drift,
    /// A budget ran out.
    Unknown,
    /// A verdict differs.
    Differs,
    /// Usage, or a bad file.
    Usage,
    /// mmcheck itself failed.
    Internal,
}

impl Outcome {
    /// The status a process exits with. Of several outcomes the greatest counts.
    pub const fn status(self) -> u8 {
        match self {
            Self::AsExpected => 0,
            Self::Differs => 1,
            Self::Usage => 2,
            Self::Drift => 3,
            Self::NothingDecided => 4,
            Self::Unknown => 5,
            Self::Internal => 70,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Outcome::{AsExpected, Differs, Drift, Internal, NothingDecided, Unknown, Usage};

    #[test]
    fn the_gravest_outcome_decides_the_status() {
        let mut all = [AsExpected, Differs, Usage, Drift, NothingDecided, Unknown, Internal];
        all.sort_by(|a, b| b.cmp(a));
        assert_eq!(all.map(super::Outcome::status), [70, 2, 1, 5, 3, 4, 0]);
    }
}
