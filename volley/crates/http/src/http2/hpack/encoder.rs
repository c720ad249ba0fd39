//! Encodes header fields to header blocks.

use super::dynamic_table::DynamicTable;
use super::field::Entry;
use super::static_table::{self, Found};
use super::{DEFAULT_TABLE_SIZE, Field, Indexing, integer, string};

/// The sending side of one connection's compression.
#[derive(Clone, Debug)]
pub struct Encoder {
    table: DynamicTable,
    /// The table size that the peer allows.
    peer_max: usize,
    resize: Option<Resize>,
    generation: u64,
    /// Name and value of the current field, joined.
    joined: Vec<u8>,
}

/// The table-size updates that the next block must signal (RFC 7541 §4.2).
#[derive(Clone, Copy, Debug)]
struct Resize {
    smallest: usize,
    last: usize,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    /// An encoder with the table that every peer allows before its SETTINGS: 4,096 bytes.
    pub fn new() -> Self {
        Self {
            table: DynamicTable::new(DEFAULT_TABLE_SIZE),
            peer_max: DEFAULT_TABLE_SIZE,
            resize: None,
            generation: 0,
            joined: Vec::new(),
        }
    }

    /// Applies the peer's `SETTINGS_HEADER_TABLE_SIZE`, in bytes. The next block announces a change.
    ///
    /// Never uses more than 4,096 bytes, even if the peer allows more: a run's requests have few distinct fields.
    pub fn set_peer_max_table_size(&mut self, size: usize) {
        let last = size.min(DEFAULT_TABLE_SIZE);
        let current = self
            .resize
            .map_or(self.table.max_size(), |resize| resize.last);
        // A reduction is announced even if our table was always smaller: some peers insist (RFC 9113 §4.3.1).
        if size < self.peer_max || last != current {
            let smallest = self.resize.map_or(last, |resize| resize.smallest.min(last));
            self.resize = Some(Resize { smallest, last });
            self.generation += 1;
        }
        self.peer_max = size;
    }

    /// Appends a block of `fields` to `out`.
    ///
    /// Returns true if the block neither changed nor resized the table. The same bytes may then be sent again for the
    /// same fields as long as [`Encoder::generation`] stays the same.
    pub fn encode(&mut self, fields: &[Field], out: &mut Vec<u8>) -> bool {
        let resized = self.announce_size(out);
        let before = self.generation;
        // A block never evicts an entry that it uses itself, so repeated blocks become stable.
        let mut oldest_used = u64::MAX;
        for field in fields {
            self.encode_field(field, &mut oldest_used, out);
        }
        !resized && self.generation == before
    }

    /// Grows with each change of the table.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    fn announce_size(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(Resize { smallest, last }) = self.resize.take() else {
            return false;
        };
        if smallest < last {
            integer::encode(out, 0x20, 5, smallest);
            self.table.set_max_size(smallest);
        }
        integer::encode(out, 0x20, 5, last);
        self.table.set_max_size(last);
        self.generation += 1;
        true
    }

    fn encode_field(&mut self, field: &Field, oldest_used: &mut u64, out: &mut Vec<u8>) {
        let name_index = match self.find(field) {
            // A secret is always a literal, even if it is in a table (RFC 7541 §6.2.3).
            Some(Found::Field(index)) if field.indexing != Indexing::Never => {
                if let Some(position) = index.checked_sub(static_table::LEN + 1) {
                    *oldest_used = self.table.number(position).min(*oldest_used);
                }
                integer::encode(out, 0x80, 7, index);
                return;
            }
            Some(Found::Field(index) | Found::Name(index)) => index,
            None => 0,
        };
        let (pattern, prefix_bits) = match field.indexing {
            Indexing::Incremental if self.insert(field, oldest_used) => (0x40, 6),
            Indexing::Incremental | Indexing::Without => (0x00, 4),
            Indexing::Never => (0x10, 4),
        };
        integer::encode(out, pattern, prefix_bits, name_index);
        if name_index == 0 {
            string::encode(&field.name, out);
        }
        string::encode(&field.value, out);
    }

    /// Adds a field to the table, unless that would evict what this block uses.
    fn insert(&mut self, field: &Field, oldest_used: &mut u64) -> bool {
        self.joined.clear();
        self.joined.extend_from_slice(&field.name);
        self.joined.extend_from_slice(&field.value);
        let entry = Entry {
            joined: &self.joined,
            name_len: field.name.len(),
        };
        let inserted = self.table.has_room(entry.size(), *oldest_used);
        if inserted {
            self.table.insert(entry);
            *oldest_used = self.table.number(0).min(*oldest_used);
            self.generation += 1;
        }
        inserted
    }

    /// Looks up a field in both tables; a match of name and value is better than one of the name.
    fn find(&self, field: &Field) -> Option<Found> {
        let mut found = static_table::find(&field.name, &field.value);
        if let Some(Found::Field(_)) = found {
            return found;
        }
        for (index, entry) in (static_table::LEN + 1..).zip(self.table.iter()) {
            if entry.name() != &*field.name {
                continue;
            }
            if entry.value() == &*field.value {
                return Some(Found::Field(index));
            }
            found = found.or(Some(Found::Name(index)));
        }
        found
    }
}

#[cfg(test)]
mod tests;
