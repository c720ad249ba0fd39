//! Header blocks seen before: what comes again need not be decoded and checked again.
//!
//! Under load, a server sends the same few blocks over and over: heads, of which only one field may differ, and trailers.
//! While the dynamic table does not change, the same bytes mean the same fields.

use volley_base::defaults;

use super::hpack::{Decoder, HeaderList, HpackError};
use super::response::ResponseHead;

/// Longer blocks are forgotten.
const LONGEST: usize = 1024;

/// No generation of a decoder.
const NEVER: u64 = u64::MAX;

defaults! {
    /// The last block of its kind, and its meaning.
    #[derive(Debug)]
    pub struct Seen {
        /// That of the decoder, if the same bytes mean the same as long as it stays.
        generation: u64 = NEVER,
        block: Vec<u8> = Vec::new(),
        /// Where each of its fields ends.
        ends: Vec<usize> = Vec::new(),
        /// Its fields, decoded and checked.
        pub list: HeaderList = HeaderList::new(),
        /// Of a head: what the fields mean.
        pub meaning: ResponseHead = ResponseHead::Informational,
    }
}

/// The latest block of each kind.
#[derive(Debug, Default)]
pub struct SeenBlocks {
    /// Heads, by whether their first byte is odd: those of 200 and of 204 have each their place.
    heads: [Seen; 2],
    pub trailers: Seen,
}

impl SeenBlocks {
    /// The last head that began like this block.
    #[inline]
    pub fn head(&self, block: &[u8]) -> &Seen {
        &self.heads[place(block)]
    }

    #[inline]
    pub fn head_mut(&mut self, block: &[u8]) -> &mut Seen {
        &mut self.heads[place(block)]
    }
}

#[inline]
fn place(block: &[u8]) -> usize {
    usize::from(block.first().map_or(0, |first| first & 1))
}

impl Seen {
    /// Whether this block is the same as that one; `generation` is the decoder's current one.
    #[inline]
    pub fn is_again(&self, block: &[u8], generation: Option<u64>) -> bool {
        generation == Some(self.generation) && self.block == block
    }

    /// Decodes another block into the list, but for the fields with which the last one began, too. Returns how many
    /// those are: they need not be checked again.
    ///
    /// # Errors
    ///
    /// Those of [`Decoder::decode`].
    pub fn read(&mut self, block: &[u8], decoder: &mut Decoder) -> Result<usize, HpackError> {
        let is_same_table = decoder.generation() == Some(self.generation);
        let (known, start) = match is_same_table {
            true => common(&self.ends, &self.block, block),
            false => (0, 0),
        };
        self.generation = NEVER;
        self.list.truncate(known);
        self.ends.truncate(known);
        let ends = &mut self.ends;
        decoder.decode_after(block, start, &mut self.list, |end| ends.push(end))?;
        self.block.truncate(start);
        if block.len() <= LONGEST {
            self.block
                .extend_from_slice(block.get(start..).unwrap_or_default());
        }
        Ok(known)
    }

    /// Keeps the block that was read and checked, if it is worth it and did not change the table; `before`: the decoder's
    /// generation then.
    pub fn keep(&mut self, before: Option<u64>, decoder: &Decoder, meaning: ResponseHead) {
        self.meaning = meaning;
        let is_kept = before == decoder.generation() && Some(&self.block.len()) == self.ends.last();
        self.generation = before.filter(|_| is_kept).unwrap_or(NEVER);
    }
}

/// How many parts of `before`, which end there, `now` begins with, too, and where the last of these ends.
#[inline]
pub fn common(ends: &[usize], before: &[u8], now: &[u8]) -> (usize, usize) {
    let mut start = 0;
    let is_same = |end: &&usize| {
        let is_same = before.get(start..**end) == now.get(start..**end);
        start = if is_same { **end } else { start };
        is_same
    };
    let known = ends.iter().take_while(is_same).count();
    (known, start)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::http2::hpack::{DEFAULT_TABLE_SIZE, Encoder, Field, Indexing};

    fn field() -> impl Strategy<Value = Field> {
        let indexing = prop_oneof![
            4 => Just(Indexing::Without),
            2 => Just(Indexing::Never),
            1 => Just(Indexing::Incremental),
        ];
        let name = prop_oneof![Just("a"), Just("location"), Just("date")];
        let value = prop_oneof![Just("1"), Just("2"), Just("/items/3")];
        (name, value, indexing).prop_map(|(name, value, indexing)| Field {
            name: name.as_bytes().into(),
            value: value.as_bytes().into(),
            indexing,
        })
    }

    proptest! {
        #[test]
        fn blocks_read_the_same_whatever_came_before(lists in vec(vec(field(), 0..5), 1..40)) {
            let mut encoder = Encoder::new();
            let new = || Decoder::new(DEFAULT_TABLE_SIZE, 120);
            let (mut own, mut other) = (new(), new());
            let mut seen = Seen::default();
            for fields in lists {
                let mut block = Vec::new();
                encoder.encode(&fields, &mut block);
                let before = own.generation();
                let mut expected = HeaderList::new();
                let decoded = other.decode(&block, &mut expected);
                if seen.is_again(&block, before) {
                    prop_assert_eq!(decoded, Ok(()));
                } else {
                    let read = seen.read(&block, &mut own).map(|_| ());
                    prop_assert_eq!(read, decoded);
                    if read.is_ok() {
                        seen.keep(before, &own, ResponseHead::Informational);
                    }
                }
                prop_assert!(seen.list.iter().eq(expected.iter()));
                prop_assert_eq!(own.generation(), other.generation());
            }
        }
    }

    #[test]
    fn a_block_after_one_that_begins_likewise_is_read_from_where_they_differ() {
        let mut decoder = Decoder::new(DEFAULT_TABLE_SIZE, 4096);
        let mut seen = Seen::default();
        let known = [
            "\x08\x03201\x0f\x1f\x01a",
            "\x08\x03201\x0f\x1f\x01b",
            "\x08\x03202",
        ];
        let known = known.map(|block| {
            let before = decoder.generation();
            let known = seen.read(block.as_bytes(), &mut decoder);
            seen.keep(before, &decoder, ResponseHead::Informational);
            known
        });
        assert_eq!(known, [Ok(0), Ok(1), Ok(0)]);
        assert_eq!(seen.list.len(), 1);
        assert!(seen.is_again(b"\x08\x03202", decoder.generation()));
    }
}
