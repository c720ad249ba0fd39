//! Answers to requests, before a protocol has written them.

use std::io::Write as _;

use super::id::Id;

/// The path of an item, before its id.
const PATH: &[u8; 10] = b"/v1/items/";

/// The answer to a request.
#[derive(Debug, Default)]
pub struct Answer {
    pub status: u16,
    location: Option<Id>,
    /// JSON; empty if there is none.
    pub body: Vec<u8>,
    /// Only half of the body is sent.
    pub is_cut: bool,
}

impl Answer {
    /// Forgets the answer but keeps its memory.
    pub fn clear(&mut self) {
        self.status = 0;
        self.location = None;
        self.body.clear();
        self.is_cut = false;
    }

    /// Whether there is one.
    #[inline]
    pub fn is_made(&self) -> bool {
        self.status != 0
    }

    /// What is sent of the body.
    pub fn sent(&self) -> &[u8] {
        let n = match self.is_cut {
            true => self.body.len() / 2,
            false => self.body.len(),
        };
        self.body.get(..n).unwrap_or_default()
    }

    /// Whether the client gets what it asked for.
    pub fn is_good(&self) -> bool {
        self.status < 400 && !self.is_cut
    }

    /// The value of `location`.
    #[inline]
    pub fn location(&self) -> Option<[u8; 26]> {
        let mut path = [0; 26];
        let (start, id) = path.split_at_mut(PATH.len());
        start.copy_from_slice(PATH);
        id.copy_from_slice(&self.location?.text());
        Some(path)
    }

    /// An answer with an empty body.
    pub(super) fn empty(&mut self, status: u16) {
        self.status = status;
    }

    /// An answer that says what is wrong.
    pub fn error(&mut self, status: u16, words: &str) {
        self.status = status;
        self.body.clear();
        // Writing to memory cannot fail; `words` need no escapes.
        let _ = write!(self.body, r#"{{"error":"{words}"}}"#);
    }

    /// An answer with a new item.
    pub(super) fn created(&mut self, id: Id, fields: &[u8]) {
        self.item(201, id, fields, 1);
        self.location = Some(id);
    }

    /// An answer with an item.
    pub(super) fn item(&mut self, status: u16, id: Id, fields: &[u8], rev: u64) {
        self.status = status;
        let body = &mut self.body;
        body.extend_from_slice(br#"{"item":{"id":""#);
        body.extend_from_slice(&id.text());
        body.extend_from_slice(br#"","#);
        body.extend_from_slice(fields);
        body.extend_from_slice(br#""rev":"#);
        body.extend_from_slice(itoa::Buffer::new().format(rev).as_bytes());
        body.extend_from_slice(b"}}");
    }

    /// An answer with the token `number`, valid for `seconds`.
    pub(super) fn token(&mut self, number: u64, seconds: u64) {
        self.status = 200;
        let id = Id::of(number).text();
        let token = std::str::from_utf8(&id).unwrap_or_default();
        let _ = write!(
            self.body,
            r#"{{"access_token":"{token}","token_type":"Bearer","expires_in":{seconds}}}"#
        );
    }

    /// Makes the body something that is no JSON.
    pub(super) fn break_json(&mut self) {
        self.body.pop();
    }

    /// Leaves `location` out.
    pub(super) fn hide_location(&mut self) {
        self.location = None;
    }
}
