//! Whole frames, appended to an output buffer.

use super::{FrameHeader, HEADER_LEN, Kind, MAX_LENGTH, STREAM_MASK, flag};
use crate::http2::error_code::ErrorCode;

/// Appends a frame with one payload, of at most [`MAX_LENGTH`] bytes.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "callers keep to MAX_LENGTH"
)]
pub fn write_whole(out: &mut Vec<u8>, kind: Kind, flags: u8, stream: u32, payload: &[u8]) {
    let length = payload.len() as u32;
    let header = FrameHeader {
        length,
        kind,
        flags,
        stream,
    };
    debug_assert!(
        payload.len() <= MAX_LENGTH,
        "a frame of {length} bytes cannot be announced"
    );
    out.reserve(HEADER_LEN + payload.len());
    header.write(out);
    out.extend_from_slice(payload);
}

/// Appends DATA: one frame, so `payload` must fit the peer's largest frame.
pub fn write_data(out: &mut Vec<u8>, stream: u32, payload: &[u8], end_stream: bool) {
    let flags = if end_stream { flag::END_STREAM } else { 0 };
    write_whole(out, Kind::Data, flags, stream, payload);
}

/// Appends a header block as HEADERS and the CONTINUATION frames that `max_frame_size` (bytes) requires.
pub fn write_headers(
    out: &mut Vec<u8>,
    stream: u32,
    block: &[u8],
    end_stream: bool,
    max_frame_size: usize,
) {
    let end = if end_stream { flag::END_STREAM } else { 0 };
    let (mut fragment, mut rest) = block.split_at(block.len().min(max_frame_size.max(1)));
    let (mut kind, mut flags) = (Kind::Headers, end);
    while !rest.is_empty() {
        write_whole(out, kind, flags, stream, fragment);
        (kind, flags) = (Kind::Continuation, 0);
        (fragment, rest) = rest.split_at(rest.len().min(max_frame_size.max(1)));
    }
    write_whole(out, kind, flags | flag::END_HEADERS, stream, fragment);
}

/// Appends RST_STREAM.
pub fn write_rst_stream(out: &mut Vec<u8>, stream: u32, code: ErrorCode) {
    write_whole(
        out,
        Kind::RstStream,
        0,
        stream,
        &(code as u32).to_be_bytes(),
    );
}

/// Appends SETTINGS: pairs of identifier and value (RFC 9113 §6.5.1).
pub fn write_settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    let mut payload = Vec::with_capacity(settings.len() * 6);
    for (identifier, value) in settings {
        payload.extend_from_slice(&identifier.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    write_whole(out, Kind::Settings, 0, 0, &payload);
}

/// Appends the acknowledgement of the peer's SETTINGS.
pub fn write_settings_ack(out: &mut Vec<u8>) {
    write_whole(out, Kind::Settings, flag::ACK, 0, &[]);
}

/// Appends PING, or, with `ack`, the answer to one.
pub fn write_ping(out: &mut Vec<u8>, ack: bool, payload: [u8; 8]) {
    let flags = if ack { flag::ACK } else { 0 };
    write_whole(out, Kind::Ping, flags, 0, &payload);
}

/// Appends GOAWAY: `last` is the highest stream of the peer that was or may be processed.
pub fn write_go_away(out: &mut Vec<u8>, last: u32, code: ErrorCode, debug: &[u8]) {
    let last = (last & STREAM_MASK).to_be_bytes();
    let code = (code as u32).to_be_bytes();
    let payload = [&last[..], &code, debug].concat();
    write_whole(out, Kind::GoAway, 0, 0, &payload);
}

/// Appends WINDOW_UPDATE; `increment` is in bytes, 1 to 2³¹ − 1.
pub fn write_window_update(out: &mut Vec<u8>, stream: u32, increment: u32) {
    debug_assert!(increment > 0 && increment <= STREAM_MASK);
    let increment = (increment & STREAM_MASK).to_be_bytes();
    write_whole(out, Kind::WindowUpdate, 0, stream, &increment);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out);
        out
    }

    /// Takes frames off `bytes` until no whole frame is left.
    fn frames(mut bytes: &[u8]) -> Vec<(FrameHeader, &[u8])> {
        let mut all = Vec::new();
        while let Some((header, rest)) = bytes.split_first_chunk::<HEADER_LEN>() {
            let header = FrameHeader::parse(header);
            let (payload, rest) = rest.split_at(header.length as usize);
            all.push((header, payload));
            bytes = rest;
        }
        assert!(bytes.is_empty(), "bytes beyond the last whole frame");
        all
    }

    #[test]
    fn control_frames_are_byte_for_byte_what_the_rfc_draws() {
        assert_eq!(written(write_settings_ack), [0, 0, 0, 4, 1, 0, 0, 0, 0]);
        assert_eq!(
            written(|out| write_settings(out, &[(2, 0), (4, 0x0100_0000)])),
            [
                0, 0, 12, 4, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0
            ]
        );
        assert_eq!(
            written(|out| write_ping(out, true, *b"volleys!")),
            *b"\0\0\x08\x06\x01\0\0\0\0volleys!"
        );
        assert_eq!(
            written(|out| write_rst_stream(out, 3, ErrorCode::Cancel)),
            [0, 0, 4, 3, 0, 0, 0, 0, 3, 0, 0, 0, 8]
        );
        assert_eq!(
            written(|out| write_go_away(out, 5, ErrorCode::ProtocolError, b"why")),
            *b"\0\0\x0b\x07\0\0\0\0\0\0\0\0\x05\0\0\0\x01why"
        );
        assert_eq!(
            written(|out| write_window_update(out, 7, 0x7fff_ffff)),
            [0, 0, 4, 8, 0, 0, 0, 0, 7, 0x7f, 0xff, 0xff, 0xff]
        );
    }

    #[test]
    fn data_ends_the_stream_only_when_told_to() {
        assert_eq!(
            written(|out| write_data(out, 1, b"ab", true)),
            *b"\0\0\x02\0\x01\0\0\0\x01ab"
        );
        assert_eq!(
            written(|out| write_data(out, 1, b"", false)),
            *b"\0\0\0\0\0\0\0\0\x01"
        );
    }

    #[test]
    fn an_empty_block_is_still_one_headers_frame() {
        let out = written(|out| write_headers(out, 1, &[], true, 16_384));
        assert_eq!(
            out,
            [0, 0, 0, 1, flag::END_STREAM | flag::END_HEADERS, 0, 0, 0, 1]
        );
    }

    proptest! {
        #[test]
        fn a_header_block_of_any_length_is_split_and_comes_back_whole(
            block in prop::collection::vec(any::<u8>(), 0..200), max in 1usize..40, end: bool,
        ) {
            let out = written(|out| write_headers(out, 9, &block, end, max));
            let frames = frames(&out);
            let joined: Vec<u8> = frames.iter().flat_map(|(_, payload)| payload.to_vec()).collect();
            prop_assert_eq!(joined, block);
            for (i, (header, payload)) in frames.iter().enumerate() {
                let last = i + 1 == frames.len();
                prop_assert_eq!(header.kind, if i == 0 { Kind::Headers } else { Kind::Continuation });
                prop_assert_eq!(header.has(flag::END_HEADERS), last);
                prop_assert_eq!(header.has(flag::END_STREAM), i == 0 && end);
                prop_assert_eq!(header.stream, 9);
                prop_assert!(payload.len() <= max && (last || payload.len() == max));
            }
        }
    }
}
