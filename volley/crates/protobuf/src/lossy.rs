//! Messages whose text need not be UTF-8, made so.

use buffa::encoding::{Tag, WireType, decode_varint, encode_varint, skip_field};

use super::field::{Field, Kind};
use super::types::Message;

/// A message with replacement characters in text that is not UTF-8, where files allow that; `None` if it is no message.
pub(super) fn text(of: &Message, bytes: &[u8], depth: u32) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    fields(Some(of), &mut rest, None, depth, &mut out)?;
    Some(out)
}

/// Copies fields: all, or those of a group, up to its end.
fn fields(
    of: Option<&Message>,
    rest: &mut &[u8],
    group: Option<u32>,
    depth: u32,
    out: &mut Vec<u8>,
) -> Option<()> {
    while !rest.is_empty() {
        let before = *rest;
        let tag = Tag::decode(rest).ok()?;
        let number = tag.field_number();
        let field = || Field::of_number(of?, number);
        match tag.wire_type() {
            WireType::EndGroup => {
                tag.encode(out);
                return (group == Some(number)).then_some(());
            }
            WireType::StartGroup => {
                tag.encode(out);
                let kind = field().map(|field| field.kind());
                let inner = kind.as_ref().and_then(Kind::as_message);
                fields(inner, rest, Some(number), depth.checked_sub(1)?, out)?;
            }
            WireType::LengthDelimited => {
                let length = usize::try_from(decode_varint(rest).ok()?).ok()?;
                let (content, after) = rest.split_at_checked(length)?;
                *rest = after;
                let changed = match field().map(|field| (field.kind(), field)) {
                    Some((Kind::String, field))
                        if std::str::from_utf8(content).is_err() && !field.is_utf8() =>
                    {
                        String::from_utf8_lossy(content).into_owned().into_bytes()
                    }
                    Some((Kind::Message(inner), _)) => {
                        text(&inner, content, depth.checked_sub(1)?)?
                    }
                    _ => content.to_vec(),
                };
                tag.encode(out);
                encode_varint(changed.len() as u64, out);
                out.extend(changed);
            }
            _ => {
                skip_field(tag, rest).ok()?;
                out.extend_from_slice(before.get(..before.len() - rest.len())?);
            }
        }
    }
    group.is_none().then_some(())
}
