//! Decodes header blocks to header lists.

use super::dynamic_table::DynamicTable;
use super::field::Entry;
use super::{DEFAULT_TABLE_SIZE, HeaderList, HpackError, integer, static_table, string};

/// The receiving side of one connection's compression.
#[derive(Clone, Debug)]
pub struct Decoder {
    table: DynamicTable,
    /// The table size that we announced.
    max_table_size: usize,
    /// The lowest size announced since the last block, if the table is larger. The next block must shrink it.
    shrink_to: Option<usize>,
    max_list_size: usize,
}

impl Decoder {
    /// A decoder whose limits, in bytes, both sides know from the start.
    ///
    /// The peer's table starts with 4,096 bytes; a larger `max_table_size` only allows the peer to ask for more. A
    /// smaller one shrinks the table without the peer's signal. To require that signal, start with
    /// [`DEFAULT_TABLE_SIZE`] and call [`Decoder::set_max_table_size`] once the peer has acknowledged the SETTINGS.
    pub fn new(max_table_size: usize, max_list_size: usize) -> Self {
        Self {
            table: DynamicTable::new(max_table_size.min(DEFAULT_TABLE_SIZE)),
            max_table_size,
            shrink_to: None,
            max_list_size,
        }
    }

    /// Sets the table size that our SETTINGS announced, in bytes. Call it when they are acknowledged.
    ///
    /// If the table is larger, the next block must begin with a size update (RFC 9113 §4.3.1).
    pub fn set_max_table_size(&mut self, size: usize) {
        self.max_table_size = size;
        if size < self.table.max_size() {
            self.shrink_to = Some(self.shrink_to.map_or(size, |least| least.min(size)));
        }
    }

    /// The state of the table. A block that did not change it means the same again while the state stays the same.
    ///
    /// `None` while the next block must begin with a size update.
    #[inline]
    pub fn generation(&self) -> Option<u64> {
        match self.shrink_to {
            None => Some(self.table.changes()),
            Some(_) => None,
        }
    }

    /// Decodes one whole header block and appends its fields to `list`.
    ///
    /// # Errors
    ///
    /// [`HpackError::ListTooLarge`] if the list would exceed its limit. The list then ends early, but the table is in
    /// step and the connection may continue. Any other error ends the connection.
    pub fn decode(&mut self, block: &[u8], list: &mut HeaderList) -> Result<(), HpackError> {
        self.decode_after(block, 0, list, |_| {})
    }

    /// The same for a block of whose fields `list` has the first ones: those up to `start`. `ends` hears where each of the
    /// others ends.
    ///
    /// # Errors
    ///
    /// As [`Self::decode`].
    pub fn decode_after(
        &mut self,
        block: &[u8],
        start: usize,
        list: &mut HeaderList,
        mut ends: impl FnMut(usize),
    ) -> Result<(), HpackError> {
        let mut rest = block.get(start..).unwrap_or_default();
        if start == 0 {
            self.resize(&mut rest)?;
        }
        let mut is_too_large = false;
        while let Some((&first, after)) = rest.split_first() {
            rest = after;
            is_too_large |= !match first {
                0x80.. => self.indexed(first, &mut rest, list, !is_too_large)?,
                0x40.. => self.literal(first, 6, &mut rest, list, !is_too_large)?,
                0x20.. => return Err(HpackError::SizeUpdateNotFirst),
                _ => self.literal(first, 4, &mut rest, list, !is_too_large)?,
            };
            ends(block.len() - rest.len());
        }
        if is_too_large {
            return Err(HpackError::ListTooLarge {
                limit: self.max_list_size,
            });
        }
        Ok(())
    }

    /// Takes the size updates at the beginning of a block (RFC 7541 §4.2, §6.3).
    #[inline]
    fn resize(&mut self, rest: &mut &[u8]) -> Result<(), HpackError> {
        while let Some((&first @ 0x20..0x40, mut after)) = rest.split_first() {
            let asked = integer::decode(first, 5, &mut after)?;
            // Of several sizes announced between two blocks, the smallest must be signalled first.
            let allowed = self.shrink_to.take().unwrap_or(self.max_table_size);
            if asked > allowed {
                return Err(HpackError::SizeUpdateTooLarge { asked, allowed });
            }
            self.table.set_max_size(asked);
            *rest = after;
        }
        match self.shrink_to {
            Some(allowed) => Err(HpackError::SizeUpdateMissing { allowed }),
            None => Ok(()),
        }
    }

    /// An indexed field (RFC 7541 §6.1). Returns false if it did not fit the list.
    #[inline]
    fn indexed(
        &self,
        first: u8,
        rest: &mut &[u8],
        list: &mut HeaderList,
        wanted: bool,
    ) -> Result<bool, HpackError> {
        let entry = self.entry(integer::decode(first, 7, rest)?)?;
        let fits = wanted && self.fits(entry, list);
        if fits {
            list.push_entry(entry);
        }
        Ok(fits)
    }

    /// A literal field, added to the table if its first octet says so (RFC 7541 §6.2). Returns false if it did not fit
    /// the list.
    fn literal(
        &mut self,
        first: u8,
        prefix_bits: u32,
        rest: &mut &[u8],
        list: &mut HeaderList,
        wanted: bool,
    ) -> Result<bool, HpackError> {
        let bytes = list.begin();
        let start = bytes.len();
        match integer::decode(first, prefix_bits, rest)? {
            0 => string::decode(rest, bytes)?,
            index => bytes.extend_from_slice(self.entry(index)?.name()),
        }
        let name_len = bytes.len() - start;
        string::decode(rest, bytes)?;
        let entry = list.begun(name_len);
        if first & 0x40 != 0 {
            self.table.insert(entry);
        }
        let fits = wanted && self.fits(entry, list);
        if fits {
            list.finish(name_len);
        }
        Ok(fits)
    }

    #[inline]
    fn fits(&self, entry: Entry<'_>, list: &HeaderList) -> bool {
        list.size().saturating_add(entry.size()) <= self.max_list_size
    }

    /// The entry at an index into both tables (RFC 7541 §2.3.3).
    #[inline]
    fn entry(&self, index: usize) -> Result<Entry<'_>, HpackError> {
        match index.checked_sub(static_table::LEN + 1) {
            Some(position) => self.table.get(position),
            None => static_table::get(index),
        }
        .ok_or(HpackError::IndexOutOfRange(index))
    }

    #[cfg(test)]
    pub(super) fn table(&self) -> &DynamicTable {
        &self.table
    }
}

#[cfg(test)]
mod tests;
