//! A connection of a link: HTTP/2, and what is known about it.

use super::call::Call;
use volley_http::http2::Connection;
use volley_net as net;

/// A connection, and the link that it serves.
pub type Wire<M> = net::Wire<Connection<Call<M>>, WireOwner>;

/// A thread's connections.
pub type Net<M> = net::Sockets<Connection<Call<M>>, WireOwner>;

/// What a link knows about its connection.
pub struct WireOwner {
    /// The link whose workers' calls it carries.
    pub link: usize,
    /// How many of its streams were opened before the window.
    pub uncounted: u32,
    /// How many calls this side gave up before their answers began.
    pub unanswered: u32,
    /// Its serial number among all connections of its thread.
    pub serial: u64,
}
