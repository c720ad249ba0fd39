//! `SumReply` messages as sent: each in its own DATA frame, many at a time.

use volley_http::http2::frame::HEADER_LEN;

/// Bytes of gRPC's length prefix: the flag, and the message's length.
pub(super) const PREFIX_LEN: usize = 5;
/// The tag of `SumReply.result`: field 1, varint.
pub(super) const TAG: u8 = 0x08;
/// Frame header, prefix and tag: the same in all frames of a run.
const HEAD_LEN: usize = HEADER_LEN + PREFIX_LEN + 1;

/// The varint bytes of `value`; none for 0, which proto3 leaves out.
pub(super) fn varint_len(value: i32) -> usize {
    match value {
        0 => 0,
        1..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        0x20_0000..0x1000_0000 => 4,
        0x1000_0000.. => 5,
        // Sign-extended to 64 bits.
        _ => 10,
    }
}

/// The bytes of a reply that count for flow control: its length-prefixed message.
pub(super) fn payload_len(value: i32) -> usize {
    match varint_len(value) {
        0 => PREFIX_LEN,
        n => PREFIX_LEN + 1 + n,
    }
}

/// How many of `value`, `value` + 1, … have the same encoded length as `value`; at least 1.
pub(super) fn same_length(value: i32) -> u32 {
    let beyond: i64 = match varint_len(value) {
        0 => 1,
        10 => 0,
        n => 1 << (7 * n).min(31),
    };
    // From -2³¹ to 0, and from 2²⁸ to 2³¹, it fits.
    (beyond - i64::from(value)) as u32
}

/// Appends `n` DATA frames on `stream` with the replies `first`, `first` + 1, …; `n` is at most [`same_length`] of
/// `first`. Returns the length of each.
///
/// A frame's length is a constant inside [`run`], so its copies are plain moves: a reply takes about two nanoseconds.
pub(super) fn write_run(out: &mut Vec<u8>, stream: u32, first: i32, n: usize) -> usize {
    debug_assert!(n <= same_length(first) as usize);
    match varint_len(first) {
        0 => zero(out, stream),
        1 => run::<1>(out, stream, first, n),
        2 => run::<2>(out, stream, first, n),
        3 => run::<3>(out, stream, first, n),
        4 => run::<4>(out, stream, first, n),
        5 => run::<5>(out, stream, first, n),
        _ => run::<10>(out, stream, first, n),
    }
}

fn run<const VARINT: usize>(out: &mut Vec<u8>, stream: u32, first: i32, n: usize) -> usize {
    let size = HEAD_LEN + VARINT;
    let head = head(stream, 1 + VARINT);
    let from = out.len();
    out.resize(from + n * size, 0);
    let mut value = first;
    for frame in out
        .get_mut(from..)
        .unwrap_or_default()
        .chunks_exact_mut(size)
    {
        let (start, varint) = frame.split_at_mut(HEAD_LEN);
        start.copy_from_slice(&head);
        put_varint(varint, value);
        value = value.wrapping_add(1);
    }
    size
}

/// The frame of a reply of 0: an empty message.
fn zero(out: &mut Vec<u8>, stream: u32) -> usize {
    let head = head(stream, 0);
    out.extend_from_slice(&head[..HEAD_LEN - 1]);
    HEAD_LEN - 1
}

fn head(stream: u32, message_len: usize) -> [u8; HEAD_LEN] {
    // A message has at most eleven bytes.
    let (payload, message) = ((PREFIX_LEN + message_len) as u8, message_len as u8);
    let [s0, s1, s2, s3] = stream.to_be_bytes();
    [
        0, 0, payload, 0, 0, s0, s1, s2, s3, 0, 0, 0, 0, message, TAG,
    ]
}

/// Fills `varint` with the low bits of `value`, seven per byte.
#[inline]
pub(super) fn put_varint(varint: &mut [u8], value: i32) {
    let mut bits = i64::from(value) as u64;
    let last = varint.len() - 1;
    for (i, byte) in varint.iter_mut().enumerate() {
        *byte = (bits as u8 & 0x7f) | if i < last { 0x80 } else { 0 };
        bits >>= 7;
    }
}

/// A length-prefixed message, or a part of one, for which the windows had no room.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Piece {
    bytes: [u8; PREFIX_LEN + 11],
    at: u8,
    end: u8,
}

impl Piece {
    /// The whole of the reply `value`.
    pub(super) fn whole(value: i32) -> Self {
        let varint = varint_len(value);
        let message = if varint == 0 { 0 } else { 1 + varint };
        let mut piece = Self::default();
        piece.bytes[4] = message as u8;
        piece.bytes[PREFIX_LEN] = TAG;
        if varint > 0 {
            put_varint(&mut piece.bytes[PREFIX_LEN + 1..][..varint], value);
        }
        piece.end = (PREFIX_LEN + message) as u8;
        piece
    }

    /// A two-byte message without its last byte.
    pub(super) fn truncated() -> Self {
        let mut piece = Self::whole(1);
        piece.end -= 1;
        piece
    }

    /// What is still to be sent.
    pub(super) fn left(&self) -> &[u8] {
        &self.bytes[usize::from(self.at)..usize::from(self.end)]
    }

    /// Removes `n` bytes from the front.
    pub(super) fn advance(&mut self, n: usize) {
        self.at = self.end.min(self.at + n as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::super::reply::write_run;
    use super::*;
    use volley_http::http2::frame::HEADER_LEN;

    /// The values next to each change of the encoded length.
    const EDGES: [i32; 14] = [
        i32::MIN,
        -2,
        -1,
        0,
        1,
        0x7f,
        0x80,
        0x3fff,
        0x4000,
        0x1f_ffff,
        0x20_0000,
        0x0fff_ffff,
        0x1000_0000,
        i32::MAX,
    ];

    /// The payload of the only frame, and the value that a reader finds in it.
    fn read_frame(frame: &[u8], stream: u32) -> i32 {
        let (header, payload) = frame.split_at(HEADER_LEN);
        assert_eq!(header[..5], [0, 0, payload.len() as u8, 0, 0]);
        assert_eq!(header[5..], stream.to_be_bytes());
        let (prefix, message) = payload.split_at(PREFIX_LEN);
        assert_eq!(prefix, [0, 0, 0, 0, message.len() as u8]);
        super::super::message::read(message).expect("a message")[0]
    }

    #[test]
    fn a_reply_of_any_length_is_read_back() {
        for value in EDGES {
            let mut out = Vec::new();
            let size = write_run(&mut out, 0x0102_0305, value, 1);
            assert_eq!(out.len(), size);
            assert_eq!(size, HEADER_LEN + payload_len(value));
            assert_eq!(read_frame(&out, 0x0102_0305), value);
        }
    }

    #[test]
    fn a_run_is_one_frame_for_each_value_in_order() {
        for first in [-3, 1, 0x7d, 0x80, 0x3ff0] {
            let n = same_length(first).min(50) as usize;
            let mut out = vec![0xee];
            let size = write_run(&mut out, 7, first, n);
            let values: Vec<i32> = out[1..]
                .chunks(size)
                .map(|frame| read_frame(frame, 7))
                .collect();
            assert_eq!(values, (first..).take(n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_run_ends_where_the_length_changes() {
        for value in EDGES {
            let n = i64::from(same_length(value));
            let last = i32::try_from(i64::from(value) + n - 1).expect("inside the type");
            assert_eq!(payload_len(last), payload_len(value));
            if let Some(next) = last.checked_add(1) {
                assert_ne!(payload_len(next), payload_len(value), "{value}");
            } else {
                assert_eq!(last, i32::MAX);
            }
        }
    }

    #[test]
    fn a_piece_holds_the_same_bytes_as_a_frame() {
        for value in [i32::MIN, -1, 0, 1, 0x80, i32::MAX] {
            let mut out = Vec::new();
            write_run(&mut out, 1, value, 1);
            let mut piece = Piece::whole(value);
            assert_eq!(piece.left(), &out[HEADER_LEN..]);
            piece.advance(3);
            assert_eq!(piece.left(), &out[HEADER_LEN + 3..]);
            piece.advance(13);
            assert!(piece.left().is_empty());
        }
        assert_eq!(Piece::truncated().left(), [0, 0, 0, 0, 2, TAG]);
    }
}
