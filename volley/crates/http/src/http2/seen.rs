//! Header blocks seen before: the same bytes need not be decoded and checked again.
//!
//! Under load, a server sends the same two blocks over and over, a head and trailers, each of a few indexed fields.
//! While the dynamic table does not change, the same bytes mean the same fields.

use super::hpack::HeaderList;
use super::response::ResponseHead;

/// Longer blocks contain literals and rarely repeat.
const LONGEST: usize = 64;

/// One block and its meaning.
#[derive(Debug)]
pub struct Seen<T> {
    generation: u64,
    block: Vec<u8>,
    /// Its fields, decoded and checked.
    pub list: HeaderList,
    /// What the fields mean.
    pub meaning: T,
}

/// The latest block of each kind; `None` if no block was worth keeping.
#[derive(Debug, Default)]
pub struct SeenBlocks {
    /// A response's head.
    pub head: Option<Seen<ResponseHead>>,
    /// Trailers.
    pub trailers: Option<Seen<()>>,
}

impl<T> Seen<T> {
    /// Whether this block is the same as that one; `generation` is the decoder's current one.
    #[inline]
    pub fn is_again(&self, block: &[u8], generation: Option<u64>) -> bool {
        generation == Some(self.generation) && self.block == block
    }

    /// Keeps a block that was decoded without changing the table, if it is worth it.
    pub fn keep(
        place: &mut Option<Self>,
        block: &[u8],
        generation: (Option<u64>, Option<u64>),
        list: &HeaderList,
        meaning: T,
    ) {
        let (Some(before), Some(after)) = generation else {
            return;
        };
        if before != after || block.len() > LONGEST {
            return;
        }
        // In place: a server whose blocks always differ must not cost an allocation each time.
        if let Some(seen) = place {
            seen.generation = after;
            seen.block.clear();
            seen.block.extend_from_slice(block);
            seen.list.copy(list);
            seen.meaning = meaning;
        } else {
            *place = Some(Self {
                generation: after,
                block: block.to_vec(),
                list: list.clone(),
                meaning,
            });
        }
    }
}
