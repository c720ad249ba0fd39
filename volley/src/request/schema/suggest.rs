//! Suggestions for misspelt names.

use crate::request::excerpt::list;

/// "did you mean …?" if one name is close; otherwise the list of names, or `none` if there are
/// none.
pub(crate) fn hint(typed: &str, names: &[String], none: &str) -> String {
    if names.is_empty() {
        return none.to_owned();
    }
    if let Some(name) = closest(typed, names) {
        return format!("did you mean `{name}`?");
    }
    format!("there are: {}", list(names.iter().map(String::as_str)))
}

/// The nearest name, if at most a third of its letters differ; ignores case.
fn closest<'a>(typed: &str, names: &'a [String]) -> Option<&'a String> {
    let typed = typed.to_lowercase();
    names
        .iter()
        .map(|name| (distance(&typed, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= name.chars().count() / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Levenshtein's distance, in characters.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (deleted, letter) in from.chars().enumerate() {
        let mut next = vec![deleted + 1];
        let mut left = deleted + 1;
        for ((above, pair), other) in row.iter().skip(1).zip(&row).zip(&to) {
            left = (left + 1)
                .min(above + 1)
                .min(pair + usize::from(letter != *other));
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn distance_counts_single_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("flaw", "lawn"), 2);
        assert_eq!(distance("same", "same"), 0);
    }

    #[test]
    fn a_slip_of_the_finger_is_corrected() {
        assert_eq!(
            hint("StramSum", &names(&["GetSum", "StreamSum"]), ""),
            "did you mean `StreamSum`?"
        );
    }

    #[test]
    fn case_alone_is_no_difference() {
        assert_eq!(
            hint("getsum", &names(&["GetSum", "StreamSum"]), ""),
            "did you mean `GetSum`?"
        );
    }

    #[test]
    fn a_name_unlike_any_other_gets_the_list() {
        assert_eq!(
            hint("Nothing", &names(&["GetSum", "EchoSum"]), ""),
            "there are: `GetSum`, `EchoSum`"
        );
    }
}
