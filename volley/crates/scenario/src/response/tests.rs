use std::sync::Arc;

use regex::bytes::Regex;

use super::*;
use crate::plan::{
    Check, Expect, GrpcRequest, HttpRequest, Part, Pointer, Request, Rule, Save, Step, Url,
};
use crate::{Escape, Piece, Slot, Text, Values};
use volley_http::http2::hpack::HeaderList;

fn pointer(text: &str) -> Part {
    Part::Field(Pointer {
        text: text.into(),
        keys: text
            .split(['/', '.'])
            .filter(|key| !key.is_empty())
            .map(Into::into)
            .collect(),
    })
}

fn regex(text: &str) -> Arc<Regex> {
    Arc::new(Regex::new(text).unwrap())
}

fn text(text: &str) -> Text {
    Text::fixed(text.as_bytes())
}

fn step(checks: Vec<(Part, Rule)>, saves: Vec<Save>) -> Step {
    let check = |(part, rule)| Check {
        name: String::new(),
        part,
        rule,
        json_type: None,
    };
    Step {
        name: "create".to_owned(),
        scenario: "crud".to_owned(),
        line: 1,
        written_url: "/".into(),
        url: Url::Target {
            target: 0,
            path: text("/"),
        },
        request: Request::Http(HttpRequest {
            method: "GET".into(),
            headers: Vec::new(),
            body: None,
            redirects: 0,
        }),
        timeout_ns: None,
        expect: Expect {
            checks: checks.into_iter().map(check).collect(),
            ..Expect::default()
        },
        saves,
        lua: None,
        keeps_response: false,
    }
}

fn save(slot: u16, part: Part) -> Save {
    Save {
        slot: Slot(slot),
        part,
        regex: None,
        default: None,
    }
}

fn slots() -> Vec<String> {
    ["id", "rev", "x"].map(str::to_owned).into()
}

fn fields(all: &[(&str, &str)]) -> HeaderList {
    let mut list = HeaderList::new();
    for (name, value) in all {
        list.push(name.as_bytes(), value.as_bytes());
    }
    list
}

/// Reads a whole response.
fn respond(
    reading: &mut Reading,
    (status, headers): (u16, &[(&str, &str)]),
    end: End<'_>,
    values: &mut Values,
) -> Verdicts {
    let mut verdicts = Verdicts::default();
    let head = Head {
        status,
        fields: &fields(headers),
        url: b"http://h/items/7",
    };
    reading.head(head, values, &mut verdicts);
    reading.end(end, values, &mut verdicts);
    verdicts
}

/// What failed, in words.
fn words(verdicts: &Verdicts) -> Vec<String> {
    let failures = verdicts.failures().iter();
    failures.map(|failure| failure.words.clone()).collect()
}

/// The same, once: what failed, in words, and the values after it.
fn read_with(
    step: &Step,
    mut values: Values,
    status: u16,
    headers: &[(&str, &str)],
    body: &str,
) -> (Vec<String>, Values) {
    let mut reading = Reading::new(step, &slots()).unwrap();
    let trailers = fields(&[("x-sum", "12")]);
    let end = End {
        body: Some(body.as_bytes()),
        trailers: Some(&trailers),
        code: None,
    };
    let verdicts = respond(&mut reading, (status, headers), end, &mut values);
    let words = verdicts
        .failures()
        .iter()
        .map(|failure| format!("{:?}: {}", failure.culprit, failure.words));
    (words.collect(), values)
}

fn read(step: &Step, headers: &[(&str, &str)], body: &str) -> (Vec<String>, Values) {
    read_with(step, Values::new(3), 200, headers, body)
}

fn value(values: &Values, slot: u16) -> Option<&str> {
    values
        .get(Slot(slot))
        .map(|value| std::str::from_utf8(value).unwrap())
}

#[test]
fn every_part_of_a_response_can_be_saved() {
    for (part, expected) in [
        (Part::Status, "200"),
        (Part::Header("location".into()), "/items/7"),
        (Part::Trailer("x-sum".into()), "12"),
        (Part::Cookie("sid".into()), "abc"),
        (pointer("/item/rev"), "3.0"),
        (pointer("/item/name"), "a\"b"),
        (pointer("/item/tags"), r#"["x", 1]"#),
        (pointer("/item/none"), "null"),
        (Part::Url, "http://h/items/7"),
    ] {
        let step = step(Vec::new(), vec![save(0, part)]);
        let headers = [("location", "/items/7"), ("set-cookie", "sid=abc; Path=/")];
        let body = r#"{"item": {"rev": 3.0, "name": "a\"b", "tags": ["x", 1], "none": null}}"#;
        let (failures, values) = read(&step, &headers, body);
        assert_eq!((failures, value(&values, 0)), (vec![], Some(expected)));
    }
    let whole = step(Vec::new(), vec![save(0, Part::Body)]);
    assert_eq!(value(&read(&whole, &[], "not JSON").1, 0), Some("not JSON"));
}

#[test]
fn a_missing_value_is_a_failure_and_empties_its_slot() {
    let body = r#"{"a": 1, "c": {"d": 2, "e": [{"f": 3}]}}"#;
    for (part, words) in [
        (Part::Header("location".into()), "header `location`"),
        (Part::Trailer("location".into()), "trailer `location`"),
        (Part::Cookie("sid".into()), "cookie `sid`"),
        (pointer("/b"), "`/b`; there is `/a`, `/c`"),
        (pointer("/c/g/h"), "`/c/g/h`; there is `/c/d`, `/c/e`"),
        (pointer("/c/e/0/g"), "`/c/e/0/g`; there is `/c/e/0/f`"),
        (pointer("/c/e/1"), "`/c/e/1`"),
    ] {
        let step = step(Vec::new(), vec![save(1, part)]);
        let mut before = Values::new(3);
        before.set(Slot(1), b"of an earlier response");
        let (failures, values) = read_with(&step, before, 200, &[("x-sum", "1")], body);
        assert_eq!(failures, [format!("Save(0): the response has no {words}")]);
        assert_eq!(value(&values, 1), None);
    }
}

#[test]
fn a_default_takes_the_place_of_what_is_missing_and_not_of_a_broken_body() {
    let mut with_default = save(0, pointer("/b"));
    with_default.default = Some((*b"none").into());
    let step = step(Vec::new(), vec![with_default]);
    let (failures, values) = read(&step, &[], "{}");
    assert_eq!((failures, value(&values, 0)), (vec![], Some("none")));
    let (failures, values) = read(&step, &[], "{");
    assert_eq!(
        failures,
        ["Save(0): invalid JSON at byte 1: it is cut short"]
    );
    assert_eq!(value(&values, 0), None);
}

#[test]
fn a_regex_saves_its_group_or_says_what_did_not_match() {
    let with = |pattern, group| {
        let mut save = save(0, Part::Header("location".into()));
        save.regex = Some((regex(pattern), group));
        step(Vec::new(), vec![save])
    };
    let headers = [("location", "/items/42?v=7")];
    for (pattern, group, expected) in [
        (r"items/(\d+)\?v=(\d)", 1, Ok("42")),
        (r"items/(\d+)\?v=(\d)", 2, Ok("7")),
        (r"\d+", 0, Ok("42")),
        (
            r"x(\d+)",
            1,
            Err("Save(0): expected a match of `x(\\d+)`, was `/items/42?v=7`"),
        ),
        (
            r"(x)?items",
            1,
            Err("Save(0): group 1 of `(x)?items` has no part in `/items/42?v=7`"),
        ),
    ] {
        let (failures, values) = read(&with(pattern, group), &headers, "");
        match expected {
            Ok(expected) => assert_eq!((failures, value(&values, 0)), (vec![], Some(expected))),
            Err(expected) => assert_eq!(failures, [expected]),
        }
    }
    let (failures, _) = read(&with("a", 0), &[], "");
    assert_eq!(failures, ["Save(0): the response has no header `location`"]);
}

#[test]
fn every_rule_holds_or_says_what_it_expected() {
    let read = |rule: Rule| {
        let step = step(vec![(pointer("/a"), rule)], Vec::new());
        read(&step, &[], r#"{"a": "12.5"}"#).0
    };
    let least = f64::NEG_INFINITY;
    for rule in [
        Rule::Equals(text("12.5")),
        Rule::Differs(text("12")),
        Rule::EqualsNumber(text("12.50")),
        Rule::DiffersFromNumber(text("12.51")),
        Rule::StartsWith(text("12")),
        Rule::EndsWith(text(".5")),
        Rule::Contains(text("2.")),
        Rule::Matches(regex(r"^\d+\.5$")),
        Rule::Between(12.5, 12.5),
        Rule::Exists,
    ] {
        assert_eq!(read(rule.clone()), [""; 0], "{rule:?}");
    }
    for (rule, expected) in [
        (Rule::Equals(text("12")), "`12`"),
        (Rule::Differs(text("12.5")), "anything but `12.5`"),
        (Rule::EqualsNumber(text("12.51")), "`12.51`"),
        (
            Rule::DiffersFromNumber(text("1.25e1")),
            "anything but `1.25e1`",
        ),
        (Rule::StartsWith(text("2")), "a start of `2`"),
        (Rule::EndsWith(text("2")), "an end of `2`"),
        (Rule::Contains(text("3")), "`3` in it"),
        (Rule::Matches(regex("^5")), "a match of `^5`"),
        (Rule::Between(13.0, f64::INFINITY), "at least 13"),
        (Rule::Between(least, 12.0), "at most 12"),
        (Rule::Between(1.0, 2.0), "1 to 2"),
        (Rule::IsAbsent, "none"),
    ] {
        let expected = format!("Check(0): expected {expected}, was `12.5`");
        assert_eq!(read(rule), [expected]);
    }
}

#[test]
fn only_absence_holds_for_a_part_that_is_missing() {
    let (a, b) = (Rule::Equals(text("a")), Rule::Differs(text("a")));
    for (rule, expected) in [
        (a, "expected `a`, was missing"),
        (b, "expected anything but `a`, was missing"),
        (Rule::Matches(regex("")), "it is missing"),
        (Rule::Between(0.0, 1.0), "it is missing"),
        (Rule::Exists, "it is missing"),
    ] {
        let step = step(vec![(Part::Header("x".into()), rule)], Vec::new());
        assert_eq!(read(&step, &[], "").0, [format!("Check(0): {expected}")]);
    }
    let absent = step(vec![(pointer("/x"), Rule::IsAbsent)], Vec::new());
    assert_eq!(read(&absent, &[], "{}").0, [""; 0]);
    // A body that cannot be read proves no absence.
    assert_eq!(
        read(&absent, &[], "{").0,
        ["Check(0): invalid JSON at byte 1: it is cut short"]
    );
}

#[test]
fn all_checks_are_evaluated_and_values_are_saved_though_one_failed() {
    let checks = vec![
        (Part::Header("a".into()), Rule::Exists),
        (pointer("/n"), Rule::Equals(text("2"))),
        (Part::Status, Rule::Equals(text("500"))),
        (Part::Body, Rule::Contains(text("zzz"))),
    ];
    let step = step(checks, vec![save(0, pointer("/n"))]);
    let mut reading = Reading::new(&step, &slots()).unwrap();
    let (mut values, mut verdicts) = (Values::new(3), Verdicts::default());
    for _ in 0..2 {
        verdicts.clear();
        let head = Head {
            status: 500,
            fields: &fields(&[]),
            url: b"",
        };
        reading.head(head, &mut values, &mut verdicts);
        let end = End {
            body: Some(br#"{"n": 1}"#),
            trailers: None,
            code: None,
        };
        reading.end(end, &mut values, &mut verdicts);
        let failures = verdicts.failures().iter();
        let culprits: Vec<_> = failures.map(|failure| failure.culprit).collect();
        let [first, second, third] = [0, 1, 3].map(Culprit::Check);
        assert_eq!(culprits, [Culprit::Status, first, second, third]);
        let failed = [0, 1, 2, 3].map(|check| verdicts.has_failed(check));
        assert_eq!(failed, [true, true, false, true]);
        assert_eq!(value(&values, 0), Some("1"));
        assert!(!verdicts.failures().is_empty());
    }
}

#[test]
fn a_status_is_good_if_one_of_the_ranges_has_it() {
    let mut step = step(Vec::new(), Vec::new());
    let words = |step: &Step, status| read_with(step, Values::new(3), status, &[], "").0;
    assert_eq!(words(&step, 399), [""; 0]);
    assert_eq!(words(&step, 404), ["Status: expected 200 to 399, was 404"]);
    step.expect.status = vec![(404, 404), (500, 599)];
    assert_eq!(words(&step, 404), [""; 0]);
    assert_eq!(
        words(&step, 200),
        ["Status: expected 404 or 500 to 599, was 200"]
    );
}

#[test]
fn a_check_compares_with_a_value_and_names_one_that_is_not_there() {
    let of = |slot| {
        Text::new([
            Piece::Fixed((*b"v").into()),
            Piece::Slot(Slot(slot), Escape::Raw),
        ])
    };
    let mut values = Values::new(3);
    values.set(Slot(1), b"3");
    let checks = |slot| {
        step(
            vec![(pointer("/rev"), Rule::Equals(of(slot)))],
            vec![save(1, pointer("/rev"))],
        )
    };
    let (failures, values) = read_with(&checks(1), values, 200, &[], r#"{"rev": "v4"}"#);
    assert_eq!(failures, ["Check(0): expected `v3`, was `v4`"]);
    assert_eq!(value(&values, 1), Some("v4"));
    let (failures, _) = read(&checks(2), &[], r#"{"rev": "v4"}"#);
    assert_eq!(
        failures,
        ["Check(0): `${x}` has no value, so nothing can be compared with it"]
    );
}

#[test]
fn a_value_is_not_compared_with_the_body_after_the_head_has_replaced_it() {
    let slot = Text::new([Piece::Slot(Slot(1), Escape::Raw)]);
    let step = step(
        vec![(pointer("/rev"), Rule::Differs(slot))],
        vec![save(1, Part::Header("etag".into()))],
    );
    let error = Reading::new(&step, &slots()).unwrap_err();
    assert_eq!(error, ReadingError::Overwritten("rev".to_owned()));
}

#[test]
fn words_are_cut_and_stay_on_one_line() {
    let long = "\n\u{e9}".repeat(10_000);
    let step = step(
        vec![(Part::Body, Rule::Equals(text(&"x".repeat(1000))))],
        Vec::new(),
    );
    let (failures, _) = read(&step, &[], &long);
    let words = failures.first().unwrap();
    assert!(
        words.chars().count() < 220 && !words.contains('\n'),
        "{words}"
    );
}

#[test]
fn a_body_is_read_only_if_something_needs_it() {
    let with = |part: Part| {
        reads_body(&step(vec![(part.clone(), Rule::Exists)], Vec::new()))
            && reads_body(&step(Vec::new(), vec![save(0, part)]))
    };
    assert!(with(Part::Body) && with(pointer("/a")));
    assert!(!with(Part::Status) && !with(Part::Trailer("a".into())) && !with(Part::Url));
    let many = step(vec![(Part::Status, Rule::Exists); 65], Vec::new());
    assert_eq!(
        Reading::new(&many, &slots()).unwrap_err(),
        ReadingError::Many(65)
    );
}

#[test]
fn a_grpc_step_reads_code_trailers_and_the_last_reply() {
    let pool = crate::testkit::everything();
    let method = volley_request::schema::find(&pool, "everything.Everything/Call").unwrap();
    let with = |path| {
        let mut step = step(
            vec![
                (Part::Status, Rule::Equals(text("0"))),
                (pointer("string"), Rule::Equals(text("hi"))),
            ],
            vec![save(0, pointer(path)), save(1, Part::Trailer("x".into()))],
        );
        step.request = Request::Grpc(Box::new(GrpcRequest {
            method: method.clone(),
            metadata: Vec::new(),
            messages: Vec::new(),
            repeat: 1,
        }));
        step
    };
    let mut reading = Reading::new(&with("inner.value"), &slots()).unwrap();
    let mut read = |code, body: Option<&[u8]>| {
        let mut values = Values::new(3);
        let trailers = fields(&[("x", "y"), ("grpc-message", "no such item")]);
        let end = End {
            body,
            trailers: Some(&trailers),
            code: Some(code),
        };
        let verdicts = respond(&mut reading, (200, &[]), end, &mut values);
        (words(&verdicts), value(&values, 0).map(str::to_owned))
    };
    // string: "hi", inner: {value: 5}
    let reply = [0x72, 2, b'h', b'i', 0x8a, 0x01, 2, 8, 5];
    assert_eq!(read(0, Some(&reply)), (vec![], Some("5".to_owned())));
    let (failures, saved) = read(5, None);
    assert_eq!(
        failures,
        [
            "expected OK, was NotFound, `no such item`",
            "expected `0`, was `5`",
            "expected `hi`, was missing",
            "the response has no `inner.value`"
        ]
    );
    assert_eq!(saved, None);
    let error = Reading::new(&with("inner.vlue"), &slots()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`inner.vlue` takes `vlue`, which is no field of `everything.All.Inner`; its fields are `value`, `text`, `inner`"
    );
}

#[test]
fn the_words_of_a_failure_show_no_secret() {
    let slot = |slot| Text::new([Piece::Slot(Slot(slot), Escape::Raw)]);
    let no = || Rule::Matches(regex("^no"));
    let step = step(
        vec![
            (Part::Header("x-api-key".into()), no()),
            (Part::Cookie("sid".into()), no()),
            (Part::Header("location".into()), no()),
            (pointer("/access_token"), Rule::Equals(text("other"))),
            (pointer("/tokens/0"), Rule::Between(1.0, 2.0)),
            (pointer("/token_type"), no()),
            (pointer("/echo"), no()),
            (pointer("/other"), Rule::Equals(slot(2))),
            (Part::Body, no()),
        ],
        vec![Save {
            regex: Some((regex("^no"), 0)),
            ..save(3, pointer("/other"))
        }],
    );
    let slots = ["id", "rev", "session", "password"].map(str::to_owned);
    let mut reading = Reading::new(&step, &slots).unwrap();
    let mut values = Values::new(4);
    values.set(Slot(2), b"ssss");
    let headers = [
        ("x-api-key", "hush"),
        ("set-cookie", "sid=hush"),
        ("location", "/a?token=hush"),
    ];
    let body =
        r#"{"access_token": "hush", "tokens": [9], "token_type": "Bearer", "other": "hush"}"#;
    let mut failed = |body: &str| {
        let end = End {
            body: Some(body.as_bytes()),
            trailers: None,
            code: None,
        };
        words(&respond(&mut reading, (200, &headers), end, &mut values))
    };
    assert_eq!(
        failed(body),
        [
            "expected a match of `^no`, was `***`",
            "expected a match of `^no`, was `***`",
            "expected a match of `^no`, was `/a?token=***`",
            "expected `***`, was `***`",
            "expected 1 to 2, was `***`",
            "expected a match of `^no`, was `Bearer`",
            "it is missing",
            "expected `***`, was `***`",
            "expected a match of `^no`, was `{\"access_token\": \"***\", \"tokens\": [***], \"token_type\": \"Bearer\", \"other\": \"***\"}`",
            "expected a match of `^no`, was `***`",
        ]
    );
    let far = format!("{{\"echo\": \"{} ssss\"}}", "long ".repeat(100));
    let words = failed(&far).join("\n");
    assert!(!words.contains("long"), "{words}");
}
