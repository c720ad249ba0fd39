//! Bodies of forms with files: `multipart/form-data` (RFC 7578).

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::{Escape, Piece, Text};

/// One field of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub name: String,
    /// The content, as it is; slots are written without an escape.
    pub value: Text,
    /// The file's name, if it is a file.
    pub file_name: Option<String>,
    /// `content-type`; none is sent without it.
    pub content_type: Option<String>,
}

/// The `content-type` with the boundary, and the body. The same parts give the same boundary, which none of their constant
/// bytes contain.
#[must_use]
pub fn multipart(parts: &[Part]) -> (String, Text) {
    let boundary = boundary(parts);
    let mut pieces = Vec::new();
    for part in parts {
        pieces.push(fixed(part.head(&boundary)));
        pieces.extend(part.value.pieces().iter().map(|piece| match piece {
            Piece::Fixed(_) => piece.clone(),
            Piece::Slot(slot, _) => Piece::Slot(*slot, Escape::Raw),
        }));
        pieces.push(fixed("\r\n".to_owned()));
    }
    pieces.push(fixed(format!("--{boundary}--\r\n")));
    let content_type = format!("multipart/form-data; boundary={boundary}");
    (content_type, Text::new(pieces))
}

fn fixed(text: String) -> Piece {
    Piece::Fixed(text.into_bytes().into())
}

impl Part {
    fn head(&self, boundary: &str) -> String {
        let name = quoted(&self.name);
        let mut head = format!("--{boundary}\r\ncontent-disposition: form-data; name=\"{name}\"");
        if let Some(file) = &self.file_name {
            head += &format!("; filename=\"{}\"", quoted(file));
        }
        if let Some(content_type) = &self.content_type {
            let content_type = content_type.replace(char::is_control, "");
            head += &format!("\r\ncontent-type: {content_type}");
        }
        head + "\r\n\r\n"
    }

    fn constants(&self) -> impl Iterator<Item = &[u8]> {
        self.value.pieces().iter().filter_map(|piece| match piece {
            Piece::Fixed(bytes) => Some(&**bytes),
            Piece::Slot(..) => None,
        })
    }
}

/// As HTML's forms are sent: RFC 7578 §4.2 leaves it open.
fn quoted(name: &str) -> String {
    let name = name.replace('"', "%22");
    name.replace('\r', "%0D").replace('\n', "%0A")
}

fn boundary(parts: &[Part]) -> String {
    let mut hasher = DefaultHasher::new();
    for part in parts {
        part.name.hash(&mut hasher);
        part.constants().for_each(|bytes| bytes.hash(&mut hasher));
    }
    let mut next = || {
        hasher.write_u8(0);
        hasher.finish()
    };
    loop {
        let boundary = format!("volley-{:016x}{:016x}", next(), next());
        if is_absent(&boundary, parts) {
            return boundary;
        }
    }
}

fn is_absent(boundary: &str, parts: &[Part]) -> bool {
    let finder = memchr::memmem::Finder::new(boundary);
    let mut constants = parts.iter().flat_map(Part::constants);
    constants.all(|bytes| finder.find(bytes).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Slot, Values};

    fn part(name: &str, value: Text) -> Part {
        Part {
            name: name.to_owned(),
            value,
            file_name: None,
            content_type: None,
        }
    }

    #[test]
    fn every_part_has_its_head_and_stands_between_boundaries() {
        let file = Part {
            file_name: Some("a\"b\r\n.png".to_owned()),
            content_type: Some("image/png".to_owned()),
            ..part("picture", Text::fixed(*b"\x89PNG\r\n"))
        };
        let slot = Text::new([Piece::Slot(Slot(0), Escape::Form)]);
        let (content_type, body) = multipart(&[part("user", slot), file]);
        let boundary = content_type
            .strip_prefix("multipart/form-data; boundary=")
            .unwrap();
        let mut values = Values::new(1);
        values.set(Slot(0), b"A & B");
        let mut out = Vec::new();
        body.render(&values, &mut out).unwrap();
        let expected = format!(
            "--{boundary}\r\ncontent-disposition: form-data; name=\"user\"\r\n\r\nA & B\r\n\
             --{boundary}\r\ncontent-disposition: form-data; name=\"picture\"; filename=\"a%22b%0D%0A.png\"\r\n\
             content-type: image/png\r\n\r\n?PNG\r\n\r\n--{boundary}--\r\n"
        );
        let expected = expected.replace('?', "\u{89}");
        let latin1 = out.iter().map(|byte| char::from(*byte));
        assert_eq!(latin1.collect::<String>(), expected);
    }

    #[test]
    fn a_boundary_is_always_the_same_and_differs_with_the_parts() {
        let boundary = |text: &str| {
            let parts = [part("a", Text::fixed(text.as_bytes()))];
            super::boundary(&parts)
        };
        assert_eq!(boundary("x"), boundary("x"));
        assert_ne!(boundary("x"), boundary("y"));
        assert!(boundary("").len() <= 70);
    }

    #[test]
    fn a_boundary_that_a_constant_contains_is_not_used() {
        let slot = Piece::Slot(Slot(0), Escape::Raw);
        let text = Text::new([slot, Piece::Fixed((*b"a volley-1 b").into())]);
        let parts = [part("a", Text::default()), part("b", text)];
        assert!(!is_absent("volley-1", &parts));
        assert!(is_absent("volley-2", &parts));
        assert!(is_absent(&boundary(&parts), &parts));
    }
}
