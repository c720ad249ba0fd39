//! What the heads and trailers of calls say. Nearly all of them are the same, so it is noted on them, and those that come
//! again are not read again.

use super::Status;
use super::code::Code;
use super::encoding::Encoding;
use crate::http2::hpack::HeaderList;

/// What is noted about trailers: the status is OK.
const WENT_WELL: u8 = 1;

/// What is noted about heads: the call goes on. How its compressed replies are compressed is added to it.
const GOES_ON: u8 = 2;

/// How replies are compressed, and the status, if the head decides it: an OK is not yet the call's status where trailers
/// follow. `end`: none follow.
#[inline]
pub fn begun(fields: &HeaderList, end: bool) -> (Encoding, Option<Status>) {
    if !end && let Some(encoding) = encoding_of(fields.tag()) {
        return (encoding, None);
    }
    let encoding = Encoding::of(fields);
    let status = Status::from_headers(fields, end).filter(|status| end || !status.is_ok());
    if status.is_none() {
        fields.set_tag(GOES_ON + encoding.tag());
    }
    (encoding, status)
}

/// What is noted of a head after which the call goes on.
#[inline]
fn encoding_of(tag: u8) -> Option<Encoding> {
    let encoding = tag.checked_sub(GOES_ON).map(Encoding::from_tag)?;
    (GOES_ON + encoding.tag() == tag).then_some(encoding)
}

/// The status in trailers.
#[inline]
pub fn trailers(fields: &HeaderList) -> Status {
    if went_well(fields) {
        return Status::new(Code::Ok, String::new());
    }
    let status = Status::from_trailers(fields);
    if status.is_ok() {
        fields.set_tag(WENT_WELL);
    }
    status
}

/// Whether it is noted that the status in trailers is OK.
#[inline]
pub fn went_well(fields: &HeaderList) -> bool {
    fields.tag() == WENT_WELL
}
