//! The header fields of a call.

use std::sync::Arc;
use std::time::Duration;

use volley_base::excerpt::excerpt;
use volley_http::grpc::timeout;
use volley_http::http2::Head;
use volley_http::http2::hpack::{Field, Indexing, literal, literal_name};
use volley_load::spec::{RequestSpec, Spec, TargetSpec, Templates, secret, some};

use super::RequestError;
use super::metadata::{MetadataError, Name};
use super::schema::Method;
use super::template::{CallData, Template, TemplateError};

/// What volley calls itself.
pub const USER_AGENT: &str = concat!("volley/", env!("CARGO_PKG_VERSION"));

/// The template of heads: the one that all calls share, and metadata that differs from call to call.
#[derive(Clone, Debug)]
pub struct HeadPlan {
    constant: Arc<Head>,
    varying: Vec<Varying>,
}

#[derive(Clone, Debug)]
struct Varying {
    key: Key,
    value: Template,
}

/// The name of a field that differs from call to call.
#[derive(Clone, Debug)]
enum Key {
    Fixed(EncodedName),
    Rendered(Template),
}

/// A name, and how its field begins on the wire.
#[derive(Clone, Debug)]
struct EncodedName {
    name: Name,
    begin: Vec<u8>,
}

impl HeadPlan {
    /// # Errors
    ///
    /// If a metadata name or value cannot be sent, or its template is invalid.
    pub fn new(spec: &Spec, method: &Method) -> Result<Self, RequestError> {
        let RequestSpec {
            timeout, compress, ..
        } = spec.request;
        let mut fields = own_fields(&spec.target, &method.path, timeout, compress);
        let mut varying = Vec::new();
        for (name, value) in &spec.request.metadata {
            let parse = |text: &str| match spec.request.templates {
                Templates::Off => Ok(Template::literal(text)),
                templates => Template::parse(text, method, templates == Templates::All)
                    .map_err(|error| wrong(name, error)),
            };
            let (key, value) = (parse(name)?, parse(value)?);
            match (key.constant(), value.constant()) {
                (Some(key), Some(value)) => fields.push(field(&Name::new(key)?, value)?),
                (Some(name), None) => {
                    let key = Key::Fixed(EncodedName::new(name)?);
                    varying.push(Varying { key, value });
                }
                (None, _) => varying.push(Varying {
                    key: Key::Rendered(key),
                    value,
                }),
            }
        }
        Ok(Self {
            constant: Arc::new(Head {
                fields,
                ..Head::default()
            }),
            varying,
        })
    }

    /// Whether calls differ in nothing.
    #[inline]
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.varying.is_empty()
    }

    /// What all calls share.
    #[must_use]
    pub fn constant(&self) -> &Arc<Head> {
        &self.constant
    }

    /// Replaces `out` with the encoded fields that only one call has. They stay out of the compression table: values
    /// that never repeat would only evict useful ones.
    ///
    /// # Errors
    ///
    /// If the output of a template cannot be sent.
    pub fn varying(
        &self,
        call: &mut CallData,
        text: &mut String,
        out: &mut Vec<u8>,
    ) -> Result<(), RequestError> {
        out.clear();
        for Varying { key, value } in &self.varying {
            text.clear();
            let rendered;
            let EncodedName { name, begin } = match key {
                Key::Fixed(name) => name,
                Key::Rendered(template) => {
                    let failed = |error| wrong("a name", error);
                    template.render(call, text).map_err(failed)?;
                    rendered = EncodedName::new(text)?;
                    text.clear();
                    &rendered
                }
            };
            value
                .render(call, text)
                .map_err(|error| wrong(&String::from_utf8_lossy(name.as_bytes()), error))?;
            literal(begin, &name.wire_value(text)?, out);
        }
        Ok(())
    }
}

impl EncodedName {
    fn new(name: &str) -> Result<Self, RequestError> {
        let name = Name::new(name)?;
        let mut begin = Vec::new();
        let indexing = indexing(&name, Indexing::Without);
        literal_name(name.as_bytes(), indexing, &mut begin);
        Ok(Self { name, begin })
    }
}

fn wrong(name: &str, error: TemplateError) -> RequestError {
    let place = format!("metadata `{}`", excerpt(name, 60));
    match secret::is_secret(name) {
        true => RequestError::SecretTemplate { place },
        false => RequestError::Template { place, error },
    }
}

fn indexing(name: &Name, otherwise: Indexing) -> Indexing {
    match name.is_never_indexed() {
        true => Indexing::Never,
        false => otherwise,
    }
}

fn field(name: &Name, value: &str) -> Result<Field, MetadataError> {
    let indexing = indexing(name, Indexing::Incremental);
    let value = name.wire_value(value)?;
    Ok(Field::new(name.as_bytes(), value.as_ref(), indexing))
}

/// The head of a call that asks the server for its schema.
///
/// # Errors
///
/// If the metadata for it cannot be sent.
pub fn of_reflection(spec: &Spec, path: &str) -> Result<Arc<Head>, MetadataError> {
    let mut fields = own_fields(&spec.target, path, spec.target.connect_timeout, false);
    for (name, value) in &spec.request.reflect_metadata {
        let name = Name::new(name)?;
        fields.push(field(&name, value)?);
    }
    Ok(Arc::new(Head {
        fields,
        ..Head::default()
    }))
}

/// The headers of every gRPC request (gRPC over HTTP/2, Requests); pseudo-headers come first (RFC
/// 9113 §8.3).
fn own_fields(target: &TargetSpec, path: &str, timeout: Duration, compress: bool) -> Vec<Field> {
    let timeout = some(timeout).map(timeout::header_value);
    let authority = target.effective_authority();
    let scheme = if target.insecure { "http" } else { "https" };
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
    if compress {
        fields.push(("grpc-encoding", "gzip"));
    }
    // Whatever the requests are, as grpc-go with its gzip, and so ghz.
    fields.push(("grpc-accept-encoding", "gzip"));
    let field = |(name, value): (&str, &str)| {
        Field::new(name.as_bytes(), value.as_bytes(), Indexing::Incremental)
    };
    fields.into_iter().map(field).collect()
}
