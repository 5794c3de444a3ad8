//! What is said of one row.

use serde_json::Value;

/// Nothing, or a column that can't be as it was recorded: the column, what was recorded, and the
/// nearest that the model can do.
pub(super) type Verdict = Result<(), (&'static str, Value, Value)>;

/// Demands something of a column.
pub(super) fn must(
    holds: bool,
    column: &'static str,
    recorded: impl Into<Value>,
    model: impl Into<Value>,
) -> Verdict {
    if holds { Ok(()) } else { Err((column, recorded.into(), model.into())) }
}
