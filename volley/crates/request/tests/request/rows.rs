//! Data files whose rows are messages.

use volley_load::spec::{Data, Spec, Templates};
use volley_request::{Body, Source};
use volley_testkit::table::table;

use crate::support::{everything, load, messages, metadata, method, nth, proto, refusal, shown};
use volley_testkit::texts::begins;

fn spec(data: Data) -> Spec {
    let mut spec = Spec::default();
    spec.request.data = data;
    spec
}

fn csv(text: &str) -> Spec {
    spec(Data::Csv(text.to_owned()))
}

fn lines(text: &str) -> Spec {
    spec(Data::JsonLines(text.to_owned()))
}

#[test]
fn unary_calls_take_rows_in_turn() {
    let method = method("GetSum");
    for spec in [
        csv("a,b\n1,2\n3,\n,-5\n"),
        csv("\u{feff}a,b\r\n\"1\",2\r\n3,\r\n,\" -5 \"\r\n"),
        lines("{\"a\":1,\"b\":2}\n\n{\"a\":3}\r\n{\"b\":-5}"),
        lines("\u{feff}{\"a\":\"1\",\"b\":2}\n{\"a\":3}\n{\"b\":-5}\n"),
    ] {
        let mut source = Source::new(&spec, &method).unwrap();
        let mut sent = |number| shown(source.next(0, number).unwrap(), &method).concat();
        assert_eq!(sent(0), r#"{"a":1,"b":2}"#);
        assert_eq!(sent(1), r#"{"a":3}"#);
        assert_eq!(sent(2), r#"{"b":-5}"#);
        assert_eq!(sent(300), r#"{"a":1,"b":2}"#);
        assert!(source.is_fixed());
    }
}

#[test]
fn compressed_rows_are_checked_by_what_they_say() {
    let mut spec = csv("a,b\n1,2\n3,4\n");
    spec.request.compress = true;
    spec.checks.expect = vec!["result = a + b".to_owned()];
    let mut source = Source::new(&spec, &method("GetSum")).unwrap();
    for (number, row, reply) in [(0, [8, 1, 16, 2], [8, 3]), (1, [8, 3, 16, 4], [8, 7])] {
        let request = source.next(0, number).unwrap();
        assert_eq!(*request.body, Body::new(&[&row], 1, true).unwrap());
        assert!(request.expected.check(0, &reply).is_ok());
        assert!(request.expected.check(0, &[8, 9]).is_err());
    }
}

#[test]
fn a_streaming_client_sends_all_rows() {
    let method = method("CollectSum");
    for spec in [csv("a\n1\n2\n"), lines("{\"a\":1}\n{\"a\":2}\n")] {
        assert_eq!(
            shown(&nth(&spec, &method, 0, 7), &method),
            [r#"{"a":1}"#, r#"{"a":2}"#]
        );
    }
    let templates = lines("{\"a\": {{.RequestNumber}}}\n{\"a\": 2}\n");
    assert_eq!(
        shown(&nth(&templates, &method, 0, 7), &method),
        [r#"{"a":7}"#, r#"{"a":2}"#]
    );
}

#[test]
fn cells_have_the_type_of_their_field() {
    let method = everything("Call");
    let text = "string,bool,double,level,inner.text,inner.inner.value,wrapped_number,wrappedText,when,strings,bytes,byId,uint64\n\
        \"a,\"\"b\"\"\n\",TRUE,1.5,HIGH,007,7,5,12,2020-01-01T00:00:00Z,\"[\"\"x\"\"]\",AQI=,\"{\"\"1\"\":{}}\",18446744073709551615\n\
        ,false,NaN,7,,,,,,,,,\n";
    let spec = csv(text);
    assert_eq!(
        shown(&nth(&spec, &method, 0, 0), &method),
        [concat!(
            r#"{"uint64":"18446744073709551615","bool":true,"double":1.5,"string":"a,\"b\"\n","bytes":"AQI=","#,
            r#""level":"HIGH","inner":{"text":"007","inner":{"value":7}},"strings":["x"],"byId":{"1":{}},"#,
            r#""when":"2020-01-01T00:00:00Z","wrappedNumber":"5","wrappedText":"12"}"#
        )]
    );
    assert_eq!(
        shown(&nth(&spec, &method, 0, 1), &method),
        [r#"{"double":"NaN","level":"HIGH"}"#]
    );
}

#[test]
fn rows_may_have_templates() {
    let method = everything("Call");
    let spec = csv(
        "string,int32,bool\n\"{{upper \"\"u\"\"}}-{{.RequestNumber}}\",{{.RequestNumber}},{{eq .RequestNumber 2}}\nx,1,\n",
    );
    let mut source = Source::new(&spec, &method).unwrap();
    let mut sent = |number| shown(source.next(0, number).unwrap(), &method).concat();
    assert_eq!(sent(2), r#"{"int32":2,"bool":true,"string":"U-2"}"#);
    assert_eq!(sent(3), r#"{"int32":1,"string":"x"}"#);
    assert!(!source.is_fixed());
}

#[test]
fn the_text_beside_a_template_may_have_any_characters() {
    let method = everything("Call");
    let mut spec = csv(
        "string,int32\n\"say \"\"{{upper \"\"u\"\"}}\"\" \\ \n{{- .RequestNumber -}} \n{{/* \"\" */}}!\",{{.RequestNumber}}\n",
    );
    assert_eq!(
        shown(&nth(&spec, &method, 0, 3), &method),
        [r#"{"int32":3,"string":"say \"U\" \\3!"}"#]
    );
    spec.request.data = Data::Csv("string\n\"a \"\"b\"\" {{x \"\"}}\"\n".to_owned());
    spec.request.templates = Templates::Off;
    assert_eq!(
        shown(&nth(&spec, &method, 0, 0), &method),
        [r#"{"string":"a \"b\" {{x \"}}"}"#]
    );
}

#[test]
fn replies_are_checked_against_their_row() {
    let mut spec = csv("a,b\n1,2\n30,4\n");
    spec.checks.expect = vec!["result = a + b".to_owned()];
    spec.request.metadata = metadata(&[("x", "{{.RequestNumber}}")]);
    let mut source = Source::new(&spec, &method("GetSum")).unwrap();
    for (number, sum) in [(0, 3), (1, 34), (2, 3)] {
        let expected = &source.next(0, number).unwrap().expected;
        assert!(expected.check(0, &[8, sum]).is_ok());
        assert!(expected.check(0, &[8, sum + 1]).is_err());
    }
}

#[test]
fn rows_that_cannot_be_sent_are_refused_with_their_line() {
    let method = everything("Call");
    let deep = "inner.".repeat(100_000) + "value\n1\n";
    for [kind, text, expected] in table(
        r#"
        csv => int32⏎1⏎x⏎ => line 3, column `int32`: the data does not fit `everything.All`:
        csv => int32,inner.inner.value,bool⏎1,2,true⏎1,x,true⏎ => line 3, column `inner.inner.value`: the data does not fit `everything.All`:
        csv => int32,bool⏎1⏎ => the data is not usable CSV: line 2: the row has 1 column, the header 2
        csv => nope⏎1⏎ => the data is not usable CSV: the column `nope` is no field of `everything.All`; its fields are
        csv => int32,int32⏎1,2⏎ => the data is not usable CSV: the column `int32` is there twice
        csv => inner,inner.value⏎{},2⏎ => the data is not usable CSV: the column `inner.value` is there twice
        csv => int32.x⏎1⏎ => the data is not usable CSV: the column `int32.x` reaches into `int32`, which is not one message
        csv => int32,⏎1,2⏎ => the data is not usable CSV: column 2 has no name: give it that of a field
        csv => int32,string␍⏎␍⏎1,"x␍⏎"␍⏎2,"y␍⏎3,z␍⏎ => the data is not usable CSV: line 5: a quote is left open
        csv => int32,string⏎1,"x"y⏎ => the data is not usable CSV: line 2: text follows the quote that ends a field
        csv => int32,string⏎⏎⏎x,y⏎ => line 4, column `int32`: the data does not fit
        csv => int32⏎⏎ => the data is not usable CSV: it has a header and no rows: add one for each message
        csv => int32,strin⏎1,x⏎ => the data is not usable CSV: the column `strin` is no field of `everything.All`; did you mean `string`?
        csv => when.seconds⏎1⏎ => the data is not usable CSV: the column `when.seconds` reaches into a `google.protobuf.Timestamp`, which is one value in JSON: leave out `.seconds`
        csv => self.wrapped_text.value⏎1⏎ => the data is not usable CSV: the column `self.wrapped_text.value` reaches into a `google.protobuf.StringValue`
        csv => when⏎2024-01-02⏎ => line 2, column `when`: the data does not fit `everything.All`: `when`: a time of the years 1 to 9999
        csv => number,int32,name⏎1,2,x⏎ => line 2: the data does not fit `everything.All`: multiple fields provided for oneof 'choice': `number` and `name`
        lines => {"int32": 1}⏎{"int32": }⏎ => line 2: the data is not valid JSON:
        lines => {"int32": 1} {"int32": 2}⏎ => line 1: the data is not valid JSON:
        lines => {"int32": 1}⏎{"int32": {{nope}}}⏎ => line 2: the data: `{{nope}}`: unknown function `nope`;
        lines => ⏎⏎ => there is no data to send:
        csv => DEEP => the data is not usable CSV: the column `inner.inner.inner.inner.inner.inner.inner.inner.inner.inner.…` is nested too deeply
    "#,
    ) {
        let text = text.replace("DEEP", &deep);
        let spec = if kind == "csv" {
            csv(&text)
        } else {
            lines(&text)
        };
        let error = refusal(&spec, &method);
        assert!(error.starts_with(expected), "{error}");
        assert!(!error.contains("at line"), "{error}");
        let mut spec = spec;
        spec.request.data_file = Some("users.csv".into());
        assert_eq!(refusal(&spec, &method), format!("`users.csv`: {error}"));
    }
}

#[test]
fn what_a_row_lacks_is_blamed_on_no_column() {
    let method = load(&proto("proto2.proto"), "old.Old/Call").unwrap();
    for [text, expected] in table(
        r"
        number,name⏎1,⏎ => line 2: the data does not fit `old.Thing`: the required field `name` is missing
        number,part.size,name⏎1,x,⏎ => line 2, column `part.size`: the data does not fit `old.Thing`: `part.size` (int32): a whole number is needed
        number;name⏎1;x⏎ => the data is not usable CSV: the column `number;name` is no field of `old.Thing`; commas separate columns
        number,[old.extr],name⏎1,x,y⏎ => the data is not usable CSV: the column `[old.extr]` is no field of `old.Thing`; did you mean `[old.extra]`?
    ",
    ) {
        let error = refusal(&csv(text), &method);
        assert!(error.starts_with(expected), "{error}");
    }
    let spec = csv("name,[old.extra]\nx,\"a, b\"\n");
    let sent = shown(&nth(&spec, &method, 0, 0), &method).concat();
    assert_eq!(sent, r#"{"name":"x","[old.extra]":"a, b"}"#);
}

#[test]
fn a_file_of_rows_with_another_name_gets_a_hint() {
    let method = everything("Call");
    let csv = "; it looks like CSV: give the file a name that ends in `.csv`";
    let lines = "; it looks like JSON lines: give the file a name that ends in `.jsonl`";
    for (text, hint) in [
        (
            "\u{feff}int32, \"inner.text\",[old.extra]\r\n1,2,3\r\n",
            csv,
        ),
        ("int32\n{{.RequestNumber}}\n", csv),
        ("{\"int32\": 1}\n\n{\"int32\": 2}\n", lines),
        ("int32\n", ""),
        ("[\n{\"int32\": 1,}\n]", ""),
        ("{\"int32\":\n1,,2}", ""),
        ("some text\nhere", ""),
    ] {
        let mut spec = spec(Data::Json(text.to_owned()));
        let alone = refusal(&spec, &method);
        assert!(!alone.contains("looks like"), "{alone}");
        spec.request.data_file = Some("users.txt".into());
        let error = refusal(&spec, &method);
        begins(&error, "`users.txt`: the data is not valid JSON: ");
        assert_eq!(error.contains("looks like"), !hint.is_empty(), "{error}");
        assert!(error.contains(hint), "{error}");
    }
}

#[test]
fn many_rows_take_little_more_memory_than_their_bytes() {
    let rows: String = (0..20_000).map(|row| format!("{row},{row}\n")).collect();
    let method = method("GetSum");
    let mut source = Source::new(&csv(&format!("a,b\n{rows}")), &method).unwrap();
    for number in [0, 1, 19_999, 20_000] {
        let row = number % 20_000;
        let expected = if row == 0 {
            "{}".to_owned()
        } else {
            format!(r#"{{"a":{row},"b":{row}}}"#)
        };
        assert_eq!(shown(source.next(0, number).unwrap(), &method), [expected]);
    }
}

#[test]
fn another_thread_takes_the_same_rows_without_reading_them_again() {
    let method = method("GetSum");
    let first = Source::new(&csv("a\n1\n2\n"), &method).unwrap();
    let mut second = first.again(&csv("a\n7\n"), &method).unwrap();
    let sent = shown(second.next(0, 1).unwrap(), &method);
    assert_eq!(sent, [r#"{"a":2}"#]);
}

#[test]
fn dynamic_messages_of_a_stream_are_rendered_one_by_one() {
    let method = method("EchoSum");
    let mut spec = spec(Data::Json(
        r#"[{"a": {{randomInt 1 1000000}}}, {"b": {{randomInt 1 1000000}}}]"#.to_owned(),
    ));
    spec.request.stream.dynamic = true;
    spec.request.stream.count = 5;
    spec.checks.expect = vec!["result = a + b".to_owned()];
    let request = nth(&spec, &method, 0, 0);
    let mut sent = shown(&request, &method);
    assert_eq!(
        sent.iter()
            .map(|message| &message[2..3])
            .collect::<String>(),
        "ababa"
    );
    for (i, message) in (0..).zip(messages(&request)) {
        // The reply is the only number of its request.
        let reply = [&[8], &message[1..]].concat();
        assert!(request.expected.check(i, &reply).is_ok(), "{i}");
    }
    sent.sort_unstable();
    sent.dedup();
    assert_eq!(sent.len(), 5);
    spec.request.stream.interval = std::time::Duration::from_millis(1);
    begins(
        &refusal(&spec, &method),
        "--expect names a field of the request, but --stream-dynamic-messages with pauses",
    );
    spec.checks.expect.clear();
    let mut source = Source::new(&spec, &method).unwrap();
    let first = source.message(0, 0, 0).unwrap().unwrap().to_vec();
    assert_ne!(source.message(0, 0, 2).unwrap().unwrap(), first);
    // Nothing of it is rendered before.
    let later = nth(&spec, &method, 0, 0);
    assert_eq!(shown(&later, &method), ["{}"; 5]);
    spec.request.data = Data::Json(r#"[{"a": {{randomInt 1 9}}}, {"a": {{div 1 0}}}]"#.to_owned());
    assert!(refusal(&spec, &method).contains("divides by zero"));
}
