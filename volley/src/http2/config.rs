//! What this side demands of its peer.

/// What this side demands of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Flow-control window in bytes, for each stream and for the connection, which never has less than 65,535. 0 and
    /// values above 2³¹ − 1 are replaced by the nearest allowed value.
    pub window: u32,
    /// The largest response head or trailers, in bytes as RFC 9113 §6.5.2 counts them.
    pub max_header_list: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            window: 16 << 20,
            max_header_list: 64 << 10,
        }
    }
}
