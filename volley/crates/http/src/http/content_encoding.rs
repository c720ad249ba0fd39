//! Content encodings of bodies (RFC 9110 §8.4).

use std::io;
#[cfg(feature = "zstd")]
use std::io::Read;
use std::sync::Arc;

#[cfg(feature = "brotli")]
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
#[cfg(feature = "zstd")]
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
#[cfg(feature = "zstd")]
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use volley_base::Lacks;
#[cfg(any(feature = "brotli", feature = "zstd"))]
use volley_base::budget::Lease;
use volley_base::budget::{Budget, Buffer, OverBudget};

/// The most encodings that one body may have.
const MOST_LAYERS: usize = 4;

/// Windows of zstd up to this are read, in bytes, however short the body may be (RFC 9659).
#[cfg(feature = "zstd")]
const LEAST_WINDOW: u64 = 8 << 20;

/// The longest block of zstd, in bytes (RFC 8878 §3.1.1.2.4).
#[cfg(feature = "zstd")]
const ZSTD_BLOCK: usize = 128 << 10;

/// Bytes of a body that brotli writes at once.
#[cfg(feature = "brotli")]
const BROTLI_OUTPUT: usize = 4096;

/// The largest window of brotli, in bytes (RFC 7932 §9.1).
#[cfg(feature = "brotli")]
const BROTLI_WINDOW: usize = 16 << 20;

const GOES_ON: &str = "bytes follow its end";

/// Why a body cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// An encoding that was not offered.
    #[error(
        "the body's encoding `{0}` is unknown: offer only what volley reads in `accept-encoding`: gzip, deflate and, if it was built with them, br and zstd"
    )]
    Unknown(String),
    #[error("the body is in the encoding `{encoding}`: {lacks}")]
    Lacks {
        encoding: &'static str,
        lacks: Lacks,
    },
    /// RFC 9110 allows any number.
    #[error("the body has more than {MOST_LAYERS} encodings")]
    TooManyLayers,
    /// It would be longer than the limit, in bytes.
    #[error(
        "the body is longer than {most} bytes after decoding: raise the limit with `limits: {{body: …}}`"
    )]
    TooLong { most: usize },
    /// Its memory is needed elsewhere.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// It is not in the encoding that its `content-encoding` names, or its end is missing.
    #[error("the body is not in its encoding `{encoding}`: {reason}")]
    Broken { encoding: String, reason: String },
}

/// The encodings that a build may leave out, the features that have them, and whether they are there.
const FEATURES: [(&str, &str, bool); 2] = [
    ("br", "brotli", cfg!(feature = "brotli")),
    ("zstd", "zstd", cfg!(feature = "zstd")),
];

fn need(encoding: &[u8]) -> Result<(), DecodeError> {
    let found = FEATURES
        .iter()
        .find(|(name, ..)| encoding.eq_ignore_ascii_case(name.as_bytes()));
    match found {
        Some(&(encoding, feature, false)) => Err(DecodeError::Lacks {
            encoding,
            lacks: Lacks(feature),
        }),
        _ => Ok(()),
    }
}

/// Whether each encoding that an `accept-encoding` offers can be read.
///
/// # Errors
///
/// One cannot: this build leaves it out.
pub fn offers(accept_encoding: &[u8]) -> Result<(), DecodeError> {
    for one in accept_encoding.split(|byte| *byte == b',') {
        let mut words = one.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let name = words.next().unwrap_or_default();
        // A quality of zero forbids it (RFC 9110 §12.4.2).
        let is_zero = |word: &[u8]| {
            let value = word.strip_prefix(b"q=").or(word.strip_prefix(b"Q="));
            value.is_some_and(|value| value.iter().all(|byte| b"0.".contains(byte)))
        };
        if !words.any(is_zero) {
            need(name)?;
        }
    }
    Ok(())
}

/// Replaces `out` by the decoded body, at most `most` bytes, as far as `budget` allows.
///
/// `encoding` is the value of `content-encoding`: one name or several in the order in which they were applied, in any
/// case. `deflate` is read with and without the header of zlib, since servers send both.
///
/// # Errors
///
/// Then `out` holds anything.
pub fn decode(
    encoding: &[u8],
    body: &[u8],
    most: usize,
    out: &mut Buffer,
    budget: &Arc<Budget>,
) -> Result<(), DecodeError> {
    let names = encoding.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let is_real = |name: &&[u8]| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity");
    let mut layers = names.rev().filter(is_real);
    let Some(last) = layers.next() else {
        if body.len() > most {
            return Err(DecodeError::TooLong { most });
        }
        out.clear();
        return Ok(out.extend(body, body.len(), budget)?);
    };
    one(last, body, most, out, budget)?;
    for (done, name) in layers.enumerate() {
        if done + 1 == MOST_LAYERS {
            return Err(DecodeError::TooManyLayers);
        }
        let before = std::mem::take(out);
        one(name, &before, most, out, budget)?;
    }
    Ok(())
}

fn one(
    name: &[u8],
    body: &[u8],
    most: usize,
    out: &mut Buffer,
    budget: &Arc<Budget>,
) -> Result<(), DecodeError> {
    let is = |names: &[&str]| {
        let mut names = names.iter();
        names.any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
    };
    need(name)?;
    out.clear();
    let read = if is(&["gzip", "x-gzip"]) {
        out.read_all(MultiGzDecoder::new(body), most, budget)
    } else if is(&["deflate"]) {
        inflate(body, most, out, budget)
    } else {
        match other(name, body, most, out, budget) {
            Some(read) => read,
            None => return Err(DecodeError::Unknown(printable(name))),
        }
    };
    read.map_err(|error| match OverBudget::of(&error) {
        Some(over) => over.into(),
        None => DecodeError::Broken {
            encoding: printable(name),
            reason: error.to_string(),
        },
    })?;
    if out.len() > most {
        return Err(DecodeError::TooLong { most });
    }
    Ok(())
}

/// An encoding that a build may leave out; `None`: it is none of them.
#[cfg_attr(
    not(any(feature = "brotli", feature = "zstd")),
    expect(unused_variables, reason = "there is none")
)]
fn other(
    name: &[u8],
    body: &[u8],
    most: usize,
    out: &mut Buffer,
    budget: &Arc<Budget>,
) -> Option<io::Result<()>> {
    #[cfg(feature = "brotli")]
    if name.eq_ignore_ascii_case(b"br") {
        return Some(brotli(body, most, out, budget));
    }
    #[cfg(feature = "zstd")]
    if name.eq_ignore_ascii_case(b"zstd") {
        return Some(zstd(body, most, out, budget));
    }
    None
}

/// With the header of zlib (RFC 1950), as RFC 9110 says, or without it, as some servers send.
fn inflate(body: &[u8], most: usize, out: &mut Buffer, budget: &Arc<Budget>) -> io::Result<()> {
    let is_zlib = body.first_chunk().is_some_and(|header: &[u8; 2]| {
        header[0] & 15 == 8 && u16::from_be_bytes(*header).is_multiple_of(31)
    });
    let rest = if is_zlib {
        let mut decoder = ZlibDecoder::new(body);
        out.read_all(&mut decoder, most, budget)?;
        decoder.into_inner()
    } else {
        let mut decoder = DeflateDecoder::new(body);
        out.read_all(&mut decoder, most, budget)?;
        decoder.into_inner()
    };
    if !rest.is_empty() && out.len() <= most {
        return Err(io::Error::other(GOES_ON));
    }
    Ok(())
}

/// RFC 7932, without large windows. The window takes memory as the body grows.
#[cfg(feature = "brotli")]
fn brotli(body: &[u8], most: usize, out: &mut Buffer, budget: &Arc<Budget>) -> io::Result<()> {
    let alloc = StandardAlloc::default;
    let mut state = BrotliState::new_strict(alloc(), alloc(), alloc());
    let (mut unread, mut read, mut total) = (body.len(), 0, 0);
    let (mut piece, mut window) = ([0; BROTLI_OUTPUT], Lease::default());
    while out.len() <= most {
        let (mut room, mut written) = (piece.len(), 0);
        let result = BrotliDecompressStream(
            &mut unread,
            &mut read,
            body,
            &mut room,
            &mut written,
            &mut piece,
            &mut total,
            &mut state,
        );
        let (piece, _) = piece.split_at(written);
        out.extend(piece, most.saturating_add(piece.len()), budget)?;
        window.follow(out.len().min(BROTLI_WINDOW), budget)?;
        match result {
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::ResultSuccess if unread == 0 => break,
            BrotliResult::ResultSuccess => return Err(io::Error::other(GOES_ON)),
            BrotliResult::NeedsMoreInput => return Err(io::ErrorKind::UnexpectedEof.into()),
            BrotliResult::ResultFailure => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
    Ok(())
}

/// Frames one after another (RFC 8878 §3.1), those to skip included.
#[cfg(feature = "zstd")]
fn zstd(mut body: &[u8], most: usize, out: &mut Buffer, budget: &Arc<Budget>) -> io::Result<()> {
    let mut decoder = FrameDecoder::new();
    let largest = LEAST_WINDOW.max(most as u64);
    decoder.set_max_window_size(largest);
    let largest = usize::try_from(largest).unwrap_or(usize::MAX);
    let (mut window, mut decoded) = (Lease::default(), 0);
    while !body.is_empty() {
        match decoder.reset(&mut body) {
            Ok(()) => {}
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let rest = body.get(length as usize..);
                body = rest.ok_or(io::ErrorKind::UnexpectedEof)?;
                continue;
            }
            Err(error) => return Err(io::Error::other(error)),
        }
        while !decoder.is_finished() {
            let block = BlockDecodingStrategy::UptoBlocks(1);
            decoder
                .decode_blocks(&mut body, block)
                .map_err(io::Error::other)?;
            decoded += ZSTD_BLOCK;
            window.follow(decoded.min(largest), budget)?;
            out.read_all(Ready(&mut decoder), most, budget)?;
            if out.len() > most {
                return Ok(());
            }
        }
        let sum = decoder.get_checksum_from_data();
        if sum.is_some() && sum != decoder.get_calculated_checksum() {
            return Err(io::Error::other("its checksum is wrong"));
        }
    }
    Ok(())
}

/// What a decoder has decoded and need not keep.
#[cfg(feature = "zstd")]
struct Ready<'a>(&'a mut FrameDecoder);

#[cfg(feature = "zstd")]
impl Read for Ready<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        self.0.read(target)
    }
}

fn printable(name: &[u8]) -> String {
    name.escape_ascii().to_string()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    const TEXT: &[u8] =
        b"A cart, a cart, a cart: carts and carts of apples, and apples again, and again.";

    /// `TEXT` in brotli.
    const BROTLI: &[u8] =
        b"\x1b\x4e\x00\x80\x04\x6a\x73\xa9\x1e\x5d\xa4\xdb\x4c\xf1\x51\x8c\x0e\xb6\x39\xc6\x01\xfb\
        \xbd\x3c\xe0\xc0\x03\xc0\x9e\xc3\x8f\x52\xdc\x1e\xed\xd8\x4f\x4a\xf7\x1b\x4a\x02\x7b\x68\
        \xdb\x3d\xc3\xc1\x7a\x0a\x32\xac\xaa\x81\xec";

    /// 16 MiB of zeros in brotli.
    const BROTLI_BOMB: &[u8] =
        b"\xcb\xff\xff\x3f\xf8\x27\x00\xe2\xb1\x40\x20\xf7\xfe\x8f\xff\xff\x7f\xf0\x4f\x00\xc4\x61\
        \x11\x80\xee\xfd\xdf";

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn raw_deflate(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstandard(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    fn decoded(encoding: &str, body: &[u8], most: usize) -> Result<Vec<u8>, DecodeError> {
        let (mut out, budget) = (Buffer::default(), Arc::default());
        out.extend(&[1; 9], 9, &budget).unwrap();
        let done = decode(encoding.as_bytes(), body, most, &mut out, &budget);
        done.map(|()| out.to_vec())
    }

    fn bodies() -> [(&'static str, Vec<u8>); 5] {
        [
            ("gzip", gzip(TEXT)),
            ("deflate", zlib(TEXT)),
            ("deflate", raw_deflate(TEXT)),
            ("br", BROTLI.to_vec()),
            ("zstd", zstandard(TEXT)),
        ]
    }

    #[test]
    fn every_encoding_is_read_up_to_the_limit_and_no_further() {
        for (encoding, body) in bodies() {
            let most = TEXT.len();
            assert_eq!(decoded(encoding, &body, most).as_deref(), Ok(TEXT));
            let (most, too_long) = (most - 1, DecodeError::TooLong { most: most - 1 });
            assert_eq!(decoded(encoding, &body, most), Err(too_long), "{encoding}");
        }
        assert_eq!(decoded("", TEXT, 79).as_deref(), Ok(TEXT));
        assert_eq!(decoded("identity", TEXT, 79).as_deref(), Ok(TEXT));
        let too_long = DecodeError::TooLong { most: 78 };
        assert_eq!(decoded("", TEXT, 78), Err(too_long));
    }

    #[test]
    fn a_bomb_takes_no_more_memory_than_the_limit() {
        let zeros = vec![0; 1 << 24];
        let deflate = zlib(&zeros);
        for (encoding, body) in [
            ("gzip", gzip(&zeros)),
            ("deflate", deflate),
            ("br", BROTLI_BOMB.to_vec()),
            ("zstd", zstandard(&zeros)),
        ] {
            assert!(body.len() < 1 << 15, "{encoding}: {}", body.len());
            let (mut out, budget) = (Buffer::default(), Arc::new(Budget::new(1 << 20)));
            let mut decode = |most| decode(encoding.as_bytes(), &body, most, &mut out, &budget);
            let most = 1000;
            assert_eq!(
                decode(most),
                Err(DecodeError::TooLong { most }),
                "{encoding}"
            );
            assert_eq!(budget.leased(), 0, "{encoding}");
            let over = DecodeError::OverBudget(OverBudget { most: 1 << 20 });
            assert_eq!(decode(1 << 24), Err(over), "{encoding}");
            let whole = decoded(encoding, &body, 1 << 24).unwrap();
            assert!(whole == zeros, "{encoding}");
        }
    }

    #[test]
    fn a_body_that_is_cut_or_goes_on_is_refused() {
        for (encoding, body) in bodies() {
            for length in 1..body.len() {
                let read = decoded(encoding, &body[..length], 1000);
                assert!(read.is_err(), "{encoding}: {length} of {}", body.len());
            }
            let longer = [&body[..], b"more"].concat();
            let read = decoded(encoding, &longer, 1000);
            let is_broken = matches!(read, Err(DecodeError::Broken { .. }));
            assert!(is_broken, "{encoding}: {read:?}");
        }
    }

    #[test]
    fn a_wrong_byte_never_gives_another_text_where_the_encoding_has_a_checksum() {
        for (encoding, body) in [
            ("gzip", gzip(TEXT)),
            ("deflate", zlib(TEXT)),
            ("zstd", zstandard(TEXT)),
        ] {
            let mut refused = 0;
            for at in 2..body.len() {
                let mut wrong = body.clone();
                wrong[at] ^= 1;
                match decoded(encoding, &wrong, 1000) {
                    Ok(text) => assert_eq!(text, TEXT, "{encoding}: byte {at}"),
                    Err(_) => refused += 1,
                }
            }
            assert!(refused > body.len() / 2, "{encoding}: {refused}");
        }
    }

    #[test]
    fn encodings_are_undone_from_the_last_to_the_first() {
        let twice = gzip(&zstandard(TEXT));
        assert_eq!(decoded("zstd, GZIP", &twice, 1000).as_deref(), Ok(TEXT));
        assert!(decoded("gzip, zstd", &twice, 1000).is_err());
        let five = (0..5).fold(TEXT.to_vec(), |body, _| gzip(&body));
        let named = decoded("gzip,gzip,gzip,gzip,gzip", &five, 1000);
        assert_eq!(named, Err(DecodeError::TooManyLayers));
    }

    #[test]
    fn what_lies_between_two_encodings_counts_too() {
        let between = gzip(b"").repeat(100_000);
        let body = gzip(&between);
        assert!(body.len() < 1 << 15, "{}", body.len());
        let decoded = |most| {
            let (mut out, budget) = (Buffer::default(), Arc::new(Budget::new(most)));
            decode(b"gzip, gzip", &body, 1 << 24, &mut out, &budget).map(|()| out.len())
        };
        assert_eq!(decoded(1 << 22), Ok(0));
        let most = 1 << 20;
        let over = DecodeError::OverBudget(OverBudget { most });
        assert_eq!(decoded(most), Err(over));
    }

    #[test]
    fn members_and_frames_may_follow_each_other() {
        let (left, right) = TEXT.split_at(20);
        let members = [gzip(left), gzip(right)].concat();
        assert_eq!(decoded("x-gzip", &members, 1000).as_deref(), Ok(TEXT));
        let skipped = b"\x50\x2a\x4d\x18\x03\0\0\0abc";
        let frames = [&skipped[..], &zstandard(left), skipped, &zstandard(right)].concat();
        assert_eq!(decoded("zstd", &frames, 1000).as_deref(), Ok(TEXT));
        let cut = [&zstandard(TEXT)[..], &skipped[..9]].concat();
        assert!(decoded("zstd", &cut, 1000).is_err());
    }

    #[test]
    fn an_unknown_encoding_is_named_in_one_line() {
        let error = decoded("com\npress", TEXT, 1000).unwrap_err().to_string();
        assert!(
            error.contains(r"`com\npress`") && !error.contains('\n'),
            "{error}"
        );
    }
}
