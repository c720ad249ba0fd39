//! One record of a file after another.

use std::io::{self, BufRead, BufReader, Read};

use csv::StringRecord;

use super::rows::Rows;
use crate::json::{self, Found, Tree};
use crate::plan::Pointer;
use volley_base::excerpt::excerpt;
use volley_base::input::table::{self, Table};

/// The longest record, in bytes.
pub(super) const LONGEST: u64 = 1 << 20;

/// What a file holds, and the columns that are used.
#[derive(Debug)]
pub(super) enum Format {
    /// `names`: how many columns each row has. `columns`: those that are used.
    Csv { names: usize, columns: Vec<usize> },
    /// The keys that are used.
    Lines { tree: Tree, names: Vec<String> },
}

/// Why a record cannot be read.
#[derive(Debug)]
pub(super) enum Fault {
    Io(io::Error),
    Broken(String),
    /// The same in this line of what is read.
    At(u64, &'static str),
}

/// Reads the records of a file, or of a part of it.
pub(super) struct Records<'a, R> {
    format: &'a Format,
    input: Input<R>,
}

enum Input<R> {
    Csv(Box<Table<R>>, StringRecord),
    Lines {
        reader: BufReader<R>,
        line: Vec<u8>,
        at: u64,
        found: Found,
        room: Vec<u8>,
    },
}

impl Format {
    pub(super) fn lines(names: Vec<String>) -> Self {
        let pointer = |name: &String| Pointer {
            text: name.as_str().into(),
            keys: [name.as_str().into()].into(),
        };
        let pointers: Vec<Pointer> = names.iter().map(pointer).collect();
        Self::Lines {
            tree: Tree::new(&pointers),
            names,
        }
    }

    /// Empty rows of its columns.
    pub(super) fn rows(&self) -> Rows {
        Rows::new(match self {
            Self::Csv { columns, .. } => columns.len(),
            Self::Lines { names, .. } => names.len(),
        })
    }
}

impl<'a, R: Read> Records<'a, R> {
    pub(super) fn new(format: &'a Format, reader: R) -> Self {
        let input = match format {
            Format::Csv { names, .. } => {
                let table = Table::part(reader, LONGEST, *names);
                Input::Csv(Box::new(table), StringRecord::new())
            }
            Format::Lines { .. } => Input::Lines {
                reader: BufReader::new(reader),
                line: Vec::new(),
                at: 0,
                found: Found::default(),
                room: Vec::new(),
            },
        };
        Self { format, input }
    }

    /// Where the next record begins, or empty lines before it: the number of bytes that were read.
    pub(super) fn at(&self) -> u64 {
        match &self.input {
            Input::Csv(table, _) => table.at(),
            Input::Lines { at, .. } => *at,
        }
    }

    /// Reads a record into `rows`, unless it is a header (`None`); whether there was one.
    pub(super) fn next(&mut self, rows: Option<&mut Rows>) -> Result<bool, Fault> {
        match (&mut self.input, self.format) {
            (Input::Csv(table, record), Format::Csv { columns, .. }) => {
                let is_one = table.next(record)?;
                if let Some(rows) = rows.filter(|_| is_one) {
                    for column in columns {
                        rows.push(record.get(*column).unwrap_or_default().as_bytes());
                    }
                    rows.end_row();
                }
                Ok(is_one)
            }
            (
                Input::Lines {
                    reader,
                    line,
                    at,
                    found,
                    room,
                },
                Format::Lines { tree, names },
            ) => loop {
                line.clear();
                let read = reader
                    .by_ref()
                    .take(LONGEST + 1)
                    .read_until(b'\n', line)
                    .map_err(Fault::Io)?;
                if read as u64 > LONGEST {
                    return Err(too_long());
                }
                let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
                if text.trim_ascii().is_empty() && read > 0 {
                    *at += read as u64;
                    continue;
                }
                if let Some(rows) = rows.filter(|_| read > 0) {
                    object(text, tree, names, found, room, rows).map_err(Fault::Broken)?;
                }
                *at += read as u64;
                return Ok(read > 0);
            },
            _ => Ok(false),
        }
    }
}

impl From<table::Fault> for Fault {
    fn from(fault: table::Fault) -> Self {
        match fault {
            table::Fault::Io(error) => Self::Io(error),
            table::Fault::Row(reason) => Self::Broken(reason),
            table::Fault::Quote(line, reason) => Self::At(line, reason),
        }
    }
}

fn too_long() -> Fault {
    Fault::Broken(format!(
        "the row is longer than {LONGEST} bytes: a quote may be left open"
    ))
}

/// Adds a row of an object's values.
fn object(
    line: &[u8],
    tree: &Tree,
    names: &[String],
    found: &mut Found,
    room: &mut Vec<u8>,
    rows: &mut Rows,
) -> Result<(), String> {
    tree.find(line, found).map_err(|fault| fault.to_string())?;
    if !line.trim_ascii().starts_with(b"{") {
        return Err("the line is no JSON object".to_owned());
    }
    for (column, name) in names.iter().enumerate() {
        let name = excerpt(name, 80);
        let value = found
            .get(tree, column, line)
            .ok_or_else(|| format!("the object has no `{name}`"))?;
        let text = json::text(value, room);
        rows.push(text.ok_or_else(|| format!("`{name}` has half of a surrogate pair"))?);
    }
    rows.end_row();
    Ok(())
}
