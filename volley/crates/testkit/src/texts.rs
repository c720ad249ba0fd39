//! What a text must say. One that does not is shown.

/// It has this part.
#[track_caller]
pub fn has(text: &str, part: &str) {
    assert!(text.contains(part), "{text}");
}

/// It begins so.
#[track_caller]
pub fn begins(text: &str, start: &str) {
    assert!(text.starts_with(start), "{text}");
}

/// It ends so.
#[track_caller]
pub fn ends(text: &str, end: &str) {
    assert!(text.ends_with(end), "{text}");
}
