//! A model of the flow control that the connection must obey.

use std::collections::BTreeMap;

use volley_http::http2::frame::{FrameHeader, Kind};

/// How much may be sent: at most what the peer has ever allowed.
pub struct Windows {
    most_initial: i64,
    connection: i64,
    streams: BTreeMap<u32, i64>,
}

impl Default for Windows {
    fn default() -> Self {
        Self {
            most_initial: 65_535,
            connection: 65_535,
            streams: BTreeMap::new(),
        }
    }
}

impl Windows {
    pub fn widen(&mut self, frame: FrameHeader, payload: &[u8]) {
        match (frame.kind, payload) {
            (Kind::WindowUpdate, &[a, b, c, d]) => {
                let increment = i64::from(u32::from_be_bytes([a & 0x7f, b, c, d]));
                match frame.stream {
                    0 => self.connection += increment,
                    stream => *self.streams.entry(stream).or_default() += increment,
                }
            }
            (Kind::Settings, payload) => {
                for setting in payload.as_chunks::<6>().0 {
                    if let &[0, 4, a, b, c, d] = setting {
                        let initial = i64::from(u32::from_be_bytes([a, b, c, d]));
                        self.most_initial = self.most_initial.max(initial);
                    }
                }
            }
            _ => {}
        }
    }

    pub fn spend(&mut self, frame: FrameHeader) {
        assert!(
            frame.length <= 0x00ff_ffff
                && !matches!(frame.kind, Kind::PushPromise | Kind::Unknown(_))
        );
        if frame.kind != Kind::Data {
            return;
        }
        let length = i64::from(frame.length);
        self.connection -= length;
        let stream = self.streams.entry(frame.stream).or_default();
        *stream -= length;
        assert!(
            self.connection >= 0 && *stream + self.most_initial >= 0,
            "{frame:?} is too long"
        );
    }
}
