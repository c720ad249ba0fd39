//! Bodies of HTTP requests.

use std::path::PathBuf;

use super::{Compiler, given};
use crate::file::mistake::Path;
use crate::file::model::{self, Named, Scalar, Step};
use crate::request::{Part, multipart};
use crate::{Escape, Piece, Text};
use volley_base::input;

/// A body, and its media type, unless a header gives it.
#[derive(Default)]
pub(super) struct Body {
    pub text: Option<Text>,
    pub media_type: Option<String>,
}

impl Compiler<'_> {
    pub(super) fn body(&mut self, at: &Path, step: &Step) -> Option<Body> {
        let given = given(&[
            ("json", step.json.is_some()),
            ("text", step.text.is_some()),
            ("form", step.form.is_some()),
            ("multipart", step.multipart.is_some()),
            ("body", step.body.is_some()),
        ]);
        if let [first, second, ..] = given[..] {
            return self.none(
                &at.key(second),
                format!("`{first}` and `{second}` both are the body: keep one"),
            );
        }
        let typed = |text: Option<Text>, media_type: &str| {
            text.map(|text| Body {
                text: Some(text),
                media_type: Some(media_type.to_owned()),
            })
        };
        if let Some(value) = &step.json {
            return typed(self.json(&at.key("json"), value), "application/json");
        }
        if let Some(text) = &step.text {
            let text = self.text(&at.key("text"), text, Escape::Raw);
            return typed(text, "text/plain; charset=utf-8");
        }
        if let Some(fields) = &step.form {
            let text = self.form(&at.key("form"), fields);
            return typed(text, "application/x-www-form-urlencoded");
        }
        if let Some(parts) = &step.multipart {
            let parts = self.parts(&at.key("multipart"), parts)?;
            let (media_type, text) = multipart(&parts);
            return typed(Some(text), &media_type);
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
        let read = input::read(&path, input::TEXT);
        let read = read.map_err(|error| format!("cannot read `{}`: {error}", path.display()));
        self.noted(at, read).map(|bytes| (path, bytes))
    }

    fn form(&mut self, at: &Path, fields: &Named<Scalar>) -> Option<Text> {
        let mut pieces = Vec::new();
        for (name, value) in fields.iter() {
            let at = at.key(name);
            let and = if pieces.is_empty() { "" } else { "&" };
            let name = self.text(&at, name, Escape::Form)?;
            let value = self.scalar(&at, value, Escape::Form)?;
            pieces.push(Piece::Fixed(and.as_bytes().into()));
            pieces.extend_from_slice(name.pieces());
            pieces.push(Piece::Fixed((*b"=").into()));
            pieces.extend_from_slice(value.pieces());
        }
        Some(Text::new(pieces))
    }

    fn parts(&mut self, at: &Path, parts: &[model::Part]) -> Option<Vec<Part>> {
        let parts = parts.iter().enumerate();
        let parts = parts.map(|(index, part)| self.form_part(&at.index(index), part));
        let parts: Vec<Option<Part>> = parts.collect();
        parts.into_iter().collect()
    }

    fn form_part(&mut self, at: &Path, part: &model::Part) -> Option<Part> {
        let (value, file_name) = match (&part.value, &part.file) {
            (Some(value), None) => (self.scalar(&at.key("value"), value, Escape::Raw)?, None),
            (None, Some(file)) => {
                let (path, bytes) = self.contents(&at.key("file"), file)?;
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                (Text::fixed(bytes), Some(name.into_owned()))
            }
            _ => return self.none(at, "a part has either `value` or `file`"),
        };
        let name = self.constant(&at.key("name"), &part.name)?;
        let media_type = match &part.media_type {
            Some(text) => Some(self.constant(&at.key("type"), text)?),
            None => None,
        };
        if media_type
            .as_ref()
            .is_some_and(|media_type| media_type.contains(['\r', '\n', '\0']))
        {
            self.wrong(
                &at.key("type"),
                "a media type has no line breaks: remove them",
            );
        }
        Some(Part {
            name,
            value,
            file_name,
            content_type: media_type,
        })
    }
}
