//! Header blocks that came before, so that the same bytes need not be decoded and checked again.
//!
//! Under load a server sends two blocks over and over, a head and trailers, each a few indexed fields. As long as the
//! dynamic table has not changed, the same bytes are the same fields.

use super::hpack::HeaderList;
use super::response::Head;

/// Longer blocks hold literals and hardly ever come again.
const LONGEST: usize = 64;

/// One block with what it says.
#[derive(Debug)]
pub struct Seen<T> {
    generation: u64,
    block: Vec<u8>,
    /// Its fields, decoded and found well-formed.
    pub list: HeaderList,
    /// What was learned from them.
    pub meaning: T,
}

/// The latest block of each kind; `None` where there was none worth remembering.
#[derive(Debug, Default)]
pub struct SeenBlocks {
    /// A response's head.
    pub head: Option<Seen<Head>>,
    /// Trailers.
    pub trailers: Option<Seen<()>>,
}

impl<T> Seen<T> {
    /// Whether this block is that one again; `generation` is the decoder's now.
    #[inline]
    pub fn is_again(&self, block: &[u8], generation: Option<u64>) -> bool {
        generation == Some(self.generation) && self.block == block
    }

    /// Keep a block that was decoded without changing the table, if it is worth it.
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
        // In place: a server whose blocks differ every time must not cost an allocation each.
        if let Some(seen) = place {
            seen.generation = after;
            seen.block.clear();
            seen.block.extend_from_slice(block);
            seen.list.clear();
            list.iter()
                .for_each(|(name, value)| seen.list.push(name, value));
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
