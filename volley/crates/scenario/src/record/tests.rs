use serde::de::DeserializeSeed as _;
use serde_json::json;

use super::*;
use crate::testkit::gzip;
use volley_protobuf as protobuf;
use volley_protobuf::Seed;

/// A page and a line of a failed request whose step has replies of this type.
fn shown(replies: Option<Message>, exchange: Exchange, words: &str) -> [String; 2] {
    let records = Records {
        keeps: Keeps {
            outcomes: true,
            contents: Contents::Everything,
        },
        outbox: Outbox::new(true),
        failed: AtomicU64::new(0),
        epoch_ns: OnceLock::new(),
        labels: vec![Label {
            names: StepNames {
                is_grpc: replies.is_some(),
                ..StepNames::default()
            },
            replies,
        }],
    };
    let record = Record {
        step: 0,
        iteration: None,
        timing: Timing::at(0),
        was_sent: true,
        status: None,
        received: 0,
        redirects: 0,
        faults: vec![(Reason::Check(0), words.to_owned())],
        exchange: Some(Box::new(exchange)),
        is_whole: true,
    };
    let line = serde_json::to_string(&line(&records, &record, true)).unwrap();
    [page(&records, &record), line]
}

#[test]
fn secrets_of_a_grpc_call_are_masked_in_its_messages_its_reply_and_its_fault() {
    let pool = crate::testkit::everything();
    let all = pool.message("everything.All").unwrap();
    let reply = json!({"counts": {"api_key": 123_456}, "string": "hush-2"});
    let reply = Seed(&all).deserialize(reply).unwrap();
    let exchange = Exchange {
        body: b"{\"token\": \"hush-1\"}\n{\"token\": \"hush-2\"}"
            .as_slice()
            .into(),
        is_answered: true,
        reply: protobuf::encode(&reply).as_slice().into(),
        replies: 1,
        ..Exchange::default()
    };
    for text in shown(Some(all), exchange, "was `123456`, hush-1") {
        assert!(!text.contains("hush") && !text.contains("123456"), "{text}");
        assert!(text.contains("was `***`, ***"), "{text}");
    }
}

#[test]
fn secrets_of_a_compressed_response_and_of_a_long_one_are_masked() {
    let body = r#"{"access_token": "hush-1", "echo": "hush-1"}"#;
    let zipped = Exchange {
        is_answered: true,
        fields: vec![("content-encoding".to_owned(), b"gzip".to_vec())],
        reply: gzip(body.as_bytes()).as_slice().into(),
        ..Exchange::default()
    };
    let body = format!("{}{}", &body[..body.len() - 1], " ".repeat(MOST_BODY));
    let long = Exchange {
        is_answered: true,
        reply: body.as_bytes().into(),
        ..Exchange::default()
    };
    assert!(long.reply.is_cut());
    for exchange in [zipped, long] {
        for text in shown(None, exchange, "was `hush-1`") {
            assert!(!text.contains("hush"), "{text}");
            assert_eq!(text.matches("***").count(), 3, "{text}");
        }
    }
}
