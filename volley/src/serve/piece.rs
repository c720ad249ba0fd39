//! A reply that a window cut.

use super::reply::{PREFIX_LEN, TAG, put_varint, varint_len};

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
    use crate::http2::frame::HEADER_LEN;

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
