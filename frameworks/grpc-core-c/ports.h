#pragma once

// Returns 0, or errno if another program listens on `port`.
//
// gRPC would not say so: it sets SO_REUSEPORT, and would share the port with a server that set it
// too. Half of the connections would never arrive here.
int try_port(int port);
