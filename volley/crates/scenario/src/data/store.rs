//! What all threads share of the feeds.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::DataError;
use super::file::{Contents, Table, read};
use super::record::Format;
use super::rows::Rows;
use crate::Slot;
use crate::plan::{AtEnd, Feed, RowOrder, Slice, Source};
use volley_base::defaults;
use volley_load::pace::Lane;
use volley_load::spec::Share;

/// The most row numbers that a thread takes at a time.
const BATCH: u64 = 128;

/// Who draws.
#[derive(Clone, Debug)]
pub struct Crowd {
    /// Of this process.
    pub threads: u64,
    /// Of this process, by feed and by load: the most users that draw. A rate has none.
    pub users: Vec<Vec<u64>>,
    /// This process's part of the load.
    pub share: Share,
}

defaults! {
    /// How much is kept of files.
    #[derive(Clone, Copy, Debug)]
    pub struct Room {
        /// Bytes of all rows that are kept whole.
        pub rows: usize = 16 << 20,
        /// Places of rows that are kept of a larger file, eight bytes each.
        pub index: usize = 1 << 20,
        /// Bytes of a larger file that all threads together keep of what they have read.
        pub cache: usize = 16 << 20,
    }
}

/// The feeds of a run.
#[derive(Debug)]
pub struct Store {
    pub(super) feeds: Vec<Shared>,
    pub(super) crowd: Crowd,
    /// Bytes that a thread keeps of a large file.
    pub(super) cache: usize,
}

/// A feed.
#[derive(Debug)]
pub(super) struct Shared {
    pub name: String,
    pub kind: Kind,
    pub rows: u64,
    pub order: RowOrder,
    pub at_end: AtEnd,
    pub slice: Slice,
    /// By load: its users that draw.
    users: Vec<u64>,
    /// Slices of this process.
    slices: u64,
    pub slots: Vec<Slot>,
    /// The next row of those who have one position together.
    next: AtomicU64,
    batch: u64,
    /// The same by slice, if no row may come twice.
    nexts: Vec<AtomicU64>,
}

/// What a feed draws from.
#[derive(Debug)]
pub(super) enum Kind {
    Rows(Rows),
    Table(Table),
    Range {
        start: u64,
        width: usize,
    },
    /// Not from rows.
    Made(Source),
}

impl Store {
    /// Opens the feeds of a plan; `folder`: where relative paths begin.
    ///
    /// # Errors
    ///
    /// A file cannot be read, a row of it is broken, or there are fewer rows than users, threads or processes among
    /// which they are divided.
    pub fn open(feeds: &[Feed], folder: &Path, crowd: Crowd) -> Result<Arc<Self>, DataError> {
        Self::open_within(feeds, folder, crowd, Room::default())
    }

    /// The same with another limit of memory.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub fn open_within(
        feeds: &[Feed],
        folder: &Path,
        crowd: Crowd,
        room: Room,
    ) -> Result<Arc<Self>, DataError> {
        let all = Self::all(feeds, folder, &crowd, room).collect::<Result<_, _>>()?;
        let threads = usize::try_from(crowd.threads.max(1)).unwrap_or(1);
        Ok(Arc::new(Self {
            feeds: all,
            crowd,
            cache: room.cache / threads,
        }))
    }

    /// What is wrong with the feeds of a plan.
    pub fn check<'a>(
        feeds: &'a [Feed],
        folder: &'a Path,
        crowd: &'a Crowd,
    ) -> impl Iterator<Item = DataError> + 'a {
        Self::all(feeds, folder, crowd, Room::default()).filter_map(Result::err)
    }

    fn all<'a>(
        feeds: &'a [Feed],
        folder: &'a Path,
        crowd: &'a Crowd,
        mut room: Room,
    ) -> impl Iterator<Item = Result<Shared, DataError>> + 'a {
        feeds.iter().enumerate().map(move |(at, feed)| {
            let users = crowd.users.get(at).cloned().unwrap_or_default();
            let shared = Shared::open(feed, folder, crowd, users, room)?;
            room.rows = room.rows.saturating_sub(shared.kind.kept());
            Ok(shared)
        })
    }

    /// Bytes that the rows and places of rows occupy.
    #[cfg(test)]
    pub fn kept(&self) -> usize {
        self.feeds.iter().map(|feed| feed.kind.kept()).sum()
    }

    /// Whether all who draw from a feed share its position, so that its end is the end for all.
    #[must_use]
    pub fn has_one_position(&self, feed: usize) -> bool {
        self.feeds.get(feed).is_some_and(|feed| {
            feed.order != RowOrder::Sequential && matches!(feed.slice, Slice::All | Slice::Share)
        })
    }

    /// Whether a feed draws from rows; values of the others are made.
    #[must_use]
    pub fn has_rows(&self, feed: usize) -> bool {
        let feed = self.feeds.get(feed);
        feed.is_some_and(|feed| !matches!(feed.kind, Kind::Made(_)))
    }

    /// The numbers of the rows of a slice, and how many there are.
    #[inline]
    pub(super) fn lane(&self, feed: &Shared, slice: u64) -> (Lane, u64) {
        let (share, slices) = (self.crowd.share, feed.slices);
        if feed.slice == Slice::Connection {
            let number = u64::from(share.number.saturating_sub(1)) * slices + slice;
            let part = part(feed.rows, number, u64::from(share.of.max(1)) * slices);
            let (first, every) = (part.start, 1);
            return (Lane { first, every }, part.end - part.start);
        }
        let base = match (feed.slice, feed.order) {
            (Slice::All, RowOrder::Sequential | RowOrder::Circular | RowOrder::Random) => {
                Lane { first: 0, every: 1 }
            }
            _ => share.lane(),
        };
        // Rows are dealt out in turn.
        let lane = base.part(slice, slices);
        (lane, lane.count(feed.rows))
    }
}

/// One of several parts of rows that follow each other. Their sizes differ by at most 1.
fn part(rows: u64, index: u64, parts: u64) -> std::ops::Range<u64> {
    let (size, more) = (rows / parts, rows % parts);
    let start = index * size + index.min(more);
    start..start + size + u64::from(index < more)
}

impl Kind {
    pub(super) fn kept(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.kept(),
            Self::Table(table) => table.kept(),
            Self::Range { .. } | Self::Made(_) => 0,
        }
    }

    fn open(feed: &Feed, folder: &Path, room: Room) -> Result<(Self, u64), DataError> {
        let columns: Vec<usize> = feed.columns.iter().map(|(column, _)| *column).collect();
        let (file, format) = match &feed.source {
            Source::Csv { file, names } => (
                file,
                Format::Csv {
                    names: names.len(),
                    columns,
                },
            ),
            Source::JsonLines { file, names } => {
                let names = columns
                    .iter()
                    .filter_map(|column| names.get(*column).cloned());
                (file, Format::lines(names.collect()))
            }
            Source::Rows(given) => {
                let mut rows = Rows::new(columns.len());
                for row in given {
                    for column in &columns {
                        rows.push(row.get(*column).map_or(&[], |field| field));
                    }
                    rows.end_row();
                }
                return Ok((Self::Rows(rows), given.len() as u64));
            }
            Source::Range { start, end, width } => {
                let (start, width) = (*start, *width);
                return Ok((Self::Range { start, width }, end.saturating_sub(start)));
            }
            made => return Ok((Self::Made(made.clone()), u64::MAX)),
        };
        Ok(match read(&folder.join(file), format, room)? {
            Contents::Small(rows) => {
                let count = rows.count() as u64;
                (Self::Rows(rows), count)
            }
            Contents::Large(table, count) => (Self::Table(table), count),
        })
    }
}

impl Shared {
    fn open(
        feed: &Feed,
        folder: &Path,
        crowd: &Crowd,
        users: Vec<u64>,
        room: Room,
    ) -> Result<Self, DataError> {
        let (kind, rows) = Kind::open(feed, folder, room)?;
        let processes = u64::from(crowd.share.of);
        let (slices, what) = match feed.slice {
            Slice::User => (users.iter().sum::<u64>(), "users"),
            Slice::Thread => (crowd.threads, "threads"),
            Slice::Connection => (feed.connections.into(), "connections"),
            Slice::Share | Slice::All => (1, "processes"),
        };
        let slices: u64 = slices.max(1);
        let parts = match (feed.slice, feed.order) {
            (Slice::All, RowOrder::Sequential | RowOrder::Circular | RowOrder::Random) => 1,
            _ => slices.saturating_mul(processes),
        };
        let has_own = !matches!(feed.slice, Slice::All | Slice::Share);
        let nexts = match has_own && feed.order == RowOrder::Unique {
            true => slices,
            false => 0,
        };
        if rows == 0 {
            let file = match &feed.source {
                Source::Csv { file, .. } | Source::JsonLines { file, .. } => Some(file.clone()),
                _ => None,
            };
            let feed = feed.name.clone();
            return Err(DataError::Empty { feed, file });
        }
        if rows < parts {
            let feed = feed.name.clone();
            return Err(DataError::Few {
                feed,
                rows,
                parts,
                what,
            });
        }
        Ok(Self {
            name: feed.name.clone(),
            kind,
            rows,
            order: feed.order,
            at_end: feed.at_end,
            slice: feed.slice,
            users,
            slices,
            slots: feed.columns.iter().map(|(_, slot)| *slot).collect(),
            next: AtomicU64::new(0),
            batch: match feed.at_end {
                // Few rows are dealt out in small parts, so that no thread takes them all.
                AtEnd::Restart => (rows / parts / crowd.threads.max(1) / 8).clamp(1, BATCH),
                // When one thread finds no more rows, no other one has any left.
                AtEnd::Stop | AtEnd::Fail => 1,
            },
            nexts: (0..nexts).map(|_| AtomicU64::new(0)).collect(),
        })
    }

    /// The number of a load's user among all who draw. Users that an order adds come after all others.
    #[inline]
    pub(super) fn number(&self, load: usize, user: u64) -> u64 {
        let own = self.users.get(load).copied().unwrap_or_default();
        match user.checked_sub(own) {
            None => self.users.iter().take(load).sum::<u64>() + user,
            Some(more) => {
                let all: u64 = self.users.iter().sum();
                all + more * self.users.len().max(1) as u64 + load as u64
            }
        }
    }

    /// Which slice a user has on a connection, by their numbers.
    #[inline]
    pub(super) fn slice_of(&self, thread: u64, user: u64, connection: u64) -> u64 {
        let number = match self.slice {
            Slice::User => user,
            Slice::Thread => thread,
            Slice::Connection => connection,
            Slice::All | Slice::Share => return 0,
        };
        number % self.slices
    }

    /// Takes positions for a thread, at most so many.
    pub(super) fn take(&self, most: u64) -> std::ops::Range<u64> {
        let batch = self.batch.min(most);
        let start = self.next.fetch_add(batch, Ordering::Relaxed);
        start..start + batch
    }

    /// Takes the next position in a slice.
    pub(super) fn take_of(&self, slice: u64) -> u64 {
        let next = usize::try_from(slice).ok();
        let next = next.and_then(|slice| self.nexts.get(slice));
        next.map_or(u64::MAX, |next| next.fetch_add(1, Ordering::Relaxed))
    }
}
