//! A shortcut of [`Expected`](super::Expected) for one reply of the most common form.

use super::layout::{Field, Form, Layouts};
use super::reply_run::ReplyRun;
use super::resolve::Rule;

/// At most one rule, about a varint field with a one-byte key. Most benchmark replies have only
/// that field, and need no walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fast {
    key: u8,
    /// Which bits of the value must match; none if there is no rule.
    mask: u64,
    absent: u64,
    /// A message without the field is whole.
    may_be_empty: bool,
}

impl Fast {
    pub(super) fn for_rule(rule: &Rule, layouts: &Layouts) -> Option<Self> {
        Self::new(
            layouts.field(0, rule.field.number())?,
            rule.number.plain_mask()?,
            rule.absent,
            layouts.required(0),
        )
    }

    /// `required`: the numbers of all fields that must be there.
    pub(super) fn new(field: Field, mask: u64, absent: u64, required: &[u32]) -> Option<Self> {
        let key = u8::try_from(field.number << 3)
            .ok()
            .filter(|key| *key < 0x80)?;
        let is_alone = required.iter().all(|number| *number == field.number);
        (field.form == Form::Varint && is_alone).then_some(Self {
            key,
            mask,
            absent,
            may_be_empty: required.is_empty(),
        })
    }

    /// The same check for replies that lie at equal distances.
    #[inline]
    pub(super) fn run(&self, expected: u64, step: u64) -> ReplyRun {
        ReplyRun {
            expected,
            step,
            mask: self.mask,
            key: self.key,
        }
    }

    /// Whether the message is exactly this field, or empty, and has the expected value.
    #[inline]
    pub(super) fn accepts(&self, message: &[u8], expected: u64) -> bool {
        let got = match message {
            [] if self.may_be_empty => self.absent,
            [key, varint @ ..] if *key == self.key => match only_varint(varint) {
                Some(value) => value,
                None => return false,
            },
            _ => return false,
        };
        (got ^ expected) & self.mask == 0
    }
}

/// The varint that fills all of `bytes`.
#[inline]
fn only_varint(bytes: &[u8]) -> Option<u64> {
    let (last, first) = bytes.split_last()?;
    if *last >= 0x80 || first.len() > 8 {
        return if first.len() == 9 {
            ten_bytes(first, *last)
        } else {
            None
        };
    }
    let mut value = u64::from(*last);
    for byte in first.iter().rev() {
        if *byte < 0x80 {
            return None;
        }
        value = value << 7 | u64::from(byte & 0x7f);
    }
    Some(value)
}

/// A ten-byte varint, as negative numbers have; the last byte may only be 0 or 1.
fn ten_bytes(first: &[u8], last: u8) -> Option<u64> {
    if last > 1 || first.iter().any(|byte| *byte < 0x80) {
        return None;
    }
    Some(first.iter().rev().fold(u64::from(last), |value, byte| {
        value << 7 | u64::from(byte & 0x7f)
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ten_bytes_hold_64_bits_and_no_more() {
        let mut bytes = [0xff; 10];
        bytes[9] = 1;
        assert_eq!(only_varint(&bytes), Some(u64::MAX));
        bytes[9] = 2;
        assert_eq!(only_varint(&bytes), None);
        assert_eq!(only_varint(&[0x80; 11]), None);
    }

    proptest! {
        #[test]
        fn every_varint_is_read(value in prop_oneof![any::<u64>(), 0_u64..100_000]) {
            let mut bytes = Vec::new();
            volley_protobuf::wire::encode_varint(value, &mut bytes);
            prop_assert_eq!(only_varint(&bytes), Some(value));
            bytes.push(0);
            prop_assert_eq!(only_varint(&bytes), None);
        }

        #[test]
        fn any_bytes_are_read_as_buffa_reads_them(
            bytes in prop::collection::vec(any::<u8>(), 0..12),
        ) {
            let mut rest = bytes.as_slice();
            let read = buffa::encoding::decode_varint(&mut rest).ok().filter(|_| rest.is_empty());
            prop_assert_eq!(only_varint(&bytes), read);
        }
    }
}
