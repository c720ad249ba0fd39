#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>

/// The time, read once for all that is ready to be done; and how many calls have a deadline, so
/// that it need not be read again when none has.
struct Clock {
    std::int64_t now_ns = 0;
    std::size_t deadlines = 0;

    void read() {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        now_ns = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    }
};
