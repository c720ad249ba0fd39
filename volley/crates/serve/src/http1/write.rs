//! Answers as text (RFC 9112 §4).

use crate::items::Answer;

/// Appends an interim answer: the client may send its body.
pub(super) fn continue_100(out: &mut Vec<u8>) {
    out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
}

/// Appends an answer; `is_last`: the connection ends with it.
pub(super) fn answer(out: &mut Vec<u8>, answer: &Answer, is_last: bool) {
    out.extend_from_slice(b"HTTP/1.1 ");
    push_number(out, usize::from(answer.status));
    out.extend_from_slice(match answer.status {
        200 => b" OK",
        201 => b" Created",
        204 => b" No Content",
        // A reason may be empty, but not the space before it.
        _ => b" ",
    });
    if answer.status != 204 {
        out.extend_from_slice(b"\r\ncontent-length: ");
        push_number(out, answer.body.len());
    }
    if !answer.body.is_empty() {
        out.extend_from_slice(b"\r\ncontent-type: application/json");
    }
    if let Some(location) = answer.location() {
        out.extend_from_slice(b"\r\nlocation: ");
        out.extend_from_slice(&location);
    }
    if is_last {
        out.extend_from_slice(b"\r\nconnection: close");
    }
    out.extend_from_slice(b"\r\n\r\n");
    out.extend_from_slice(answer.sent());
}

fn push_number(out: &mut Vec<u8>, number: usize) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
