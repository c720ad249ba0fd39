//! Remembers which streams the peer has ended, after they are gone.

/// How many of the latest streams are remembered.
const REMEMBERED: u32 = 8192;

/// A ring of one bit for each of the latest streams: did the peer end it (END_STREAM or RST_STREAM)?
///
/// A peer must send nothing more on a stream that it ended. On a stream that only we have reset, it may send for a
/// while (RFC 9113 §5.1). Streams too old to be remembered are treated as the second kind.
#[derive(Debug)]
pub struct EndedByPeer {
    bits: Vec<u64>,
}

impl Default for EndedByPeer {
    fn default() -> Self {
        Self {
            bits: vec![0; REMEMBERED as usize / 64],
        }
    }
}

impl EndedByPeer {
    /// A stream was opened: clears its bit, which an older stream used before.
    pub fn opened(&mut self, id: u32) {
        let (word, bit) = place(id);
        if let Some(word) = self.bits.get_mut(word) {
            *word &= !bit;
        }
    }

    /// The peer ended the stream.
    pub fn ended(&mut self, id: u32) {
        let (word, bit) = place(id);
        if let Some(word) = self.bits.get_mut(word) {
            *word |= bit;
        }
    }

    /// Whether the peer is known to have ended the stream; `next_id` is the first that was not opened yet.
    pub fn contains(&self, id: u32, next_id: u32) -> bool {
        let (word, bit) = place(id);
        let recent = id < next_id && (next_id - id) / 2 <= REMEMBERED;
        recent && self.bits.get(word).is_some_and(|word| word & bit != 0)
    }
}

fn place(id: u32) -> (usize, u64) {
    let index = (id / 2) % REMEMBERED;
    ((index / 64) as usize, 1 << (index % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_remembered_until_8192_more_were_opened() {
        let mut ended = EndedByPeer::default();
        ended.opened(1);
        ended.ended(1);
        assert!(ended.contains(1, 3));
        assert!(!ended.contains(3, 5));
        assert!(ended.contains(1, 1 + 2 * REMEMBERED));
        ended.opened(1 + 2 * REMEMBERED);
        assert!(!ended.contains(1, 3 + 2 * REMEMBERED));
        assert!(!ended.contains(1 + 2 * REMEMBERED, 3 + 2 * REMEMBERED));
    }
}
