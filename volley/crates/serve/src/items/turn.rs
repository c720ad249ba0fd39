//! A request's turn over HTTP/2: sends its answer, as far as the windows allow.

use super::{Answer, Exchange};
use crate::call::Call;
use crate::outbox::{Mark, Outbox};
use crate::turn::{Turn, cut};
use volley_http::http2::frame::{DEFAULT_MAX_FRAME_SIZE, Kind, flag, write_data, write_whole};
use volley_http::http2::hpack::literal;
use volley_http::http2::window::SendWindow;

/// One turn of a call whose `exchange` has its answer.
pub fn go_on(
    call: &mut Call,
    exchange: &mut Exchange,
    stream: u32,
    outbox: &mut Outbox,
    window: &mut SendWindow,
) -> Turn {
    if let Some(cut) = cut(call, stream, outbox) {
        return cut;
    }
    let Exchange {
        answer,
        scratch,
        sent,
        ..
    } = exchange;
    let mut rest = answer.sent().get(*sent..).unwrap_or_default();
    if !call.headers_sent {
        call.headers_sent = true;
        scratch.clear();
        push_block(scratch, answer);
        let end = if rest.is_empty() { flag::END_STREAM } else { 0 };
        let flags = flag::END_HEADERS | end;
        write_whole(outbox.buffer(), Kind::Headers, flags, stream, scratch);
    }
    while !rest.is_empty() {
        let room = call.room(window);
        if room == 0 {
            return Turn::blocked(call);
        }
        let n = rest.len().min(room).min(DEFAULT_MAX_FRAME_SIZE);
        let (data, after) = rest.split_at(n);
        write_data(outbox.buffer(), stream, data, after.is_empty());
        call.spend(n, window);
        *sent += n;
        rest = after;
    }
    outbox.mark(match answer.is_good() {
        true => Mark::CallOk,
        false => Mark::CallFailed,
    });
    Turn::Done
}

/// Appends a header block: literals without indexing, as in [`blocks`](crate::blocks). The numbers are those of
/// RFC 7541, appendix A.
fn push_block(block: &mut Vec<u8>, answer: &Answer) {
    match answer.status {
        200 => block.push(0x88),
        204 => block.push(0x89),
        400 => block.push(0x8c),
        404 => block.push(0x8d),
        500 => block.push(0x8e),
        status => push_number(block, &[0x08], usize::from(status)),
    }
    if !answer.body.is_empty() {
        block.extend_from_slice(b"\x0f\x10\x10application/json");
        push_number(block, &[0x0f, 0x0d], answer.body.len());
    }
    if let Some(location) = answer.location() {
        literal(&[0x0f, 0x1f], &location, block);
    }
}

/// Appends a field: its name's index, and a number as text.
fn push_number(block: &mut Vec<u8>, name: &[u8], number: usize) {
    literal(name, itoa::Buffer::new().format(number).as_bytes(), block);
}
