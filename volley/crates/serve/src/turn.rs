//! A call's turn: sends headers, replies and trailers, as far as the windows allow, and the faults that are due.

use super::call::Call;
use super::farewell::{End, Failure};
use super::faults::Fault;
use super::outbox::{Mark, Outbox};
use super::reply::Piece;
use super::{blocks, items, reply};
use volley_http::http2::ErrorCode;
use volley_http::http2::frame::{DEFAULT_MAX_FRAME_SIZE, HEADER_LEN, write_data, write_rst_stream};
use volley_http::http2::window::SendWindow;

/// The length of a call's turn, in bytes; then the next call continues.
const QUANTUM: u64 = 16 << 10;
/// The bytes of the garbage fault: read as a frame, they announce 16,777,215 bytes, more than any limit here.
pub(super) const GARBAGE: &[u8] = &[0xff; 64];

/// Why a call's turn ended.
pub(super) enum Turn {
    /// It has more to send.
    Over,
    /// It waits for its client, or for the window of its stream.
    Waiting,
    /// It waits for the window of the connection.
    Starved,
    /// Its last frame has been made.
    Done,
    /// A fault has ended the connection.
    Ends(End),
}

impl Turn {
    /// That of a call for which there is no room.
    pub(super) fn blocked(call: &Call) -> Self {
        match call.window.available() {
            0 => Self::Waiting,
            _ => Self::Starved,
        }
    }
}

/// One turn of a call.
pub(super) fn go_on(
    call: &mut Call,
    stream: u32,
    outbox: &mut Outbox,
    window: &mut SendWindow,
    wrong_at: Option<u64>,
) -> Turn {
    if let Some(mut exchange) = call.exchange.take() {
        let turn = items::go_on(call, &mut exchange, stream, outbox, window);
        call.exchange = Some(exchange);
        return turn;
    }
    if !call.headers_sent {
        let is_bare = call.work.replies.peek().is_none() && !call.work.has_unsent();
        if call.work.failure.is_some() && is_bare {
            return end(call, stream, outbox);
        }
        blocks::write_response(outbox.buffer(), stream);
        call.headers_sent = true;
    }
    let until = outbox.produced() + QUANTUM;
    if call.work.unsent.is_some() {
        return send_unsent(call, stream, outbox, window, until);
    }
    loop {
        if !call.piece.left().is_empty()
            && let Some(blocked) = send_piece(call, stream, outbox, window)
        {
            return blocked;
        }
        if call.truncated {
            blocks::write_ok(outbox.buffer(), stream);
            outbox.mark(Mark::CallFailed);
            return Turn::Done;
        }
        let next = call.work.replies.peek();
        let before_fault = call.replies_before_fault();
        if before_fault == Some(0) || (next.is_none() && call.work.complete) {
            if let Some(cut) = cut(call, stream, outbox) {
                return cut;
            }
            // A status is in `work`; the others are for items, or not answered at all.
            if call.fault.take() != Some(Fault::Truncate) {
                return end(call, stream, outbox);
            }
            call.piece = Piece::truncated();
            call.truncated = true;
            continue;
        }
        let Some((mut value, mut n)) = next else {
            return Turn::Waiting;
        };
        if outbox.produced() >= until {
            return Turn::Over;
        }
        match wrong_at.map(|at| at.checked_sub(call.sent)) {
            Some(Some(0)) => (value, n) = (value.wrapping_add(1), 1),
            Some(Some(before)) => n = n.min(u32::try_from(before).unwrap_or(u32::MAX)),
            Some(None) | None => {}
        }
        if let Some(before) = before_fault {
            n = n.min(u32::try_from(before).unwrap_or(u32::MAX));
        }
        send_run(call, stream, outbox, window, value, n, until);
    }
}

/// Ends a call, or its connection, by the fault that is due; `None` if that is no reset, garbage or close.
pub(super) fn cut(call: &mut Call, stream: u32, outbox: &mut Outbox) -> Option<Turn> {
    match call.fault? {
        Fault::Reset => {
            write_rst_stream(outbox.buffer(), stream, ErrorCode::InternalError);
            outbox.mark(Mark::CallFailed);
            call.request_done = true; // The stream is closed for both sides already.
            Some(Turn::Done)
        }
        Fault::Garbage => {
            outbox.buffer().extend_from_slice(GARBAGE);
            Some(Turn::Ends(End::Silent))
        }
        Fault::Close => Some(Turn::Ends(End::Cut)),
        _ => None,
    }
}

/// Sends `value`, `value` + 1, …: at most `n`, of one encoded length, as far as the windows and the turn (`until`, in
/// bytes produced) allow. A reply that a window cuts is kept in the call's piece.
fn send_run(
    call: &mut Call,
    stream: u32,
    outbox: &mut Outbox,
    window: &mut SendWindow,
    value: i32,
    n: u32,
    until: u64,
) {
    let payload = reply::payload_len(value);
    let room = call.room(window) / payload;
    let turn = (until - outbox.produced()).div_ceil((HEADER_LEN + payload) as u64);
    let n = n.min(reply::same_length(value)) as usize;
    let n = n.min(room).min(turn as usize);
    if n == 0 {
        call.piece = Piece::whole(value);
        call.work.replies.advance(1);
        call.sent += 1;
        return;
    }
    let each = reply::write_run(outbox.buffer(), stream, value, n);
    outbox.mark_replies(n, each);
    call.spend(n * payload, window);
    call.work.replies.advance(n as u32);
    call.sent += n as u64;
}

/// Sends what the windows allow of a cut reply; `Some`: a part is still left.
fn send_piece(
    call: &mut Call,
    stream: u32,
    outbox: &mut Outbox,
    window: &mut SendWindow,
) -> Option<Turn> {
    let left = call.piece.left();
    let n = left.len().min(call.room(window));
    if n > 0 {
        write_data(outbox.buffer(), stream, left.get(..n)?, false);
        call.spend(n, window);
        call.piece.advance(n);
    }
    if !call.piece.left().is_empty() {
        return Some(Turn::blocked(call));
    }
    if !call.truncated {
        outbox.mark(Mark::Replies);
    }
    None
}

/// Sends what the windows allow of the replies of other services than the benchmark.
#[cold]
fn send_unsent(
    call: &mut Call,
    stream: u32,
    outbox: &mut Outbox,
    window: &mut SendWindow,
    until: u64,
) -> Turn {
    while call.work.has_unsent() {
        let room = call.room(window);
        if room == 0 {
            return Turn::blocked(call);
        } else if outbox.produced() >= until {
            return Turn::Over;
        }
        let Some(unsent) = &mut call.work.unsent else {
            break;
        };
        let sent = unsent.take(room.min(DEFAULT_MAX_FRAME_SIZE), outbox, |out, bytes| {
            write_data(out, stream, bytes, false);
        });
        call.spend(sent, window);
    }
    match call.work.complete {
        true => end(call, stream, outbox),
        false => Turn::Waiting,
    }
}

/// Writes the trailers.
fn end(call: &Call, stream: u32, outbox: &mut Outbox) -> Turn {
    match &call.work.failure {
        None => blocks::write_ok(outbox.buffer(), stream),
        Some(Failure::Status(code, words)) if call.headers_sent => {
            blocks::write_status(outbox.buffer(), stream, *code, words);
        }
        Some(Failure::Status(code, words)) => {
            blocks::write_trailers_only(outbox.buffer(), stream, *code, words);
        }
        Some(Failure::Http(status)) => blocks::write_http_status(outbox.buffer(), stream, *status),
    }
    outbox.mark(if call.work.failure.is_none() {
        Mark::CallOk
    } else {
        Mark::CallFailed
    });
    Turn::Done
}
