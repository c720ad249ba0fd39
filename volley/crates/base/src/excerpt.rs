//! Shortens user input for error messages: one line, limited length.

/// The maximum number of names in a list.
const LISTED: usize = 12;

/// The first `most` characters, control characters as spaces.
pub fn excerpt(text: &str, most: usize) -> String {
    let mut characters = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut cut: String = characters.by_ref().take(most).collect();
    if characters.next().is_some() {
        cut.push('…');
    }
    cut
}

/// "`a`, `b`, 3 more".
pub fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names = names.peekable();
    let first = names.by_ref().take(LISTED);
    let first = first.map(|name| format!("`{}`", excerpt(name, 80)));
    let mut listed: Vec<String> = first.collect();
    match names.count() {
        0 => {}
        more => listed.push(format!("{more} more")),
    }
    listed.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_and_kept_on_one_line() {
        assert_eq!(excerpt("a\nb", 10), "a b");
        assert_eq!(excerpt("ééé", 3), "ééé");
        assert_eq!(excerpt("éééé", 3), "ééé…");
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(list(["a", "b"].into_iter()), "`a`, `b`");
        let expected = format!("{}3 more", "`x`, ".repeat(12));
        assert_eq!(list(std::iter::repeat_n("x", 15)), expected);
    }
}
