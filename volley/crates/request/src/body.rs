//! The bytes of a call's request messages.

use std::io::{self, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::RequestError;

/// Flag and length in front of each message (gRPC over HTTP/2, Length-Prefixed-Message).
pub const PREFIX_LEN: usize = 5;

/// The maximum size of all messages of a call together, in bytes.
pub const MAX_LEN: usize = 1 << 30;

/// The request messages of one call, ready for DATA frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// All length-prefixed messages, one after another. Calls share them.
    pub bytes: Arc<Vec<u8>>,
    /// End offset of each message in `bytes`.
    pub ends: Vec<usize>,
}

impl Body {
    /// Frames `sent` messages: takes `messages` in turn, and starts again when they run out.
    ///
    /// # Errors
    ///
    /// If the body would exceed [`MAX_LEN`] bytes.
    pub fn new(messages: &[&[u8]], sent: u64, compress: bool) -> Result<Self, RequestError> {
        let framed: Vec<Vec<u8>> = messages
            .iter()
            .map(|message| frame(message, compress))
            .collect::<Result<_, _>>()?;
        let (count, length) =
            measure(&framed, sent).ok_or(RequestError::TooLarge { limit: MAX_LEN })?;
        let mut bytes = Vec::with_capacity(length);
        let mut ends = Vec::with_capacity(count);
        for message in framed.iter().cycle().take(count) {
            bytes.extend_from_slice(message);
            ends.push(bytes.len());
        }
        Ok(Self {
            bytes: Arc::new(bytes),
            ends,
        })
    }

    /// Replaces the messages with one that is already framed, in the memory of those before if it can.
    pub fn replace(&mut self, framed: &[u8]) {
        match Arc::get_mut(&mut self.bytes) {
            Some(bytes) => {
                bytes.clear();
                bytes.extend_from_slice(framed);
            }
            None => self.bytes = Arc::new(framed.to_vec()),
        }
        self.ends.clear();
        self.ends.push(framed.len());
    }
}

/// Makes a message of what stands behind the place of its prefix, which it fills.
pub fn close_frame(framed: &mut [u8], compress: bool) -> Result<(), RequestError> {
    let length = framed
        .len()
        .checked_sub(PREFIX_LEN)
        .and_then(|length| u32::try_from(length).ok());
    let Some(length) = length else {
        return Err(RequestError::TooLarge { limit: MAX_LEN });
    };
    if let Some((prefix, _)) = framed.split_first_chunk_mut::<PREFIX_LEN>() {
        let [flag, bytes @ ..] = prefix;
        *flag = u8::from(compress);
        *bytes = length.to_be_bytes();
    }
    Ok(())
}

impl Body {
    /// Refuses a message of more than `max` bytes.
    ///
    /// # Errors
    ///
    /// If there is one.
    pub fn check(&self, max: usize) -> Result<(), RequestError> {
        let mut begin = 0;
        for &end in &self.ends {
            let length = end - begin - PREFIX_LEN;
            if length > max {
                return Err(RequestError::TooLong { length, max });
            }
            begin = end;
        }
        Ok(())
    }
}

/// The number of messages and bytes of a body; none if there are too many.
fn measure(framed: &[Vec<u8>], sent: u64) -> Option<(usize, usize)> {
    if framed.is_empty() {
        return Some((0, 0));
    }
    let count = usize::try_from(sent).ok()?;
    let lengths = |messages: &[Vec<u8>]| messages.iter().map(Vec::len).sum::<usize>();
    let (rounds, rest) = (count / framed.len(), count % framed.len());
    let length = lengths(framed)
        .checked_mul(rounds)?
        .checked_add(lengths(framed.get(..rest)?))?;
    (length <= MAX_LEN).then_some((count, length))
}

fn frame(message: &[u8], compress: bool) -> Result<Vec<u8>, RequestError> {
    let mut framed = vec![0; PREFIX_LEN];
    if compress {
        framed = deflate(framed, message).map_err(|_| RequestError::TooLarge { limit: MAX_LEN })?;
    } else {
        framed.extend_from_slice(message);
    }
    close_frame(&mut framed, compress)?;
    Ok(framed)
}

/// gzip (RFC 1952) at the default level, which is also grpc-go's.
fn deflate(out: Vec<u8>, message: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(out, Compression::default());
    encoder.write_all(message)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn messages_are_framed_one_after_another() {
        let body = Body::new(&[&[8, 1], &[]], 2, false).unwrap();
        assert_eq!(*body.bytes, [0, 0, 0, 0, 2, 8, 1, 0, 0, 0, 0, 0]);
        assert_eq!(body.ends, [7, 12]);
    }

    #[test]
    fn messages_are_repeated_until_enough_are_sent() {
        let body = Body::new(&[&[1], &[2]], 5, false).unwrap();
        let sent: Vec<u8> = body.ends.iter().map(|end| body.bytes[end - 1]).collect();
        assert_eq!(sent, [1, 2, 1, 2, 1]);
    }

    #[test]
    fn fewer_messages_are_sent_than_there_are_if_so_asked() {
        assert_eq!(Body::new(&[&[1], &[2]], 1, false).unwrap().ends, [6]);
    }

    #[test]
    fn a_compressed_message_carries_the_flag_and_inflates_to_itself() {
        let message = vec![7; 1000];
        let body = Body::new(&[&message], 1, true).unwrap();
        assert_eq!(body.bytes[0], 1);
        let length = u32::from_be_bytes(body.bytes[1..5].try_into().unwrap()) as usize;
        assert_eq!(length, body.bytes.len() - PREFIX_LEN);
        let mut inflated = Vec::new();
        GzDecoder::new(&body.bytes[PREFIX_LEN..])
            .read_to_end(&mut inflated)
            .unwrap();
        assert_eq!(inflated, message);
    }

    #[test]
    fn every_message_is_held_against_the_limit() {
        let body = Body::new(&[&[8, 1], &[0; 9]], 2, false).unwrap();
        assert!(body.check(9).is_ok());
        let line =
            "a message of 9 bytes is over the limit of 8; raise it with `--max-send-message-size`";
        assert_eq!(body.check(8).unwrap_err().to_string(), line);
    }

    #[test]
    fn a_body_beyond_the_limit_is_refused_before_it_takes_the_memory() {
        let error = Body::new(&[&[0; 1 << 10]], u64::MAX, false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the messages of one call take more than 1073741824 bytes; send fewer with \
             --stream-call-count, or smaller ones"
        );
    }
}
