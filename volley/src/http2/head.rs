//! A request's head, and its last encoding.

use std::sync::Arc;

use super::frame::{DEFAULT_MAX_FRAME_SIZE, Kind, flag, write_headers, write_whole};
use super::hpack::{Encoder, Field};

/// The most heads whose encoding one connection keeps.
const MOST_KEPT: usize = 32;

/// Request pseudo-headers and headers, in order; shared by all calls that send the same ones.
#[derive(Debug, Default)]
pub struct Head {
    /// Pseudo-headers first (RFC 9113 §8.3).
    pub fields: Vec<Field>,
    /// How many of them come before a call's own [`Own::first`].
    pub before_own: usize,
}

impl Head {
    /// Whether the method is HEAD, whose responses have no content (RFC 9110 §9.3.2).
    pub fn is_head(&self) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|field| *field.name == *b":method" && *field.value == *b"HEAD")
    }
}

/// Fields of one call alone, already encoded: see [`hpack::literal`](super::hpack::literal).
#[derive(Clone, Copy, Debug, Default)]
pub struct Own<'a> {
    /// Those within the head, such as a path.
    pub first: &'a [u8],
    /// Those after it.
    pub last: &'a [u8],
}

/// Writes heads. Keeps the bytes of the last ones while they may be sent again unchanged.
pub struct HeadWriter {
    encoder: Encoder,
    /// In the order of their first use.
    kept: Vec<Encoded>,
    /// Which of them was written last.
    latest: usize,
    block: Vec<u8>,
}

/// A head, and its bytes as long as the encoder's generation is the same.
struct Encoded {
    head: Arc<Head>,
    is_head: bool,
    generation: Option<u64>,
    block: Vec<u8>,
    /// Where a call's own fields go.
    own_at: usize,
}

impl HeadWriter {
    /// A writer with an empty table.
    pub fn new() -> Self {
        Self {
            encoder: Encoder::new(),
            kept: Vec::new(),
            latest: 0,
            block: Vec::new(),
        }
    }

    /// The peer's SETTINGS_HEADER_TABLE_SIZE, in bytes.
    pub fn set_peer_max_table_size(&mut self, size: usize) {
        self.encoder.set_peer_max_table_size(size);
    }

    /// Appends HEADERS, and CONTINUATION if the block needs it. Returns [`Head::is_head`].
    pub fn write(
        &mut self,
        out: &mut Vec<u8>,
        stream: u32,
        head: &Arc<Head>,
        own: Own<'_>,
        end_stream: bool,
        max_frame_size: usize,
    ) -> bool {
        let generation = Some(self.encoder.generation());
        let is = |kept: &Encoded| Arc::ptr_eq(&kept.head, head);
        if !self.kept.get(self.latest).is_some_and(is) {
            self.latest = self
                .kept
                .iter()
                .position(is)
                .unwrap_or_else(|| self.keep(head));
        }
        let Some(kept) = self.kept.get_mut(self.latest) else {
            return false;
        };
        if kept.generation != generation {
            kept.encode(&mut self.encoder);
        }
        if own.first.is_empty() && own.last.is_empty() && kept.block.len() <= DEFAULT_MAX_FRAME_SIZE
        {
            let end = if end_stream { flag::END_STREAM } else { 0 };
            let flags = flag::END_HEADERS | end;
            write_whole(out, Kind::Headers, flags, stream, &kept.block);
            return kept.is_head;
        }
        let (before, after) = kept.block.split_at(kept.own_at.min(kept.block.len()));
        self.block.clear();
        for part in [before, own.first, after, own.last] {
            self.block.extend_from_slice(part);
        }
        write_headers(out, stream, &self.block, end_stream, max_frame_size);
        kept.is_head
    }

    /// Makes room for a head.
    #[cold]
    fn keep(&mut self, head: &Arc<Head>) -> usize {
        if self.kept.len() >= MOST_KEPT {
            self.kept.remove(0);
        }
        self.kept.push(Encoded {
            head: Arc::clone(head),
            is_head: head.is_head(),
            generation: None,
            block: Vec::new(),
            own_at: 0,
        });
        self.kept.len() - 1
    }
}

impl Encoded {
    #[cold]
    fn encode(&mut self, encoder: &mut Encoder) {
        self.block.clear();
        let (before, after) = self
            .head
            .fields
            .split_at(self.head.before_own.min(self.head.fields.len()));
        let repeats = encoder.encode(before, &mut self.block);
        self.own_at = self.block.len();
        let repeats = encoder.encode(after, &mut self.block) && repeats;
        self.generation = repeats.then(|| encoder.generation());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http2::hpack::{Decoder, HeaderList, Indexing, literal, literal_name};

    fn head(name: &str, before_own: usize) -> Arc<Head> {
        let field = |(name, value): (&str, &str)| Field {
            name: name.as_bytes().into(),
            value: value.as_bytes().into(),
            indexing: Indexing::Incremental,
        };
        let fields = [(":method", "GET"), (":scheme", "http"), ("x-name", name)];
        Arc::new(Head {
            fields: fields.map(field).into(),
            before_own,
        })
    }

    fn own(name: &str, value: &str) -> Vec<u8> {
        let (mut begin, mut out) = (Vec::new(), Vec::new());
        literal_name(name.as_bytes(), Indexing::Without, &mut begin);
        literal(&begin, value.as_bytes(), &mut out);
        out
    }

    #[test]
    fn heads_that_take_turns_are_encoded_once_and_a_calls_own_fields_keep_their_places() {
        let heads = [head("a", 2), head("b", 2)];
        let mut writer = HeadWriter::new();
        let mut decoder = Decoder::new(4096, 4096);
        let mut lengths = Vec::new();
        for round in 0..4 {
            for (head, name) in heads.iter().zip(["a", "b"]) {
                let path = format!("/{name}/{round}");
                let (first, last) = (own(":path", &path), own("x-last", "z"));
                let own = Own {
                    first: &first,
                    last: &last,
                };
                let mut out = Vec::new();
                writer.write(&mut out, 1, head, own, true, DEFAULT_MAX_FRAME_SIZE);
                let mut list = HeaderList::new();
                decoder.decode(&out[9..], &mut list).unwrap();
                let fields: Vec<_> = list.iter().collect();
                let expected: [(&[u8], &[u8]); 5] = [
                    (b":method", b"GET"),
                    (b":scheme", b"http"),
                    (b":path", path.as_bytes()),
                    (b"x-name", name.as_bytes()),
                    (b"x-last", b"z"),
                ];
                assert_eq!(fields, expected);
                lengths.push(out.len());
            }
        }
        assert!(lengths[2] < lengths[0]);
        assert_eq!(lengths[2..4], lengths[6..8]);
        assert!(writer.kept.iter().all(|kept| kept.generation.is_some()));
    }

    #[test]
    fn only_the_last_heads_are_kept() {
        let mut writer = HeadWriter::new();
        for at in 0..2 * MOST_KEPT {
            let mut out = Vec::new();
            let head = head(&at.to_string(), 0);
            writer.write(
                &mut out,
                1,
                &head,
                Own::default(),
                true,
                DEFAULT_MAX_FRAME_SIZE,
            );
        }
        assert_eq!(writer.kept.len(), MOST_KEPT);
    }
}
