use super::*;
use volley_testkit::texts::begins;

#[test]
fn names_are_lower_case_on_the_wire() {
    assert_eq!(
        Name::new("X-Request_Id.2").unwrap().as_bytes(),
        b"x-request_id.2"
    );
}

#[test]
fn reserved_names_are_refused_in_any_case() {
    for name in [
        ":path",
        "TE",
        "Content-Type",
        "grpc-status",
        "Connection",
        "user-agent",
        "grpc-timeout",
    ] {
        let error = Name::new(name).unwrap_err().to_string();
        begins(&error, &format!("metadata `{name}` is reserved: "));
    }
    assert_eq!(
        Name::new("host").unwrap_err().to_string(),
        "metadata `host` is reserved: give it with --authority"
    );
}

#[test]
fn tracing_may_use_its_grpc_names() {
    assert!(Name::new("grpc-trace-bin").is_ok());
}

#[test]
fn names_that_http2_cannot_carry_are_refused() {
    assert_eq!(
        Name::new("a b").unwrap_err().to_string(),
        "metadata `a b` has ` ` in its name; letters, digits, `-`, `_` and `.` are allowed"
    );
    assert_eq!(Name::new("").unwrap_err(), MetadataError::Empty);
    assert!(Name::new("naïve").is_err());
    assert!(Name::new("a\r\nb").is_err());
}

#[test]
fn binary_values_lose_their_padding_and_nothing_else() {
    let name = Name::new("trace-bin").unwrap();
    assert_eq!(&*name.wire_value("AQ==").unwrap(), b"AQ");
    assert_eq!(&*name.wire_value("AQ").unwrap(), b"AQ");
    assert_eq!(&*name.wire_value("YmFzZTY0").unwrap(), b"YmFzZTY0");
}

#[test]
fn a_binary_value_that_is_no_base64_is_refused() {
    let error = Name::new("trace-bin")
        .unwrap()
        .wire_value("not base64!")
        .unwrap_err()
        .to_string();
    begins(&error, "metadata `trace-bin` is not valid base64");
}

#[test]
fn text_values_are_printable_ascii() {
    let name = Name::new("a").unwrap();
    assert_eq!(&*name.wire_value(" b c\t").unwrap(), b"b c");
    for bad in ["é", "a\nb", "a\u{7f}"] {
        assert_eq!(
            name.wire_value(bad).unwrap_err(),
            MetadataError::Value {
                name: "a".to_owned()
            }
        );
    }
}

#[test]
fn credentials_are_never_indexed() {
    assert!(Name::new("Authorization").unwrap().is_never_indexed());
    assert!(Name::new("cookie").unwrap().is_never_indexed());
    assert!(!Name::new("x-id").unwrap().is_never_indexed());
}

#[test]
fn only_printable_bytes_are_taken_wherever_they_stand() {
    for byte in 0..=0xff {
        for place in 0..12 {
            let mut bytes = [b'~'; 12];
            bytes[place] = byte;
            let expected = (0x20..=0x7e).contains(&byte);
            assert_eq!(is_printable(&bytes), expected, "{byte:#x} at {place}");
        }
    }
}
