#include "ports.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>

namespace {

/// Binds a socket to all addresses and lets it go; returns errno, 0 when that went well.
int try_to_bind(int port) {
    const int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0) {
        return 0;  // No IPv6 here: gRPC falls back to IPv4 and reports on its own.
    }
    const int on = 1;
    const int off = 0;
    setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(probe, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(static_cast<std::uint16_t>(port));
    const bool bound = bind(probe, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
    const int error = bound ? 0 : errno;
    close(probe);
    return error;
}

}  // namespace

void check_port_is_free(int port) {
    if (const int error = try_to_bind(port)) {
        throw std::runtime_error("cannot listen on port " + std::to_string(port) + ": " +
                                 std::generic_category().message(error));
    }
}
