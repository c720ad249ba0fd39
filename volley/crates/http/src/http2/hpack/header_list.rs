//! The fields of one header block, in one reusable buffer.

use std::cell::Cell;

use super::ENTRY_OVERHEAD;
use super::field::Entry;

/// Decoded header fields in the order of the block.
///
/// Names and values are stored one after another in a single buffer. A list that is cleared and refilled does not
/// allocate.
#[derive(Clone, Debug, Default)]
pub struct HeaderList {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    tag: Cell<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    name_end: usize,
    end: usize,
}

impl HeaderList {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all fields but keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
        self.tag.set(0);
    }

    /// What a reader has noted about these fields; 0 at first. A list that comes again, because a peer has sent the same
    /// block again, still has it.
    #[inline]
    pub fn tag(&self) -> u8 {
        self.tag.get()
    }

    /// Notes something about these fields.
    pub fn set_tag(&self, tag: u8) {
        self.tag.set(tag);
    }

    /// Makes it the same as another one, and keeps the memory.
    pub fn copy(&mut self, other: &Self) {
        self.bytes.clear();
        self.bytes.extend_from_slice(&other.bytes);
        self.spans.clear();
        self.spans.extend_from_slice(&other.spans);
        self.tag.set(other.tag());
    }

    /// Removes all fields but the first ones.
    pub fn truncate(&mut self, fields: usize) {
        self.spans.truncate(fields);
        self.tag.set(0);
    }

    /// Adds a field at the end.
    pub fn push(&mut self, name: &[u8], value: &[u8]) {
        let bytes = self.begin();
        bytes.extend_from_slice(name);
        bytes.extend_from_slice(value);
        self.finish(name.len());
    }

    /// The same for a name in any case: it is stored in lower case.
    #[inline]
    pub fn push_lower_case(&mut self, name: &[u8], value: &[u8]) {
        let start = self.end();
        let bytes = self.begin();
        bytes.extend_from_slice(name);
        if let Some(name) = bytes.get_mut(start..) {
            name.make_ascii_lowercase();
        }
        bytes.extend_from_slice(value);
        self.finish(name.len());
    }

    /// Takes off the blanks around values. Returns whether there were any.
    #[cold]
    pub fn trim(&mut self) -> bool {
        if self.iter().all(|(_, value)| trimmed(value) == value) {
            return false;
        }
        let mut list = Self::new();
        for (name, value) in self.iter() {
            list.push(name, trimmed(value));
        }
        *self = list;
        true
    }

    /// All fields as (name, value).
    #[inline]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&[u8], &[u8])> {
        let slice = |start, end| self.bytes.get(start..end).unwrap_or_default();
        self.spans.iter().map(move |span| {
            (
                slice(span.start, span.name_end),
                slice(span.name_end, span.end),
            )
        })
    }

    /// The value of the first field of this name.
    #[inline]
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    /// The value of the last field of this name.
    #[inline]
    pub fn last(&self, name: &[u8]) -> Option<&[u8]> {
        let mut fields = self.iter().rev();
        fields.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Bytes of all names and values, plus 32 for each field, as RFC 9113 §6.5.2 counts a header list.
    pub fn size(&self) -> usize {
        self.end() + self.spans.len() * ENTRY_OVERHEAD
    }

    /// Adds a table's entry at the end.
    #[inline]
    pub(super) fn push_entry(&mut self, entry: Entry<'_>) {
        self.begin().extend_from_slice(entry.joined);
        self.finish(entry.name_len);
    }

    /// Starts a field: append its name, then its value to the returned buffer.
    #[inline]
    pub(super) fn begin(&mut self) -> &mut Vec<u8> {
        // Bytes of an abandoned field are not part of the list.
        self.bytes.truncate(self.end());
        &mut self.bytes
    }

    /// The field that was started and not yet finished.
    pub(super) fn begun(&self, name_len: usize) -> Entry<'_> {
        Entry {
            joined: self.bytes.get(self.end()..).unwrap_or_default(),
            name_len,
        }
    }

    /// Adds the field that was started to the list.
    #[inline]
    pub(super) fn finish(&mut self, name_len: usize) {
        let start = self.end();
        self.spans.push(Span {
            start,
            name_end: start + name_len,
            end: self.bytes.len(),
        });
    }

    #[inline]
    fn end(&self) -> usize {
        self.spans.last().map_or(0, |span| span.end)
    }
}

/// A value without the blanks around it (RFC 9110 §5.5).
fn trimmed(value: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| !matches!(byte, b' ' | b'\t');
    let start = value.iter().position(is_part).unwrap_or(value.len());
    let end = value.iter().rposition(is_part).map_or(start, |at| at + 1);
    value.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_around_values_are_taken_off_and_other_bytes_are_not() {
        let mut list = HeaderList::new();
        for value in ["", "a", "a b", "\r"] {
            list.push(b"x", value.as_bytes());
        }
        assert!(!list.trim());
        for value in [" ", "\t a", "a \t", " a b ", "\r "] {
            list.push(b"y", value.as_bytes());
        }
        assert!(list.trim() && !list.trim());
        let values: Vec<_> = list.iter().map(|(_, value)| value).collect();
        let expected = ["", "a", "a b", "\r", "", "a", "a", "a b", "\r"];
        assert_eq!(values, expected.map(str::as_bytes));
        assert_eq!(list.last(b"x"), Some(&b"\r"[..]));
        assert_eq!(list.last(b"z"), None);
    }

    #[test]
    fn fields_come_back_in_order_and_the_first_of_a_name_is_found() {
        let mut list = HeaderList::new();
        list.push(b"a", b"1");
        list.push(b"empty", b"");
        list.push(b"a", b"2");
        let all: Vec<_> = list.iter().collect();
        assert_eq!(all, [(&b"a"[..], &b"1"[..]), (b"empty", b""), (b"a", b"2")]);
        assert_eq!(list.get(b"a"), Some(&b"1"[..]));
        assert_eq!(list.get(b"empty"), Some(&b""[..]));
        assert_eq!(list.get(b"b"), None);
    }

    #[test]
    fn a_name_may_be_stored_in_lower_case_and_its_value_is_left_alone() {
        let mut list = HeaderList::new();
        list.push(b"A", b"B");
        list.push_lower_case(b"Content-Type", b"Text/HTML");
        let all: Vec<_> = list.iter().collect();
        let expected: [(&[u8], &[u8]); 2] = [(b"A", b"B"), (b"content-type", b"Text/HTML")];
        assert_eq!(all, expected);
    }

    #[test]
    fn the_size_counts_32_bytes_for_each_field() {
        let mut list = HeaderList::new();
        assert_eq!(list.size(), 0);
        list.push(b"grpc-status", b"0");
        assert_eq!(list.size(), 11 + 1 + 32);
        list.push(b"", b"");
        assert_eq!((list.size(), list.len()), (44 + 32, 2));
    }

    #[test]
    fn a_field_that_was_begun_and_given_up_leaves_no_trace() {
        let mut list = HeaderList::new();
        list.push(b"a", b"1");
        list.begin().extend_from_slice(b"half a fie");
        assert_eq!((list.size(), list.len()), (34, 1));
        list.push(b"b", b"2");
        assert_eq!(list.get(b"b"), Some(&b"2"[..]));
    }

    #[test]
    fn a_copy_has_the_same_fields_and_can_grow() {
        let (mut list, mut copy) = (HeaderList::new(), HeaderList::new());
        list.push(b"a", b"1");
        list.begin().extend_from_slice(b"half a fie");
        copy.push(b"other", b"field");
        copy.copy(&list);
        copy.push(b"b", b"2");
        let all: Vec<_> = copy.iter().collect();
        assert_eq!(all, [(&b"a"[..], &b"1"[..]), (b"b", b"2")]);
    }

    #[test]
    fn a_list_that_is_cut_can_grow_again() {
        let mut list = HeaderList::new();
        for name in [b"a", b"x", b"y"] {
            list.push(name, b"1");
        }
        list.set_tag(1);
        list.truncate(1);
        assert_eq!((list.size(), list.tag()), (34, 0));
        list.push(b"b", b"2");
        let all: Vec<_> = list.iter().collect();
        assert_eq!(all, [(&b"a"[..], &b"1"[..]), (b"b", b"2")]);
    }

    #[test]
    fn a_cleared_list_is_empty() {
        let mut list = HeaderList::new();
        list.push(b"a", b"1");
        list.clear();
        assert!(list.is_empty() && list.iter().next().is_none() && list.size() == 0);
    }
}
