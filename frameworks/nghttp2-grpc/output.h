#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

/// Bytes on their way to a socket: a buffer that is filled, sent and emptied. It grows as needed,
/// which is never once it has held a full batch.
class Output {
public:
    /// How much is collected before it is sent: enough for a system call to cost little.
    static constexpr std::size_t kBatch = 64 << 10;

    bool full() const { return size_ >= kBatch; }
    bool empty() const { return size_ == 0; }
    const std::uint8_t* data() const { return bytes_.get(); }
    std::size_t size() const { return size_; }
    void clear() { size_ = 0; }

    /// Returns where the next bytes go, with room for so many.
    std::uint8_t* room_for(std::size_t size) {
        if (capacity_ - size_ < size) {
            grow(size_ + size);
        }
        return bytes_.get() + size_;
    }

    /// Counts bytes that were written to what room_for returned.
    void wrote(std::size_t size) { size_ += size; }

    void append(const std::uint8_t* data, std::size_t size) {
        std::memcpy(room_for(size), data, size);
        wrote(size);
    }

private:
    void grow(std::size_t needed) {
        capacity_ = needed + kBatch;
        std::unique_ptr<std::uint8_t[]> larger(new std::uint8_t[capacity_]);
        if (size_ > 0) {
            std::memcpy(larger.get(), bytes_.get(), size_);
        }
        bytes_ = std::move(larger);
    }

    std::unique_ptr<std::uint8_t[]> bytes_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};
