use std::collections::HashSet;
use std::time::{SystemTime, UNIX_EPOCH};

use volley_load::spec::Templates;
use volley_request::Source;
use volley_testkit::table::table;

use crate::support::{
    both, everything, first, header, json, metadata, method, nth, refusal, shown,
};

/// The output of a string template in one call.
fn rendered(template: &str) -> String {
    rendered_for(template, 3, 17)
}

fn rendered_for(template: &str, worker: u32, number: u64) -> String {
    let method = everything("Chat");
    let data = serde_json::json!({ "string": template }).to_string();
    let request = nth(&json(&data), &method, worker, number);
    let message: serde_json::Value = serde_json::from_str(&shown(&request, &method)[0]).unwrap();
    message["string"].as_str().unwrap().to_owned()
}

fn refused(template: &str) -> String {
    refusal(
        &json(&format!(r#"{{"string":"{template}"}}"#)),
        &everything("Call"),
    )
}

fn is_uuid(text: &str) -> bool {
    let dashes = [8, 13, 18, 23];
    text.len() == 36
        && text.char_indices().all(|(at, c)| match at {
            _ if dashes.contains(&at) => c == '-',
            14 => c == '4',
            19 => "89ab".contains(c),
            _ => c.is_ascii_hexdigit() && !c.is_ascii_uppercase(),
        })
}

#[test]
fn every_field_of_ghz_s_is_there() {
    assert_eq!(
        rendered(
            "{{.WorkerID}} {{.RequestNumber}} {{.FullyQualifiedName}} {{.MethodName}} \
             {{.ServiceName}} {{.InputName}} {{.OutputName}} {{.IsClientStreaming}} \
             {{ .IsServerStreaming }}"
        ),
        "g3c0 17 everything.Everything.Chat Chat Everything All All true true"
    );
}

#[test]
fn timestamps_are_of_one_moment_that_is_now() {
    let before = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos();
    let text = rendered(
        "{{.TimestampUnixNano}} {{.TimestampUnixMilli}} {{.TimestampUnix}} {{.Timestamp}}",
    );
    let after = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos();
    let words: Vec<&str> = text.split(' ').collect();
    let nanos: u128 = words[0].parse().unwrap();
    assert!((before..=after).contains(&nanos));
    assert_eq!(words[1], (nanos / 1_000_000).to_string());
    assert_eq!(words[2], (nanos / 1_000_000_000).to_string());
    assert_eq!(
        (words[3].len(), &words[3][10..11], &words[3][19..]),
        (20, "T", "Z")
    );
}

#[test]
fn a_call_has_one_uuid_and_as_many_new_ones_as_it_likes() {
    let method = everything("Call");
    let spec = {
        let mut spec = json(r#"{"strings":["{{.UUID}}","{{.UUID}}","{{newUUID}}","{{newUUID}}"]}"#);
        spec.request.metadata = metadata(&[("x-id", "{{.UUID}}")]);
        spec
    };
    let mut source = Source::new(&spec, &method).unwrap();
    let mut call = |number| {
        let request = source.next(0, number).unwrap().clone();
        let message: serde_json::Value =
            serde_json::from_str(&shown(&request, &method)[0]).unwrap();
        let strings: Vec<String> = serde_json::from_value(message["strings"].clone()).unwrap();
        assert_eq!(header(&request, "x-id").as_ref(), strings.first());
        strings
    };
    let (first, second) = (call(0), call(1));
    assert_eq!(first[0], first[1]);
    let different: HashSet<&String> = first.iter().chain(&second).collect();
    assert_eq!(different.len(), 6);
    assert!(different.iter().all(|uuid| is_uuid(uuid)));
}

#[test]
fn the_sources_of_two_threads_draw_different_uuids() {
    let spec = {
        let mut spec = json("{}");
        spec.request.metadata = metadata(&[("x", "{{newUUID}}")]);
        spec
    };
    let mut source = Source::new(&spec, &method("GetSum")).unwrap();
    let mut other = Source::new(&spec, &method("GetSum")).unwrap();
    let mut seen = HashSet::new();
    for number in 0..10 {
        seen.insert(header(source.next(0, number).unwrap(), "x"));
        seen.insert(header(other.next(0, number).unwrap(), "x"));
    }
    assert_eq!(seen.len(), 20);
}

#[test]
fn random_strings_have_the_length_asked_for() {
    let lengths = |template: &str| -> HashSet<usize> {
        many_rendered(template)
            .into_iter()
            .map(|text| text.len())
            .collect()
    };
    assert_eq!(lengths("{{randomString 8 }}"), HashSet::from([8]));
    assert_eq!(lengths("{{randomString 8 16}}"), (8..=16).collect());
    assert_eq!(lengths("{{randomString 0}}"), (2..=16).collect());
    assert_eq!(lengths("{{randomString -5}}"), (2..=16).collect());
    assert_eq!(
        lengths("{{randomString (randomInt 3 5)}}"),
        HashSet::from([3, 4])
    );
    assert_eq!(
        lengths("{{randomInt 3 5 | randomString}}"),
        HashSet::from([3, 4])
    );
}

#[test]
fn random_strings_are_letters_and_digits() {
    let text = rendered("{{randomString 2000}}");
    assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    assert_eq!(text.bytes().collect::<HashSet<_>>().len(), 62);
}

#[test]
fn random_integers_are_in_their_half_open_range() {
    let numbers =
        |template: &str| -> HashSet<String> { many_rendered(template).into_iter().collect() };
    let range = |range: std::ops::Range<u32>| range.map(|number| number.to_string()).collect();
    assert_eq!(numbers("{{randomInt 1 5}}"), range(1..5));
    assert_eq!(numbers("{{randomInt -9 3}}"), range(0..3));
    assert_eq!(numbers("{{randomInt 0 -1}}"), range(0..1));
    assert_eq!(numbers("{{5 | randomInt 2}}"), range(2..5));
}

/// The output of a template in 300 calls.
fn many_rendered(template: &str) -> Vec<String> {
    let spec = {
        let mut spec = json("{}");
        spec.request.metadata = metadata(&[("x", template)]);
        spec
    };
    let mut source = Source::new(&spec, &method("GetSum")).unwrap();
    (0..300)
        .map(|call| header(source.next(0, call).unwrap(), "x").unwrap())
        .collect()
}

#[test]
fn numbers_need_no_quotes() {
    let method = method("GetSum");
    let spec = json(r#"{"a": {{.RequestNumber}}, "b": {{randomInt 5 6}}}"#);
    let mut source = Source::new(&spec, &method).unwrap();
    assert_eq!(
        shown(source.next(0, 12).unwrap(), &method),
        [r#"{"a":12,"b":5}"#]
    );
}

#[test]
fn unary_calls_take_templates_in_turn() {
    let method = method("GetSum");
    for data in [
        r#"[{"a":"{{.RequestNumber}}"},{"b":"{{.RequestNumber}}"}]"#,
        r#"[{"a": {{.RequestNumber}}},{"b": {{.RequestNumber}}}]"#,
    ] {
        let mut source = Source::new(&json(data), &method).unwrap();
        assert_eq!(shown(source.next(0, 4).unwrap(), &method), [r#"{"a":4}"#]);
        assert_eq!(shown(source.next(0, 5).unwrap(), &method), [r#"{"b":5}"#]);
    }
}

#[test]
fn a_streaming_client_renders_all_of_its_messages_once_per_call() {
    let method = method("EchoSum");
    let spec = {
        let mut spec = json(r#"[{"a": {{.RequestNumber}}},{"a": {{randomInt 1000 1000000}}}]"#);
        spec.request.stream.count = 3;
        spec
    };
    let request = nth(&spec, &method, 0, 9);
    let sent = shown(&request, &method);
    assert_eq!((sent[0].as_str(), sent.len()), (r#"{"a":9}"#, 3));
    assert_eq!(sent[0], sent[2]);
}

#[test]
fn a_message_made_when_it_is_sent_is_held_against_the_limit() {
    let method = method("EchoSum");
    let mut spec = json(r#"{"a": {{randomInt 1 200}}}"#);
    // Numbers from 128 on take 3 bytes.
    (spec.request.stream.dynamic, spec.request.max_send) = (true, 2);
    spec.request.stream.interval = std::time::Duration::from_millis(1);
    let mut source = Source::new(&spec, &method).unwrap();
    let made: Vec<_> = (0..1000)
        .map(|message| {
            source
                .message(0, 0, message)
                .map(|framed| framed.map(<[u8]>::len))
        })
        .collect();
    assert!(made.iter().any(Result::is_err) && made.iter().any(Result::is_ok));
    for made in made {
        match made {
            Ok(length) => assert_eq!(length, Some(7)),
            Err(error) => assert!(
                error
                    .to_string()
                    .starts_with("a message of 3 bytes is over"),
                "{error}"
            ),
        }
    }
}

#[test]
fn fields_that_never_change_cost_no_rendering() {
    let spec = json(r#"{"string":"{{.MethodName}}"}"#);
    let mut source = Source::new(&spec, &everything("Call")).unwrap();
    let (one, other) = both(&mut source, (0, 0), (1, 1));
    assert!(std::sync::Arc::ptr_eq(&one.body, &other.body));
}

#[test]
fn go_s_white_space_and_comments_are_understood() {
    assert_eq!(
        rendered("a {{- .RequestNumber -}} b{{/* nothing */}}"),
        "a17b"
    );
    assert_eq!(rendered("{{$.RequestNumber}}{{`{{`}}{{7}}"), "17{{7");
}

#[test]
fn without_templates_data_is_literal() {
    let method = everything("Call");
    let spec = {
        let mut spec = json(r#"{"string":"{{.Nope"}"#);
        spec.request.templates = Templates::Off;
        spec
    };
    let request = first(&spec, &method);
    assert_eq!(shown(&request, &method), [r#"{"string":"{{.Nope"}"#]);
}

#[test]
fn without_functions_fields_still_work() {
    let spec = |data: &str| {
        let mut spec = json(data);
        spec.request.templates = Templates::NoFunctions;
        spec
    };
    let method = everything("Call");
    assert!(Source::new(&spec(r#"{"string":"{{.UUID}}"}"#), &method).is_ok());
    assert_eq!(
        refusal(&spec(r#"{"string":"{{newUUID}}"}"#), &method),
        "the data: `{{newUUID}}`: template functions are off; drop \
         --disable-template-functions"
    );
}

#[test]
fn what_is_not_understood_is_refused_before_any_load() {
    for [template, expected] in table(
        r"
        {{.Something}} => unknown field `Something`; the fields are WorkerID,
        {{nope .UUID}} => unknown function `nope`; `volley --help` lists the functions
        {{randomInteger 1 2}} => unknown function `randomInteger`; `volley --help` lists the functions
        {{randomint 1 2}} => unknown function `randomint`; did you mean `randomInt`?
        {{uper .UUID}} => unknown function `uper`; did you mean `upper`?
        {{if .UUID}}x => its `end` is missing
        {{range .X}}{{end}} => unknown field `X`;
        {{end}} => `end` stands outside of its block
        {{else}} => `else` stands outside of its block
        {{env `HOME`}} => `env` is a function of sprig that volley does not have: take such values from
        {{genPrivateKey `rsa`}} => `genPrivateKey` is a function of sprig that volley does not have:
        {{newUUID 3}} => `newUUID` takes no argument
        {{randomString}} => `randomString` takes a length, or a minimum and a maximum
        {{randomString 1 2 3}} => `randomString` takes a length, or a minimum and a maximum
        {{randomString 99999999999}} => `randomString` cannot have 99999999999 characters;
        {{randomInt 5}} => `randomInt` takes two numbers
        {{randomInt 5 5}} => `randomInt` cannot choose a number that is at least 5 and below 5
        {{randomInt 9 -1}} => `randomInt` cannot choose a number that is at least 9 and below -1
        {{(newUUID}} => expected RightParen, got RightDelim
        {{newUUID)}} => expected closing delimiter, got RightParen
    ",
    ) {
        let error = refused(template);
        let action = template.split_inclusive("}}").next().unwrap();
        let expected = format!("the data: `{action}`: {expected}");
        assert!(error.starts_with(&expected), "{template}: {error}");
    }
}

#[test]
fn an_action_that_does_not_end_is_refused() {
    assert_eq!(
        refused("{{ ."),
        "the data: `{{ .\"}` is not closed with `}}`"
    );
}

#[test]
fn brackets_and_pipes_without_end_are_refused() {
    for (template, shown) in [
        (format!("{{{{{}}}}}", "(".repeat(100_000)), "(".repeat(60)),
        (
            format!("{{{{.RequestNumber{}}}}}", " | add 1".repeat(50_000)),
            format!(".RequestNumber{}", " | add 1".repeat(9)),
        ),
    ] {
        let shown: String = shown.chars().take(60).collect();
        assert_eq!(
            refused(&template),
            format!("the data: `{{{{{shown}…}}}}`: brackets or pipes are nested too deeply")
        );
    }
}
