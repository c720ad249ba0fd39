//! Compressed replies.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::grpc::{Code, Status};
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

impl Encoding {
    /// What a response's headers say.
    pub fn of(headers: &HeaderList) -> Self {
        match headers.get(b"grpc-encoding") {
            None | Some(b"" | b"identity") => Self::Identity,
            Some(b"gzip") => Self::Gzip,
            Some(_) => Self::Other,
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

    /// Decompresses a reply into `out`, at most `max` bytes.
    ///
    /// # Errors
    ///
    /// The call's status if that cannot be done, in grpc-go's codes.
    #[cold]
    pub fn decode(self, reply: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), Status> {
        match self {
            Self::Gzip => inflate(reply, max, out),
            Self::Identity => Err(Status::new(
                Code::Internal,
                "a reply is marked as compressed, but the response has no `grpc-encoding`",
            )),
            Self::Other => Err(Status::new(
                Code::Unimplemented,
                "a reply is compressed as volley did not offer (`grpc-encoding` is not gzip)",
            )),
        }
    }
}

fn inflate(reply: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), Status> {
    out.clear();
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    MultiGzDecoder::new(reply)
        .take(limit)
        .read_to_end(out)
        .map_err(|error| {
            let line = format!("a compressed reply cannot be decompressed: {error}");
            Status::new(Code::Internal, line)
        })?;
    if out.len() > max {
        let line = format!(
            "a reply is longer than {max} bytes after decompression; raise the limit with `--max-recv-message-size`"
        );
        return Err(Status::new(Code::ResourceExhausted, line));
    }
    Ok(())
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
        let mut out = vec![1; 9];
        let done = Encoding::Gzip.decode(reply, max, &mut out);
        done.map(|()| out).map_err(|status| status.to_string())
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
        let mut out = Vec::new();
        let status = Encoding::Gzip.decode(&bomb, 1000, &mut out).unwrap_err();
        assert_eq!(status.code, Code::ResourceExhausted);
        assert!(out.capacity() < 1 << 14, "{}", out.capacity());
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
    fn every_encoding_has_its_tag() {
        for encoding in [Encoding::Identity, Encoding::Gzip, Encoding::Other] {
            assert_eq!(Encoding::from_tag(encoding.tag()), encoding);
        }
    }
}
