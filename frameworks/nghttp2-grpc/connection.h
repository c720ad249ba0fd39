#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "clock.h"
#include "output.h"
#include "session.h"
#include "tls.h"

/// What all connections of a worker use in turn.
struct Buffers {
    static constexpr std::size_t kInput = 64 << 10;

    std::unique_ptr<std::uint8_t[]> input{new std::uint8_t[kInput]};
    Output plain;
    Output encrypted;
};

/// One client: a socket, TLS if the port has it, and an HTTP/2 session.
class Connection {
public:
    /// Takes the socket over; `tls` is null for clear text.
    Connection(int socket, SSL_CTX* tls, Clock& clock);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    int socket() const { return socket_; }

    /// Takes what epoll says of the socket, which it says only when that changes.
    void note(std::uint32_t events);

    enum class State { idle, busy, closed };

    /// Receives and sends what can be at once, but no more than a buffer of each, so that others
    /// get their turn: it is busy if there is more to do.
    State serve(Buffers& buffers);

    void drain() { session_.drain(); }
    bool expire() { return session_.expire(); }

    /// Whether it waits for its turn.
    bool queued = false;

private:
    bool may_receive() const;
    bool receive(Buffers& buffers, Output& wire);
    bool take(const std::uint8_t* data, std::size_t size, Output& wire);
    bool produce(Output& plain, Output& wire);
    void send(const Output& wire);
    void send_backlog();
    std::size_t write(const std::uint8_t* data, std::size_t size);

    const int socket_;
    std::unique_ptr<TlsStream> tls_;
    Session session_;
    bool readable_ = true;
    bool writable_ = true;
    bool hung_up_ = false;  // epoll said so; there may be something left to receive
    bool ended_ = false;    // there is not
    bool broken_ = false;

    // What the socket would not take.
    std::vector<std::uint8_t> backlog_;
    std::size_t backlog_sent_ = 0;
};
