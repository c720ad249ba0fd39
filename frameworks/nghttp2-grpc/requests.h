#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "fields.h"
#include "status.h"

/// Takes the body of a call, length-prefixed messages in whatever cuts, and gives the requests.
class RequestReader {
public:
    /// Takes the next bytes and calls `on_request` for each message that ends in them. Returns what
    /// is wrong with them, nullptr if nothing is; afterwards there is no going on.
    template <typename OnRequest>
    const Status* take(const std::uint8_t* at, std::size_t size, OnRequest&& on_request) {
        const std::uint8_t* const end = at + size;
        while (at != end) {
            if (prefix_size_ == 0) {
                at = take_whole(at, end, on_request);
                if (at == end) {
                    break;
                }
            }
            if (prefix_size_ < kPrefixSize) {
                prefix_[prefix_size_++] = *at++;
                if (prefix_size_ < kPrefixSize) {
                    continue;
                }
                if (const Status* wrong = begin_message()) {
                    return wrong;
                }
            }
            const auto part = std::min<std::size_t>(left_, static_cast<std::size_t>(end - at));
            if (!fields_.take(at, part)) {
                return &kMalformed;
            }
            at += part;
            left_ -= static_cast<std::uint32_t>(part);
            if (left_ == 0) {
                if (!fields_.complete()) {
                    return &kMalformed;
                }
                prefix_size_ = 0;
                on_request(std::exchange(fields_, {}).request());
            }
        }
        return nullptr;
    }

    /// Whether the body may end here.
    bool between_messages() const { return prefix_size_ == 0; }

    /// Notes that the call's grpc-encoding is a compression; we have none.
    void expect_compression() { compression_ = true; }

private:
    static constexpr std::uint8_t kPrefixSize = 5;
    static constexpr std::uint32_t kLargestMessage = 4 << 20;

    static std::uint32_t length_in(const std::uint8_t* prefix) {
        return std::uint32_t{prefix[1]} << 24 | std::uint32_t{prefix[2]} << 16 |
               std::uint32_t{prefix[3]} << 8 | prefix[4];
    }

    /// Takes messages as long as they are whole and plain, which is the fast way.
    template <typename OnRequest>
    static const std::uint8_t* take_whole(const std::uint8_t* at, const std::uint8_t* end,
                                          OnRequest& on_request) {
        while (end - at >= kPrefixSize && at[0] == 0) {
            const std::uint32_t length = length_in(at);
            const std::uint8_t* const message = at + kPrefixSize;
            Request request;
            if (length > static_cast<std::size_t>(end - message) || length > kLargestMessage ||
                !parse_plain(message, message + length, request)) {
                break;
            }
            on_request(request);
            at = message + length;
        }
        return at;
    }

    const Status* begin_message() {
        if (prefix_[0] > 1) {
            return &kBadPrefix;
        }
        if (prefix_[0] == 1) {
            return compression_ ? &kUnknownCompression : &kUndeclaredCompression;
        }
        left_ = length_in(prefix_);
        return left_ > kLargestMessage ? &kTooLarge : nullptr;
    }

    std::uint8_t prefix_[kPrefixSize];
    std::uint8_t prefix_size_ = 0;
    bool compression_ = false;
    std::uint32_t left_ = 0;
    FieldParser fields_;
};
