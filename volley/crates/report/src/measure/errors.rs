//! Counts error texts, with limits on their number and length.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The maximum number of distinct texts.
pub(super) const MOST_TEXTS: usize = 100;
/// The maximum number of bytes of a text.
const MOST_BYTES: usize = 512;
/// The entry under which all other texts are counted.
pub(super) const OTHERS: &str = "other errors";

/// Error text to count.
///
/// A peer may send a different text with every call. The first hundred texts in alphabetical order
/// are kept, not the first hundred in time. So each kept count is exact, and the order in which
/// threads are merged does not matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errors {
    texts: BTreeMap<Arc<str>, u64>,
    others: u64,
    #[serde(skip, default = "others_text")]
    others_text: Arc<str>,
}

fn others_text() -> Arc<str> {
    OTHERS.into()
}

impl Default for Errors {
    fn default() -> Self {
        Self {
            texts: BTreeMap::new(),
            others: 0,
            others_text: others_text(),
        }
    }
}

impl Errors {
    /// Counts a text. Returns it as it was counted, shared by all calls with the same text.
    pub fn count(&mut self, text: &str) -> Arc<str> {
        let text = capped(text);
        if let Some((known, _)) = self.texts.get_key_value(text.as_ref()) {
            let known = Arc::clone(known);
            if let Some(count) = self.texts.get_mut(&known) {
                *count += 1;
            }
            return known;
        }
        let last = self.texts.last_key_value();
        if self.texts.len() >= MOST_TEXTS && last.is_some_and(|(last, _)| **last < *text) {
            self.others += 1;
            return Arc::clone(&self.others_text);
        }
        let new: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&new), 1);
        self.drop_surplus();
        new
    }

    pub fn merge(&mut self, other: Self) {
        for (text, count) in other.texts {
            let sum = self.texts.entry(text).or_default();
            *sum = sum.saturating_add(count);
        }
        self.others = self.others.saturating_add(other.others);
        self.drop_surplus();
    }

    /// Text to count; the sum of all others is under [`OTHERS`].
    pub fn into_counts(self) -> BTreeMap<String, u64> {
        let texts = self.texts.into_iter();
        let mut counts: BTreeMap<String, u64> = texts
            .map(|(text, count)| (text.as_ref().to_owned(), count))
            .collect();
        if self.others > 0 {
            let sum = counts.entry(OTHERS.to_owned()).or_default();
            *sum = sum.saturating_add(self.others);
        }
        counts
    }

    fn drop_surplus(&mut self) {
        while self.texts.len() > MOST_TEXTS
            && let Some((_, count)) = self.texts.pop_last()
        {
            self.others = self.others.saturating_add(count);
        }
    }
}

/// A text within its limit: cut between two characters, and marked where it was cut.
pub fn capped(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= MOST_BYTES {
        return text.into();
    }
    let mut end = MOST_BYTES - '…'.len_utf8();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", text.get(..end).unwrap_or_default()).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counted(texts: &[String]) -> Errors {
        let mut errors = Errors::default();
        for text in texts {
            errors.count(text);
        }
        errors
    }

    #[test]
    fn the_same_text_is_counted_and_shared() {
        let mut errors = Errors::default();
        let first = errors.count("down");
        assert!(Arc::ptr_eq(&first, &errors.count("down")));
        let counts = BTreeMap::from([("down".to_owned(), 2)]);
        assert_eq!(errors.into_counts(), counts);
    }

    #[test]
    fn a_peer_that_never_repeats_itself_is_counted_without_growth() {
        let texts: Vec<String> = (0..10_000).map(|n| format!("call {n} failed")).collect();
        let counts = counted(&texts).into_counts();
        assert_eq!(counts.len(), MOST_TEXTS + 1);
        assert_eq!(counts[OTHERS], 9_900);
    }

    #[test]
    fn a_long_text_is_cut_between_two_characters() {
        let long = "ä".repeat(400);
        let kept = capped(&long);
        assert_eq!(kept.as_ref(), format!("{}…", "ä".repeat(254)));
    }

    proptest! {
        #[test]
        fn merging_is_associative_and_commutative_and_as_good_as_counting_at_one_place(
            parts in prop::array::uniform3(prop::collection::vec(0..250_u8, 0..200)),
        ) {
            let texts = parts.map(|part| part.iter().map(|n| format!("error {n:03}")).collect::<Vec<_>>());
            let [a, b, c] = texts.clone().map(|texts| counted(&texts));
            let mut left = a.clone();
            left.merge(b.clone());
            left.merge(c.clone());
            let mut right = c;
            right.merge(b);
            let mut both = right;
            both.merge(a);
            prop_assert_eq!(&left, &both);
            prop_assert_eq!(left, counted(&texts.concat()));
        }
    }
}
