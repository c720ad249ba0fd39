//! What a gRPC step reads of its response.

use super::peer::{Does, Peer, Reply};
use super::wires::{api, is_ok, reasons, run, step, sum_call, words};
use crate::report::Report;
use crate::tally::Reason;

/// `{result: 3}` with its prefix.
const THREE: &[u8] = &[0, 0, 0, 0, 2, 8, 3];

/// A call of `GetSum` that is answered so; `more` are other keys of its step.
fn sum(reply: Reply, limits: &str, more: &str) -> Report {
    let peer = Peer::start(move |_| Does::Replies(reply.clone()));
    let (protos, call) = sum_call();
    let call = call.replace("b: 2}}", &format!("b: 2}}{more}}}"));
    let more = format!("{protos}\nlimits: {{{limits}}}");
    run(&api(peer.address), &call, &more)
}

fn answer(body: &[u8], fields: &[(&'static str, &str)]) -> Reply {
    let content = [("content-type", "application/grpc")];
    let fields = content.iter().chain(fields);
    Reply {
        status: 200,
        fields: fields
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect(),
        body: body.to_vec(),
        trailers: vec![("grpc-status", "0")],
    }
}

#[test]
fn headers_are_checked_and_saved() {
    let more = ", expect: {headers: {x-id: \"7\"}}, save: {id: {header: x-id}, url: url}";
    assert!(is_ok(&sum(answer(THREE, &[("x-id", "7")]), "", more)));
    let wrong = sum(answer(THREE, &[("x-id", "8")]), "", more);
    assert_eq!(reasons(&wrong, "sum"), [(Reason::Check(0), 1)]);
    let missing = sum(answer(THREE, &[]), "", ", save: {id: {header: x-id}}");
    assert_eq!(reasons(&missing, "sum"), [(Reason::Save(0), 1)]);
}

#[test]
fn a_head_without_replies_has_headers_and_a_status_that_says_most() {
    let only = |status: &'static str| Reply {
        trailers: Vec::new(),
        ..answer(&[], &[("grpc-status", status), ("x-id", "7")])
    };
    let more = ", expect: {code: NOT_FOUND, headers: {x-id: \"7\"}}";
    let report = sum(only("5"), "", &more.replace("code", "status"));
    assert!(is_ok(&report), "{:?}", reasons(&report, "sum"));
    let report = sum(only("5"), "", ", save: {other: {header: x-other}}");
    assert_eq!(reasons(&report, "sum"), [(Reason::Status, 1)]);
}

#[test]
fn the_text_of_a_status_is_decoded_in_checks_saves_and_words() {
    let failed = || Reply {
        trailers: vec![
            ("grpc-status", " 5"),
            ("grpc-message", "no%20%E2%82%AC,%20100%25 %zz "),
        ],
        ..answer(&[], &[])
    };
    let more = ", expect: {status: NOT_FOUND, trailers: {grpc-message: \"no €, 100% %zz\"}}";
    let report = sum(failed(), "", more);
    assert!(is_ok(&report), "{:?}", step(&report, "sum").failures);
    let report = sum(failed(), "", "");
    assert_eq!(reasons(&report, "sum"), [(Reason::Status, 1)]);
    assert_eq!(
        words(&report, "sum"),
        "expected OK, was NotFound, `no €, 100% %zz`"
    );
    let save =
        ", expect: {status: NOT_FOUND}, save: {why: {trailer: grpc-message, regex: '(100% .*)$'}}";
    assert!(is_ok(&sum(failed(), "", save)));
}

#[test]
fn a_call_that_ends_without_trailers_is_an_internal_error_or_what_its_headers_said() {
    let cut = |status: Option<(&'static str, &str)>| Reply {
        trailers: Vec::new(),
        ..answer(THREE, status.as_slice())
    };
    let report = sum(cut(None), "", "");
    assert_eq!(reasons(&report, "sum"), [(Reason::Status, 1)]);
    let told = words(&report, "sum");
    assert!(told.contains("without sending trailers"), "{told}");
    assert!(is_ok(&sum(cut(None), "", ", expect: {status: INTERNAL}")));
    let said = cut(Some(("grpc-status", "5")));
    assert!(is_ok(&sum(said, "", ", expect: {status: NOT_FOUND}")));
    let stated = Reply {
        trailers: Vec::new(),
        ..answer(THREE, &[("grpc-status", "5"), ("grpc-message", "gone%21")])
    };
    let report = sum(stated, "", "");
    assert_eq!(words(&report, "sum"), "expected OK, was NotFound, `gone!`");
    let both = || answer(THREE, &[("grpc-status", "5"), ("grpc-encoding", "GZip")]);
    assert!(is_ok(&sum(both(), "", "")), "trailers say more");
}

#[test]
fn a_reply_that_is_too_long_or_unreadable_is_named_so() {
    let report = sum(answer(THREE, &[]), "body: 1", "");
    assert_eq!(reasons(&report, "sum"), [(Reason::BodyTooLarge, 1)]);
    let told = words(&report, "sum");
    let expected = "a reply of 2 bytes is over the limit of 1 (`limits.body`)";
    assert_eq!(told, expected);
    let each = ", expect: {each: [\"result = 3\"]}";
    let cut = sum(answer(&[0, 0, 0, 0, 1, 8], &[]), "", each);
    assert_eq!(reasons(&cut, "sum"), [(Reason::Decoding, 1)]);
    let compressed = sum(answer(&[1, 0, 0, 0, 1, 8], &[]), "", "");
    assert_eq!(reasons(&compressed, "sum"), [(Reason::Decoding, 1)]);
}

#[test]
fn the_rule_that_does_not_hold_is_the_one_that_is_named() {
    let each = ", expect: {each: [\"result = a + b\", \"result = 4\"]}";
    let report = sum(answer(THREE, &[]), "", each);
    assert_eq!(reasons(&report, "sum"), [(Reason::Each(1), 1)]);
}
