//! The header fields of a call.

use std::sync::Arc;

use super::RequestError;
use super::metadata::{MetadataError, Name};
use super::schema::Method;

use super::template::{CallData, Labels, Template};
use crate::grpc::timeout;
use crate::http2::Head;
use crate::http2::hpack::{Field, Indexing};
use crate::spec::{Spec, Templates, some};

const USER_AGENT: &str = concat!("volley/", env!("CARGO_PKG_VERSION"));

/// The template of heads: what all calls share, and metadata that contains templates.
#[derive(Clone, Debug)]
pub struct HeadPlan {
    constant: Vec<Field>,
    varying: Vec<(Name, Template)>,
}

impl HeadPlan {
    /// # Errors
    ///
    /// If a metadata name or value cannot be sent, or its template is invalid.
    pub fn new(spec: &Spec, method: &Method) -> Result<Self, RequestError> {
        let mut plan = Self {
            constant: own_fields(spec, &method.path),
            varying: Vec::new(),
        };
        let labels = Labels::from(method);
        for (name, value) in &spec.request.metadata {
            let key = Name::new(name)?;
            if spec.request.templates == Templates::Off {
                plan.push_constant(&key, value)?;
                continue;
            }
            let template =
                Template::parse(value, &labels, spec.request.templates == Templates::All).map_err(
                    |error| RequestError::Template {
                        place: format!("metadata `{name}`"),
                        error,
                    },
                )?;
            match template.constant() {
                Some(value) => plan.push_constant(&key, value)?,
                None => plan.varying.push((key, template)),
            }
        }
        Ok(plan)
    }

    /// Whether all calls can share one head.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.varying.is_empty()
    }

    /// The head of one call.
    ///
    /// # Errors
    ///
    /// If the output of a template cannot be sent.
    pub fn head(&self, call: &mut CallData) -> Result<Arc<Head>, RequestError> {
        let mut fields = self.constant.clone();
        let mut text = String::new();
        for (name, template) in &self.varying {
            text.clear();
            template
                .render(call, &mut text)
                .map_err(|error| RequestError::Template {
                    place: format!("metadata `{}`", String::from_utf8_lossy(name.as_bytes())),
                    error,
                })?;
            // Storing a value that never repeats would only evict useful ones from the table.
            fields.push(field(name, &text, Indexing::Without)?);
        }
        Ok(Arc::new(Head { fields }))
    }

    fn push_constant(&mut self, name: &Name, value: &str) -> Result<(), RequestError> {
        self.constant
            .push(field(name, value, Indexing::Incremental)?);
        Ok(())
    }
}

fn field(name: &Name, value: &str, indexing: Indexing) -> Result<Field, MetadataError> {
    let indexing = if name.is_secret() {
        Indexing::Never
    } else {
        indexing
    };
    Ok(Field {
        name: name.as_bytes().into(),
        value: name.wire_value(value)?,
        indexing,
    })
}

/// The head of a call that asks the server for its schema.
///
/// # Errors
///
/// If the metadata for it cannot be sent.
pub fn of_reflection(spec: &Spec, path: &str) -> Result<Arc<Head>, MetadataError> {
    let mut own = spec.clone();
    own.request.timeout = spec.target.connect_timeout;
    own.request.compress = false;
    let mut fields = own_fields(&own, path);
    for (name, value) in &spec.request.reflect_metadata {
        let name = Name::new(name)?;
        fields.push(field(&name, value, Indexing::Without)?);
    }
    Ok(Arc::new(Head { fields }))
}

/// The headers of every gRPC request (gRPC over HTTP/2, Requests); pseudo-headers come first (RFC
/// 9113 §8.3).
fn own_fields(spec: &Spec, path: &str) -> Vec<Field> {
    let timeout = some(spec.request.timeout).map(timeout::header_value);
    let authority = spec.target.effective_authority();
    let scheme = if spec.target.insecure {
        "http"
    } else {
        "https"
    };
    let mut fields = vec![
        (":method", "POST"),
        (":scheme", scheme),
        (":path", path),
        (":authority", authority.as_str()),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
        ("user-agent", USER_AGENT),
    ];
    if let Some(timeout) = &timeout {
        fields.push(("grpc-timeout", timeout));
    }
    if spec.request.compress {
        fields.push(("grpc-encoding", "gzip"));
    }
    // Whatever the requests are, as grpc-go with its gzip, and so ghz.
    fields.push(("grpc-accept-encoding", "gzip"));
    let field = |(name, value): (&str, &str)| Field {
        name: name.as_bytes().into(),
        value: value.as_bytes().into(),
        indexing: Indexing::Incremental,
    };
    fields.into_iter().map(field).collect()
}
