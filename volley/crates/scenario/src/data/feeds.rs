//! A thread's part of the feeds.

use std::ops::Range;
use std::sync::Arc;

use super::error::{DataError, Undrawn};
use super::file::Table;
use super::made;
use super::rows::Rows;
use super::store::{Kind, Shared, Store};
use crate::Values;
use crate::plan::{AtEnd, RowOrder, Slice};
use volley_load::pace::Lane;

/// How many blocks of a large file a thread keeps.
const BLOCKS: u64 = 64;

/// The feeds, as one thread draws from them.
#[derive(Debug)]
pub struct Feeds {
    store: Arc<Store>,
    thread: u64,
    random: fastrand::Rng,
    /// The most positions that are taken at a time.
    most: u64,
    own: Vec<Own>,
}

/// What a thread knows of a feed.
#[derive(Debug, Default)]
struct Own {
    /// Positions that this thread has taken from the one of all.
    batch: Range<u64>,
    /// By user, or by slice: its own position.
    each: Vec<u64>,
    cache: Cache,
}

/// Blocks of a large file that were read.
#[derive(Debug, Default)]
struct Cache {
    /// By number modulo [`BLOCKS`].
    blocks: Vec<Option<(u64, Rows)>>,
    bytes: Vec<u8>,
}

impl Feeds {
    /// The feeds for a thread of this number; `seed`: the run's, for random values.
    #[must_use]
    pub fn new(store: &Arc<Store>, thread: u64, seed: u64) -> Self {
        let number = thread + u64::from(store.crowd.share.number) * store.crowd.threads;
        Self {
            store: Arc::clone(store),
            thread,
            random: fastrand::Rng::with_seed(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            most: u64::MAX,
            own: store.feeds.iter().map(|_| Own::default()).collect(),
        }
    }

    /// Takes no position before it is needed: what follows draws but once.
    pub fn take_singly(&mut self) {
        self.most = 1;
    }

    /// Draws the next row of a feed for a load's user on a connection, and fills its slots. Users of a load and connections
    /// are numbered from 0 over all threads; a position is kept for each user, up to the largest number, where the order
    /// asks for it.
    ///
    /// # Errors
    ///
    /// There are no more rows, or the file has changed and cannot be read any more.
    #[inline]
    pub fn draw(
        &mut self,
        feed: usize,
        (load, user, connection): (usize, u64, u64),
        values: &mut Values,
    ) -> Result<(), Undrawn> {
        let (Some(shared), Some(own)) = (self.store.feeds.get(feed), self.own.get_mut(feed)) else {
            return Ok(());
        };
        if let Kind::Made(source) = &shared.kind {
            for slot in &shared.slots {
                values.set_with(*slot, |out| made::write(source, &mut self.random, out));
            }
            return Ok(());
        }
        let user = shared.number(load, user);
        let slice = shared.slice_of(self.thread, user, connection);
        let lane = self.store.lane(shared, slice);
        let row = own.next(shared, lane, (user, slice), self.most, &mut self.random)?;
        match &shared.kind {
            Kind::Range { start, width } => {
                for slot in &shared.slots {
                    values.set_with(*slot, |out| made::padded(start + row, *width, out));
                }
            }
            Kind::Rows(rows) => fill(
                shared,
                rows,
                usize::try_from(row).unwrap_or(usize::MAX),
                values,
            ),
            Kind::Table(table) => {
                let (rows, place) = own
                    .cache
                    .find(table, row, self.store.cache)
                    .map_err(|error| Undrawn::Broken(error.into()))?;
                fill(shared, rows, place, values);
            }
            Kind::Made(_) => {}
        }
        Ok(())
    }

    /// Bytes that this thread keeps of large files.
    #[cfg(test)]
    pub fn kept(&self) -> usize {
        self.own.iter().map(|own| own.cache.kept()).sum()
    }
}

#[inline]
fn fill(shared: &Shared, rows: &Rows, place: usize, values: &mut Values) {
    for (slot, field) in shared
        .slots
        .iter()
        .zip(rows.get(place).into_iter().flatten())
    {
        values.set(*slot, field);
    }
}

impl Own {
    /// The number of the next row.
    #[inline]
    fn next(
        &mut self,
        shared: &Shared,
        (lane, count): (Lane, u64),
        (user, slice): (u64, u64),
        most: u64,
        random: &mut fastrand::Rng,
    ) -> Result<u64, Undrawn> {
        let position = match (shared.order, shared.slice) {
            (RowOrder::Random, _) => random.u64(0..count.max(1)),
            (RowOrder::Sequential, _) => self.step_of(user),
            (_, Slice::All | Slice::Share) => loop {
                match self.batch.next() {
                    Some(position) => break position,
                    None => self.batch = shared.take(most),
                }
            },
            (RowOrder::Unique, _) => shared.take_of(slice),
            (RowOrder::Circular, _) => self.step_of(slice),
        };
        let position = match shared.at_end {
            _ if position < count => position,
            AtEnd::Restart => position % count.max(1),
            AtEnd::Stop => return Err(Undrawn::Stop(shared.name.clone())),
            AtEnd::Fail => return Err(Undrawn::Fail(shared.name.clone())),
        };
        Ok(lane.first + position * lane.every)
    }

    /// The next position of a user, or in a slice.
    fn step_of(&mut self, number: u64) -> u64 {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if number >= self.each.len() {
            self.each.resize(number.saturating_add(1), 0);
        }
        self.each.get_mut(number).map_or(0, |position| {
            *position += 1;
            *position - 1
        })
    }
}

impl Cache {
    /// The block that has a row, and its place there. All blocks together take at most `most` bytes, or there is one.
    #[inline]
    fn find(&mut self, table: &Table, row: u64, most: usize) -> Result<(&Rows, usize), DataError> {
        let (number, place) = table.place(row);
        let slot = usize::try_from(number % BLOCKS).unwrap_or(0);
        let is_there =
            |block: &Option<(u64, Rows)>| block.as_ref().is_some_and(|(known, _)| *known == number);
        if !self.blocks.get(slot).is_some_and(is_there) {
            self.read(table, number, slot, most)?;
        }
        let block = self.blocks.get(slot).and_then(Option::as_ref);
        let rows = block
            .map(|(_, rows)| rows)
            .filter(|rows| place < rows.count());
        rows.map(|rows| (rows, place))
            .ok_or_else(|| table.changed(row))
    }

    fn read(
        &mut self,
        table: &Table,
        number: u64,
        slot: usize,
        most: usize,
    ) -> Result<(), DataError> {
        if self.blocks.len() <= slot {
            self.blocks.resize_with(slot + 1, || None);
        }
        let old = self.blocks.get_mut(slot).and_then(Option::take);
        let mut rows = old.map_or_else(|| table.rows(), |(_, rows)| rows);
        table.read(number, &mut rows, &mut self.bytes)?;
        if self.kept() + rows.kept() > most {
            self.blocks.fill_with(|| None);
            self.bytes = Vec::new();
            rows.shrink();
        }
        if let Some(place) = self.blocks.get_mut(slot) {
            *place = Some((number, rows));
        }
        Ok(())
    }

    fn kept(&self) -> usize {
        let blocks = self.blocks.iter().flatten().map(|(_, rows)| rows.kept());
        blocks.sum::<usize>() + self.bytes.capacity()
    }
}
