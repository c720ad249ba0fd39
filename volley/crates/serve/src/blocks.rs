//! Header blocks of answers: constants of literals without indexing, so that they are the same on every connection.

use std::fmt::Write as _;

use volley_http::grpc::Code;
use volley_http::http2::frame::{DEFAULT_MAX_FRAME_SIZE, Kind, flag, write_headers, write_whole};
use volley_http::http2::hpack::literal;

/// `:status: 200` (static index 8) and `content-type: application/grpc` (name at static index 31).
const RESPONSE: &[u8] = b"\x88\x0f\x10\x10application/grpc";
/// `grpc-status: 0`.
const OK: &[u8] = b"\x00\x0bgrpc-status\x010";
/// The names of the fields of another status.
const STATUS: &[u8] = b"\x00\x0bgrpc-status";
const MESSAGE: &[u8] = b"\x00\x0cgrpc-message";
/// The maximum length of messages, encoded, in bytes.
const MAX_MESSAGE: usize = 1024;

/// Appends the response headers of a call that has replies.
pub(super) fn write_response(out: &mut Vec<u8>, stream: u32) {
    write_block(out, stream, RESPONSE, false);
}

/// Appends the trailers of a successful call.
pub(super) fn write_ok(out: &mut Vec<u8>, stream: u32) {
    write_block(out, stream, OK, true);
}

/// Appends the trailers of a call that failed after its response headers.
pub(super) fn write_status(out: &mut Vec<u8>, stream: u32, code: Code, message: &str) {
    let mut block = Vec::new();
    push_status(&mut block, code, message);
    write_headers(out, stream, &block, true, DEFAULT_MAX_FRAME_SIZE);
}

/// Appends the one header block of a call that failed before its response headers ("Trailers-Only").
pub(super) fn write_trailers_only(out: &mut Vec<u8>, stream: u32, code: Code, message: &str) {
    let mut block = RESPONSE.to_vec();
    push_status(&mut block, code, message);
    write_headers(out, stream, &block, true, DEFAULT_MAX_FRAME_SIZE);
}

/// Appends the answer to a request that is not a gRPC call: a bare HTTP status.
pub(super) fn write_http_status(out: &mut Vec<u8>, stream: u32, status: u16) {
    let mut block = Vec::new();
    // The name of static index 8.
    literal(&[0x08], status.to_string().as_bytes(), &mut block);
    write_headers(out, stream, &block, true, DEFAULT_MAX_FRAME_SIZE);
}

fn write_block(out: &mut Vec<u8>, stream: u32, block: &[u8], end_stream: bool) {
    let end = if end_stream { flag::END_STREAM } else { 0 };
    write_whole(out, Kind::Headers, flag::END_HEADERS | end, stream, block);
}

fn push_status(block: &mut Vec<u8>, code: Code, message: &str) {
    literal(STATUS, (code as u32).to_string().as_bytes(), block);
    literal(MESSAGE, percent_encode(message).as_bytes(), block);
}

/// gRPC's Percent-Encoded: space to `~`, except `%`, stay as they are (gRPC over HTTP/2, "Responses").
fn percent_encode(message: &str) -> String {
    let mut encoded = String::with_capacity(message.len());
    for byte in message.bytes() {
        if encoded.len() > MAX_MESSAGE {
            break;
        }
        match byte {
            b'%' | 0..b' ' | 0x7f.. => {
                // Writing to a string cannot fail.
                let _ = write!(encoded, "%{byte:02X}");
            }
            _ => encoded.push(char::from(byte)),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_announce_the_lengths_they_have() {
        assert_eq!(RESPONSE[3] as usize, "application/grpc".len());
        assert_eq!(RESPONSE.len(), 4 + 16);
        assert_eq!(OK[1] as usize, "grpc-status".len());
        assert_eq!(OK.len(), 2 + 11 + 2);
        assert_eq!(MESSAGE[1] as usize, "grpc-message".len());
    }

    #[test]
    fn a_message_is_percent_encoded_and_capped() {
        assert_eq!(percent_encode("100 % ✓\n~"), "100 %25 %E2%9C%93%0A~");
        assert!(percent_encode(&"é".repeat(5000)).len() <= MAX_MESSAGE + 3);
    }

    #[test]
    fn a_long_string_has_a_length_of_several_bytes() {
        let length = |count: usize| {
            let mut block = Vec::new();
            push_status(&mut block, Code::Internal, &"x".repeat(count));
            block.split_off(STATUS.len() + 3 + MESSAGE.len())
        };
        assert_eq!(length(0x7f + 300)[..3], [0x7f, 0xac, 0x02]);
        assert_eq!(length(0x7e)[0], 0x7e);
    }
}
