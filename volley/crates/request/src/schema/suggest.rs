//! Suggestions for misspelt names.

use volley_base::excerpt::{excerpt, list};
use volley_protobuf::Message;

/// "did you mean …?" if one name is close; otherwise the list of names, or `none` if there are
/// none.
pub fn hint(typed: &str, names: &[String], none: &str) -> String {
    hint_of(typed, names, none, "there are:")
}

/// The same with these words before the list.
pub fn hint_of(typed: &str, names: &[String], none: &str, all: &str) -> String {
    match closest(typed, names) {
        Some(name) => format!("did you mean `{}`?", excerpt(name, 80)),
        None if names.is_empty() => none.to_owned(),
        None => format!("{all} {}", list(names.iter().map(String::as_str))),
    }
}

/// What the key `typed` of a message in JSON may have been: a field, or an extension if it stands in brackets.
pub fn keys(message: &Message, typed: &str) -> Vec<String> {
    let extensions = message.extensions().filter(|_| typed.starts_with('['));
    let extensions: Vec<String> = extensions
        .map(|one| format!("[{}]", one.full_name()))
        .collect();
    match extensions.is_empty() {
        true => message
            .fields()
            .map(|field| field.name().to_owned())
            .collect(),
        false => extensions,
    }
}

/// The nearest name, if at most a third of its letters differ; ignores case.
pub fn closest<'a>(typed: &str, names: &'a [String]) -> Option<&'a String> {
    let typed = typed.to_lowercase();
    names
        .iter()
        .map(|name| (strsim::osa_distance(&typed, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= name.chars().count() / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_slip_of_the_finger_is_corrected() {
        assert_eq!(
            hint("StramSum", &names(&["GetSum", "StreamSum"]), ""),
            "did you mean `StreamSum`?"
        );
        assert_eq!(hint("ulr", &names(&["url"]), ""), "did you mean `url`?");
    }

    #[test]
    fn a_name_that_a_schema_has_from_elsewhere_stays_on_one_line() {
        assert_eq!(
            hint("Call", &names(&["Ca\nll"]), ""),
            "did you mean `Ca ll`?"
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
