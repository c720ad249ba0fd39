//! Reads `SumRequest` and `StreamRequest` from protobuf's wire format.

/// The fields 1 to 3 of a request: `a`, `b` and `count`; 0 where absent.
///
/// `None`: the bytes are not a protobuf message. Unknown fields are skipped, and so are known ones with another wire
/// type, as protobuf's own readers do. If a field occurs twice, the last one counts.
pub(super) fn read(mut bytes: &[u8]) -> Option<[i32; 3]> {
    let mut fields = [0; 3];
    while !bytes.is_empty() {
        let (tag, rest) = read_varint(bytes)?;
        let number = u32::try_from(tag >> 3)
            .ok()
            .filter(|&n| n > 0 && n < 1 << 29)?;
        bytes = match tag & 7 {
            0 => {
                let (value, rest) = read_varint(rest)?;
                if let Some(field) = fields.get_mut(number as usize - 1) {
                    // An int32 is the low 32 bits of the varint; higher bits are ignored.
                    *field = value as u32 as i32;
                }
                rest
            }
            1 => rest.get(8..)?,
            2 => {
                let (length, rest) = read_varint(rest)?;
                rest.get(usize::try_from(length).ok()?..)?
            }
            5 => rest.get(4..)?,
            _ => return None,
        };
    }
    Some(fields)
}

/// The varint at the start of `bytes`, and the rest. It has at most ten bytes, and the tenth holds one bit.
fn read_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (i, &byte) in bytes.iter().enumerate().take(10) {
        if i == 9 && byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return Some((value, bytes.get(i + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_in_any_order_and_default_to_zero() {
        assert_eq!(read(&[]), Some([0, 0, 0]));
        assert_eq!(read(&[0x18, 0x88, 0x27, 0x08, 1]), Some([1, 0, 5000]));
        assert_eq!(read(&[0x10, 7, 0x10, 9]), Some([0, 9, 0]));
    }

    #[test]
    fn a_negative_int32_is_ten_bytes_or_its_low_32_bits() {
        let long = [8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(read(&long), Some([-1, 0, 0]));
        assert_eq!(read(&[8, 0xff, 0xff, 0xff, 0xff, 0x0f]), Some([-1, 0, 0]));
    }

    #[test]
    fn unknown_fields_of_every_wire_type_are_skipped() {
        let bytes = [
            0x20, 5, // field 4, varint
            0x29, 1, 2, 3, 4, 5, 6, 7, 8, // field 5, 64 bits
            0x32, 2, 0xff, 0xff, // field 6, two bytes
            0x3d, 1, 2, 3, 4, // field 7, 32 bits
            0x0d, 1, 2, 3, 4, // field 1 of the wrong type
            0x08, 3,
        ];
        assert_eq!(read(&bytes), Some([3, 0, 0]));
    }

    #[test]
    fn what_is_no_message_is_none() {
        for bytes in [
            &[0x08][..],                                          // a tag alone
            &[0x08, 0x80],                                        // a varint cut short
            &[0x00, 0x01],                                        // field number 0
            &[0x0b],                                              // a group
            &[0x0f],                                              // wire type 7
            &[0x0a, 5, 1],                                        // a length beyond the end
            &[0x09, 1, 2],                                        // 64 bits cut short
            &[8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2], // a varint over 64 bits
        ] {
            assert_eq!(read(bytes), None, "{bytes:?}");
        }
    }
}
