//! A file of rows: all of them in memory, or where some of them begin.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::error::DataError;
use super::record::{Fault, Format, Records};
use super::rows::Rows;
use super::store::Room;

/// What is read at once, in bytes, if rows are not longer.
const BLOCK: u64 = 16 << 10;

/// The most bytes that are read at once, if a row is not longer.
const LONGEST_BLOCK: u64 = 256 << 10;

/// A large file.
#[derive(Debug)]
pub(super) struct Table {
    path: PathBuf,
    file: File,
    format: Format,
    /// Where every `spacing`-th row begins; behind them, the end of the file.
    index: Vec<u64>,
    spacing: u64,
    /// How many rows are read at once: a multiple of `spacing`.
    block: u64,
}

/// Rows of a file that was read to its end.
#[derive(Debug)]
pub(super) enum Contents {
    Small(Rows),
    Large(Table, u64),
}

/// Reads a file, and checks every row. What it keeps is limited by `room`.
///
/// # Errors
///
/// The file cannot be read, or a row is broken.
pub(super) fn read(path: &Path, format: Format, room: Room) -> Result<Contents, DataError> {
    let unreadable = |error: &io::Error| DataError::unreadable(path, error);
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let mut records = Records::new(&format, BufReader::with_capacity(64 << 10, &file));
    let fail = |fault, at| match fault {
        Fault::Io(error) => unreadable(&error),
        Fault::Broken(reason) => broken(path, &file, at, reason),
        Fault::At(line, reason) => DataError::Broken {
            file: path.to_owned(),
            line,
            reason: reason.to_owned(),
        },
    };
    if matches!(format, Format::Csv { .. }) {
        records.next(None).map_err(|fault| fail(fault, 0))?;
    }
    let (mut rows, mut is_small) = (format.rows(), true);
    let (mut index, mut spacing, mut count) = (Vec::new(), 1_u64, 0_u64);
    loop {
        let at = records.at();
        if !records
            .next(Some(&mut rows))
            .map_err(|fault| fail(fault, at))?
        {
            break;
        }
        if count.is_multiple_of(spacing) {
            if index.len() >= room.index.max(2) {
                let mut place = 0;
                index.retain(|_| {
                    place += 1;
                    place % 2 == 1
                });
                spacing *= 2;
            }
            if count.is_multiple_of(spacing) {
                index.push(at);
            }
        }
        if is_small && rows.kept() > room.rows {
            is_small = false;
            rows = format.rows();
        }
        if !is_small {
            rows.clear();
        }
        count += 1;
    }
    let end = records.at();
    drop(records);
    if is_small {
        rows.shrink();
        return Ok(Contents::Small(rows));
    }
    index.push(end);
    index.shrink_to_fit();
    let table = Table {
        block: block(&index, spacing, end / count.max(1)),
        path: path.to_owned(),
        file,
        format,
        index,
        spacing,
    };
    Ok(Contents::Large(table, count))
}

/// How many rows are read at once.
fn block(index: &[u64], spacing: u64, row: u64) -> u64 {
    let mut steps = (BLOCK / row.max(1) / spacing).max(1).next_power_of_two();
    let longest = |steps: u64| {
        let starts = index
            .iter()
            .step_by(usize::try_from(steps).unwrap_or(1))
            .chain(index.last());
        let pairs = starts.clone().zip(starts.skip(1));
        pairs
            .map(|(start, end)| end.saturating_sub(*start))
            .max()
            .unwrap_or(0)
    };
    while steps > 1 && longest(steps) > LONGEST_BLOCK {
        steps /= 2;
    }
    steps * spacing
}

/// Appends a part of a file; shorter if the file has become so.
fn read_part(file: &File, start: u64, end: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    let begin = bytes.len();
    let length = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
    bytes.resize(begin + length, 0);
    let mut read = 0;
    while let Some(rest) = bytes
        .get_mut(begin + read..)
        .filter(|rest| !rest.is_empty())
    {
        match file.read_at(rest, start + read as u64) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(begin + read);
    Ok(())
}

/// An error in the record that begins at `at`, or behind line ends from there on.
#[cold]
fn broken(path: &Path, file: &File, at: u64, reason: String) -> DataError {
    let mut line = 1;
    let (mut from, mut bytes) = (0, Vec::new());
    while from < at {
        bytes.clear();
        let to = at.min(from + BLOCK);
        if read_part(file, from, to, &mut bytes).is_err() {
            break;
        }
        line += memchr::memchr_iter(b'\n', &bytes).count() as u64;
        from = to;
    }
    bytes.clear();
    if read_part(file, at, at + BLOCK, &mut bytes).is_err() {
        bytes.clear();
    }
    let ends = bytes.iter().take_while(|byte| byte.is_ascii_whitespace());
    line += ends.filter(|byte| **byte == b'\n').count() as u64;
    DataError::Broken {
        file: path.to_owned(),
        line,
        reason,
    }
}

impl Table {
    /// The number of the block that has a row, and the row's place in it.
    pub(super) fn place(&self, row: u64) -> (u64, usize) {
        let place = usize::try_from(row % self.block).unwrap_or(usize::MAX);
        (row / self.block, place)
    }

    /// Reads a block. `bytes` is a buffer for it.
    pub(super) fn read(
        &self,
        block: u64,
        rows: &mut Rows,
        bytes: &mut Vec<u8>,
    ) -> Result<(), DataError> {
        let steps = self.block / self.spacing;
        let offset = |block: u64| {
            let place = usize::try_from(block.saturating_mul(steps)).unwrap_or(usize::MAX);
            self.index
                .get(place)
                .or(self.index.last())
                .copied()
                .unwrap_or(0)
        };
        let (start, end) = (offset(block), offset(block + 1));
        rows.clear();
        bytes.clear();
        // A mark at the beginning of a row is no byte order mark, and the empty line is none of the rows.
        bytes.push(b'\n');
        read_part(&self.file, start, end, bytes)
            .map_err(|error| DataError::unreadable(&self.path, &error))?;
        let mut records = Records::new(&self.format, bytes.as_slice());
        loop {
            let at = start + records.at().saturating_sub(1);
            match records.next(Some(rows)) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(fault) => {
                    let reason = match fault {
                        Fault::Io(error) => return Err(DataError::unreadable(&self.path, &error)),
                        Fault::Broken(reason) => reason,
                        Fault::At(_, reason) => reason.to_owned(),
                    };
                    return Err(broken(&self.path, &self.file, at, reason));
                }
            }
        }
    }

    /// Empty rows for a block.
    pub(super) fn rows(&self) -> Rows {
        self.format.rows()
    }

    /// A row that is not where it was.
    #[cold]
    pub(super) fn changed(&self, row: u64) -> DataError {
        DataError::Unreadable {
            file: self.path.clone(),
            reason: format!(
                "row {} is gone, the file has changed since the run began",
                row + 1
            ),
        }
    }

    /// Bytes that it occupies.
    pub(super) fn kept(&self) -> usize {
        self.index.capacity() * size_of::<u64>()
    }
}
