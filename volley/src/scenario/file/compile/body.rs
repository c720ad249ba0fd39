//! Bodies of HTTP requests.

use std::fs;
use std::path::PathBuf;

use super::Compiler;
use super::names::Scope;
use crate::scenario::file::mistake::Path;
use crate::scenario::file::model::{Named, Part, Scalar, Step};
use crate::scenario::{Escape, Piece, Text};

/// Between the parts of a multipart body. No text has it by chance.
const BOUNDARY: &str = "volley-7d4a6d158c9f41d2b0e3";

/// A body, and its media type, unless a header gives it.
#[derive(Default)]
pub(super) struct Body {
    pub text: Option<Text>,
    pub media_type: Option<String>,
}

impl Compiler<'_> {
    pub(super) fn body(&mut self, scope: &mut Scope, at: &Path, step: &Step) -> Option<Body> {
        let given = [
            ("json", step.json.is_some()),
            ("text", step.text.is_some()),
            ("form", step.form.is_some()),
            ("multipart", step.multipart.is_some()),
            ("body", step.body.is_some()),
        ];
        let given: Vec<&str> = given
            .iter()
            .filter(|(_, is)| *is)
            .map(|(key, _)| *key)
            .collect();
        if let [first, second, ..] = given[..] {
            self.wrong(
                &at.key(second),
                format!("`{first}` and `{second}` both are the body: keep one"),
            );
            return None;
        }
        let typed = |text: Option<Text>, media_type: &str| {
            text.map(|text| Body {
                text: Some(text),
                media_type: Some(media_type.to_owned()),
            })
        };
        if let Some(value) = &step.json {
            return typed(self.json(scope, &at.key("json"), value), "application/json");
        }
        if let Some(text) = &step.text {
            let text = self.text(scope, &at.key("text"), text, Escape::Raw);
            return typed(text, "text/plain; charset=utf-8");
        }
        if let Some(fields) = &step.form {
            let text = self.form(scope, &at.key("form"), fields);
            return typed(text, "application/x-www-form-urlencoded");
        }
        if let Some(parts) = &step.multipart {
            let text = self.multipart(scope, &at.key("multipart"), parts);
            return typed(text, &format!("multipart/form-data; boundary={BOUNDARY}"));
        }
        let Some(body) = &step.body else {
            return Some(Body::default());
        };
        let (_, bytes) = self.contents(&at.key("body").key("file"), &body.file)?;
        Some(Body {
            text: Some(Text::fixed(bytes)),
            media_type: None,
        })
    }

    /// A file that exists, and its bytes.
    fn contents(&mut self, at: &Path, file: &str) -> Option<(PathBuf, Vec<u8>)> {
        let path = self.existing(at, file)?;
        let read = fs::read(&path);
        let read = read.map_err(|error| format!("cannot read `{}`: {error}", path.display()));
        self.noted(at, read).map(|bytes| (path, bytes))
    }

    fn form(&mut self, scope: &mut Scope, at: &Path, fields: &Named<Scalar>) -> Option<Text> {
        let mut pieces = Vec::new();
        for (name, value) in fields.iter() {
            let at = at.key(name);
            let and = if pieces.is_empty() { "" } else { "&" };
            let mut encoded = and.as_bytes().to_vec();
            Escape::Form.write(name.as_bytes(), &mut encoded);
            encoded.push(b'=');
            pieces.push(Piece::Fixed(encoded.into()));
            let value = self.text(scope, &at, &value.0, Escape::Form)?;
            pieces.extend_from_slice(value.pieces());
        }
        Some(Text::new(pieces))
    }

    fn multipart(&mut self, scope: &mut Scope, at: &Path, parts: &[Part]) -> Option<Text> {
        let mut pieces = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let at = at.index(index);
            let quoted = |text: &str| {
                let text = text.replace('"', "%22").replace('\r', "%0D");
                text.replace('\n', "%0A")
            };
            let mut head = format!(
                "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{}\"",
                quoted(&part.name)
            );
            let value = match (&part.value, &part.file) {
                (Some(value), None) => self.text(scope, &at.key("value"), &value.0, Escape::Raw)?,
                (None, Some(file)) => {
                    let (path, bytes) = self.contents(&at.key("file"), file)?;
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    head += &format!("; filename=\"{}\"", quoted(&name));
                    Text::fixed(bytes)
                }
                _ => {
                    self.wrong(&at, "a part has either `value` or `file`");
                    return None;
                }
            };
            if let Some(media_type) = &part.media_type {
                if media_type.contains(['\r', '\n', '\0']) {
                    self.wrong(
                        &at.key("type"),
                        "a media type has no line breaks: remove them",
                    );
                }
                head += &format!("\r\ncontent-type: {media_type}");
            }
            pieces.push(Piece::Fixed((head + "\r\n\r\n").into_bytes().into()));
            pieces.extend_from_slice(value.pieces());
            pieces.push(Piece::Fixed((*b"\r\n").into()));
        }
        pieces.push(Piece::Fixed(
            format!("--{BOUNDARY}--\r\n").into_bytes().into(),
        ));
        Some(Text::new(pieces))
    }
}
