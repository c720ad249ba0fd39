#include "worker.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace {

// Deadlines are looked at ten times a second, if there are any: a client knows its own exactly.
constexpr std::int64_t kExpiry_ns = 100'000'000;

int checked(int descriptor, const char* what) {
    if (descriptor < 0) {
        throw std::system_error(errno, std::generic_category(), what);
    }
    return descriptor;
}

}  // namespace

Worker::Worker()
    : epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll")),
      wake_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.ptr = nullptr;
    checked(epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event), "epoll");
}

Worker::~Worker() {
    connections_.clear();
    close(wake_);
    close(epoll_);
}

void Worker::start() {
    thread_ = std::thread([this] { run(); });
}

void Worker::adopt(int socket, SSL_CTX* tls) {
    load_.fetch_add(1, std::memory_order_relaxed);
    {
        const std::lock_guard lock(mutex_);
        newcomers_.push_back({socket, tls});
    }
    wake();
}

void Worker::stop(std::int64_t deadline_ns) {
    {
        const std::lock_guard lock(mutex_);
        asked_to_stop_ns_ = deadline_ns;
    }
    wake();
}

void Worker::wake() {
    eventfd_write(wake_, 1);
}

void Worker::run() {
    while (stop_ns_ == 0 || (!connections_.empty() && clock_.now_ns < stop_ns_)) {
        wait();
        expire();
        serve();
    }
}

int Worker::wait_ms() const {
    if (!due_.empty()) {
        return 0;
    }
    return clock_.deadlines > 0 || stop_ns_ > 0 ? static_cast<int>(kExpiry_ns / 1'000'000) : -1;
}

void Worker::wait() {
    std::array<epoll_event, 256> events;
    const int count = epoll_wait(epoll_, events.data(), events.size(), wait_ms());
    clock_.read();
    for (int i = 0; i < count; i++) {
        auto* const connection = static_cast<Connection*>(events[i].data.ptr);
        if (connection == nullptr) {
            welcome();
        } else {
            connection->note(events[i].events);
            queue(*connection);
        }
    }
}

void Worker::welcome() {
    eventfd_t count = 0;
    eventfd_read(wake_, &count);
    std::vector<Newcomer> newcomers;
    {
        const std::lock_guard lock(mutex_);
        newcomers.swap(newcomers_);
        stop_ns_ = asked_to_stop_ns_;
    }
    for (const Newcomer& newcomer : newcomers) {
        auto connection = std::make_unique<Connection>(newcomer.socket, newcomer.tls, clock_);
        epoll_event event{};
        event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
        event.data.ptr = connection.get();
        if (epoll_ctl(epoll_, EPOLL_CTL_ADD, newcomer.socket, &event) != 0) {
            load_.fetch_sub(1, std::memory_order_relaxed);
            continue;  // out of memory: this client has to come again
        }
        queue(*connection);
        connections_.emplace(connection.get(), std::move(connection));
    }
    if (stop_ns_ > 0) {
        for (const auto& [connection, owner] : connections_) {
            connection->drain();
            queue(*connection);
        }
    }
}

void Worker::queue(Connection& connection) {
    if (!std::exchange(connection.queued, true)) {
        due_.push_back(&connection);
    }
}

void Worker::serve() {
    served_.swap(due_);
    for (Connection* const connection : served_) {
        connection->queued = false;
        switch (connection->serve(buffers_)) {
            case Connection::State::idle:
                break;
            case Connection::State::busy:
                queue(*connection);
                break;
            case Connection::State::closed:
                connections_.erase(connection);
                load_.fetch_sub(1, std::memory_order_relaxed);
                break;
        }
    }
    served_.clear();
}

void Worker::expire() {
    if (clock_.deadlines == 0 || clock_.now_ns < next_expiry_ns_) {
        return;
    }
    next_expiry_ns_ = clock_.now_ns + kExpiry_ns;
    for (const auto& [connection, owner] : connections_) {
        if (connection->expire()) {
            queue(*connection);
        }
    }
}
