//! A shortcut of [`Expected`](super::Expected) for many replies: those of the same length, one after another in what was read.
//!
//! A benchmark's replies are often one varint that counts up. They then lie at equal distances and differ only in their
//! last bytes, so a run of them is checked in a few steps each: the same constant bytes, and the expected value.

use std::ops::Range;

/// The bytes of a word.
const WORD: usize = 8;

/// The high bits of a word's bytes: set where a varint goes on.
const MORE: u64 = 0x8080_8080_8080_8080;

/// What the replies of a run must be: one varint field each, whose value rises by `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyRun {
    /// The value of the first one.
    pub(super) expected: u64,
    pub(super) step: u64,
    /// Which bits of the value must match.
    pub(super) mask: u64,
    /// The field's key, of one byte.
    pub(super) key: u8,
}

impl ReplyRun {
    /// How many pieces at the beginning of `bytes` are as expected. A piece is as long as `last`, the piece before them,
    /// which ends with its message of `message` bytes. All bytes but those of the value are compared with `last`.
    ///
    /// 0 does not mean that the first piece is wrong: it may only have another form.
    #[must_use]
    pub fn count(mut self, last: &[u8], message: usize, bytes: &[u8]) -> usize {
        let Some(form) = Form::new(last, message, self.key) else {
            return 0;
        };
        let mut count = 0;
        for piece in bytes.chunks_exact(last.len()) {
            let Some(value) = form.value(piece) else {
                break;
            };
            if (value ^ self.expected) & self.mask != 0 {
                break;
            }
            self.expected = self.expected.wrapping_add(self.step);
            count += 1;
        }
        count
    }
}

/// The form of a piece: constant bytes, then a varint of 1 to 8 bytes.
struct Form {
    /// The first word of a piece, and which of its bits are constant.
    first: u64,
    first_mask: u64,
    /// The last word of constant bytes, and where it is.
    second: u64,
    second_at: Range<usize>,
    /// The varint is in the last word of a piece, from this bit on.
    shift: u32,
    /// The varint's high bits.
    more: u64,
}

impl Form {
    fn new(last: &[u8], message: usize, key: u8) -> Option<Self> {
        let length = message.checked_sub(1)?;
        let constant = last.len().checked_sub(length)?;
        let is_known = last.get(constant.checked_sub(1)?) == Some(&key);
        // Two words cover all constant bytes.
        let fits = (1..=WORD).contains(&length) && last.len() >= WORD && constant <= 2 * WORD;
        if !is_known || !fits {
            return None;
        }
        let bits = 8 * u32::try_from(length).ok()?;
        let first_mask = u64::MAX >> (64 - 8 * constant.min(WORD));
        let second_at = constant.saturating_sub(WORD)..constant.max(WORD);
        Some(Self {
            first: word(last, 0..WORD)? & first_mask,
            first_mask,
            second: if constant > WORD {
                word(last, second_at.clone())?
            } else {
                0
            },
            second_at,
            shift: 64 - bits,
            // All but the last byte of a varint have their high bit set.
            more: (MORE >> (64 - bits)) & !(0x80 << (bits - 8)),
        })
    }

    /// The value of a piece of this form.
    #[inline(always)]
    fn value(&self, piece: &[u8]) -> Option<u64> {
        let first = (word(piece, 0..WORD)? & self.first_mask) ^ self.first;
        let second = if self.second == 0 {
            0
        } else {
            word(piece, self.second_at.clone())? ^ self.second
        };
        let varint = u64::from_le_bytes(*piece.last_chunk::<WORD>()?) >> self.shift;
        if first | second | ((varint & MORE) ^ self.more) != 0 {
            return None;
        }
        // Seven bits of each byte, moved together: pairs of bytes, of pairs, of fours.
        let x = varint & !MORE;
        let x = (x & 0x007f_007f_007f_007f) | ((x & 0x7f00_7f00_7f00_7f00) >> 1);
        let x = (x & 0x0000_3fff_0000_3fff) | ((x & 0x3fff_0000_3fff_0000) >> 2);
        Some((x & 0x0000_0000_0fff_ffff) | ((x & 0x0fff_ffff_0000_0000) >> 4))
    }
}

#[inline(always)]
fn word(bytes: &[u8], at: Range<usize>) -> Option<u64> {
    let bytes = bytes.get(at)?.first_chunk::<WORD>()?;
    Some(u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A piece: constant bytes, a key, a varint.
    fn piece(head: &[u8], key: u8, value: u64) -> Vec<u8> {
        let mut piece = head.to_vec();
        piece.push(key);
        volley_protobuf::wire::encode_varint(value, &mut piece);
        piece
    }

    fn run(expected: u64, step: u64) -> ReplyRun {
        ReplyRun {
            expected,
            step,
            mask: u64::MAX,
            key: 8,
        }
    }

    /// A frame's header and a message's prefix, and only the prefix.
    const HEADS: [&[u8]; 2] = [
        b"\x00\x00\x08\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00\x03",
        b"\x00\x00\x00\x00\x03",
    ];

    #[test]
    fn values_that_count_up_are_taken_as_long_as_they_have_the_same_length() {
        for head in HEADS {
            let last = piece(head, 8, 16_380);
            let rest: Vec<u8> = (16_381..16_390)
                .flat_map(|value| piece(head, 8, value))
                .collect();
            // 16,384 takes a third byte.
            assert_eq!(run(16_381, 1).count(&last, 3, &rest), 3);
            assert_eq!(run(16_382, 1).count(&last, 3, &rest), 0);
        }
    }

    #[test]
    fn one_wrong_byte_anywhere_ends_the_run() {
        for head in HEADS {
            let last = piece(head, 8, 5000);
            let pieces: Vec<u8> = (0..3).flat_map(|_| piece(head, 8, 5000)).collect();
            assert_eq!(run(5000, 0).count(&last, 3, &pieces), 3);
            for at in last.len()..2 * last.len() {
                for bit in 0..8 {
                    let mut wrong = pieces.clone();
                    wrong[at] ^= 1 << bit;
                    assert_eq!(run(5000, 0).count(&last, 3, &wrong), 1, "{at}, {bit}");
                }
            }
        }
    }

    #[test]
    fn what_has_another_form_is_left_to_others() {
        let last = piece(HEADS[0], 8, 300);
        assert_eq!(run(300, 0).count(&last, 0, &last), 0);
        assert_eq!(run(300, 0).count(&last, 100, &last), 0);
        assert_eq!(run(300, 0).count(b"", 0, b""), 0);
        let other_key = piece(HEADS[0], 16, 300);
        assert_eq!(run(300, 0).count(&other_key, 3, &other_key), 0);
        let nine_bytes = piece(HEADS[0], 8, 1 << 60);
        assert_eq!(run(1 << 60, 0).count(&nine_bytes, 10, &nine_bytes), 0);
    }

    proptest! {
        #[test]
        fn every_value_of_up_to_eight_bytes_is_read(value in 128..1_u64 << 56, head in 0..2_usize) {
            let piece = piece(HEADS[head], 8, value);
            let message = piece.len() - HEADS[head].len();
            prop_assert_eq!(run(value, 0).count(&piece, message, &piece), 1);
            prop_assert_eq!(run(value ^ 1, 0).count(&piece, message, &piece), 0);
        }

        #[test]
        fn any_bytes_are_answered(
            last in prop::collection::vec(any::<u8>(), 0..40),
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            message in 0..50_usize,
        ) {
            let most = bytes.len().checked_div(last.len()).unwrap_or(0);
            if !last.is_empty() {
                prop_assert!(run(0, 1).count(&last, message, &bytes) <= most);
            }
        }
    }
}
