#include "listener.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace {

// When there are no descriptors left, clients wait in the queue until one is free.
constexpr std::chrono::milliseconds kPause{50};

template <typename Address>
bool bind_to(int socket, const Address& address) {
    return bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

/// Binds to all addresses, or to all of IPv4 where there is no IPv6; returns -1 if it cannot.
int bound_socket(std::uint16_t port) {
    constexpr int kType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    const int on = 1;
    const int off = 0;
    const int dual = socket(AF_INET6, kType, 0);
    const int made = dual >= 0 ? dual : socket(AF_INET, kType, 0);
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (dual >= 0) {
        setsockopt(dual, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    sockaddr_in6 any6{};
    any6.sin6_family = AF_INET6;
    any6.sin6_port = htons(port);
    sockaddr_in any4{};
    any4.sin_family = AF_INET;
    any4.sin_port = htons(port);
    if (dual >= 0 ? bind_to(made, any6) : bind_to(made, any4)) {
        return made;
    }
    const int error = errno;
    close(made);
    errno = error;
    return -1;
}

}  // namespace

Listener::Listener(int port) : socket_(bound_socket(static_cast<std::uint16_t>(port))) {
    if (socket_ < 0 || listen(socket_, SOMAXCONN) != 0) {
        const std::string reason = std::generic_category().message(errno);
        close(socket_);
        throw std::runtime_error("cannot listen on port " + std::to_string(port) + ": " + reason);
    }
}

Listener::~Listener() {
    close(socket_);
}

int Listener::accept() const {
    const int client = accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
        std::this_thread::sleep_for(kPause);
    }
    return client;
}
