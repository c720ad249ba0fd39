use std::sync::{Arc, OnceLock};

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::testkit::table::words;
use volley_load::spec::SchemaSource;
use volley_protobuf::DynamicMessage;
use volley_request::body::Body;
use volley_request::schema::{self, Method};
use volley_request::{RequestError, messages};

fn method() -> &'static Method {
    static METHOD: OnceLock<Method> = OnceLock::new();
    METHOD.get_or_init(|| {
        let source = SchemaSource::Proto {
            file: "../../tests/protos/everything.proto".into(),
            import_paths: Vec::new(),
        };
        let pool = schema::read(&source).unwrap().unwrap();
        schema::find(&pool, "everything.Everything/Collect").unwrap()
    })
}

/// A text in which `«0»` is slot 0: within a JSON string if `"` stands before or behind it.
fn text(json: &str) -> Text {
    let mut is_inside = false;
    let pieces = json.split(['«', '»']).enumerate().map(|(place, part)| {
        if place % 2 == 0 {
            is_inside ^= part.matches('"').count() % 2 == 1;
            return text::Piece::Fixed(part.as_bytes().into());
        }
        let escape = if is_inside { Escape::Json } else { Escape::Raw };
        text::Piece::Slot(Slot(part.parse().unwrap()), escape)
    });
    Text::new(pieces)
}

fn request(messages: &[&str], repeat: u32) -> GrpcRequest {
    GrpcRequest {
        method: method().clone(),
        metadata: Vec::new(),
        messages: messages.iter().map(|json| text(json)).collect(),
        repeat,
    }
}

fn values(given: &[&str]) -> Values {
    let mut values = Values::new(given.len());
    for (slot, value) in (0..).zip(given) {
        values.set(Slot(slot), value.as_bytes());
    }
    values
}

fn rules() -> Rules {
    let rules = ["int32 = int32 + i", "sint64 = sum(maybe)"].map(str::to_owned);
    Rules::new(&rules, None, method()).unwrap()
}

/// The framed messages and what replies must be, as the JSON parser has them.
fn parsed(request: &GrpcRequest, values: &Values) -> Result<(Arc<Vec<u8>>, String), RequestError> {
    let mut all = Vec::new();
    for text in &request.messages {
        let mut json = Vec::new();
        text.render(values, &mut json).unwrap();
        let json = String::from_utf8(json).unwrap();
        all.extend(messages::from_json(&json, &request.method.input)?);
    }
    let bytes: Vec<&[u8]> = all.iter().map(|message| &message.bytes[..]).collect();
    let sent = bytes.len() as u64 * u64::from(request.repeat);
    let fields: Vec<_> = all.iter().map(|message| &message.fields).collect();
    let expected = format!("{:?}", rules().bind(&fields, sent));
    Ok((Body::new(&bytes, sent, false)?.bytes, expected))
}

#[derive(Debug, PartialEq)]
enum Made {
    NoMold,
    Unfit,
    Same,
}

/// Makes messages in both ways.
fn made(messages: &[&str], repeat: u32, given: &[&str]) -> Made {
    let request = request(messages, repeat);
    let Some(mut molds) = Molds::new(&request) else {
        return Made::NoMold;
    };
    let mut out = Vec::new();
    // What a call before has filled in leaves nothing behind.
    molds.fill(&values(&["7"; 3]), 1, &mut out);
    out.clear();
    let given = values(given);
    let Some(filled) = molds.fill(&given, repeat, &mut out) else {
        return Made::Unfit;
    };
    let expected = format!("{:?}", filled.bind(&rules()));
    let parsed = parsed(&request, &given).unwrap_or_else(|error| panic!("{messages:?}: {error}"));
    assert_eq!(out.len(), parsed.0.len(), "{messages:?}");
    assert_eq!(decoded(&out), decoded(&parsed.0), "{messages:?}");
    assert_eq!(expected, parsed.1, "{messages:?}");
    Made::Same
}

/// Framed messages: the entries of a map come in any order.
fn decoded(mut framed: &[u8]) -> Vec<DynamicMessage> {
    let mut all = Vec::new();
    while let Some((prefix, rest)) = framed.split_first_chunk::<PREFIX_LEN>() {
        let length = u32::from_be_bytes(prefix[1..].try_into().unwrap());
        let (message, rest) = rest.split_at(length as usize);
        all.push(method().input.decode(message).unwrap());
        framed = rest;
    }
    all
}

/// Whether the JSON parser refuses them.
fn is_refused(messages: &[&str], given: &[&str]) -> bool {
    parsed(&request(messages, 1), &values(given)).is_err()
}

#[test]
fn every_kind_of_field_is_filled_from_slots() {
    for (messages, given) in [
        (
            r#"{"int32": "«0»", "int64": "«1»", "maybe": «2»}"#,
            ["-7", "9000000000", "0"],
        ),
        (
            r#"{"uint32": "«0»", "sint64": «1», "fixed64": "«2»"}"#,
            ["0", "-1", "1"],
        ),
        (
            r#"{"bool": «0», "level": "«1»", "double": "«2»"}"#,
            ["true", "HIGH", "-2.5"],
        ),
        (
            r#"{"float": «0», "bytes": "«1»", "string": "a «2» b"}"#,
            ["1e3", "AQID", "x\"\\\n\u{1}é"],
        ),
        (
            r#"{"inner": {"text": "«0»", "inner": {"value": "«1»"}}, "name": "«2»"}"#,
            ["", "5", ""],
        ),
        (
            r#"{"strings": ["«0»", "b"], "counts": {"k": "«1»"}, "wrappedText": "«2»"}"#,
            ["a", "3", ""],
        ),
        (
            r#"{"inner": «0», "packed": «1», "number": «2»}"#,
            ["{\"value\": 4}", "[1, 2]", "null"],
        ),
        (r#"{"string": "constant", "int32": 5}"#, ["", "", ""]),
    ] {
        let expected = match given[2] {
            "null" => Made::Unfit,
            _ => Made::Same,
        };
        assert_eq!(made(&[messages], 1, &given), expected, "{messages}");
    }
}

#[test]
fn several_messages_are_sent_as_often_as_they_are_repeated() {
    let messages = [r#"{"int32": "«0»"}"#, r#"{"maybe": "«1»"}"#, "{}"];
    for repeat in [1, 2, 5] {
        assert_eq!(made(&messages, repeat, &["3", "4"]), Made::Same);
    }
}

#[test]
fn a_value_that_does_not_fit_is_left_to_the_parser_which_says_why() {
    for (message, given) in [
        (r#"{"int32": "«0»"}"#, "text"),
        (r#"{"uint32": "«0»"}"#, "-1"),
        (r#"{"bool": "«0»"}"#, "true"),
        (r#"{"level": "«0»"}"#, "HIGHEST"),
        (r#"{"bytes": "«0»"}"#, "*"),
        (r#"{"string": «0»}"#, "5"),
    ] {
        assert_eq!(made(&[message], 1, &[given]), Made::Unfit, "{message}");
        assert!(is_refused(&[message], &[given]), "{message}");
    }
}

#[test]
fn an_empty_slot_and_bytes_that_are_no_text_fill_nothing() {
    let request = request(&[r#"{"string": "«0»"}"#], 1);
    let mut molds = Molds::new(&request).unwrap();
    let mut values = Values::new(1);
    assert!(molds.fill(&values, 1, &mut Vec::new()).is_none());
    values.set(Slot(0), b"\xff");
    assert!(molds.fill(&values, 1, &mut Vec::new()).is_none());
    values.set(Slot(0), b"a");
    assert!(molds.fill(&values, 1, &mut Vec::new()).is_some());
}

#[test]
fn what_only_the_parser_can_read_has_no_mold() {
    for message in ["«0»", r#"{"counts": {"«0»": 1}}"#, r#"{"«0»": 1}"#] {
        let is_map = message.contains("counts");
        let expected = if is_map { Made::Same } else { Made::NoMold };
        assert_eq!(made(&[message], 1, &["{}"]), expected, "{message}");
    }
}

const FIELDS: &str = "int32|int64|uint32|uint64|sint32|fixed32|sfixed64|bool|double|float|string|bytes|\
    level|inner|packed|strings|counts|maybe|wrappedText|when";

const VALUES: [&str; 14] = [
    "0",
    "1",
    "-1",
    "300",
    "1.5",
    "1e2",
    "4294967296",
    "true",
    "null",
    "HIGH",
    "AQID",
    "",
    "x\"\\\n",
    "{}",
];

const PLACES: [&str; 8] = [
    "«0»",
    "\"«0»\"",
    "\"a«0»\"",
    "\"«0»«1»\"",
    "[«0», \"«1»\"]",
    "{\"value\": \"«0»\", \"text\": \"«1»\"}",
    "{\"inner\": {\"text\": \"«0»\"}}",
    "{\"k\": «0»}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn filled_messages_are_those_that_the_json_parser_makes(
        fields in prop::collection::vec((select(words(FIELDS)), select(&PLACES[..])), 1..4),
        given in prop::array::uniform2(prop_oneof![
            select(&VALUES[..]).prop_map(str::to_owned),
            "\\PC{0,12}",
            any::<i64>().prop_map(|number| number.to_string()),
        ]),
    ) {
        let fields: Vec<String> = fields.iter().map(|(name, place)| format!("\"{name}\": {place}")).collect();
        made(&[&format!("{{{}}}", fields.join(", "))], 1, &[&given[0], &given[1]]);
    }
}
