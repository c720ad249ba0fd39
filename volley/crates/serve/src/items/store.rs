//! The items of a server.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::id::Id;
use crate::call::NumberHasher;
use crate::counts::Counts;

/// Parts of the store. A connection creates its items in one of them, so few connections share a lock.
const SHARDS: usize = 16;
/// The memory of a part, in bytes; then it takes no more items.
const MAX_SHARD: usize = 256 << 20;
/// What an item needs beside its fields, in bytes, roughly.
const OVERHEAD: usize = 64;
/// Buffers of deleted items that a part keeps for new ones, and the longest of them, in bytes.
const SPARE: usize = 1024;
const MAX_SPARE: usize = 256;

/// All items.
#[derive(Debug, Default)]
pub struct Store {
    shards: [Mutex<Shard>; SHARDS],
    connections: AtomicUsize,
    tokens: AtomicU64,
    /// How long tokens are valid, in seconds.
    token_s: u64,
}

impl Store {
    /// An empty store, whose tokens are valid for `token_s` seconds.
    pub fn new(token_s: u64) -> Self {
        Self {
            token_s,
            ..Self::default()
        }
    }
}

/// A part of the store, in its own cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard {
    /// Items created so far.
    made: u64,
    /// By their number in this part.
    items: HashMap<u64, Item, BuildHasherDefault<NumberHasher>>,
    bytes: usize,
    spare: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Item {
    rev: u64,
    /// `"sku":"…","owner":"…",`, as far as the request had them.
    fields: Vec<u8>,
}

/// Why a request cannot have its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// There is none of this id; or there is no more.
    Unknown,
    /// Its revision is another one.
    Changed,
}

/// A connection's access to the store.
#[derive(Clone, Debug)]
pub struct Items {
    store: Arc<Store>,
    /// Where its new items go.
    home: usize,
}

impl Items {
    pub fn new(store: &Arc<Store>) -> Self {
        Self {
            store: Arc::clone(store),
            // Relaxed: any spread will do.
            home: store.connections.fetch_add(1, Ordering::Relaxed) % SHARDS,
        }
    }

    /// Creates an item of revision 1; `None` if the store is full.
    pub fn create(&self, fields: &[u8], counts: &mut Counts) -> Option<Id> {
        let mut shard = self.shard(self.home)?;
        let size = fields.len() + OVERHEAD;
        if shard.bytes + size > MAX_SHARD {
            return None;
        }
        let mut kept = shard.spare.pop().unwrap_or_default();
        kept.extend_from_slice(fields);
        let number = shard.made;
        let item = Item {
            rev: 1,
            fields: kept,
        };
        shard.items.insert(number, item);
        shard.made += 1;
        shard.bytes += size;
        counts.created += 1;
        Some(Id::of(number * SHARDS as u64 + self.home as u64))
    }

    /// The id of the item that this connection's part got before `id`, if it is not the first one.
    pub fn before(id: Id) -> Option<Id> {
        id.number().checked_sub(SHARDS as u64).map(Id::of)
    }

    /// The number of a new token, and for how many seconds it is valid.
    pub fn token(&self) -> (u64, u64) {
        let number = self.store.tokens.fetch_add(1, Ordering::Relaxed);
        (number, self.store.token_s)
    }

    /// Passes the fields and the revision of an item to `show`.
    pub fn read(
        &self,
        id: Id,
        counts: &mut Counts,
        show: impl FnOnce(&[u8], u64),
    ) -> Result<(), Absent> {
        let (mut shard, number) = self.find(id)?;
        let item = shard.get(number, counts)?;
        show(&item.fields, item.rev);
        counts.read += 1;
        Ok(())
    }

    /// Gives an item its next revision, if `allows` its present one.
    pub fn patch(
        &self,
        id: Id,
        counts: &mut Counts,
        allows: impl FnOnce(u64) -> bool,
    ) -> Result<(), Absent> {
        let (mut shard, number) = self.find(id)?;
        let item = shard.get(number, counts)?;
        if !allows(item.rev) {
            return Err(Absent::Changed);
        }
        item.rev += 1;
        counts.patched += 1;
        Ok(())
    }

    /// Removes an item, if `allows` its present revision.
    pub fn delete(
        &self,
        id: Id,
        counts: &mut Counts,
        allows: impl FnOnce(u64) -> bool,
    ) -> Result<(), Absent> {
        let (mut shard, number) = self.find(id)?;
        if !allows(shard.get(number, counts)?.rev) {
            return Err(Absent::Changed);
        }
        if let Some(Item { mut fields, .. }) = shard.items.remove(&number) {
            shard.bytes -= fields.len() + OVERHEAD;
            if shard.spare.len() < SPARE && fields.capacity() <= MAX_SPARE {
                fields.clear();
                shard.spare.push(fields);
            }
        }
        counts.deleted += 1;
        Ok(())
    }

    /// The part of an item, and its number there.
    fn find(&self, id: Id) -> Result<(MutexGuard<'_, Shard>, u64), Absent> {
        let number = id.number();
        let home = (number % SHARDS as u64) as usize;
        let shard = self.shard(home).ok_or(Absent::Unknown)?;
        Ok((shard, number / SHARDS as u64))
    }

    /// `None` never happens: `home` is below the number of parts.
    fn shard(&self, home: usize) -> Option<MutexGuard<'_, Shard>> {
        let lock = self.store.shards.get(home)?.lock();
        Some(lock.unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shard {
    /// An item; one that was deleted is counted, because its id was used again.
    fn get(&mut self, number: u64, counts: &mut Counts) -> Result<&mut Item, Absent> {
        let made = self.made;
        self.items.get_mut(&number).ok_or_else(|| {
            counts.duplicates += u64::from(number < made);
            Absent::Unknown
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_share_all_items_and_no_id_is_given_twice() {
        let store = Arc::new(Store::default());
        let connections: Vec<Items> = (0..2 * SHARDS).map(|_| Items::new(&store)).collect();
        let mut counts = Counts::default();
        let mut ids = Vec::new();
        for _ in 0..3 {
            for items in &connections {
                ids.push(items.create(b"", &mut counts).unwrap().number());
            }
        }
        for &number in &ids {
            let items = &connections[0];
            assert_eq!(items.delete(Id::of(number), &mut counts, |_| true), Ok(()));
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 6 * SHARDS);
        assert_eq!((counts.created, counts.deleted), (96, 96));
    }

    #[test]
    fn an_id_that_is_used_after_its_end_is_a_duplicate_and_one_to_come_is_not() {
        let items = Items::new(&Arc::default());
        let mut counts = Counts::default();
        let id = items.create(b"", &mut counts).unwrap();
        items.delete(id, &mut counts, |rev| rev == 1).unwrap();
        for (id, duplicates) in [(id, 1), (Id::of(id.number() + SHARDS as u64), 1)] {
            let absent = items.patch(id, &mut counts, |_| true);
            assert_eq!(absent, Err(Absent::Unknown));
            assert_eq!(counts.duplicates, duplicates);
        }
    }

    #[test]
    fn a_full_part_takes_no_more_until_something_is_deleted() {
        let items = Items::new(&Arc::default());
        let mut counts = Counts::default();
        let large = vec![b'a'; MAX_SHARD / 2];
        let id = items.create(&large, &mut counts).unwrap();
        assert_eq!(items.create(&large, &mut counts), None);
        items.delete(id, &mut counts, |_| true).unwrap();
        assert!(items.create(&large, &mut counts).is_some());
        assert_eq!(counts.created, 2);
    }
}
