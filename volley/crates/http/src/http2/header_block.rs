//! A header block that comes in several frames (RFC 9113 §4.3).

use super::error::Violation;
use super::frame::DEFAULT_MAX_FRAME_SIZE;

/// Any block may have this many CONTINUATION frames; each `BYTES_A_FRAME` bytes allow one more.
const FREE_FRAMES: u32 = 64;
const BYTES_A_FRAME: usize = 1024;

/// The block so far. Only blocks that do not fit into one frame get here.
#[derive(Debug)]
pub struct HeaderBlock {
    stream: u32,
    end_stream: bool,
    bytes: Vec<u8>,
    continuations: u32,
    max_bytes: usize,
    max_continuations: u32,
}

impl HeaderBlock {
    /// An empty block for lists of at most `max_header_list` bytes (counted as in RFC 7541 §4.1).
    pub fn new(max_header_list: u32) -> Self {
        // Decoded fields count 32 bytes extra, and Huffman codes are rarely longer than their text. So twice the list's
        // size is enough for any block that is not malicious.
        let max_bytes = (max_header_list as usize).max(DEFAULT_MAX_FRAME_SIZE) * 2;
        let further = u32::try_from(max_bytes / BYTES_A_FRAME).unwrap_or(u32::MAX);
        Self {
            stream: 0,
            end_stream: false,
            bytes: Vec::new(),
            continuations: 0,
            max_bytes,
            max_continuations: FREE_FRAMES.saturating_add(further),
        }
    }

    /// A HEADERS frame without END_HEADERS.
    pub fn begin(&mut self, stream: u32, end_stream: bool, fragment: &[u8]) {
        self.stream = stream;
        self.end_stream = end_stream;
        self.continuations = 0;
        self.bytes.clear();
        self.bytes.extend_from_slice(fragment);
    }

    /// A CONTINUATION frame. Both limits stop a flood of endless CONTINUATION frames (RFC 9113 §10.5.1).
    pub fn extend(&mut self, fragment: &[u8]) -> Result<(), Violation> {
        let stream = self.stream;
        self.continuations += 1;
        if self.continuations > self.max_continuations {
            let limit = self.max_continuations;
            return Err(Violation::ContinuationFlood { stream, limit });
        }
        if self.bytes.len() + fragment.len() > self.max_bytes {
            let limit = self.max_bytes;
            return Err(Violation::HeaderBlockTooLarge { stream, limit });
        }
        self.bytes.extend_from_slice(fragment);
        Ok(())
    }

    /// The stream that it belongs to.
    pub fn stream(&self) -> u32 {
        self.stream
    }

    /// Whether its HEADERS frame ended the stream.
    pub fn end_stream(&self) -> bool {
        self.end_stream
    }

    /// Takes the bytes out; return the buffer with [`give_back`](Self::give_back).
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Returns the buffer for the next block.
    pub fn give_back(&mut self, buffer: Vec<u8>) {
        self.bytes = buffer;
    }
}
