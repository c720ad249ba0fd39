use std::path::{Path, PathBuf};

use thiserror::Error;
use volley_base::excerpt::excerpt;
use volley_load::spec::Data;

use super::expect::ExpectError;
use super::metadata::MetadataError;
use super::rows;
use super::template::TemplateError;

/// The place of a template in the data.
pub(super) const DATA: &str = "the data";

/// Why a request cannot be made as specified.
#[derive(Debug, Error)]
pub enum RequestError {
    #[error("there is no data to send: give `{input}` as JSON with -d '{{…}}'")]
    NoData { input: String },
    #[error(
        "the data is not valid JSON: {reason}{}{}",
        told("; ", hint, ""),
        told("; the template gave: ", rendered, "")
    )]
    NotJson {
        reason: String,
        hint: Option<String>,
        rendered: Option<String>,
    },
    #[error(
        "the data does not fit `{input}`: {reason}{}{}",
        told("; ", hint, ""),
        told("; the template gave: ", rendered, "")
    )]
    DoesNotFit {
        input: String,
        reason: String,
        hint: Option<String>,
        rendered: Option<String>,
    },
    #[error("the binary data is neither one `{input}` nor several with length prefixes: {reason}")]
    NotBinary { input: String, reason: String },
    #[error(
        "the messages of one call take more than {limit} bytes; send fewer with \
         --stream-call-count, or smaller ones"
    )]
    TooLarge { limit: usize },
    #[error(
        "a message of {length} bytes is over the limit of {max}; raise it with `--max-send-message-size`"
    )]
    TooLong { length: usize, max: usize },
    #[error("line {line}{}: {error}", told(", column `", column, "`"))]
    Row {
        line: u64,
        column: Option<String>,
        error: Box<RequestError>,
    },
    #[error("`{}`: {error}", .path.display())]
    InFile {
        path: PathBuf,
        error: Box<RequestError>,
    },
    #[error("the data is not usable CSV: {reason}")]
    Csv { reason: String },
    #[error(
        "--expect names a field of the request, but --stream-dynamic-messages with pauses makes it only when it is \
         sent: drop the pauses, or the rule"
    )]
    DynamicExpect,
    #[error("{place}: {error}")]
    Template { place: String, error: TemplateError },
    #[error(
        "{place}: its template is wrong (not shown: it may be a secret); `--disable-template-data` sends it as it is"
    )]
    SecretTemplate { place: String },
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    #[error(transparent)]
    Expect(#[from] ExpectError),
    #[error("--expect-replies {given} is impossible: a call of `{method}` has one reply")]
    OneReply { method: String, given: u64 },
}

impl RequestError {
    /// Names the file that the data came from, if the data is what is wrong.
    #[must_use]
    pub(super) fn in_file(mut self, path: Option<&Path>, data: &Data) -> Self {
        if let (Self::NotJson { hint, .. }, Some(_), Data::Json(text)) = (&mut self, path, data) {
            *hint = rows::kind(text).map(|(kind, ending)| {
                format!("it looks like {kind}: give the file a name that ends in `{ending}`")
            });
        }
        let is_of_data = match &self {
            Self::Row { .. }
            | Self::Csv { .. }
            | Self::NoData { .. }
            | Self::NotJson { .. }
            | Self::DoesNotFit { .. }
            | Self::NotBinary { .. } => true,
            Self::Template { place, .. } => place == DATA,
            _ => false,
        };
        match path.filter(|_| is_of_data) {
            Some(path) => Self::InFile {
                path: path.to_owned(),
                error: Box::new(self),
            },
            None => self,
        }
    }

    /// Changes what was said of a place in JSON.
    #[must_use]
    pub(super) fn with_reason(mut self, change: impl FnOnce(&mut String)) -> Self {
        if let Self::NotJson { reason, .. } | Self::DoesNotFit { reason, .. } = &mut self {
            change(reason);
        }
        self
    }

    /// Without the place in JSON that is not the user's.
    #[must_use]
    pub fn without_line(self) -> Self {
        self.with_reason(|reason| {
            reason.truncate(reason.rfind(" at line ").unwrap_or(reason.len()));
        })
    }

    /// Shows what the template produced, if the mistake may be in there.
    #[must_use]
    pub(super) fn rendered(mut self, json: &str) -> Self {
        if let Self::NotJson { rendered, .. } | Self::DoesNotFit { rendered, .. } = &mut self {
            *rendered = Some(excerpt(json, 200));
        }
        self
    }
}

/// A text between others; nothing if there is none.
fn told(before: &str, text: &Option<String>, after: &str) -> String {
    let told = text.as_ref().map(|text| format!("{before}{text}{after}"));
    told.unwrap_or_default()
}
