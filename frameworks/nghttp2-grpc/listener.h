#pragma once

/// A socket that listens on all addresses, IPv4 and IPv6.
class Listener {
public:
    /// Throws std::runtime_error if the port cannot be had.
    explicit Listener(int port);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    int socket() const { return socket_; }

    /// Returns the next client's socket, -1 if there is none now.
    int accept() const;

private:
    int socket_;
};
