//! What volley makes of .proto files, descriptor sets and messages, for `scripts/compare-protoc.sh`: one question a line
//! on stdin, one answer a line on stdout, both JSON. Bytes are base64.

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use buffa::Message as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use volley::protobuf::descriptor::{DescriptorProto, FileDescriptorSet};
use volley::protobuf::{Message, Pool, Zeros};
use volley::request::{messages, schema};
use volley::spec::SchemaSource;

/// A schema, and messages of its types.
#[derive(Deserialize)]
struct Question {
    /// A .proto file or, if `protoset` is set, a descriptor set.
    file: PathBuf,
    #[serde(default)]
    protoset: bool,
    #[serde(default)]
    import_paths: Vec<PathBuf>,
    #[serde(default)]
    messages: Vec<Letter>,
}

/// A message, either encoded or as JSON text.
#[derive(Deserialize)]
struct Letter {
    name: String,
    wire: Option<String>,
    json: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Refused(String),
    Panicked(String),
    /// A descriptor set or a message, encoded.
    Bytes(String),
    Json(Value),
}

#[derive(Serialize)]
struct Answers {
    schema: Answer,
    messages: Vec<Answer>,
}

fn main() -> io::Result<()> {
    std::panic::set_hook(Box::new(|_| {}));
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let question: Question = serde_json::from_str(&line?)?;
        serde_json::to_writer(&mut out, &answers(&question))?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(())
}

fn answers(question: &Question) -> Answers {
    let mut pool = None;
    let schema = caught(|| {
        let read = schema::read(&source(question)).map_err(|error| error.to_string())?;
        let read = read.ok_or("no schema")?;
        let bytes = STANDARD.encode(described(&read));
        pool = Some(read);
        Ok(Answer::Bytes(bytes))
    });
    let pool = pool.iter();
    let messages = pool.flat_map(|pool| question.messages.iter().map(|of| answer(pool, of)));
    let messages = messages.collect();
    Answers { schema, messages }
}

fn source(question: &Question) -> SchemaSource {
    let file = question.file.clone();
    match question.protoset {
        true => SchemaSource::Protoset(file),
        false => SchemaSource::Proto {
            file,
            import_paths: question.import_paths.clone(),
        },
    }
}

/// The schema as a serialized descriptor set.
fn described(pool: &Pool) -> Vec<u8> {
    let mut file: Vec<_> = pool.files().cloned().collect();
    for file in &mut file {
        let package = file.package.clone().unwrap_or_default();
        for message in &mut file.message_type {
            as_declared(pool, &package, message);
        }
    }
    let set = FileDescriptorSet {
        file,
        ..FileDescriptorSet::default()
    };
    set.encode_to_vec()
}

/// Where two fields have the same name in JSON, volley gives them others.
fn as_declared(pool: &Pool, scope: &str, message: &mut DescriptorProto) {
    let name = message.name.clone().unwrap_or_default();
    let name = match scope {
        "" => name,
        scope => format!("{scope}.{name}"),
    };
    for field in pool.message(&name).iter().flat_map(Message::fields) {
        let mut own = message.field.iter_mut();
        if let Some(own) = own.find(|own| own.name.as_deref() == Some(field.name())) {
            own.json_name = field.declared_json_name();
        }
    }
    for nested in &mut message.nested_type {
        as_declared(pool, &name, nested);
    }
}

fn answer(pool: &Pool, letter: &Letter) -> Answer {
    caught(|| {
        let kind = pool
            .message(&letter.name)
            .ok_or("there is no such message")?;
        if let Some(json) = &letter.json {
            let read = messages::from_json(json, &kind).map_err(|error| error.to_string())?;
            return match read.as_slice() {
                [one] => Ok(Answer::Bytes(STANDARD.encode(&one.bytes))),
                several => Err(format!("{} messages", several.len())),
            };
        }
        let wire = letter.wire.as_deref().unwrap_or_default();
        let wire = STANDARD.decode(wire).map_err(|error| error.to_string())?;
        messages::from_bytes(&wire, &kind).map_err(|error| error.to_string())?;
        Ok(Answer::Json(messages::to_json(
            &wire,
            &kind,
            &Zeros::default(),
        )))
    })
}

/// An error and a panic are answers as well.
fn caught(answer: impl FnOnce() -> Result<Answer, String>) -> Answer {
    match catch_unwind(AssertUnwindSafe(answer)) {
        Ok(answer) => answer.unwrap_or_else(Answer::Refused),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let fixed = || panic.downcast_ref::<&str>().map(ToString::to_string);
            Answer::Panicked(text.or_else(fixed).unwrap_or_default())
        }
    }
}
