//! Compressed replies.

use std::io;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use thiserror::Error;
use volley_base::budget::{Budget, Buffer, OverBudget};

use super::{Code, Status};
use crate::http2::hpack::HeaderList;

/// How the replies of a call with flag 1 are compressed: `grpc-encoding`. volley offers gzip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Not at all.
    #[default]
    Identity,
    Gzip,
    /// As was not offered.
    Other,
}

/// Why a reply cannot be decompressed.
#[derive(Debug, Error)]
pub enum DecodeError {
    #[error("a reply is marked as compressed, but the response has no `grpc-encoding`")]
    Unmarked,
    #[error("a reply is compressed as volley did not offer (`grpc-encoding` is not gzip)")]
    NotOffered,
    #[error("a compressed reply cannot be decompressed: {0}")]
    Broken(io::Error),
    #[error(
        "a reply is longer than {max} bytes after decompression; raise the limit with `--max-recv-message-size`"
    )]
    TooLong { max: usize },
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
}

/// In grpc-go's codes.
impl From<DecodeError> for Status {
    fn from(error: DecodeError) -> Self {
        let code = match error {
            DecodeError::Unmarked | DecodeError::Broken(_) => Code::Internal,
            DecodeError::NotOffered => Code::Unimplemented,
            DecodeError::TooLong { .. } | DecodeError::OverBudget(_) => Code::ResourceExhausted,
        };
        Self::new(code, error.to_string())
    }
}

impl From<io::Error> for DecodeError {
    fn from(error: io::Error) -> Self {
        match OverBudget::of(&error) {
            Some(over) => over.into(),
            None => Self::Broken(error),
        }
    }
}

impl Encoding {
    /// What a response's headers say: names in any case, of which `identity` changes nothing.
    pub fn of(headers: &HeaderList) -> Self {
        let Some(names) = headers.get(b"grpc-encoding") else {
            return Self::Identity;
        };
        let names = names.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        let is_real = |name: &&[u8]| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity");
        let mut names = names.filter(is_real);
        match (names.next(), names.next()) {
            (None, _) => Self::Identity,
            (Some(name), None) if name.eq_ignore_ascii_case(b"gzip") => Self::Gzip,
            _ => Self::Other,
        }
    }

    /// A small number, for [`from_tag`](Self::from_tag).
    pub fn tag(self) -> u8 {
        self as u8
    }

    /// The encoding of that number.
    #[inline]
    pub fn from_tag(tag: u8) -> Self {
        match tag {
            0 => Self::Identity,
            1 => Self::Gzip,
            _ => Self::Other,
        }
    }

    /// Decompresses a reply into `out`, at most `max` bytes, as far as `budget` allows.
    ///
    /// # Errors
    ///
    /// It cannot be done.
    #[cold]
    pub fn decode(
        self,
        reply: &[u8],
        max: usize,
        out: &mut Buffer,
        budget: &Arc<Budget>,
    ) -> Result<(), DecodeError> {
        match self {
            Self::Gzip => {}
            Self::Identity => return Err(DecodeError::Unmarked),
            Self::Other => return Err(DecodeError::NotOffered),
        }
        out.clear();
        out.read_all(MultiGzDecoder::new(reply), max, budget)?;
        match out.len() > max {
            true => Err(DecodeError::TooLong { max }),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(message: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(message).unwrap();
        encoder.finish().unwrap()
    }

    fn decoded(reply: &[u8], max: usize) -> Result<Vec<u8>, String> {
        let (mut out, budget) = (Buffer::default(), Arc::default());
        out.extend(&[1; 9], 9, &budget).unwrap();
        let done = Encoding::Gzip.decode(reply, max, &mut out, &budget);
        done.map(|()| out.to_vec())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_reply_comes_out_as_it_went_in() {
        assert_eq!(decoded(&gzip(b"reply"), 5).unwrap(), b"reply");
        let members = [gzip(b"re"), gzip(b"ply")].concat();
        assert_eq!(decoded(&members, 5).unwrap(), b"reply");
    }

    #[test]
    fn a_reply_grows_to_the_limit_and_no_further() {
        let bomb = gzip(&vec![0; 1 << 24]);
        assert!(bomb.len() < 1 << 15);
        let (mut out, budget) = (Buffer::default(), Arc::new(Budget::new(100_000)));
        let mut decode = |max| Encoding::Gzip.decode(&bomb, max, &mut out, &budget);
        for max in [1000, 50_000] {
            let error = decode(max).unwrap_err();
            assert!(matches!(error, DecodeError::TooLong { max: most } if most == max));
            assert!(budget.leased() <= max + 1, "{}", budget.leased());
        }
        let error = decode(1 << 24).unwrap_err();
        assert!(matches!(error, DecodeError::OverBudget(_)), "{error}");
        assert_eq!(Status::from(error).code, Code::ResourceExhausted);
    }

    #[test]
    fn whatever_is_not_gzip_is_refused() {
        let whole = gzip(b"reply");
        for length in 0..whole.len() {
            assert!(decoded(&whole[..length], 5).is_err(), "{length}");
        }
        let mut longer = whole.clone();
        longer.push(7);
        assert!(decoded(&longer, 5).is_err());
        let mut wrong = whole;
        wrong[12] ^= 1;
        assert!(decoded(&wrong, 100).is_err());
    }

    #[test]
    fn encodings_are_named_in_any_case_with_blanks_and_in_lists() {
        for (value, expected) in [
            ("", Encoding::Identity),
            ("Identity", Encoding::Identity),
            ("identity, identity", Encoding::Identity),
            ("GZip", Encoding::Gzip),
            ("gzip , identity", Encoding::Gzip),
            (" identity,gzip,", Encoding::Gzip),
            ("gzip, gzip", Encoding::Other),
            ("snappy", Encoding::Other),
            ("gzip;q=1", Encoding::Other),
        ] {
            let mut headers = HeaderList::new();
            headers.push(b"grpc-encoding", value.as_bytes());
            assert_eq!(Encoding::of(&headers), expected, "{value:?}");
        }
        assert_eq!(Encoding::of(&HeaderList::new()), Encoding::Identity);
    }

    #[test]
    fn every_encoding_has_its_tag() {
        for encoding in [Encoding::Identity, Encoding::Gzip, Encoding::Other] {
            assert_eq!(Encoding::from_tag(encoding.tag()), encoding);
        }
    }
}
