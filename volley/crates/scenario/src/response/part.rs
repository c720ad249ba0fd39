//! Parts of a response, made ready: which moment knows them, and how they are reached.

use thiserror::Error;

use super::reply::Path;
use crate::json::{self, Found, Tree};
use crate::plan::{JsonType, Part, Pointer, Request, Step};
use crate::secrets::promises;
use volley_base::excerpt::excerpt;
use volley_http::grpc::status;
use volley_http::http2::hpack::HeaderList;
use volley_load::spec::secret::is_secret;

/// Why a step's checks or saves cannot be made ready.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReadingError {
    #[error("a step has at most 64 checks; this one has {0}")]
    Many(usize),
    #[error("`{name}` {reason}")]
    Field { name: String, reason: String },
    #[error(
        "`{0}` is compared with the response's body and saved from its head: save it under another name"
    )]
    Overwritten(String),
}

/// Where a part is.
#[derive(Clone, Debug)]
pub(super) enum Where {
    Status,
    /// A header at the head, a trailer at the end.
    Named(Box<[u8]>),
    /// Of these, the text of a gRPC status, which is decoded.
    Message,
    Cookie(Box<str>),
    /// Of [`Fields`], by index.
    Field(usize),
    Body,
    Url,
}

/// Values inside of a body.
#[derive(Debug)]
pub(super) enum Fields {
    Json(Tree),
    Reply(Vec<Path>),
}

/// What is known of a response, at its head or its end.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub status: &'a str,
    pub named: Option<&'a HeaderList>,
    pub url: &'a [u8],
    pub body: Option<&'a [u8]>,
}

impl Part {
    /// Whether it is known only at the end of a response.
    pub(super) fn is_late(&self, is_grpc: bool) -> bool {
        match self {
            Self::Field(_) | Self::Body | Self::Trailer(_) => true,
            Self::Status => is_grpc,
            Self::Header(_) | Self::Cookie(_) | Self::Url => false,
        }
    }

    /// Whether its name, or one on the way to it, promises a secret.
    pub(super) fn is_secret(&self) -> bool {
        match self {
            Self::Header(name) | Self::Trailer(name) => is_secret(name),
            Self::Cookie(_) => true,
            Self::Field(pointer) => pointer.keys.iter().any(|key| promises(key)),
            Self::Status | Self::Body | Self::Url => false,
        }
    }
}

/// The pointers of a step's checks and saves, in order.
fn pointers(step: &Step) -> impl Iterator<Item = &Pointer> {
    let checks = step.expect.checks.iter().map(|check| &check.part);
    let parts = checks.chain(step.saves.iter().map(|save| &save.part));
    parts.filter_map(|part| match part {
        Part::Field(pointer) => Some(pointer),
        _ => None,
    })
}

impl Fields {
    pub(super) fn new(step: &Step) -> Result<Self, ReadingError> {
        let Request::Grpc(request) = &step.request else {
            return Ok(Self::Json(Tree::new(pointers(step))));
        };
        let path = |pointer: &Pointer| {
            Path::new(&request.method.output, &pointer.keys).map_err(|reason| ReadingError::Field {
                name: excerpt(&pointer.text, 80),
                reason,
            })
        };
        pointers(step)
            .map(path)
            .collect::<Result<_, _>>()
            .map(Self::Reply)
    }

    /// Reads a body, before [`Self::get`] is asked for its values.
    pub(super) fn find(&self, body: &[u8], found: &mut Found) -> Result<(), String> {
        match self {
            Self::Json(tree) => tree.find(body, found).map_err(|fault| fault.to_string()),
            Self::Reply(_) => Ok(()),
        }
    }

    /// The type of a single value of a JSON body.
    #[inline]
    fn json_type(&self, field: usize, body: &[u8], found: &Found) -> Option<JsonType> {
        let Self::Json(tree) = self else {
            return None;
        };
        match found.get(tree, field, body)?.first()? {
            b'"' => Some(JsonType::Text),
            b'{' | b'[' => None,
            b't' | b'f' | b'n' => Some(JsonType::Word),
            _ => Some(JsonType::Number),
        }
    }

    /// A value as text.
    fn get<'a>(
        &'a self,
        field: usize,
        body: &'a [u8],
        found: &Found,
        room: &'a mut Vec<u8>,
    ) -> Result<Option<&'a [u8]>, String> {
        match self {
            Self::Json(tree) => match found.get(tree, field, body) {
                None => Ok(None),
                Some(value) => match json::text(value, room) {
                    None => Err("its string has half of a surrogate pair".to_owned()),
                    text => Ok(text),
                },
            },
            Self::Reply(paths) => match paths.get(field) {
                None => Ok(None),
                Some(path) => path.get(body, room),
            },
        }
    }
}

impl Where {
    /// `fields`: how many of the step's parts were fields so far.
    pub(super) fn new(part: &Part, fields: &mut usize) -> Self {
        match part {
            Part::Status => Self::Status,
            Part::Header(name) | Part::Trailer(name) => match name.as_bytes() {
                status::MESSAGE => Self::Message,
                name => Self::Named(name.into()),
            },
            Part::Cookie(name) => Self::Cookie(name.clone()),
            Part::Field(_) => {
                *fields += 1;
                Self::Field(*fields - 1)
            }
            Part::Body => Self::Body,
            Part::Url => Self::Url,
        }
    }

    /// The type of a part, if it is a single value of a JSON body.
    #[inline]
    pub(super) fn json_type(
        &self,
        known: Known<'_>,
        fields: Result<(&Fields, &Found), &str>,
    ) -> Option<JsonType> {
        match (self, known.body, fields) {
            (Self::Field(field), Some(body), Ok((fields, found))) => {
                fields.json_type(*field, body, found)
            }
            _ => None,
        }
    }

    /// The part of a response; `None` if it has none.
    ///
    /// # Errors
    ///
    /// Why the body cannot be read.
    #[inline]
    pub(super) fn get<'a>(
        &self,
        known: Known<'a>,
        fields: Result<(&'a Fields, &Found), &str>,
        room: &'a mut Vec<u8>,
    ) -> Result<Option<&'a [u8]>, String> {
        Ok(match self {
            Self::Status => Some(known.status.as_bytes()),
            Self::Named(name) => known.named.and_then(|named| named.get(name)),
            Self::Message => {
                let Some(message) = known.named.and_then(|named| named.last(status::MESSAGE))
                else {
                    return Ok(None);
                };
                *room = status::shown(status::MESSAGE, message).into_owned();
                Some(room)
            }
            Self::Cookie(name) => known
                .named
                .and_then(|named| super::cookie::value(named, name)),
            Self::Body => known.body,
            Self::Url => Some(known.url),
            Self::Field(field) => {
                let (fields, found) = fields.map_err(str::to_owned)?;
                match known.body {
                    None => None,
                    Some(body) => return fields.get(*field, body, found, room),
                }
            }
        })
    }
}
