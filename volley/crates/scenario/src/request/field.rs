//! What may stand in a header field of a request (RFC 9110 section 5).

/// Headers that belong to a connection (RFC 9110 section 7.6.1), or that volley knows better.
pub const RESERVED: [&str; 10] = [
    "connection",
    "content-length",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "expect",
    "http2-settings",
];

/// Whether a text is a token (RFC 9110 section 5.6.2).
#[must_use]
pub fn is_token(text: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_fine)
}

/// Why a step sends no header of this name.
#[must_use]
pub fn name_fault(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    Some(if lower == "host" || lower == ":authority" {
        format!("`{name}` is the target's: write `authority` there")
    } else if lower.starts_with(':') {
        format!("`{name}` is made of the step's verb and URL: drop it")
    } else if RESERVED.contains(&lower.as_str()) {
        format!("volley sets `{name}` itself: drop it")
    } else if !is_token(&lower) {
        format!("`{name}` is no name of a header: use letters, digits and `-`")
    } else {
        return None;
    })
}

/// Why a value is none of a header (RFC 9110 section 5.5).
#[must_use]
pub fn value_fault(value: &[u8]) -> Option<&'static str> {
    let is_blank = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    if is_blank(value.first()) || is_blank(value.last()) {
        return Some("the value begins or ends with a blank: remove it");
    }
    let mut controls = value.iter().filter(|byte| byte.is_ascii_control());
    let has_control = controls.any(|byte| *byte != b'\t');
    has_control.then_some("the value has a control character: remove it")
}
