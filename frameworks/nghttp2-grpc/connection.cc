#include "connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

Connection::Connection(int socket, SSL_CTX* tls, Clock& clock)
    : socket_(socket), tls_(tls != nullptr ? new TlsStream(tls) : nullptr), session_(clock) {
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(socket_, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

Connection::~Connection() {
    close(socket_);
}

void Connection::note(std::uint32_t events) {
    readable_ = readable_ || events & (EPOLLIN | EPOLLRDHUP);
    writable_ = writable_ || events & EPOLLOUT;
    hung_up_ = hung_up_ || events & EPOLLRDHUP;
    broken_ = broken_ || events & (EPOLLERR | EPOLLHUP);
}

Connection::State Connection::serve(Buffers& buffers) {
    Output& plain = buffers.plain;
    Output& wire = tls_ ? buffers.encrypted : buffers.plain;
    plain.clear();
    wire.clear();
    // Received first, so that what answers it leaves with the rest.
    bool alive = !broken_ && receive(buffers, wire);
    send_backlog();
    // More is made only when what was made before has left.
    alive = alive && (!backlog_.empty() || produce(plain, wire));
    const bool over = alive && session_.over();
    if (over && tls_) {
        tls_->close(wire);
    }
    send(wire);
    if (!alive || ended_ || broken_ || (over && backlog_.empty())) {
        return State::closed;
    }
    const bool more = plain.full() && backlog_.empty();
    return more || (readable_ && may_receive()) ? State::busy : State::idle;
}

/// Whether the client reads what it is sent, or at least does not cause too much more of it.
bool Connection::may_receive() const {
    return backlog_.empty() || !session_.crowded();
}

bool Connection::receive(Buffers& buffers, Output& wire) {
    if (!readable_ || !may_receive()) {
        return true;
    }
    const ssize_t size = recv(socket_, buffers.input.get(), Buffers::kInput, 0);
    if (size < 0) {
        readable_ = errno == EINTR;
        return readable_ || errno == EAGAIN;
    }
    if (size == 0) {
        ended_ = true;  // what it has asked for is answered, as far as that is done at once
        return true;
    }
    // Fewer bytes than asked for were all there are; epoll tells of more. Not of the end, though,
    // which it may have told of along with them.
    readable_ = static_cast<std::size_t>(size) == Buffers::kInput || hung_up_;
    return take(buffers.input.get(), static_cast<std::size_t>(size), wire);
}

bool Connection::take(const std::uint8_t* data, std::size_t size, Output& wire) {
    if (!tls_) {
        return session_.receive(data, size);
    }
    return tls_->receive(data, size, wire, [this](const std::uint8_t* plain, std::size_t length) {
        return session_.receive(plain, length);
    });
}

bool Connection::produce(Output& plain, Output& wire) {
    if (!tls_) {
        return session_.produce(plain);
    }
    if (!tls_->ready()) {
        return true;
    }
    return session_.produce(plain) && (plain.empty() || tls_->send(plain, wire));
}

/// Sends; what the socket does not take is kept for later.
void Connection::send(const Output& wire) {
    const std::size_t sent = backlog_.empty() ? write(wire.data(), wire.size()) : 0;
    backlog_.insert(backlog_.end(), wire.data() + sent, wire.data() + wire.size());
}

void Connection::send_backlog() {
    if (backlog_.empty()) {
        return;
    }
    backlog_sent_ += write(backlog_.data() + backlog_sent_, backlog_.size() - backlog_sent_);
    if (backlog_sent_ == backlog_.size()) {
        std::vector<std::uint8_t>().swap(backlog_);
        backlog_sent_ = 0;
    }
}

/// Returns how many bytes the socket took.
std::size_t Connection::write(const std::uint8_t* data, std::size_t size) {
    if (!writable_ || size == 0) {
        return 0;
    }
    const ssize_t sent = ::send(socket_, data, size, MSG_NOSIGNAL);
    if (sent < 0) {
        broken_ = errno != EAGAIN;
        writable_ = false;
        return 0;
    }
    writable_ = static_cast<std::size_t>(sent) == size;
    return static_cast<std::size_t>(sent);
}
