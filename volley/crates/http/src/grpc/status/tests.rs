use super::*;

fn list(fields: &[(&str, &str)]) -> HeaderList {
    let mut list = HeaderList::new();
    for (name, value) in fields {
        list.push(name.as_bytes(), value.as_bytes());
    }
    list
}

fn trailers(fields: &[(&str, &str)]) -> String {
    Status::from_trailers(&list(fields)).to_string()
}

#[test]
fn a_good_end_is_ok_and_has_no_text() {
    let status = Status::from_trailers(&list(&[("grpc-status", "0"), ("grpc-message", "")]));
    assert_eq!(status, Status::new(Code::Ok, ""));
    assert!(status.is_ok());
}

#[test]
fn a_failure_is_displayed_as_grpc_go_prints_it() {
    assert_eq!(
        trailers(&[("grpc-status", "14"), ("grpc-message", "try%20later")]),
        "rpc error: code = Unavailable desc = try later"
    );
    assert_eq!(
        trailers(&[("grpc-status", "1")]),
        "rpc error: code = Canceled desc = "
    );
}

#[test]
fn a_code_that_grpc_does_not_know_is_unknown_and_named() {
    assert_eq!(
        trailers(&[("grpc-status", "17"), ("grpc-message", "new")]),
        "rpc error: code = Unknown desc = status code 17: new"
    );
}

#[test]
fn a_status_that_is_no_number_is_unknown_and_shown() {
    for bad in ["", "-1", "+", "++0", "0x0", " 0", "99999999999"] {
        assert_eq!(
            trailers(&[("grpc-status", bad)]),
            format!(
                "rpc error: code = Unknown desc = the server's `grpc-status` is `{bad}`, not a number"
            )
        );
    }
}

#[test]
fn a_code_may_have_a_sign_and_zeros_before_it() {
    for same in ["5", "05", "+5", "+0005"] {
        let status = Status::from_trailers(&list(&[("grpc-status", same)]));
        assert_eq!(status, Status::new(Code::NotFound, ""), "{same}");
    }
}

#[test]
fn of_several_statuses_the_last_one_counts() {
    let twice = [("0", ""), ("5", "gone"), ("3", "bad%21")];
    let fields: Vec<_> = twice
        .iter()
        .flat_map(|(code, text)| [("grpc-status", *code), ("grpc-message", *text)])
        .collect();
    assert_eq!(
        Status::from_trailers(&list(&fields)),
        Status::new(Code::InvalidArgument, "bad!")
    );
}

#[test]
fn the_text_of_a_status_is_decoded_and_other_fields_are_not() {
    assert_eq!(
        &*shown(b"grpc-message", b"100%25%20%zz%FF"),
        "100% %zz\u{fffd}".as_bytes()
    );
    assert_eq!(&*shown(b"x", b"100%25"), b"100%25");
}

#[test]
fn trailers_without_a_status_are_unknown() {
    let status = Status::from_trailers(&list(&[("grpc-message", "ignored")]));
    assert_eq!(status.code, Code::Unknown);
    assert_eq!(
        status.message,
        "the server ended the call without a `grpc-status`"
    );
}

#[test]
fn headers_of_a_grpc_answer_decide_nothing_yet() {
    for content_type in [
        "application/grpc",
        "application/grpc+proto",
        "application/grpc;charset=utf-8",
        "Application/gRPC",
        "APPLICATION/GRPC+PROTO; charset=utf-8",
        "application/grpc ;x=y",
        "application/grpc\t; x",
    ] {
        let headers = list(&[(":status", "200"), ("content-type", content_type)]);
        assert_eq!(Status::from_headers(&headers, false), None);
        assert!(has_grpc(&headers), "{content_type}");
        let ended = Status::from_headers(&headers, true).map(|status| status.code);
        assert_eq!(ended, Some(Code::Unknown));
    }
}

#[test]
fn a_trailers_only_answer_has_its_status_in_the_headers() {
    let headers = list(&[
        (":status", "200"),
        ("content-type", "application/grpc"),
        ("grpc-status", "12"),
        ("grpc-message", "unknown method"),
    ]);
    let expected = Some(Status::new(Code::Unimplemented, "unknown method"));
    assert_eq!(Status::from_headers(&headers, true), expected);
}

#[test]
fn a_status_of_grpc_wins_over_that_of_http() {
    let headers = list(&[(":status", "503"), ("grpc-status", "5")]);
    assert_eq!(
        Status::from_headers(&headers, true),
        Some(Status::new(Code::NotFound, ""))
    );
}

#[test]
fn an_answer_that_is_not_grpc_is_mapped_from_http() {
    let headers = list(&[(":status", "502"), ("content-type", "text/html")]);
    assert_eq!(
        Status::from_headers(&headers, false)
            .map(|status| status.to_string())
            .as_deref(),
        Some(
            "rpc error: code = Unavailable desc = the server answered with HTTP status `502` and content type \
             `text/html`, not with gRPC"
        )
    );
    for content_type in [
        "application/grpc-web",
        "application/grpcx;a=b",
        "Application/gRP",
        "text/html",
        "",
    ] {
        let headers = list(&[(":status", "200"), ("content-type", content_type)]);
        let code = Status::from_headers(&headers, false).map(|status| status.code);
        assert_eq!(code, Some(Code::Unknown), "{content_type}");
        assert!(!has_grpc(&headers), "{content_type}");
    }
    let code = Status::from_headers(&list(&[]), false).map(|status| status.code);
    assert_eq!(code, Some(Code::Internal), "no `:status` at all");
}

#[test]
fn an_informational_block_decides_nothing() {
    assert_eq!(
        Status::from_headers(&list(&[(":status", "103")]), false),
        None
    );
    assert!(Status::from_headers(&list(&[(":status", "103")]), true).is_some());
}
