//! A request's head, and its last encoding.

use std::sync::Arc;

use super::frame::{DEFAULT_MAX_FRAME_SIZE, Kind, flag, write_headers, write_whole};
use super::hpack::{Encoder, Field};

/// The most heads whose encoding one connection keeps; of those whose places are as far apart, the last one.
const MOST_KEPT: usize = 1024;

/// Request pseudo-headers and headers, in order; shared by all calls that send the same ones.
#[derive(Debug, Default)]
pub struct Head {
    /// Pseudo-headers first (RFC 9113 §8.3).
    pub fields: Vec<Field>,
    /// How many of them come before a call's own [`Own::first`].
    pub before_own: usize,
    /// Where a connection keeps its encoding: heads that are used again and again have one of their own, from 1; those
    /// that are sent once share 0.
    pub place: usize,
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
    /// By place.
    kept: Vec<Option<Encoded>>,
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
        let place = head.place % MOST_KEPT;
        let is_kept = |kept: &Encoded| Arc::ptr_eq(&kept.head, head);
        if !matches!(self.kept.get(place), Some(Some(kept)) if is_kept(kept)) {
            self.keep(place, head);
        }
        let Some(Some(kept)) = self.kept.get_mut(place) else {
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
    fn keep(&mut self, place: usize, head: &Arc<Head>) {
        if self.kept.len() <= place {
            self.kept.resize_with(place + 1, || None);
        }
        if let Some(kept) = self.kept.get_mut(place) {
            *kept = Some(Encoded {
                head: Arc::clone(head),
                is_head: head.is_head(),
                generation: None,
                block: Vec::new(),
                own_at: 0,
            });
        }
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

    fn head(name: &str, before_own: usize, place: usize) -> Arc<Head> {
        let field = |(name, value): (&str, &str)| Field {
            name: name.as_bytes().into(),
            value: value.as_bytes().into(),
            indexing: Indexing::Incremental,
        };
        let fields = [(":method", "GET"), (":scheme", "http"), ("x-name", name)];
        Arc::new(Head {
            fields: fields.map(field).into(),
            before_own,
            place,
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
        let heads = [head("a", 2, 1), head("b", 2, 2)];
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
    }

    /// Writes a head, and returns its block.
    fn block(writer: &mut HeadWriter, head: &Arc<Head>) -> Vec<u8> {
        let mut out = Vec::new();
        writer.write(
            &mut out,
            1,
            head,
            Own::default(),
            true,
            DEFAULT_MAX_FRAME_SIZE,
        );
        out.split_off(9)
    }

    #[test]
    fn a_head_with_a_place_is_encoded_once_however_many_there_are() {
        let mut writer = HeadWriter::new();
        let heads: Vec<_> = (1..=40).map(|place| head("x", 0, place)).collect();
        for head in heads.iter().chain(&heads) {
            block(&mut writer, head);
        }
        // What is kept now is sent, whatever it is.
        for (byte, kept) in (0..).zip(writer.kept.iter_mut().flatten()) {
            kept.block = vec![byte];
        }
        for (byte, head) in (0..).zip(&heads) {
            assert_eq!(block(&mut writer, head), [byte]);
        }
    }

    #[test]
    fn heads_that_share_a_place_are_not_mistaken_for_each_other() {
        let mut writer = HeadWriter::new();
        let mut decoder = Decoder::new(4096, 4096);
        let heads = [head("a", 0, 0), head("b", 0, 0), head("c", 0, MOST_KEPT)];
        for at in [0, 1, 0, 2, 1, 1, 2, 2, 0] {
            let mut list = HeaderList::new();
            let block = block(&mut writer, &heads[at]);
            decoder.decode(&block, &mut list).unwrap();
            assert_eq!(list.get(b"x-name"), Some(&*heads[at].fields[2].value));
        }
        assert_eq!(writer.kept.len(), 1);
    }
}
