//! From bytes to frames: what both sides of a connection do with what the peer sends.

use super::error::Violation;
use super::frame::{
    self, DEFAULT_MAX_FRAME_SIZE, FrameHeader, HEADER_LEN, Kind, flag, skip_priority,
};
use super::header_block::HeaderBlock;

/// Which frame may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// The peer's first: SETTINGS (RFC 9113 §3.4).
    Settings,
    /// Any frame.
    Any,
    /// Only CONTINUATION of the open header block (RFC 9113 §4.3).
    Continuation,
}

/// A frame's header, its payload or the buffer that holds the whole frame, and the bytes behind it.
type Framed<'a, P> = (FrameHeader, P, &'a [u8]);

/// Cuts a peer's bytes into frames, wherever reads have cut them, and knows which frame may come next.
#[derive(Debug)]
pub struct Reader {
    expected: Expected,
    /// The beginning of a frame whose end has not been read.
    partial: Vec<u8>,
    block: HeaderBlock,
}

impl Reader {
    /// For a peer that has sent nothing. Its header lists have at most `max_header_list` bytes, counted as in RFC 7541
    /// §4.1.
    pub fn new(max_header_list: u32) -> Self {
        Self {
            expected: Expected::Settings,
            partial: Vec::new(),
            block: HeaderBlock::new(max_header_list),
        }
    }

    /// The first frame in `bytes`, its payload, and what follows it; `None`: it is not whole.
    ///
    /// A frame that is too long is refused as soon as its length is known.
    #[inline(always)]
    pub fn next<'a>(&self, bytes: &'a [u8]) -> Result<Option<Framed<'a, &'a [u8]>>, Violation> {
        let Some((header, rest)) = bytes.split_first_chunk::<HEADER_LEN>() else {
            self.check_length(bytes)?;
            return Ok(None);
        };
        let frame = FrameHeader::parse(header);
        if frame.length as usize > DEFAULT_MAX_FRAME_SIZE {
            return Err(self.too_long(frame.length));
        }
        let whole = rest.split_at_checked(frame.length as usize);
        Ok(whole.map(|(payload, rest)| (frame, payload, rest)))
    }

    /// Keeps the beginning of a frame until the rest of it comes.
    pub fn keep(&mut self, bytes: &[u8]) {
        self.partial.extend_from_slice(bytes);
    }

    /// Whether the beginning of a frame is kept: then [`complete`](Self::complete) comes before [`next`](Self::next).
    #[inline]
    pub fn has_begun(&self) -> bool {
        !self.partial.is_empty()
    }

    /// Continues the frame that was kept. Returns it, in the buffer that [`give_back`](Self::give_back) takes again,
    /// and the bytes behind it; `None`: it is still not whole.
    #[cold]
    pub fn complete<'a>(
        &mut self,
        bytes: &'a [u8],
    ) -> Result<Option<Framed<'a, Vec<u8>>>, Violation> {
        let missing = HEADER_LEN.saturating_sub(self.partial.len());
        let (head, bytes) = bytes.split_at(missing.min(bytes.len()));
        self.partial.extend_from_slice(head);
        self.check_length(&self.partial)?;
        let Some(header) = self.partial.first_chunk::<HEADER_LEN>() else {
            return Ok(None);
        };
        let frame = FrameHeader::parse(header);
        let whole = HEADER_LEN + frame.length as usize;
        let missing = whole.saturating_sub(self.partial.len());
        let (payload, bytes) = bytes.split_at(missing.min(bytes.len()));
        self.partial.extend_from_slice(payload);
        let is_whole = self.partial.len() == whole;
        Ok(is_whole.then(|| (frame, std::mem::take(&mut self.partial), bytes)))
    }

    /// Takes the buffer of a completed frame for the next one.
    pub fn give_back(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.partial = buffer;
    }

    /// Frees what was kept: the connection is dead.
    pub fn forget(&mut self) {
        self.partial = Vec::new();
    }

    /// The peer's first SETTINGS came.
    pub fn greeted(&mut self) {
        if self.expected == Expected::Settings {
            self.expected = Expected::Any;
        }
    }

    /// Whether any frame may come.
    #[inline]
    pub fn expects_any(&self) -> bool {
        self.expected == Expected::Any
    }

    /// Refuses a frame that may not come now.
    pub fn check_turn(&self, frame: FrameHeader) -> Result<(), Violation> {
        let FrameHeader { kind, stream, .. } = frame;
        match self.expected {
            Expected::Settings if kind != Kind::Settings || frame.has(flag::ACK) => {
                Err(Violation::NoSettingsFirst { kind })
            }
            Expected::Continuation
                if kind != Kind::Continuation || stream != self.block.stream() =>
            {
                let stream = self.block.stream();
                Err(Violation::InterruptedHeaders { kind, stream })
            }
            _ => Ok(()),
        }
    }

    /// A HEADERS frame. Returns its header block, unless CONTINUATION frames must follow.
    pub fn begin_block<'a>(
        &mut self,
        frame: FrameHeader,
        payload: &'a [u8],
    ) -> Result<Option<&'a [u8]>, Violation> {
        let fragment =
            skip_priority(frame.flags, unpad(frame, payload)?).ok_or_else(|| wrong_size(frame))?;
        if frame.has(flag::END_HEADERS) {
            return Ok(Some(fragment));
        }
        self.block
            .begin(frame.stream, frame.has(flag::END_STREAM), fragment);
        self.expected = Expected::Continuation;
        Ok(None)
    }

    /// A CONTINUATION frame. If it is the last one: the block, in the buffer that
    /// [`give_back_block`](Self::give_back_block) takes again, and whether its HEADERS frame ended the stream.
    pub fn continue_block(
        &mut self,
        frame: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<(Vec<u8>, bool)>, Violation> {
        if self.expected != Expected::Continuation {
            let stream = frame.stream;
            return Err(Violation::StrayContinuation { stream });
        }
        self.block.extend(payload)?;
        if !frame.has(flag::END_HEADERS) {
            return Ok(None);
        }
        self.expected = Expected::Any;
        Ok(Some((self.block.take(), self.block.end_stream())))
    }

    /// Takes the buffer of a block for the next one.
    pub fn give_back_block(&mut self, buffer: Vec<u8>) {
        self.block.give_back(buffer);
    }

    fn check_length(&self, bytes: &[u8]) -> Result<(), Violation> {
        let Some(&[a, b, c]) = bytes.first_chunk::<3>() else {
            return Ok(());
        };
        let length = u32::from_be_bytes([0, a, b, c]);
        if length as usize <= DEFAULT_MAX_FRAME_SIZE {
            return Ok(());
        }
        Err(self.too_long(length))
    }

    #[cold]
    fn too_long(&self, length: u32) -> Violation {
        // Bytes before SETTINGS that are not a frame are another protocol: `HTTP/1.1 400`, a page, a TLS alert.
        let http = u32::from_be_bytes([0, b'H', b'T', b'T']);
        match self.expected {
            Expected::Settings if length == http => Violation::Http1,
            Expected::Settings => Violation::NotHttp2,
            _ => Violation::FrameTooLarge { length },
        }
    }
}

/// The payload of a frame without its padding.
#[inline]
pub fn unpad(frame: FrameHeader, payload: &[u8]) -> Result<&[u8], Violation> {
    frame::unpad(frame.flags, payload).ok_or(Violation::Padding { kind: frame.kind })
}

/// For frames that concern the whole connection.
pub fn needs_connection(frame: FrameHeader) -> Result<(), Violation> {
    let FrameHeader { kind, stream, .. } = frame;
    if stream != 0 {
        return Err(Violation::NeedsConnection { kind, stream });
    }
    Ok(())
}

/// The payload of a frame that must have exactly `N` bytes.
pub fn exact<const N: usize>(frame: FrameHeader, payload: &[u8]) -> Result<&[u8; N], Violation> {
    payload.try_into().map_err(|_| wrong_size(frame))
}

/// For a payload that is shorter or longer than its kind of frame allows.
pub fn wrong_size(frame: FrameHeader) -> Violation {
    let FrameHeader { kind, length, .. } = frame;
    Violation::FrameSize { kind, length }
}
