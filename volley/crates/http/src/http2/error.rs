//! How a peer can break the rules of the connection.

use super::error_code::ErrorCode;
use super::frame::Kind;
use super::hpack::HpackError;

/// A breach of RFC 9113 that ends the connection, or a flood that only a broken or hostile peer sends.
///
/// A breach that concerns one stream ends only that stream: see [`Closed::Malformed`](super::Closed::Malformed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The very first bytes are not an HTTP/2 frame (RFC 9113 §3.4).
    #[error("peer does not speak http/2")]
    NotHttp2,
    /// The very first bytes are those of a response of HTTP/1.
    #[error("peer speaks HTTP/1 instead of HTTP/2")]
    Http1,
    /// RFC 9113 §3.4: both sides begin with SETTINGS.
    #[error("peer began with a `{}` frame instead of its `SETTINGS`", name(*.kind))]
    NoSettingsFirst { kind: Kind },
    /// RFC 9113 §4.2: longer than our SETTINGS_MAX_FRAME_SIZE.
    #[error("peer sent a frame of {length} bytes, but at most 16384 are allowed")]
    FrameTooLarge { length: u32 },
    /// RFC 9113 §6: this kind of frame has a fixed or a minimum length.
    #[error("peer sent a `{}` frame of {length} bytes, which is not a valid length for it", name(*.kind))]
    FrameSize { kind: Kind, length: u32 },
    /// RFC 9113 §6.1, §6.2.
    #[error("peer sent a `{}` frame with more padding than payload", name(*.kind))]
    Padding { kind: Kind },
    /// RFC 9113 §6: this kind of frame belongs to a stream.
    #[error("peer sent a `{}` frame on stream 0", name(*.kind))]
    NeedsStream { kind: Kind },
    /// RFC 9113 §6: this kind of frame belongs to the connection.
    #[error("peer sent a `{}` frame on stream {stream} instead of 0", name(*.kind))]
    NeedsConnection { kind: Kind, stream: u32 },
    /// RFC 9113 §5.1: a frame on a stream that was never opened.
    #[error("peer sent a `{}` frame on stream {stream}, which was never opened", name(*.kind))]
    IdleStream { kind: Kind, stream: u32 },
    /// RFC 9113 §4.3: nothing may come between HEADERS and its CONTINUATION frames.
    #[error("peer put a `{}` frame into the header block of stream {stream}", name(*.kind))]
    InterruptedHeaders { kind: Kind, stream: u32 },
    /// RFC 9113 §6.10: no header block is open.
    #[error("peer sent a `CONTINUATION` frame on stream {stream} with nothing to continue")]
    StrayContinuation { stream: u32 },
    /// A header block that had to be kept whole exceeded the limit.
    #[error("peer sent a header block of more than {limit} bytes on stream {stream}")]
    HeaderBlockTooLarge { stream: u32, limit: usize },
    /// More CONTINUATION frames than any honest block needs.
    #[error("peer cut the header block of stream {stream} into more than {limit} frames")]
    ContinuationFlood { stream: u32, limit: u32 },
    /// RFC 9113 §4.3: the header block cannot be decoded.
    #[error("peer sent a header block that cannot be decoded: {0}")]
    HeaderBlock(#[source] HpackError),
    /// RFC 9113 §8.4: a client must not push, and a server only if it is allowed to.
    #[error("peer sent a `PUSH_PROMISE` frame, but may not push")]
    Push,
    /// RFC 9113 §6.5.2: a server may set SETTINGS_ENABLE_PUSH only to 0, a client to 0 or 1.
    #[error("peer set `SETTINGS_ENABLE_PUSH` to {value}, which it may not")]
    EnablePush { value: u32 },
    /// RFC 9113 §6.5.2.
    #[error("peer set `SETTINGS_INITIAL_WINDOW_SIZE` to {value}, but the maximum is 2147483647")]
    InitialWindow { value: u32 },
    /// RFC 9113 §6.5.2.
    #[error(
        "peer set `SETTINGS_MAX_FRAME_SIZE` to {value}, which is not between 16384 and 16777215"
    )]
    MaxFrameSize { value: u32 },
    /// RFC 9113 §6.9: a WINDOW_UPDATE of 0 bytes is an error.
    #[error("peer sent a `WINDOW_UPDATE` of 0 bytes for the connection")]
    EmptyWindowUpdate,
    /// RFC 9113 §6.9.1: a send window exceeded 2³¹ − 1. Stream 0 is the connection.
    #[error("peer widened the window of stream {stream} to more than 2147483647 bytes")]
    WindowOverflow { stream: u32 },
    /// RFC 9113 §6.9.1: the peer exceeded the receive window. Stream 0 is the connection.
    #[error("peer sent more on stream {stream} than its flow-control window allows")]
    WindowExceeded { stream: u32 },
    /// RFC 9113 §6.8: a later GOAWAY must not name a higher stream.
    #[error("peer raised the last stream of its `GOAWAY` from {from} to {to}")]
    GoAwayRaised { from: u32, to: u32 },
    /// RFC 9113 §10.5: the peer makes us answer endlessly and does not read the answers.
    #[error("peer caused more than {limit} bytes of answers and did not read them")]
    Flood { limit: usize },
}

impl Violation {
    /// The code for our GOAWAY.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::FrameTooLarge { .. } | Self::FrameSize { .. } => ErrorCode::FrameSizeError,
            Self::HeaderBlock(_) => ErrorCode::CompressionError,
            Self::InitialWindow { .. }
            | Self::WindowOverflow { .. }
            | Self::WindowExceeded { .. } => ErrorCode::FlowControlError,
            Self::HeaderBlockTooLarge { .. }
            | Self::ContinuationFlood { .. }
            | Self::Flood { .. } => ErrorCode::EnhanceYourCalm,
            Self::NotHttp2
            | Self::Http1
            | Self::NoSettingsFirst { .. }
            | Self::Padding { .. }
            | Self::NeedsStream { .. }
            | Self::NeedsConnection { .. }
            | Self::IdleStream { .. }
            | Self::InterruptedHeaders { .. }
            | Self::StrayContinuation { .. }
            | Self::Push
            | Self::EnablePush { .. }
            | Self::MaxFrameSize { .. }
            | Self::EmptyWindowUpdate
            | Self::GoAwayRaised { .. } => ErrorCode::ProtocolError,
        }
    }
}

/// The frame's name as the RFC writes it.
fn name(kind: Kind) -> String {
    let name = match kind {
        Kind::Data => "DATA",
        Kind::Headers => "HEADERS",
        Kind::Priority => "PRIORITY",
        Kind::RstStream => "RST_STREAM",
        Kind::Settings => "SETTINGS",
        Kind::PushPromise => "PUSH_PROMISE",
        Kind::Ping => "PING",
        Kind::GoAway => "GOAWAY",
        Kind::WindowUpdate => "WINDOW_UPDATE",
        Kind::Continuation => "CONTINUATION",
        Kind::Unknown(number) => return format!("0x{number:02x}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_says_in_one_line_what_the_peer_did() {
        let stray = Violation::IdleStream {
            kind: Kind::WindowUpdate,
            stream: 7,
        };
        assert_eq!(
            stray.to_string(),
            "peer sent a `WINDOW_UPDATE` frame on stream 7, which was never opened"
        );
        let kind = Kind::Unknown(0xab);
        assert_eq!(
            Violation::NoSettingsFirst { kind }.to_string(),
            "peer began with a `0xab` frame instead of its `SETTINGS`"
        );
    }
}
