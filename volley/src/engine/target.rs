//! Resolves a host name to its addresses.

use std::net::{SocketAddr, ToSocketAddrs};

use super::EngineError;

/// Every address of the target, in the resolver's order.
pub fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, EngineError> {
    let unresolved = |reason: String| EngineError::Resolve {
        host: host.to_owned(),
        reason,
    };
    let found: Vec<_> = (host, port)
        .to_socket_addrs()
        .map_err(|error| unresolved(error.to_string()))?
        .collect();
    if found.is_empty() {
        return Err(unresolved("it has no address".to_owned()));
    }
    Ok(found)
}
