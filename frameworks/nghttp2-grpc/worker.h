#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "clock.h"
#include "connection.h"

/// A thread with an event loop, and the connections that were given to it.
class Worker {
public:
    Worker();
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void start();

    /// Hands it a socket, from another thread; `tls` is null for clear text.
    void adopt(int socket, SSL_CTX* tls);

    /// How many connections it has, or is about to have.
    std::size_t load() const { return load_.load(std::memory_order_relaxed); }

    /// Asks it to end: once no call is open, or at `deadline_ns` of the monotonic clock.
    void stop(std::int64_t deadline_ns);

    void join() { thread_.join(); }

private:
    struct Newcomer {
        int socket;
        SSL_CTX* tls;
    };

    void run();
    int wait_ms() const;
    void wait();
    void welcome();
    void queue(Connection& connection);
    void serve();
    void expire();
    void drain();
    void wake();

    const int epoll_;
    const int wake_;
    std::thread thread_;
    Clock clock_;
    Buffers buffers_;
    std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
    std::vector<Connection*> due_;
    std::vector<Connection*> served_;
    std::int64_t next_expiry_ns_ = 0;
    std::int64_t stop_ns_ = 0;  // 0 until it drains

    // Shared with the thread that accepts.
    std::mutex mutex_;
    std::vector<Newcomer> newcomers_;
    std::int64_t asked_to_stop_ns_ = 0;
    std::atomic<std::size_t> load_{0};
};
