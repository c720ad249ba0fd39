//! Settings (RFC 9113 §6.5): what this side demands, and what its peer does.

use volley_base::defaults;

use super::error::Violation;
use super::frame::{DEFAULT_MAX_FRAME_SIZE, Kind, MAX_LENGTH};
use super::window::{DEFAULT_WINDOW, MAX_WINDOW};

/// Identifiers (RFC 9113 §6.5.2).
pub mod id {
    pub const HEADER_TABLE_SIZE: u16 = 1;
    pub const ENABLE_PUSH: u16 = 2;
    pub const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub const INITIAL_WINDOW_SIZE: u16 = 4;
    pub const MAX_FRAME_SIZE: u16 = 5;
    pub const MAX_HEADER_LIST_SIZE: u16 = 6;
}

defaults! {
    /// The peer's settings in force.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PeerSettings {
        /// How many streams may be open; unlimited until the peer sets a limit.
        pub max_concurrent_streams: u32 = u32::MAX,
        /// Bytes we may send on a new stream.
        pub initial_window: u32 = DEFAULT_WINDOW,
        /// The largest payload of a frame that we send, in bytes.
        pub max_frame_size: usize = DEFAULT_MAX_FRAME_SIZE,
        /// The largest SETTINGS_ENABLE_PUSH that the peer may send.
        most_push: u32 = 0,
    }
}

/// The effect of one SETTINGS frame on existing streams and on the encoder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The change of every stream's send window, in bytes.
    pub window_delta: i64,
    /// The smallest and the last SETTINGS_HEADER_TABLE_SIZE in the frame: an encoder must go through the smallest (RFC
    /// 7541 §4.2).
    pub table_sizes: Option<(u32, u32)>,
}

impl PeerSettings {
    /// Those of a client, which may allow pushes; a server may not.
    pub fn of_client() -> Self {
        Self {
            most_push: 1,
            ..Self::default()
        }
    }

    /// Applies the payload of a SETTINGS frame. Unknown settings are ignored (RFC 9113 §6.5.2).
    pub fn apply(&mut self, payload: &[u8]) -> Result<Change, Violation> {
        let window_before = self.initial_window;
        let mut change = Change::default();
        let (settings, rest) = payload.as_chunks::<6>();
        if !rest.is_empty() {
            return Err(Violation::FrameSize {
                kind: Kind::Settings,
                length: u32::try_from(payload.len()).unwrap_or(u32::MAX),
            });
        }
        for &[i0, i1, v0, v1, v2, v3] in settings {
            let value = u32::from_be_bytes([v0, v1, v2, v3]);
            match u16::from_be_bytes([i0, i1]) {
                id::HEADER_TABLE_SIZE => {
                    let smallest = change.table_sizes.map_or(value, |(low, _)| low.min(value));
                    change.table_sizes = Some((smallest, value));
                }
                id::ENABLE_PUSH if value > self.most_push => {
                    return Err(Violation::EnablePush { value });
                }
                id::MAX_CONCURRENT_STREAMS => self.max_concurrent_streams = value,
                id::INITIAL_WINDOW_SIZE if value > MAX_WINDOW => {
                    return Err(Violation::InitialWindow { value });
                }
                id::INITIAL_WINDOW_SIZE => self.initial_window = value,
                id::MAX_FRAME_SIZE => self.max_frame_size = frame_size(value)?,
                _ => {}
            }
        }
        change.window_delta = i64::from(self.initial_window) - i64::from(window_before);
        Ok(change)
    }
}

fn frame_size(value: u32) -> Result<usize, Violation> {
    usize::try_from(value)
        .ok()
        .filter(|size| (DEFAULT_MAX_FRAME_SIZE..=MAX_LENGTH).contains(size))
        .ok_or(Violation::MaxFrameSize { value })
}

defaults! {
    /// What this side demands of the peer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Config {
        /// Flow-control window in bytes, for each stream and for the connection, which never has less than 65,535. 0
        /// and values above 2³¹ − 1 are replaced by the nearest allowed value.
        pub window: u32 = 16 << 20,
        /// The largest response head or trailers, in bytes as RFC 9113 §6.5.2 counts them.
        pub max_header_list: u32 = 64 << 10,
        /// How many streams are opened in all; `None`: as many as there are numbers.
        pub most_streams: Option<u32> = None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(settings: &[(u16, u32)]) -> Vec<u8> {
        let one =
            |&(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
        settings.iter().flat_map(one).collect()
    }

    #[test]
    fn values_are_taken_in_order_and_the_last_one_counts() {
        let mut settings = PeerSettings::default();
        let change = settings.apply(&payload(&[
            (id::INITIAL_WINDOW_SIZE, 10),
            (id::HEADER_TABLE_SIZE, 100),
            (id::INITIAL_WINDOW_SIZE, 65_536),
            (id::HEADER_TABLE_SIZE, 4096),
            (id::MAX_CONCURRENT_STREAMS, 250),
            (id::MAX_FRAME_SIZE, 16_777_215),
        ]));
        let table_sizes = Some((100, 4096));
        let window_delta = 1;
        assert_eq!(
            change,
            Ok(Change {
                window_delta,
                table_sizes
            })
        );
        let expected = PeerSettings {
            max_concurrent_streams: 250,
            initial_window: 65_536,
            max_frame_size: 16_777_215,
            ..PeerSettings::default()
        };
        assert_eq!(settings, expected);
    }

    #[test]
    fn only_a_client_may_allow_pushes() {
        let push = |mut settings: PeerSettings, value| {
            settings
                .apply(&payload(&[(id::ENABLE_PUSH, value)]))
                .is_ok()
        };
        let server = PeerSettings::default;
        let client = PeerSettings::of_client;
        assert_eq!((push(server(), 0), push(server(), 1)), (true, false));
        assert_eq!((push(client(), 1), push(client(), 2)), (true, false));
    }

    #[test]
    fn unknown_settings_are_ignored() {
        let mut settings = PeerSettings::default();
        let change = settings.apply(&payload(&[(0x99, 1), (id::MAX_HEADER_LIST_SIZE, 5)]));
        assert_eq!(change, Ok(Change::default()));
        assert_eq!(settings, PeerSettings::default());
    }
}
