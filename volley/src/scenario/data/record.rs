//! One record of a file after another.

use std::io::{self, BufRead, BufReader, Read};

use csv::{ByteRecord, ReaderBuilder};

use super::rows::Rows;
use crate::request::excerpt::excerpt;
use crate::scenario::json::{self, Found, Tree};
use crate::scenario::plan::Pointer;

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
}

/// Reads the records of a file, or of a part of it.
pub(super) struct Records<'a, R> {
    format: &'a Format,
    input: Input<R>,
}

enum Input<R> {
    Csv(Box<csv::Reader<Limited<R>>>, ByteRecord),
    Lines {
        reader: BufReader<R>,
        line: Vec<u8>,
        at: u64,
        found: Found,
        room: Vec<u8>,
    },
}

/// A reader that ends with an error after so many bytes.
struct Limited<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        let read = self.inner.read(into)?;
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}

impl Format {
    pub(super) fn csv(names: usize, columns: Vec<usize>) -> Self {
        Self::Csv { names, columns }
    }

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
            Format::Csv { .. } => {
                let reader = Limited {
                    inner: reader,
                    left: LONGEST,
                };
                let reader = ReaderBuilder::new()
                    .has_headers(false)
                    .flexible(true)
                    .from_reader(reader);
                Input::Csv(Box::new(reader), ByteRecord::new())
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
            Input::Csv(reader, _) => reader.position().byte(),
            Input::Lines { at, .. } => *at,
        }
    }

    /// Reads a record into `rows`, unless it is a header (`None`); whether there was one.
    pub(super) fn next(&mut self, rows: Option<&mut Rows>) -> Result<bool, Fault> {
        match (&mut self.input, self.format) {
            (Input::Csv(reader, record), Format::Csv { names, columns }) => {
                reader.get_mut().left = LONGEST;
                let is_one =
                    reader
                        .read_byte_record(record)
                        .map_err(|error| match error.into_kind() {
                            csv::ErrorKind::Io(error)
                                if error.kind() == io::ErrorKind::FileTooLarge =>
                            {
                                too_long()
                            }
                            csv::ErrorKind::Io(error) => Fault::Io(error),
                            other => Fault::Broken(format!("{other:?}")),
                        })?;
                if is_one && record.len() != *names {
                    let columns = if record.len() == 1 {
                        "column"
                    } else {
                        "columns"
                    };
                    let reason =
                        format!("the row has {} {columns}, the header {names}", record.len());
                    return Err(Fault::Broken(reason));
                }
                is_utf8(record.as_slice())?;
                if let Some(rows) = rows.filter(|_| is_one) {
                    for column in columns {
                        rows.push(record.get(*column).unwrap_or_default());
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

/// Whether a row of so many columns closes its quotes: one more comma then begins one more column.
pub(super) fn is_closed(row: &[u8], columns: usize) -> bool {
    // A mark at the beginning of a row is no byte order mark, and the empty line is none of the rows.
    let row = [b"\n", row.trim_ascii_end(), b","].concat();
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .from_reader(row.as_slice());
    let mut record = ByteRecord::new();
    reader.read_byte_record(&mut record).is_ok() && record.len() > columns
}

/// Values stand in JSON, URLs and headers, which are UTF-8.
fn is_utf8(row: &[u8]) -> Result<(), Fault> {
    std::str::from_utf8(row)
        .map(drop)
        .map_err(|_| Fault::Broken("the row is not UTF-8: save the file as UTF-8".to_owned()))
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
