//! Rows in the file itself, and the names of columns in files of data.

use std::io::{BufRead, BufReader, Read};
use std::path;

use serde_json::Value;

use super::Compiler;
use crate::file::mistake::Path;
use crate::file::model::{Scalar, words};
use volley_base::input::{self, table::Table};

/// The longest first line of a file of data, in bytes.
const LONGEST_LINE: u64 = 1 << 20;

impl Compiler<'_> {
    /// Rows of the file itself: values, or maps of them by column.
    #[expect(clippy::type_complexity, reason = "rows, and their names")]
    pub(super) fn rows(
        &mut self,
        at: &Path,
        rows: &[Value],
    ) -> Option<(Vec<Vec<Box<[u8]>>>, Option<Vec<String>>)> {
        let Some(first) = rows.first() else {
            return self.none(at, "no rows: add one");
        };
        let names: Option<Vec<String>> = first.as_object().map(|row| row.keys().cloned().collect());
        let mut table = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let at = at.index(index);
            let cells: Option<Vec<Box<[u8]>>> = match (row, &names) {
                (Value::Object(row), Some(names)) if row.len() == names.len() => {
                    let cell = |name: &String| self.cell(&at.key(name), row.get(name)?);
                    names.iter().map(cell).collect()
                }
                (row, None) => self.cell(&at, row).map(|cell| vec![cell]),
                _ => None,
            };
            match cells {
                Some(cells) => table.push(cells),
                None => self.wrong(
                    &at,
                    "all rows are values, or all are maps with the same columns",
                ),
            }
        }
        Some((table, names))
    }

    /// The text of a value in a row.
    fn cell(&self, at: &Path, value: &Value) -> Option<Box<[u8]>> {
        let text = match value {
            Value::Null => return None,
            value => Scalar(words(value)?),
        };
        Some(self.as_written(at, &text).into_bytes().into())
    }
}

/// The names of a CSV file's columns.
pub(in crate::file) fn csv_header(path: &path::Path) -> Result<Vec<String>, String> {
    let file = input::open(path).map_err(|error| error.to_string())?;
    let header = Table::new(file, LONGEST_LINE).header();
    header.map_err(|fault| fault.to_string())
}

/// The keys of a JSON-lines file's first row.
pub(super) fn first_keys(path: &path::Path) -> Result<Vec<String>, String> {
    let file = input::open(path).map_err(|error| error.to_string())?;
    let mut reader = BufReader::new(file.take(LONGEST_LINE));
    let mut line = String::new();
    reader
        .read_line(&mut line)
        .map_err(|error| error.to_string())?;
    match serde_json::from_str(line.trim_start_matches('\u{feff}')) {
        Ok(Value::Object(row)) if !row.is_empty() => Ok(row.keys().cloned().collect()),
        _ => Err("its first line is not a JSON object: write one such as `{\"name\": \"a\"}` on each line".to_owned()),
    }
}
