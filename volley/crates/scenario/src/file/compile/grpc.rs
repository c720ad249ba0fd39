//! gRPC calls.

use serde_json::{Map, Value};

use super::Compiler;
use crate::file::mistake::Path;
use crate::file::model::Step;
use crate::plan::{GrpcRequest, Pointer, Url, Version};
use crate::{Escape, Text};
use volley_load::spec::SchemaSource;
use volley_protobuf::{Kind, Message};
use volley_request::schema::{self, SchemaError, suggest};
use volley_request::{MetadataName, Method, RequestError, messages};

/// Messages whose JSON is not a map of their fields.
const WELL_KNOWN: &str = "google.protobuf.";

impl Compiler<'_> {
    pub(super) fn read_protos(&mut self, at: &Path) {
        let file = self.file;
        let import_paths: Vec<_> = file
            .import_paths
            .iter()
            .map(|path| self.folder.join(path))
            .collect();
        let protos: Vec<(Path, &String)> = file.protos.at(at).collect();
        for (at, proto) in protos {
            let Some(path) = self.existing(&at, proto) else {
                continue;
            };
            let is_proto = path
                .extension()
                .is_some_and(|extension| extension == "proto");
            let source = if is_proto {
                SchemaSource::Proto {
                    file: path,
                    import_paths: import_paths.clone(),
                }
            } else {
                SchemaSource::Protoset(path)
            };
            let read = schema::read(&source).map_err(|error| in_file(&error));
            let pool = self.noted(&at, read).flatten();
            self.pools.extend(pool);
        }
    }

    pub(super) fn grpc(
        &mut self,
        at: &Path,
        step: &Step,
        url: Option<&(Url, usize)>,
    ) -> Option<GrpcRequest> {
        let method = url.and_then(|url| self.grpc_method(&at.key("grpc"), url));
        let metadata = self.metadata(&at.key("metadata"), step);
        let messages = self.messages(at, step, method.as_ref());
        if step.repeat == Some(0) {
            self.wrong(&at.key("repeat"), "it is at least 1");
        }
        Some(GrpcRequest {
            method: method?,
            metadata,
            messages: messages?,
            repeat: step.repeat.unwrap_or(1),
        })
    }

    fn grpc_method(&mut self, at: &Path, (url, target): &(Url, usize)) -> Option<Method> {
        let path = match url {
            Url::Target { path, .. } => path.constant(),
            Url::Value { .. } => None,
        };
        let call = path.and_then(|path| std::str::from_utf8(path).ok()?.strip_prefix('/'));
        let Some(call) = call.filter(|call| call.matches('/').count() == 1) else {
            return self.none(
                at,
                "it names no method: write `${target}/package.Service/Method`",
            );
        };
        if let Some(target) = self.targets.get(*target)
            && target.version == Version::Http1
        {
            let problem = format!(
                "gRPC needs HTTP/2, and `{}` has `version: 1`: change it",
                target.name
            );
            self.wrong(at, problem);
        }
        if self.pools.is_empty() {
            if self.file.protos.is_empty() {
                self.wrong(
                    at,
                    "the schema is missing: name its file, as in `protos: [shop.proto]`",
                );
            }
            return None;
        }
        let mut errors = Vec::new();
        for pool in &self.pools {
            match schema::find(pool, call) {
                Ok(method) => return Some(method),
                Err(error) => errors.push(error),
            }
        }
        // A service without the method is nearer than no service.
        let nearest = errors.iter().find(|error| {
            matches!(
                error,
                SchemaError::UnknownMethod { .. } | SchemaError::NoMethod { .. }
            )
        });
        if let Some(error) = nearest.or(errors.first()) {
            let error = in_file(error);
            self.wrong(at, error);
        }
        None
    }

    fn metadata(&mut self, at: &Path, step: &Step) -> Vec<(Box<str>, Text)> {
        let mut metadata = Vec::new();
        for (name, value) in step.metadata.iter() {
            let at = at.key(name);
            let text = self.scalar(&at, value, Escape::Header);
            let checked = MetadataName::new(name).and_then(|name| {
                match text.as_ref().and_then(Text::constant) {
                    Some(bytes) => name.wire_value(&String::from_utf8_lossy(bytes)).map(|_| ()),
                    None => Ok(()),
                }
            });
            let checked = checked.map_err(|error| {
                error
                    .to_string()
                    .replace("--authority", "`authority` of the target")
            });
            let checked = self.noted(&at, checked);
            let name = name.trim().to_ascii_lowercase().into_boxed_str();
            metadata.extend(checked.zip(text).map(|((), text)| (name, text)));
        }
        metadata
    }

    fn messages(&mut self, at: &Path, step: &Step, method: Option<&Method>) -> Option<Vec<Text>> {
        let streams = method.is_some_and(|method| method.shape.streams_requests());
        let empty = Value::Object(Map::new());
        let written: Vec<(Path, &Value)> = match (&step.message, &step.messages) {
            (Some(_), Some(_)) => {
                return self.none(
                    &at.key("messages"),
                    "`message` and `messages` both are the request: keep one",
                );
            }
            (Some(message), None) => vec![(at.key("message"), message)],
            (None, Some(messages)) => {
                let at = at.key("messages");
                messages
                    .iter()
                    .enumerate()
                    .map(|(index, message)| (at.index(index), message))
                    .collect()
            }
            (None, None) => vec![(at.key("message"), &empty)],
        };
        if method.is_some() && !streams && written.len() != 1 {
            self.wrong(
                &at.key("messages"),
                "the method takes one message: write `message`",
            );
        }
        if method.is_some() && !streams && step.repeat.is_some_and(|times| times > 1) {
            self.wrong(&at.key("repeat"), "the method takes one message: drop it");
        }
        let mut texts = Vec::new();
        let before = self.mistakes.len();
        for (at, message) in written {
            let text = self.json(&at, message);
            if let Some(method) = method {
                let before = self.mistakes.len();
                self.check_message(&at, message, &method.input);
                if self.mistakes.len() == before {
                    self.check_values(&at, message, text.as_ref(), &method.input);
                }
            }
            texts.extend(text);
        }
        (self.mistakes.len() == before).then_some(texts)
    }

    /// Refuses values that do not fit their fields, as far as they are known before the run.
    fn check_values(&mut self, at: &Path, message: &Value, text: Option<&Text>, input: &Message) {
        let before = self.mistakes.len();
        if let Some(Value::Object(fields)) = known(message) {
            for (key, value) in fields {
                let at = at.key(&key);
                let field = Value::Object(Map::from_iter([(key, value)]));
                self.note_json(&at, messages::require_known(&field.to_string(), input));
            }
        }
        if let Some(json) = text.and_then(Text::constant)
            && self.mistakes.len() == before
        {
            let read = messages::from_json(&String::from_utf8_lossy(json), input);
            self.note_json(at, read.map(drop));
        }
    }

    fn note_json(&mut self, at: &Path, read: Result<(), RequestError>) {
        if let Err(error) = read {
            // The place is one in the JSON that volley makes of it.
            let error = error.without_line().to_string();
            self.wrong(at, error.replacen("the data", "the message", 1));
        }
    }

    /// Refuses fields that the message does not have.
    fn check_message(&mut self, at: &Path, value: &Value, message: &Message) {
        // With `${x:json}`, the whole message is a value.
        if message.full_name().starts_with(WELL_KNOWN) || value.is_string() {
            return;
        }
        let Value::Object(fields) = value else {
            self.wrong(
                at,
                format!("a message `{}` is a map of its fields", message.full_name()),
            );
            return;
        };
        for (key, value) in fields {
            let at = at.key(key);
            let Some(field) = message.field_by_key(key) else {
                let known = suggest::keys(message, key);
                let hint = suggest::hint(key, &known, "it has none");
                self.wrong(
                    &at,
                    format!("`{}` has no field `{key}`; {hint}", message.full_name()),
                );
                continue;
            };
            let Kind::Message(inner) = field.kind() else {
                continue;
            };
            match value {
                Value::Array(items) if field.is_list() => {
                    for (index, item) in items.iter().enumerate() {
                        self.check_message(&at.index(index), item, &inner);
                    }
                }
                Value::Object(_) if !field.is_map() && !field.is_list() => {
                    self.check_message(&at, value, &inner);
                }
                _ => {}
            }
        }
    }

    /// A field of a reply, such as `session.id` or `items.0.id`, and the kind of its value if that is known.
    pub(super) fn field(
        &mut self,
        at: &Path,
        text: &str,
        method: Option<&Method>,
    ) -> Option<(Pointer, Option<Kind>)> {
        let mut message = method.map(|method| method.output.clone());
        let (mut is_list, mut kind) = (false, None);
        let keys = messages::keys(text);
        for &key in &keys {
            if is_list {
                is_list = false;
                if key.parse::<u32>().is_err() {
                    return self.none(
                        at,
                        format!(
                            "`{text}`: a list has numbers, such as `0`, in the place of `{key}`"
                        ),
                    );
                }
                continue;
            }
            let Some(inside) = &message else {
                // Nothing is known of it.
                if method.is_none() {
                    break;
                }
                return self.none(
                    at,
                    format!("`{text}`: nothing is below the value in front of `{key}`"),
                );
            };
            if inside.full_name().starts_with(WELL_KNOWN) || inside.is_map_entry() {
                break;
            }
            let Some(field) = inside.field_by_key(key) else {
                let known = suggest::keys(inside, key);
                let hint = suggest::hint(key, &known, "it has none");
                return self.none(
                    at,
                    format!("`{}` has no field `{key}`; {hint}", inside.full_name()),
                );
            };
            is_list = field.is_list();
            kind = Some(field.kind());
            message = match field.kind() {
                Kind::Message(message) => Some(message),
                _ => None,
            };
        }
        let pointer = Pointer {
            text: text.into(),
            keys: keys.into_iter().map(Into::into).collect(),
        };
        // A whole list is compared as JSON.
        Some((pointer, kind.filter(|_| !is_list)))
    }
}

/// What is known of a message before the run: all but the values with names.
fn known(message: &Value) -> Option<Value> {
    let is_known = |text: &String| !text.contains("${");
    match message {
        Value::String(text) => is_known(text).then(|| message.clone()),
        Value::Array(items) => Some(items.iter().filter_map(known).collect()),
        Value::Object(fields) => {
            let known: Map<_, _> = fields
                .iter()
                .filter(|(key, _)| is_known(key))
                .filter_map(|(key, value)| Some((key.clone(), known(value)?)))
                .collect();
            // A `google.protobuf.Any` cannot be read in part.
            let is_any = fields.contains_key("@type");
            (!is_any || known.len() == fields.len()).then_some(Value::Object(known))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(message.clone()),
    }
}

/// The message of an error, with keys of the file in the place of flags.
fn in_file(error: &SchemaError) -> String {
    error
        .to_string()
        .replace("--import-paths", "`import_paths`")
        .replace("--call takes", "write")
}
