//! CSV, with one set of rules for every file of rows.
//!
//! The first row names the columns, and every row has all of them. A quote at the beginning of a field opens it, and one
//! inside of a quoted field is written twice; elsewhere it is a letter. Empty lines are skipped, and so is a byte order
//! mark. Lines end with LF, CRLF or CR.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, Read};

use csv::{ReaderBuilder, StringRecord};

const MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads one row after another.
pub struct Table<R> {
    reader: csv::Reader<Quotes<R>>,
    longest: u64,
    columns: usize,
}

/// Why a row cannot be read.
#[derive(Debug)]
pub enum Fault {
    Io(io::Error),
    /// The row that begins at [`Table::at`] before it was read.
    Row(String),
    /// A quote in this line, counted from the beginning of what is read.
    Quote(u64, &'static str),
}

/// Passes bytes on, and looks at their quotes: the csv crate takes whatever comes.
struct Quotes<R> {
    inner: R,
    place: Place,
    /// From 1.
    line: u64,
    /// The line of the last quote that opened a field.
    opened: u64,
    /// Bytes of a byte order mark so far.
    marked: usize,
    /// It ends with an error after so many bytes.
    left: u64,
}

/// Where the next byte stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Plain,
    Quoted,
    /// Behind a quote inside of a quoted field: its end, or the first of two.
    Closed,
}

impl<R: Read> Table<R> {
    /// Rows may have at most `longest` bytes.
    pub fn new(from: R, longest: u64) -> Self {
        let quotes = Quotes {
            inner: from,
            place: Place::Start,
            line: 1,
            opened: 1,
            marked: 0,
            left: longest,
        };
        Self {
            reader: ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .from_reader(quotes),
            longest,
            columns: 0,
        }
    }

    /// The same without a header: a part of a table of so many columns.
    pub fn part(from: R, longest: u64, columns: usize) -> Self {
        Self {
            columns,
            ..Self::new(from, longest)
        }
    }

    /// Where the next row begins, or empty lines before it: the number of bytes that were read.
    pub fn at(&self) -> u64 {
        self.reader.position().byte()
    }

    /// Reads the names of the columns. Some may have none.
    ///
    /// # Errors
    ///
    /// There are none, or one is there twice.
    pub fn header(&mut self) -> Result<Vec<String>, Fault> {
        let mut row = StringRecord::new();
        if !self.read(&mut row)? {
            let reason = "the file is empty: its first line names the columns";
            return Err(Fault::Row(reason.to_owned()));
        }
        self.columns = row.len();
        let names: Vec<String> = row.iter().map(|name| name.trim().to_owned()).collect();
        let mut seen = HashSet::new();
        let mut named = names.iter().filter(|name| !name.is_empty());
        match named.find(|name| !seen.insert(name.as_str())) {
            Some(name) => Err(Fault::Row(format!(
                "the column `{name:.60}` is there twice: rename one"
            ))),
            None => Ok(names),
        }
    }

    /// Reads a row; whether there was one.
    ///
    /// # Errors
    ///
    /// It is too long, too short, not UTF-8, or its quotes are wrong.
    pub fn next(&mut self, row: &mut StringRecord) -> Result<bool, Fault> {
        let is_one = self.read(row)?;
        if is_one && row.len() != self.columns {
            let columns = if row.len() == 1 { "column" } else { "columns" };
            let (own, all) = (row.len(), self.columns);
            let reason = format!("the row has {own} {columns}, the header {all}");
            return Err(Fault::Row(reason));
        }
        Ok(is_one)
    }

    fn read(&mut self, row: &mut StringRecord) -> Result<bool, Fault> {
        self.reader.get_mut().left = self.longest;
        let read = self.reader.read_record(row);
        read.map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) => self.fault(error),
            _ => Fault::Row("the row is not UTF-8: save the file as UTF-8".to_owned()),
        })
    }

    #[cold]
    fn fault(&self, error: io::Error) -> Fault {
        let quotes = self.reader.get_ref();
        match quotes.place {
            _ if error.kind() == io::ErrorKind::FileTooLarge => Fault::Row(format!(
                "the row is longer than {} bytes: a quote may be left open",
                self.longest
            )),
            _ if error.kind() != io::ErrorKind::InvalidData => Fault::Io(error),
            Place::Quoted => Fault::Quote(quotes.opened, "a quote is left open"),
            _ => Fault::Quote(
                quotes.line,
                "text follows the quote that ends a field: a quote inside of quotes is written twice",
            ),
        }
    }
}

/// The line of the row that begins at `at`, or behind line ends from there on.
pub fn line_at(text: &[u8], at: u64) -> u64 {
    let at = usize::try_from(at).unwrap_or(usize::MAX).min(text.len());
    let (before, row) = text.split_at(at);
    let ends = row.iter().take_while(|byte| byte.is_ascii_whitespace());
    let lines = |byte: &&u8| **byte == b'\n';
    1 + (before.iter().filter(lines).count() + ends.filter(lines).count()) as u64
}

impl<R> Quotes<R> {
    /// Whether text follows the end of a quoted field.
    fn is_wrong(&mut self, bytes: &[u8]) -> bool {
        for &byte in bytes {
            if MARK.get(self.marked) == Some(&byte) {
                self.marked += 1;
                continue;
            }
            self.marked = MARK.len();
            let is_end = matches!(byte, b',' | b'\n' | b'\r');
            self.place = match (self.place, byte) {
                (Place::Start, b'"') => {
                    self.opened = self.line;
                    Place::Quoted
                }
                (Place::Quoted, b'"') => Place::Closed,
                (Place::Closed, b'"') | (Place::Quoted, _) => Place::Quoted,
                (Place::Start | Place::Plain | Place::Closed, _) if is_end => Place::Start,
                (Place::Closed, _) => return true,
                (Place::Start | Place::Plain, _) => Place::Plain,
            };
            self.line += u64::from(byte == b'\n');
        }
        false
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let read = self.inner.read(into)?;
        self.left = self.left.saturating_sub(read as u64);
        let is_over = read == 0 && !into.is_empty();
        let is_open = is_over && self.place == Place::Quoted;
        match is_open || self.is_wrong(into.get(..read).unwrap_or_default()) {
            true => Err(io::ErrorKind::InvalidData.into()),
            false => Ok(read),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Row(reason) => write!(f, "{reason}"),
            Self::Quote(line, reason) => write!(f, "line {line}: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All rows, the header first; or what is wrong.
    fn read(text: &[u8]) -> Result<Vec<Vec<String>>, String> {
        let mut table = Table::new(text, 1 << 16);
        let words = |fault: Fault| fault.to_string();
        let mut rows = vec![table.header().map_err(words)?];
        let mut row = StringRecord::new();
        while table.next(&mut row).map_err(words)? {
            rows.push(row.iter().map(str::to_owned).collect());
        }
        Ok(rows)
    }

    #[test]
    fn what_is_a_table_is_read() {
        let long = "x".repeat(50_000);
        for (text, row) in [
            ("a,b\n1,2", ["1", "2"]),
            ("\u{feff}\"a\",b\r\n1,\"2\"", ["1", "2"]),
            ("a , b\r\r\n\r\n1,\"2\"\"\"\r", ["1", "2\""]),
            ("a,b\n5\" nail,\"\"\n", ["5\" nail", ""]),
            ("a,b\n\u{feff}\"1,\0\n", ["\u{feff}\"1", "\0"]),
            ("a,b\n\" 1\n,\",x\n", [" 1\n,", "x"]),
            (&format!("a,b\n\"{long}\",\"\"\"\"\n"), [&long, "\""]),
        ] {
            let rows = read(text.as_bytes());
            assert_eq!(rows.unwrap(), [["a", "b"], row], "{text:.60}");
        }
    }

    #[test]
    fn a_column_may_have_no_name() {
        let rows = [["", "a", ""], ["0", "1", ""]];
        assert_eq!(read(b",a,\n0,1,\n").unwrap(), rows);
    }

    #[test]
    fn what_is_none_is_refused_with_its_line() {
        let open = "a quote is left open";
        let behind =
            "text follows the quote that ends a field: a quote inside of quotes is written twice";
        for (text, line, reason) in [
            ("a,b\n1,\"2\n3,4\n", 2, open),
            ("a,b\n\"1\n\n\",\"2\n3,4", 4, open),
            ("\u{feff}\"a,b\n1,2\n", 1, open),
            ("a,b\n1,\"2\"\"", 2, open),
            ("a,b\n1,\"2\"x\n", 2, behind),
            ("a,b\n\"1\n\" ,2\n", 3, behind),
        ] {
            let words = format!("line {line}: {reason}");
            assert_eq!(read(text.as_bytes()), Err(words), "{text:.60}");
        }
        let empty = "the file is empty: its first line names the columns";
        let twice = "the column `a` is there twice: rename one";
        let long = "the row is longer than 65536 bytes: a quote may be left open";
        for (text, words) in [
            ("", empty),
            ("\u{feff}\r\n\n", empty),
            ("a,b, a\n1,2,3\n", twice),
            ("a,b\n1\n", "the row has 1 column, the header 2"),
            ("a,b\n1,2,\n", "the row has 3 columns, the header 2"),
            (&format!("a,b\n1,\"{}\n", "x".repeat(100_000)), long),
        ] {
            assert_eq!(read(text.as_bytes()), Err(words.to_owned()), "{text:.60}");
        }
        let words = "the row is not UTF-8: save the file as UTF-8";
        assert_eq!(read(b"a,b\n1,\xff\n"), Err(words.to_owned()));
    }

    #[test]
    fn the_line_of_a_row_is_that_behind_empty_ones() {
        assert_eq!(line_at(b"a,b\r\n\r\n\n1,2", 3), 4);
        assert_eq!(line_at(b"a,b\n1,2", 4), 2);
        assert_eq!(line_at(b"", u64::MAX), 1);
    }
}
