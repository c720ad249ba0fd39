//! A request's head, and its last encoding.

use std::sync::Arc;

use super::frame::{
    DEFAULT_MAX_FRAME_SIZE, FrameHeader, HEADER_LEN, Kind, flag, write_data, write_headers,
    write_whole,
};
use super::hpack::{Encoder, Field};

/// The most heads whose encoding one connection keeps; of places that are equal modulo this, the last one.
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

impl Own<'_> {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty() && self.last.is_empty()
    }
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
    /// Its HEADERS frame, and the header of a DATA frame that ends the request; without stream and length.
    image: Vec<u8>,
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
        let Some(kept) = encoded(&mut self.kept, &mut self.encoder, head) else {
            return false;
        };
        if own.is_empty() && kept.block.len() <= DEFAULT_MAX_FRAME_SIZE {
            let end = if end_stream { flag::END_STREAM } else { 0 };
            let flags = flag::END_HEADERS | end;
            write_whole(out, Kind::Headers, flags, stream, &kept.block);
            return kept.is_head;
        }
        let (before, after) = kept.block.split_at(kept.own_at.min(kept.block.len()));
        let parts = [before, own.first, after, own.last];
        let length = parts.iter().map(|part| part.len()).sum::<usize>();
        if length <= DEFAULT_MAX_FRAME_SIZE {
            let end = if end_stream { flag::END_STREAM } else { 0 };
            out.reserve(HEADER_LEN + length);
            let header = FrameHeader {
                length: u32::try_from(length).unwrap_or(u32::MAX),
                kind: Kind::Headers,
                flags: flag::END_HEADERS | end,
                stream,
            };
            header.write(out);
            parts.iter().for_each(|part| out.extend_from_slice(part));
            return kept.is_head;
        }
        self.block.clear();
        for part in parts {
            self.block.extend_from_slice(part);
        }
        write_headers(out, stream, &self.block, end_stream, max_frame_size);
        kept.is_head
    }

    /// Appends a head and all its content, which is not empty and fits into a frame: the frames of the last time, with
    /// another stream and other content. Returns [`Head::is_head`].
    #[inline]
    pub fn write_whole(
        &mut self,
        out: &mut Vec<u8>,
        stream: u32,
        head: &Arc<Head>,
        content: &[u8],
        max_frame_size: usize,
    ) -> bool {
        let Some(kept) = encoded(&mut self.kept, &mut self.encoder, head) else {
            return false;
        };
        let begin = out.len();
        if kept.block.len() <= DEFAULT_MAX_FRAME_SIZE {
            out.reserve(kept.image.len() + content.len());
            out.extend_from_slice(&kept.image);
            out.extend_from_slice(content);
            let frames = out.get_mut(begin..).unwrap_or_default();
            if fill_in(frames, kept.block.len(), stream, content.len()).is_some() {
                return kept.is_head;
            }
        }
        // Its block is made: another one would have what is in the encoder's table by now.
        out.truncate(begin);
        write_headers(out, stream, &kept.block, false, max_frame_size);
        write_data(out, stream, content, true);
        kept.is_head
    }
}

/// A head's bytes, which are made if need be.
#[inline]
fn encoded<'k>(
    all: &'k mut Vec<Option<Encoded>>,
    encoder: &mut Encoder,
    head: &Arc<Head>,
) -> Option<&'k Encoded> {
    let place = head.place % MOST_KEPT;
    let is_kept = |kept: &Encoded| Arc::ptr_eq(&kept.head, head);
    if !matches!(all.get(place), Some(Some(kept)) if is_kept(kept)) {
        keep(all, place, head);
    }
    let kept = all.get_mut(place)?.as_mut()?;
    if kept.generation != Some(encoder.generation()) {
        kept.encode(encoder);
    }
    Some(kept)
}

/// Makes room for a head.
#[cold]
fn keep(all: &mut Vec<Option<Encoded>>, place: usize, head: &Arc<Head>) {
    if all.len() <= place {
        all.resize_with(place + 1, || None);
    }
    if let Some(kept) = all.get_mut(place) {
        *kept = Some(Encoded {
            head: Arc::clone(head),
            is_head: head.is_head(),
            generation: None,
            block: Vec::new(),
            own_at: 0,
            image: Vec::new(),
        });
    }
}

/// Puts the stream and the length of the content into the frames of an image with a block of that length.
#[inline]
fn fill_in(frames: &mut [u8], block: usize, stream: u32, content: usize) -> Option<()> {
    let (head, data) = frames.split_at_mut_checked(HEADER_LEN + block)?;
    let [_, _, _, _, _, id @ ..] = head.first_chunk_mut::<HEADER_LEN>()?;
    *id = stream.to_be_bytes();
    let [a, b, c, _, _, id @ ..] = data.first_chunk_mut::<HEADER_LEN>()?;
    [_, *a, *b, *c] = u32::try_from(content).ok()?.to_be_bytes();
    *id = stream.to_be_bytes();
    Some(())
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
        self.image.clear();
        write_whole(
            &mut self.image,
            Kind::Headers,
            flag::END_HEADERS,
            0,
            &self.block,
        );
        write_whole(&mut self.image, Kind::Data, flag::END_STREAM, 0, &[]);
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
