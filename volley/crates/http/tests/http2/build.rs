//! Frames made by hand, so that they can be wrong.

use volley_http::http2::frame::{FrameHeader, Kind, flag};

pub const END_STREAM: u8 = flag::END_STREAM;
pub const END_HEADERS: u8 = flag::END_HEADERS;
pub const PADDED: u8 = flag::PADDED;
pub const PRIORITY: u8 = flag::PRIORITY;
pub const ACK: u8 = flag::ACK;

/// Any frame.
pub fn raw(kind: Kind, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let length = u32::try_from(payload.len()).unwrap();
    FrameHeader {
        length,
        kind,
        flags,
        stream,
    }
    .write(&mut out);
    out.extend_from_slice(payload);
    out
}

pub fn settings(settings: &[(u16, u32)]) -> Vec<u8> {
    let one = |(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
    raw(
        Kind::Settings,
        0,
        0,
        &settings.iter().flat_map(one).collect::<Vec<_>>(),
    )
}

pub fn settings_ack() -> Vec<u8> {
    raw(Kind::Settings, ACK, 0, &[])
}

/// A header block of literals without indexing (RFC 7541 §6.2.2), with strings of less than 127 bytes.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in fields {
        out.push(0);
        for text in [name, value] {
            assert!(text.len() < 127);
            out.push(text.len() as u8);
            out.extend_from_slice(text.as_bytes());
        }
    }
    out
}

pub fn headers(stream: u32, fields: &[(&str, &str)], flags: u8) -> Vec<u8> {
    raw(Kind::Headers, END_HEADERS | flags, stream, &block(fields))
}

/// The head of a good response.
pub fn head(stream: u32) -> Vec<u8> {
    headers(
        stream,
        &[(":status", "200"), ("content-type", "application/grpc")],
        0,
    )
}

/// The trailers of a good response.
pub fn trailers(stream: u32) -> Vec<u8> {
    headers(stream, &[("grpc-status", "0")], END_STREAM)
}

pub fn data(stream: u32, payload: &[u8]) -> Vec<u8> {
    raw(Kind::Data, 0, stream, payload)
}

pub fn last_data(stream: u32, payload: &[u8]) -> Vec<u8> {
    raw(Kind::Data, END_STREAM, stream, payload)
}

pub fn window_update(stream: u32, increment: u32) -> Vec<u8> {
    raw(Kind::WindowUpdate, 0, stream, &increment.to_be_bytes())
}

pub fn rst_stream(stream: u32, code: u32) -> Vec<u8> {
    raw(Kind::RstStream, 0, stream, &code.to_be_bytes())
}

pub fn ping(payload: [u8; 8]) -> Vec<u8> {
    raw(Kind::Ping, 0, 0, &payload)
}

pub fn go_away(last: u32, code: u32, debug: &str) -> Vec<u8> {
    let payload = [&last.to_be_bytes(), &code.to_be_bytes(), debug.as_bytes()].concat();
    raw(Kind::GoAway, 0, 0, &payload)
}
