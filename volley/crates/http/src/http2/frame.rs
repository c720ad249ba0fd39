//! HTTP/2 frames: the nine-byte header, and padding (RFC 9113 §4.1, §6.1). Writing whole frames is in `write`.

mod kind;
mod write;

pub use kind::Kind;
pub use write::{
    write_data, write_go_away, write_headers, write_ping, write_rst_stream, write_settings,
    write_settings_ack, write_whole, write_window_update,
};

/// Bytes of a frame's header.
pub const HEADER_LEN: usize = 9;

/// What a client sends before its first frame (RFC 9113 §3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The largest payload that a frame header can announce, in bytes.
pub const MAX_LENGTH: usize = (1 << 24) - 1;

/// The largest payload that a peer may send by default (RFC 9113 §6.5.2), in bytes.
pub const DEFAULT_MAX_FRAME_SIZE: usize = 1 << 14;

/// The highest stream number; the bit above it is reserved (RFC 9113 §4.1).
pub const STREAM_MASK: u32 = (1 << 31) - 1;

/// Flag bits. `ACK` and `END_STREAM` are the same bit on different frame types.
pub mod flag {
    pub const END_STREAM: u8 = 0x1;
    pub const ACK: u8 = 0x1;
    pub const END_HEADERS: u8 = 0x4;
    pub const PADDED: u8 = 0x8;
    pub const PRIORITY: u8 = 0x20;
}

/// The fixed part in front of every frame's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Bytes of payload that follow; at most [`MAX_LENGTH`].
    pub length: u32,
    pub kind: Kind,
    pub flags: u8,
    /// 0 for the connection itself; at most [`STREAM_MASK`].
    pub stream: u32,
}

impl FrameHeader {
    /// Reads a header. Any nine bytes are valid; the reserved bit is ignored (RFC 9113 §4.1).
    #[inline(always)]
    pub fn parse(bytes: &[u8; HEADER_LEN]) -> Self {
        let [a, b, c, kind, flags, s0, s1, s2, s3] = *bytes;
        Self {
            length: u32::from_be_bytes([0, a, b, c]),
            kind: Kind::from_u8(kind),
            flags,
            stream: u32::from_be_bytes([s0, s1, s2, s3]) & STREAM_MASK,
        }
    }

    /// Appends the header's nine bytes to `out`.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>) {
        debug_assert!(self.length as usize <= MAX_LENGTH && self.stream <= STREAM_MASK);
        let [_, a, b, c] = self.length.to_be_bytes();
        let [s0, s1, s2, s3] = (self.stream & STREAM_MASK).to_be_bytes();
        out.extend_from_slice(&[a, b, c, self.kind.to_u8(), self.flags, s0, s1, s2, s3]);
    }

    /// Whether all bits of `flag` are set.
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag == flag
    }
}

/// The payload of a DATA, HEADERS or PUSH_PROMISE frame without its padding.
/// `None` is a connection error (RFC 9113 §6.1): the padding is at least as long as the payload, or the frame is too
/// short to hold the padding's length.
#[inline]
pub fn unpad(flags: u8, payload: &[u8]) -> Option<&[u8]> {
    if flags & flag::PADDED == 0 {
        return Some(payload);
    }
    let (&padding, rest) = payload.split_first()?;
    rest.get(..rest.len().checked_sub(usize::from(padding))?)
}

/// The field block of an unpadded HEADERS payload, without the five bytes of deprecated priority (RFC 9113 §6.2).
///
/// `None`: the frame is too short to hold them.
#[inline]
pub fn skip_priority(flags: u8, unpadded: &[u8]) -> Option<&[u8]> {
    if flags & flag::PRIORITY == 0 {
        return Some(unpadded);
    }
    unpadded.get(5..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_header_is_read_field_by_field() {
        let header = FrameHeader::parse(&[0x01, 0x02, 0x03, 0x1, 0x25, 0, 0, 1, 5]);
        assert_eq!(
            header,
            FrameHeader {
                length: 0x01_0203,
                kind: Kind::Headers,
                flags: 0x25,
                stream: 261
            }
        );
        assert!(header.has(flag::END_HEADERS) && header.has(flag::PRIORITY));
        assert!(!header.has(flag::PADDED));
    }

    #[test]
    fn the_reserved_bit_of_the_stream_number_is_ignored() {
        assert_eq!(
            FrameHeader::parse(&[0, 0, 0, 0, 0, 0x80, 0, 0, 3]).stream,
            3
        );
    }

    #[test]
    fn padding_is_taken_off_only_where_the_flag_says_so() {
        assert_eq!(unpad(0, &[2, 7, 0, 0]), Some(&[2, 7, 0, 0][..]));
        assert_eq!(unpad(flag::PADDED, &[2, 7, 0, 0]), Some(&[7][..]));
        assert_eq!(unpad(flag::PADDED, &[3, 0, 0, 0]), Some(&[][..]));
    }

    #[test]
    fn padding_that_does_not_fit_is_refused() {
        assert_eq!(unpad(flag::PADDED, &[4, 0, 0, 0]), None);
        assert_eq!(unpad(flag::PADDED, &[]), None);
    }

    #[test]
    fn priority_is_skipped_and_must_be_whole() {
        assert_eq!(
            skip_priority(flag::PRIORITY, &[0, 0, 0, 1, 9, 0x82]),
            Some(&[0x82][..])
        );
        assert_eq!(skip_priority(flag::PRIORITY, &[0, 0, 0, 1]), None);
        assert_eq!(skip_priority(0, &[0x82]), Some(&[0x82][..]));
    }

    proptest! {
        #[test]
        fn a_parsed_header_writes_the_bytes_it_came_from(mut bytes: [u8; HEADER_LEN]) {
            let mut out = Vec::new();
            FrameHeader::parse(&bytes).write(&mut out);
            bytes[5] &= 0x7f;
            prop_assert_eq!(out, bytes);
        }

        #[test]
        fn padding_of_any_length_is_taken_off_again(data: Vec<u8>, padding: u8) {
            let mut payload = vec![padding];
            payload.extend_from_slice(&data);
            payload.resize(payload.len() + usize::from(padding), 0);
            prop_assert_eq!(unpad(flag::PADDED, &payload), Some(&data[..]));
        }
    }
}
