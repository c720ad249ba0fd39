//! Fields that no table holds (RFC 7541 §6.2.2, §6.2.3): every connection may send their encoding as it is.

use super::{Indexing, integer, string};

/// Appends the beginning of a field: all but its value.
pub fn literal_name(name: &[u8], indexing: Indexing, out: &mut Vec<u8>) {
    out.push(match indexing {
        Indexing::Never => 0x10,
        Indexing::Incremental | Indexing::Without => 0x00,
    });
    string::encode(name, out);
}

/// Appends a field whose beginning [`literal_name`] encoded. The value is not compressed: it differs in every request,
/// and the code would cost more than it saves.
#[inline]
pub fn literal(begin: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(begin);
    integer::encode(out, 0, 7, value.len());
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http2::hpack::{Decoder, HeaderList};

    #[test]
    fn a_decoder_reads_them_and_keeps_none() {
        let mut block = Vec::new();
        for (name, indexing) in [("x-id", Indexing::Without), ("cookie", Indexing::Never)] {
            let mut begin = Vec::new();
            literal_name(name.as_bytes(), indexing, &mut begin);
            literal(&begin, "v".repeat(200).as_bytes(), &mut block);
        }
        let mut decoder = Decoder::new(4096, 4096);
        for _ in 0..2 {
            let mut list = HeaderList::new();
            decoder.decode(&block, &mut list).unwrap();
            let fields: Vec<_> = list
                .iter()
                .map(|(name, value)| (name, value.len()))
                .collect();
            assert_eq!(fields, [(&b"x-id"[..], 200), (b"cookie", 200)]);
        }
    }
}
