#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// SumRequest and StreamRequest in one: the former has no count. Unsigned, since sums wrap around.
struct Request {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t count = 0;
};

/// Parses one message of protobuf, in whatever cuts its bytes come, and keeps none of them.
class FieldParser {
public:
    /// Takes the next bytes; false if they cannot be protobuf.
    bool take(const std::uint8_t* at, std::size_t size);

    /// Whether the message may end here.
    bool complete() const;

    const Request& request() const { return request_; }

private:
    enum class Varint : std::uint8_t { tag, value, length };

    bool take_varint(std::uint64_t value);
    bool begin_field(std::uint64_t tag);

    Request request_;
    std::uint64_t varint_ = 0;
    std::uint64_t skip_ = 0;
    std::uint32_t field_ = 0;
    std::uint8_t shift_ = 0;
    Varint expected_ = Varint::tag;
    std::vector<std::uint32_t> groups_;
};

/// Parses a message that is whole and has no other fields than int32 a, b and count, as all that
/// honest clients send; false if it is not of that kind, whatever else it is.
inline bool parse_plain(const std::uint8_t* at, const std::uint8_t* end, Request& request) {
    while (at != end) {
        std::uint32_t* field = nullptr;
        switch (*at++) {
            case 1 << 3: field = &request.a; break;
            case 2 << 3: field = &request.b; break;
            case 3 << 3: field = &request.count; break;
            default: return false;
        }
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            if (at == end || shift == 70) {
                return false;
            }
            const std::uint8_t byte = *at++;
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) {
                break;
            }
        }
        *field = static_cast<std::uint32_t>(value);
    }
    return true;
}
