//! Sources of values.

use serde::Deserialize;
use serde_json::Value;

use crate::plan::{AtEnd, RowOrder, Slice, TimeFormat};

/// A source of values: one of `csv`, `jsonl`, `rows`, `range`, `random`, `random_text`, `uuid` and `time`.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Feed {
    /// A CSV file with a header line; its columns are `${name.column}`.
    pub csv: Option<String>,
    /// A file with one JSON object a line; its keys are columns.
    pub jsonl: Option<String>,
    /// Rows: values, or maps of them by column.
    pub rows: Option<Vec<Value>>,
    /// Whole numbers from the first to before the second.
    pub range: Option<(u64, u64)>,
    /// With `range`: digits, with zeros in front.
    pub width: Option<usize>,
    /// A random whole number from the first to the second.
    pub random: Option<(i64, i64)>,
    /// So many random letters and digits.
    pub random_text: Option<usize>,
    /// A random UUID.
    pub uuid: Option<bool>,
    /// The present time.
    pub time: Option<TimeFormat>,
    /// Which row is next. The default is circular.
    pub order: Option<RowOrder>,
    /// What happens after the last row. The default is restart; for unique rows, stop.
    pub at_end: Option<AtEnd>,
    /// Who draws from which rows. The default is all.
    pub slice: Option<Slice>,
    /// `step`: the n-th step of a scenario uses the n-th column.
    pub column: Option<Columns>,
}

/// How a column is chosen.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Columns {
    /// By the number of the step.
    Step,
}
