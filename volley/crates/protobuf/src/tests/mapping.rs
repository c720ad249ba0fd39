//! JSON in both directions.

use serde::de::DeserializeSeed as _;
use volley_testkit::table::table;

use super::super::{Message, Seed, Zeros, encode};
use super::pool;
use volley_testkit::texts::has;

const KINDS: &str = r#"syntax = "proto3"; package k;
    import "google/protobuf/any.proto"; import "google/protobuf/duration.proto";
    import "google/protobuf/field_mask.proto"; import "google/protobuf/struct.proto";
    import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
    import "google/protobuf/empty.proto";
    enum E { ZERO = 0; ONE = 1; }
    message M {
        int32 i = 1; uint64 u = 2; sint64 s = 3; float f = 4; double d = 5; bool b = 6; string t = 7; bytes y = 8; E e = 9;
        repeated float fs = 10; map<string, float> fm = 11; map<bool, int32> bm = 12; map<int64, E> em = 13;
        google.protobuf.Any any = 14; google.protobuf.Duration span = 15; google.protobuf.FieldMask mask = 16;
        google.protobuf.Value value = 17; google.protobuf.Struct struct = 18; google.protobuf.ListValue list = 19;
        google.protobuf.Timestamp when = 20; google.protobuf.FloatValue wf = 21; google.protobuf.DoubleValue wd = 22;
        google.protobuf.Int64Value wi = 23; google.protobuf.BoolValue wb = 24; google.protobuf.BytesValue wy = 25;
        M inner = 26; repeated M inners = 27; oneof o { int32 left = 28; int32 right = 29; }
        optional double od = 30; google.protobuf.NullValue nil = 31; google.protobuf.Empty empty = 32;
        repeated google.protobuf.Value values = 33;
        repeated google.protobuf.NullValue nils = 34; map<string, google.protobuf.NullValue> nm = 35;
    }"#;

fn kinds() -> Message {
    pool(KINDS).message("k.M").unwrap()
}

fn read(message: &Message, json: &str) -> Result<Vec<u8>, String> {
    let mut json = serde_json::Deserializer::from_str(json);
    let read = Seed(message).deserialize(&mut json);
    read.map(|message| encode(&message))
        .map_err(|error| error.to_string())
}

fn show(message: &Message, bytes: &[u8]) -> String {
    message.to_json(&message.decode(bytes).unwrap()).to_string()
}

/// What JSON becomes when it is sent and shown again.
fn round(message: &Message, json: &str) -> String {
    show(
        message,
        &read(message, json).unwrap_or_else(|error| panic!("{json}: {error}")),
    )
}

#[test]
fn json_is_read_in_all_its_ways_and_shown_in_one() {
    let message = kinds();
    for [given, shown] in table(
        r#"
        {"u": 18446744073709551615, "s": -9223372036854775808} => {"u":"18446744073709551615","s":"-9223372036854775808"}
        {"i": "1e3", "u": 1.0, "s": "-9007199254740993"} => {"i":1000,"u":"1","s":"-9007199254740993"}
        {"i": 2e0, "u": "18446744073709551615"} => {"i":2,"u":"18446744073709551615"}
        {"f": 0.1, "d": "0.1", "fs": [0.1, "NaN", -0.0, 1e38]} => {"f":0.1,"d":0.1,"fs":[0.1,"NaN",-0.0,1e+38]}
        {"f": "Infinity", "d": "-Infinity", "fm": {"a": 0.7}} => {"f":"Infinity","d":"-Infinity","fm":{"a":0.7}}
        {"b": true, "t": "é\n", "y": "_-8"} => {"b":true,"t":"é\n","y":"/+8="}
        {"y": "/+8="} => {"y":"/+8="}
        {"e": "ONE", "em": {"-5": 1, "7": "ZERO", "8": 9}} => {"e":"ONE","em":{"-5":"ONE","7":"ZERO","8":9}}
        {"e": "1", "em": {"3": "-4", "4": 2.0}} => {"e":"ONE","em":{"3":-4,"4":2}}
        {"nils": [null, "NULL_VALUE"], "nm": {"a": null}} => {"nils":[null,null],"nm":{"a":null}}
        {"fs": [3.4028235e+38], "wf": "-3.4028235e38"} => {"fs":[3.4028235e+38],"wf":-3.4028235e+38}
        {"bm": {"true": 1, "false": 0}} => {"bm":{"false":0,"true":1}}
        {"span": "-1.5s", "when": "2024-02-29T23:59:59.120+01:30"} => {"span":"-1.500s","when":"2024-02-29T22:29:59.120Z"}
        {"span": "-0.000000001s", "when": "0001-01-01T00:00:00Z"} => {"span":"-0.000000001s","when":"0001-01-01T00:00:00Z"}
        {"when": "9999-12-31T23:59:59.999999999Z"} => {"when":"9999-12-31T23:59:59.999999999Z"}
        {"mask": "userName,a.bC", "struct": {"a": [1, null, {"b": "c"}]}} => {"mask":"userName,a.bC","struct":{"a":[1.0,null,{"b":"c"}]}}
        {"value": null, "list": [true, "x"], "values": [null, 2]} => {"value":null,"list":[true,"x"],"values":[null,2.0]}
        {"wf": 0.1, "wd": "NaN", "wi": "-3", "wb": false, "wy": ""} => {"wf":0.1,"wd":"NaN","wi":"-3","wb":false,"wy":""}
        {"i": null, "fs": null, "fm": null, "inner": null, "wf": null, "e": null, "left": null, "right": 0} => {"right":0}
        {"od": 0, "d": 0, "nil": null, "empty": {}} => {"od":0.0,"empty":{}}
        {"inner": {"inners": [{}, {"i": 5}]}} => {"inner":{"inners":[{},{"i":5}]}}
    "#,
    ) {
        assert_eq!(round(&message, given), shown, "{given}");
        assert_eq!(round(&message, shown), shown);
    }
}

#[test]
fn json_that_does_not_fit_is_refused_with_its_place() {
    let message = kinds();
    for [json, reason] in table(
        r#"
        {"i": 1.5} => a whole number is needed
        {"i": "1x"} => a whole number is needed
        {"i": " 1"} => a whole number is needed
        {"i": true} => a whole number is needed
        {"i": 2147483648} => the number does not fit the field: it is too large
        {"u": -1} => the number does not fit the field: it is below 0
        {"f": 1e39} => the number does not fit the field: it is too large
        {"f": "1e39"} => the number does not fit the field: it is too large
        {"d": "inf"} => a number is needed
        {"d": "0x1"} => a number is needed
        {"b": "true"} => `true` or `false` is needed
        {"t": 5} => text is needed
        {"y": "?"} => base64 is needed
        {"e": "TWO"} => unrecognized enum value 'TWO'
        {"e": " 1"} => unrecognized enum value ' 1'
        {"e": 4294967297} => the number does not fit the field: it is too large
        {"struct": {"a": {"b": 1, "b": 1}}} => the key 'b' is there twice
        {"list": [[{"b": 1, "b": 2}]]} => the key 'b' is there twice
        {"value": {"": 0, "": 0}} => the key '' is there twice
        {"any": {"@type": "x/k.M", "i": 1, "i": 1}} => the key 'i' is there twice
        {"struct": []} => invalid type: sequence, expected a map
        {"list": {}} => invalid type: map, expected a sequence
        {"s": "-9223372036854775809"} => the number does not fit the field: it is too small
        {"s": -9223372036854775809} => the number does not fit the field: it is too small
        {"s": "-9223372036854775809.0"} => the number does not fit the field: it is too small
        {"i": 1e300} => the number does not fit the field: it is too large
        {"s": -9223372036854777857} => the number does not fit the field: it is too small
        {"i": -2147483649} => the number does not fit the field: it is too small
        {"u": "-1.0"} => the number does not fit the field: it is below 0
        {"e": -4294967297} => the number does not fit the field: it is too small
        {"e": true} => a name or a number is needed
        {"x": 1} => unrecognized field name 'x'
        {"i": 1, "i": 2} => the field 'i' is there twice
        {"left": 1, "right": 2} => multiple fields provided for oneof 'o': `left` and `right`
        {"fs": 1} => invalid type: integer `1`, expected a list
        {"fs": [null]} => a list has no `null`
        {"fm": {"a": null}} => a map has no `null`
        {"fm": {"a": 1, "a": 2}} => a key of the map is there twice
        {"em": {"1.5": 1}} => a whole number is needed
        {"bm": {"1": 1}} => a key of the map is `true` or `false`
        {"when": "2024-02-30T00:00:00Z"} => a time of the years 1 to 9999 is needed, such as "2024-01-02T03:04:05Z"
        {"when": "2024-02-03T00:00:00"} => a time of the years 1 to 9999 is needed, such as "2024-01-02T03:04:05Z"
        {"when": "0001-01-01T00:00:00+00:01"} => a time of the years 1 to 9999 is needed, such as "2024-01-02T03:04:05Z"
        {"span": "315576000001s"} => a duration of at most 315576000000s is needed, such as "1.5s"
        {"when": "2024-02-03t00:00:00Z"} => a time of the years 1 to 9999 is needed, such as "2024-01-02T03:04:05Z"
        {"when": "2024-02-03T00:00:00z"} => a time of the years 1 to 9999 is needed, such as "2024-01-02T03:04:05Z"
        {"span": "1.0000000001s"} => a duration of at most 315576000000s is needed, such as "1.5s"
        {"span": "1"} => a duration of at most 315576000000s is needed, such as "1.5s"
        {"mask": "a_b"} => names of fields are needed, such as "a,bC.d"
        {"empty": {"a": 1}} => unrecognized field name 'a'
        {"any": {"a": 1}} => a google.protobuf.Any names its type: give `@type`, such as "type.googleapis.com/package.Message"
        {"any": {"@type": "x/no.Such"}} => the type `no.Such` is missing from the schema
    "#,
    ) {
        let error = read(&message, json).unwrap_err();
        assert!(
            error.starts_with(&format!("{reason} at line 1 column ")),
            "{json}: {error}"
        );
    }
}

#[test]
fn only_plus_zero_is_not_sent() {
    let message = kinds();
    assert_eq!(
        read(&message, r#"{"f": 0.0, "d": 0, "od": 0}"#).unwrap()[..2],
        [0xf1, 0x01]
    );
    let sent = read(&message, r#"{"f": -0.0, "d": "-0"}"#).unwrap();
    assert_eq!(sent, [0x25, 0, 0, 0, 0x80, 0x29, 0, 0, 0, 0, 0, 0, 0, 0x80]);
    assert_eq!(show(&message, &sent), r#"{"f":-0.0,"d":-0.0}"#);
}

#[test]
fn an_any_is_shown_beside_what_can_be_read() {
    let message = kinds();
    for json in [
        r#"{"any":{}}"#,
        r#"{"any":{"@type":"type.googleapis.com/k.M","i":5,"inner":{"fs":[0.1]}}}"#,
        r#"{"any":{"@type":"x/google.protobuf.Duration","value":"1.500s"}}"#,
        r#"{"any":{"@type":"x/google.protobuf.FloatValue","value":0.1}}"#,
        r#"{"any":{"@type":"x/google.protobuf.Any","value":{"@type":"k.M","t":"x"}}}"#,
        r#"{"t":"x","any":{"@type":"no.such/Type","value":"AQI="}}"#,
    ] {
        assert_eq!(round(&message, json), json);
    }
    // No message of its type.
    let broken = b"\x3a\x01x\x72\x09\x0a\x03k.M\x12\x02\x0a\x05";
    assert_eq!(
        show(&message, broken),
        r#"{"t":"x","any":{"@type":"k.M","value":"CgU="}}"#
    );
    // Deeper than any message: it ends, and takes no more room than one.
    let mut deep = Vec::new();
    for _ in 0..300 {
        let mut any = Vec::new();
        super::super::wire::encode_bytes(1, b"a/google.protobuf.Any", &mut any);
        super::super::wire::encode_bytes(2, &deep, &mut any);
        deep = any;
    }
    let mut whole = Vec::new();
    super::super::wire::encode_bytes(14, &deep, &mut whole);
    assert!(show(&message, &whole).matches("@type").count() > 50);
}

#[test]
fn an_any_of_googles_own_type_is_not_taken_as_bytes_without_its_file() {
    let message = pool(
        "syntax = \"proto3\"; import \"google/protobuf/any.proto\"; message M { google.protobuf.Any any = 1; }",
    );
    let message = message.message("M").unwrap();
    let any = |name: &str| format!(r#"{{"any":{{"@type":"x/{name}","value":"2s=="}}}}"#);
    assert!(read(&message, &any("google.protobuf.Duration")).is_err());
    assert!(read(&message, &any("other.Type")).is_ok());
}

#[test]
fn extensions_may_be_absent_in_every_file() {
    let edition = pool(
        "edition = \"2023\"; option features.field_presence = IMPLICIT;
         message M { extensions 10 to 20; int32 own = 1; enum E { A = 0; } extend M { repeated int32 all = 13; E e = 14; } }
         extend M { int32 n = 10; bytes y = 11; M m = 12; }",
    );
    let message = edition.message("M").unwrap();
    let json = r#"{"[n]":0,"[y]":"","[m]":{"[M.e]":"A"}}"#;
    assert_eq!(round(&message, json), json);
    assert_eq!(round(&message, r#"{"own": 0, "[M.all]": []}"#), "{}");
    let proto3 = pool(
        "syntax = \"proto3\"; import \"google/protobuf/descriptor.proto\";
         extend google.protobuf.FieldOptions { bool flag = 50000; }",
    );
    let options = proto3.message("google.protobuf.FieldOptions").unwrap();
    assert_eq!(
        round(&options, r#"{"[flag]":false}"#),
        r#"{"[flag]":false}"#
    );
}

#[test]
fn times_that_json_cannot_have_are_shown_as_their_fields() {
    let message = kinds();
    // One second after the year 9999.
    let mut when = vec![8];
    super::super::wire::encode_varint(253_402_300_800, &mut when);
    let mut late = Vec::new();
    super::super::wire::encode_bytes(20, &when, &mut late);
    assert_eq!(
        show(&message, &late),
        r#"{"when":{"seconds":"253402300800"}}"#
    );
    // Its parts have different signs.
    let mixed = b"\x7a\x0d\x08\x01\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    assert_eq!(
        show(&message, mixed),
        r#"{"span":{"seconds":"1","nanos":-1}}"#
    );
}

#[test]
fn old_messages_have_required_fields_closed_enums_groups_and_extensions() {
    let pool = pool(
        "syntax = \"proto2\"; package p;
         enum E { ONE = 1; TWO = 2; }
         message M { required int32 must = 1; optional E e = 2; repeated E es = 3; optional group Part = 4 { required string name = 1; }
                     extensions 10 to 20; optional M more = 5; map<int32, M> of = 6; }
         extend M { optional float note = 10; repeated M all = 11; }",
    );
    let message = pool.message("p.M").unwrap();
    let json = r#"{"must":0,"e":"TWO","part":{"name":""},"more":{"must":1},"[p.note]":0.1,"[p.all]":[{"must":2}]}"#;
    assert_eq!(round(&message, json), json);
    for [json, field] in table(
        r#"
        {} => must
        {"must": 1, "part": {}} => part.name
        {"must": 1, "more": {"more": {"must": 1}}} => more.must
        {"must": 1, "[p.all]": [{"must": 1}, {}]} => p.all[1].must
        {"must": 1, "of": {"7": {"must": 1}, "8": {}}} => of["8"].must
    "#,
    ) {
        let error = read(&message, json).unwrap_err();
        has(&error, &format!("the required field `{field}` is missing"));
    }
    // A number without a name is an unknown field of a closed enum: it is not sent as its value.
    for json in [r#"{"must": 1, "e": 3}"#, r#"{"must": 1, "es": [1, "-1"]}"#] {
        let error = read(&message, json).unwrap_err();
        assert!(error.starts_with("unrecognized enum value '"), "{error}");
    }
    let reply = [8, 1, 0x10, 7, 0x18, 1, 0x18, 9];
    assert_eq!(show(&message, &reply), r#"{"must":1,"es":["ONE"]}"#);
    let error = message.decode(&[0x10, 1]).unwrap_err().to_string();
    assert_eq!(error, "the required field `must` is missing");
}

#[test]
fn no_depth_of_nesting_is_too_much_for_a_thread() {
    let message = kinds();
    for (open, close, leaf) in [
        (r#"{"inner":"#, "}", "{}"),
        (r#"{"inners":["#, "]}", "{}"),
        (r#"{"any":{"@type":"x/k.M","inner":"#, "}}", "{}"),
        (r#"{"value":{"a":["#, "]}}", "1"),
        (r#"{"struct":{"a":"#, "}}", "1"),
    ] {
        for depth in [1, 20, 49, 99, 120, 10_000] {
            let (open, close) = (open.repeat(depth), close.repeat(depth));
            let Ok(bytes) = read(&message, &format!("{open}{leaf}{close}")) else {
                assert!(depth > 20, "{open}");
                continue;
            };
            // The decoder has its own limit.
            if let Ok(decoded) = message.decode(&bytes) {
                assert!(
                    message
                        .to_json_with(&decoded, &Zeros::default())
                        .is_object()
                );
            }
        }
    }
}
