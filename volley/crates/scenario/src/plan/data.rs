//! Where values come from, and which row is next.

use std::path::PathBuf;

use serde::Deserialize;

use crate::Slot;

/// A source of values.
#[derive(Clone, Debug)]
pub struct Feed {
    /// Its name in the file.
    pub name: String,
    pub source: Source,
    pub order: RowOrder,
    pub at_end: AtEnd,
    pub slice: Slice,
    /// With [`Slice::Connection`]: how many connections each target of its scenarios has.
    pub connections: u32,
    /// The slots that a draw fills: one for each column that is used, with its index in the row. A source without columns
    /// has one, with index 0.
    pub columns: Vec<(usize, Slot)>,
}

/// Where values come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// RFC 4180, with a header line. `names`: that line's, in order.
    Csv { file: PathBuf, names: Vec<String> },
    /// One JSON object a line; columns are its keys in `names`.
    JsonLines { file: PathBuf, names: Vec<String> },
    /// Rows in the scenario file itself.
    Rows(Vec<Vec<Box<[u8]>>>),
    /// Whole numbers from `start` to before `end`, with zeros in front up to `width` digits.
    Range { start: u64, end: u64, width: usize },
    /// A random whole number in `low..=high`.
    Random { low: i64, high: i64 },
    /// So many random letters and digits.
    RandomText { length: usize },
    /// A random UUID (version 4).
    Uuid,
    /// The present time.
    Time(TimeFormat),
}

/// How a time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimeFormat {
    /// RFC 3339 in UTC, with milliseconds.
    Rfc3339,
    UnixSeconds,
    UnixMillis,
    UnixNanos,
}

/// Which row is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RowOrder {
    /// From the first row on; one position for each user.
    Sequential,
    /// From the first row on; one position for all.
    Circular,
    /// Any row, each with the same chance.
    Random,
    /// Each row for one iteration only, over all threads.
    Unique,
}

/// What happens after the last row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AtEnd {
    /// The first row again.
    Restart,
    /// No iteration that needs it begins any more.
    Stop,
    /// The run ends as failed.
    Fail,
}

/// Who draws from which rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "docs", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Slice {
    /// Everybody from all rows.
    All,
    /// User `k` of `n`: every `n`-th row from the `k`-th on.
    User,
    /// The same by thread.
    Thread,
    /// Connection `k` of `n`: the `k`-th of `n` parts of rows that follow each other. An iteration that draws from it sends
    /// everything on connection `k` of each target, and waits for that one. A connection that is opened again keeps its part.
    Connection,
    /// Process `k` of `n`, if the load is shared.
    Share,
}
