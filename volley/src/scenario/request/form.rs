//! Bodies of forms: `application/x-www-form-urlencoded`.

use crate::scenario::{Escape, Piece, Text};

/// The `content-type` of a [`form`].
pub const FORM_TYPE: &str = "application/x-www-form-urlencoded";

/// A form with these fields. Names and values are plain: all of them are escaped here, and slots when they are written,
/// whatever escape they had.
#[must_use]
pub fn form<'a>(fields: impl IntoIterator<Item = (&'a str, &'a Text)>) -> Text {
    let mut pieces = Vec::new();
    for (name, value) in fields {
        if !pieces.is_empty() {
            pieces.push(Piece::Fixed((*b"&").into()));
        }
        pieces.push(fixed(name.as_bytes()));
        pieces.push(Piece::Fixed((*b"=").into()));
        pieces.extend(value.pieces().iter().map(|piece| match piece {
            Piece::Fixed(bytes) => fixed(bytes),
            Piece::Slot(slot, _) => Piece::Slot(*slot, Escape::Form),
        }));
    }
    Text::new(pieces)
}

fn fixed(bytes: &[u8]) -> Piece {
    let mut escaped = Vec::new();
    // Everything can stand in a form.
    let _ = Escape::Form.write(bytes, &mut escaped);
    Piece::Fixed(escaped.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Slot, Values};

    #[test]
    fn names_values_and_slots_are_escaped() {
        let slot = Text::new([
            Piece::Fixed((*b"<").into()),
            Piece::Slot(Slot(0), Escape::Raw),
        ]);
        let fixed = Text::fixed(*b"a b&c");
        let form = form([("grant type", &fixed), ("x=", &slot), ("", &fixed)]);
        let mut values = Values::new(1);
        values.set(Slot(0), b"&y= +");
        let mut out = Vec::new();
        form.render(&values, &mut out).unwrap();
        let expected = "grant+type=a+b%26c&x%3D=%3C%26y%3D+%2B&=a+b%26c";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert_eq!(super::form([]).constant(), Some(&b""[..]));
    }
}
