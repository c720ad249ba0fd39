#pragma once

/// Throws std::runtime_error if another program listens on `port`.
///
/// gRPC would not say so: it sets SO_REUSEPORT, and would share the port with a server that set it
/// too. Half of the connections would never arrive here.
void check_port_is_free(int port);
