//! A connection of a link.

use super::flight::{Fault, FlightKey};
use crate::tally::Reason;
use volley_net::{self as net, AnyHttp, Phase, Sockets};

/// HTTP on a connection.
pub type Http = AnyHttp<FlightKey>;

/// A connection, and the link that it serves.
pub type Wire = net::Wire<Http, WireOwner>;

/// A thread's connections.
pub type Net = Sockets<Http, WireOwner>;

/// What a link knows about its connection.
#[derive(Debug)]
pub struct WireOwner {
    /// Index into the plan's targets, and which of its hosts.
    pub target: usize,
    pub host: usize,
    /// The link of the target's pool.
    pub link: usize,
    /// It has brought the head of a response.
    pub has_answered: bool,
}

/// Whether a connection brought something, or lasted.
pub fn was_of_use(wire: &Wire, now_ns: u64) -> bool {
    wire.owner.has_answered || wire.has_lasted(now_ns)
}

/// Why a connection is not ready in time.
pub fn not_in_time(wire: &Wire) -> Fault {
    let is_tls = wire.phase == Phase::Greeting && !wire.transport.is_open();
    let reason = if is_tls { Reason::Tls } else { Reason::Connect };
    let what = wire.transport.wait_words();
    Fault::new(reason, format!("{what} in time (`http.connect_timeout`)"))
}
