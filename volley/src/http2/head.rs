//! A request's head, and its last encoding.

use std::sync::Arc;

use super::frame::{DEFAULT_MAX_FRAME_SIZE, Kind, flag, write_headers, write_whole};
use super::hpack::{Encoder, Field};

/// Request pseudo-headers and headers, in order; shared by all calls that send the same ones.
#[derive(Debug, Default)]
pub struct Head {
    /// Pseudo-headers first (RFC 9113 §8.3).
    pub fields: Vec<Field>,
}

/// Writes heads. Keeps the bytes of the last one while they may be sent again unchanged.
pub struct HeadWriter {
    encoder: Encoder,
    /// The head that `block` encodes, and the encoder's generation at that time.
    stable: Option<(Arc<Head>, u64)>,
    block: Vec<u8>,
}

impl HeadWriter {
    /// A writer with an empty table.
    pub fn new() -> Self {
        Self {
            encoder: Encoder::new(),
            stable: None,
            block: Vec::new(),
        }
    }

    /// The peer's SETTINGS_HEADER_TABLE_SIZE, in bytes.
    pub fn set_peer_max_table_size(&mut self, size: usize) {
        self.encoder.set_peer_max_table_size(size);
    }

    /// Appends HEADERS, and CONTINUATION if the block needs it. `literals`: more fields, already encoded.
    pub fn write(
        &mut self,
        out: &mut Vec<u8>,
        stream: u32,
        head: &Arc<Head>,
        literals: &[u8],
        end_stream: bool,
        max_frame_size: usize,
    ) {
        let is_stable = self.stable.as_ref().is_some_and(|(last, generation)| {
            Arc::ptr_eq(last, head) && *generation == self.encoder.generation()
        });
        if is_stable && literals.is_empty() {
            let end = if end_stream { flag::END_STREAM } else { 0 };
            let flags = flag::END_HEADERS | end;
            write_whole(out, Kind::Headers, flags, stream, &self.block);
            return;
        }
        if !is_stable {
            self.block.clear();
            let repeatable = self.encoder.encode(&head.fields, &mut self.block);
            let fits = self.block.len() <= DEFAULT_MAX_FRAME_SIZE;
            self.stable =
                (repeatable && fits).then(|| (Arc::clone(head), self.encoder.generation()));
        }
        let shared = self.block.len();
        self.block.extend_from_slice(literals);
        write_headers(out, stream, &self.block, end_stream, max_frame_size);
        self.block.truncate(shared);
    }
}
