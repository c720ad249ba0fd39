//! The dynamic table (RFC 7541 §2.3.2, §4).

use std::collections::VecDeque;

use super::ENTRY_OVERHEAD;
use super::field::Entry;

/// Recent fields, newest first.
///
/// Names and values are stored in one buffer, in order of arrival. Adding appends. Evicting only moves the start of the
/// oldest entry; the dead bytes before it are dropped once they outnumber the live ones.
#[derive(Clone, Debug)]
pub struct DynamicTable {
    bytes: Vec<u8>,
    /// Bytes ever dropped from the front of `bytes`: spans count from the first byte ever stored.
    dropped: usize,
    /// The newest at the front.
    spans: VecDeque<Span>,
    size: usize,
    max_size: usize,
    inserted: u64,
    changes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    len: usize,
    name_len: usize,
}

impl DynamicTable {
    /// An empty table; `max_size` is counted as in RFC 7541 §4.1, in bytes.
    pub fn new(max_size: usize) -> Self {
        Self {
            bytes: Vec::new(),
            dropped: 0,
            spans: VecDeque::new(),
            size: 0,
            max_size,
            inserted: 0,
            changes: 0,
        }
    }

    /// The entry at a position; 0 is the newest.
    #[inline]
    pub fn get(&self, position: usize) -> Option<Entry<'_>> {
        let span = self.spans.get(position)?;
        let start = span.start - self.dropped;
        let joined = self.bytes.get(start..start + span.len)?;
        Some(Entry {
            joined,
            name_len: span.name_len,
        })
    }

    /// All entries, the newest first.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.spans.len()).filter_map(|position| self.get(position))
    }

    /// Adds an entry, evicting the oldest until it fits. One larger than the table empties it (RFC 7541 §4.4).
    pub fn insert(&mut self, entry: Entry<'_>) {
        self.changes += 1;
        self.evict_until(self.max_size.saturating_sub(entry.size()));
        if entry.size() > self.max_size {
            return;
        }
        self.drop_evicted();
        self.spans.push_front(Span {
            start: self.dropped + self.bytes.len(),
            len: entry.joined.len(),
            name_len: entry.name_len,
        });
        self.bytes.extend_from_slice(entry.joined);
        self.size += entry.size();
        self.inserted += 1;
    }

    /// Changes the maximum size, evicting what no longer fits (RFC 7541 §4.3).
    pub fn set_max_size(&mut self, max_size: usize) {
        self.max_size = max_size;
        self.changes += 1;
        self.evict_until(max_size);
    }

    /// Increases with everything that may change what a position stands for.
    #[inline]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The maximum size, counted as in RFC 7541 §4.1, in bytes.
    pub fn max_size(&self) -> usize {
        self.max_size
    }

    /// The current size, counted as in RFC 7541 §4.1, in bytes.
    #[cfg(test)]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The permanent number of the entry at a position: how many entries were inserted before it.
    pub fn number(&self, position: usize) -> u64 {
        self.inserted.saturating_sub(1 + position as u64)
    }

    /// Whether an entry of `size` fits if only entries numbered below `keep_from` may be evicted.
    pub fn has_room(&self, size: usize, keep_from: u64) -> bool {
        let evictable = |position: &usize| self.number(*position) < keep_from;
        let mut free = self.max_size - self.size;
        for position in (0..self.spans.len()).rev().take_while(evictable) {
            if free >= size {
                break;
            }
            free += self.get(position).map_or(0, |entry| entry.size());
        }
        free >= size
    }

    fn evict_until(&mut self, size: usize) {
        while self.size > size
            && let Some(span) = self.spans.pop_back()
        {
            self.size -= span.len + ENTRY_OVERHEAD;
        }
    }

    fn drop_evicted(&mut self) {
        let end = self.dropped + self.bytes.len();
        let start = self.spans.back().map_or(end, |oldest| oldest.start);
        let (evicted, kept) = (start - self.dropped, end - start);
        if evicted > kept {
            self.bytes.drain(..evicted);
            self.dropped = start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(joined: &[u8]) -> Entry<'_> {
        Entry {
            joined,
            name_len: joined.len() / 2,
        }
    }

    #[test]
    fn the_newest_comes_first_and_the_oldest_goes_first() {
        let mut table = DynamicTable::new(80);
        for joined in [&b"aaaa"[..], b"bbbb", b"cccc"] {
            table.insert(entry(joined));
        }
        assert_eq!(
            table.iter().collect::<Vec<_>>(),
            [entry(b"cccc"), entry(b"bbbb")]
        );
        assert_eq!((table.size(), table.get(2)), (72, None));
    }

    #[test]
    fn an_entry_larger_than_the_table_empties_it() {
        let mut table = DynamicTable::new(40);
        table.insert(entry(b"12345678"));
        assert_eq!(table.size(), 40);
        table.insert(entry(b"123456789"));
        assert_eq!((table.size(), table.iter().count()), (0, 0));
    }

    #[test]
    fn shrinking_evicts_and_growing_again_brings_nothing_back() {
        let mut table = DynamicTable::new(100);
        table.insert(entry(b"aa"));
        table.insert(entry(b"bb"));
        table.set_max_size(67);
        table.set_max_size(100);
        assert_eq!(table.iter().collect::<Vec<_>>(), [entry(b"bb")]);
        table.set_max_size(0);
        assert_eq!(table.size(), 0);
    }

    #[test]
    fn there_is_room_only_where_nothing_kept_must_go() {
        let mut table = DynamicTable::new(100);
        table.insert(entry(b"aa"));
        table.insert(entry(b"bb"));
        assert!(table.has_room(32, 0));
        assert!(!table.has_room(33, 0));
        assert!(table.has_room(66, 1) && !table.has_room(67, 1));
        assert!(table.has_room(100, 2) && !table.has_room(101, 2));
        assert_eq!((table.number(0), table.number(1)), (1, 0));
    }

    proptest! {
        #[test]
        fn the_table_is_a_list_that_forgets_its_oldest(
            max_size in 0usize..300, pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..80),
        ) {
            let mut table = DynamicTable::new(max_size);
            let mut model: Vec<Vec<u8>> = Vec::new();
            for piece in pieces {
                table.insert(entry(&piece));
                model.insert(0, piece);
                while model.iter().map(|piece| piece.len() + ENTRY_OVERHEAD).sum::<usize>() > max_size {
                    model.pop();
                }
                let kept: Vec<_> = model.iter().map(|piece| entry(piece)).collect();
                prop_assert_eq!(table.iter().collect::<Vec<_>>(), kept);
                prop_assert!(table.bytes.len() <= 2 * max_size, "evicted bytes are kept for ever");
            }
        }
    }
}
