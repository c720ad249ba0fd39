#include "ports.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

int try_port(int port) {
    const int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0) {
        return 0;  // No IPv6 here: gRPC falls back to IPv4 and reports on its own.
    }
    const int on = 1;
    const int off = 0;
    setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(probe, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    const struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    const int error = bind(probe, (const struct sockaddr*)&any, sizeof any) == 0 ? 0 : errno;
    close(probe);
    return error;
}
