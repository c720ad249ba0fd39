//! Frames: a header that is read and written stays the same, padding adds up, and a header block survives being split.
#![no_main]

use libfuzzer_sys::fuzz_target;
use volley_http::http2::frame::{
    FrameHeader, HEADER_LEN, Kind, flag, skip_priority, unpad, write_data, write_headers,
};

fuzz_target!(|input: (u8, &[u8])| {
    let (max_frame_size, bytes) = input;
    headers_keep_their_bytes(bytes);
    padding_adds_up(bytes);
    blocks_survive_splitting(bytes, usize::from(max_frame_size).max(1));
});

/// Reads `bytes` as a stream of frames and writes each header again.
fn headers_keep_their_bytes(mut bytes: &[u8]) {
    while let Some((raw, rest)) = bytes.split_first_chunk::<HEADER_LEN>() {
        let header = FrameHeader::parse(raw);
        let mut written = Vec::new();
        header.write(&mut written);
        let mut expected = *raw;
        expected[5] &= 0x7f;
        assert_eq!(written, expected);
        assert_eq!(FrameHeader::parse(&expected), header);
        bytes = rest.get(header.length as usize..).unwrap_or_default();
    }
}

fn padding_adds_up(bytes: &[u8]) {
    let Some((&flags, payload)) = bytes.split_first() else {
        return;
    };
    match unpad(flags, payload) {
        Some(data) if flags & flag::PADDED != 0 => {
            assert_eq!(1 + data.len() + usize::from(payload[0]), payload.len());
            assert_eq!(data, &payload[1..1 + data.len()]);
        }
        Some(data) => assert_eq!(data, payload),
        None => {
            assert_ne!(flags & flag::PADDED, 0);
            assert!(
                payload
                    .first()
                    .is_none_or(|&padding| usize::from(padding) >= payload.len())
            );
        }
    }
    let has_priority = flags & flag::PRIORITY != 0;
    let expected = if has_priority {
        payload.get(5..)
    } else {
        Some(payload)
    };
    assert_eq!(skip_priority(flags, payload), expected);
}

fn blocks_survive_splitting(block: &[u8], max_frame_size: usize) {
    let mut out = Vec::new();
    write_headers(&mut out, 1, block, true, max_frame_size);
    write_data(&mut out, 1, block, true);
    let (mut joined, mut rest, mut kind) = (Vec::new(), &out[..], Kind::Headers);
    loop {
        let (header, after) = rest.split_first_chunk::<HEADER_LEN>().expect("a header");
        let header = FrameHeader::parse(header);
        let (payload, after) = after.split_at(header.length as usize);
        assert_eq!((header.kind, header.stream), (kind, 1));
        assert!(payload.len() <= max_frame_size);
        joined.extend_from_slice(payload);
        rest = after;
        if header.has(flag::END_HEADERS) {
            break;
        }
        kind = Kind::Continuation;
    }
    assert_eq!(joined, block);
    assert_eq!(&rest[HEADER_LEN..], block, "DATA follows, whole");
}
