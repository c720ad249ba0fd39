//! Compressed request messages.

use std::io::Read;

use flate2::read::{GzDecoder, ZlibDecoder};

/// How messages with flag 1 are compressed: `grpc-encoding`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Identity,
    Gzip,
    /// gRPC's name for the zlib format, the same as HTTP's.
    Deflate,
    Unknown,
}

impl Encoding {
    pub(super) fn from_header(value: Option<&[u8]>) -> Self {
        match value {
            None | Some(b"identity") => Self::Identity,
            Some(b"gzip") => Self::Gzip,
            Some(b"deflate") => Self::Deflate,
            Some(_) => Self::Unknown,
        }
    }

    /// The message in `bytes`, at most `most` bytes; `None` if they are not in this encoding, or give more.
    pub(super) fn decode(self, bytes: &[u8], most: usize) -> Option<Vec<u8>> {
        let mut message = Vec::new();
        let limit = most as u64 + 1;
        let read = match self {
            Self::Gzip => GzDecoder::new(bytes).take(limit).read_to_end(&mut message),
            Self::Deflate => ZlibDecoder::new(bytes)
                .take(limit)
                .read_to_end(&mut message),
            Self::Identity | Self::Unknown => return None,
        };
        read.ok().filter(|&n| n <= most).map(|_| message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::{GzEncoder, ZlibEncoder};

    fn all(mut encoder: impl Read) -> Vec<u8> {
        let mut bytes = Vec::new();
        encoder.read_to_end(&mut bytes).expect("bytes in memory");
        bytes
    }

    #[test]
    fn both_encodings_give_back_the_message() {
        let level = Compression::fast();
        let gzip = all(GzEncoder::new(&b"message"[..], level));
        let zlib = all(ZlibEncoder::new(&b"message"[..], level));
        assert_eq!(
            Encoding::Gzip.decode(&gzip, 7).as_deref(),
            Some(&b"message"[..])
        );
        assert_eq!(
            Encoding::Deflate.decode(&zlib, 7).as_deref(),
            Some(&b"message"[..])
        );
        assert_eq!(Encoding::Gzip.decode(&zlib, 7), None);
    }

    #[test]
    fn a_message_that_grows_too_large_is_not_made() {
        let bomb = all(GzEncoder::new(&[0; 100_000][..], Compression::best()));
        assert_eq!(Encoding::Gzip.decode(&bomb, 99_999), None);
        assert_eq!(
            Encoding::Gzip
                .decode(&bomb, 100_000)
                .map(|message| message.len()),
            Some(100_000)
        );
    }
}
