#include "replies.h"

#include <algorithm>
#include <cstring>

namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "replies are made as little-endian words");

constexpr std::size_t kPrefix = 5;
constexpr std::size_t kPrefixAndTag = 6;
constexpr std::uint64_t kResultTag = 1 << 3;

/// The length of `value` as a varint; 0 is not sent at all, and what is negative has ten bytes.
unsigned varint_length(std::uint32_t value) {
    if (value >> 31) {
        return 10;
    }
    return value == 0 ? 0 : (31 - static_cast<unsigned>(__builtin_clz(value))) / 7 + 1;
}

/// The last value from `value` on whose varint is as long.
std::uint32_t last_of_length(unsigned length) {
    switch (length) {
        case 0: return 0;
        case 5: return 0x7fff'ffff;
        case 10: return 0xffff'ffff;
        default: return (std::uint32_t{1} << (7 * length)) - 1;
    }
}

/// Spreads `value` to seven bits a byte, and sets the upper bit of all `Length` bytes but the last.
template <unsigned Length>
std::uint64_t varint(std::uint32_t value) {
    const std::uint64_t wide = value;
    std::uint64_t bytes = wide & 0x7f;
    for (unsigned i = 1; i < Length; i++) {
        bytes |= (wide << i) & (std::uint64_t{0x7f} << (8 * i));
        bytes |= std::uint64_t{0x80} << (8 * (i - 1));
    }
    return bytes;
}

/// Writes the reply for a result whose varint has `Length` bytes.
template <unsigned Length>
void write_reply(std::uint8_t* out, std::uint32_t result) {
    constexpr std::uint64_t kHead = std::uint64_t{Length == 0 ? 0 : Length + 1} << 32;
    if constexpr (Length == 0) {
        std::memcpy(out, &kHead, sizeof kHead);
    } else if constexpr (Length == 10) {
        // Of the upper 32 bits all are set: four are in the fifth byte, the others follow.
        const std::uint64_t low = varint<5>(result & 0x7fff'ffff) | std::uint64_t{0xf8} << 32;
        const std::uint64_t head = kHead | kResultTag << 40 | low << 48;
        const std::uint64_t tail = low >> 16 | 0x01ff'ffff'ff00'0000;
        std::memcpy(out, &head, sizeof head);
        std::memcpy(out + sizeof head, &tail, sizeof tail);
    } else {
        const std::uint64_t bytes = varint<Length>(result);
        const std::uint64_t head = kHead | kResultTag << 40 | bytes << 48;
        std::memcpy(out, &head, sizeof head);
        if constexpr (Length > 2) {
            const auto tail = static_cast<std::uint32_t>(bytes >> 16);
            std::memcpy(out + sizeof head, &tail, sizeof tail);
        }
    }
}

constexpr std::size_t size_with(unsigned length) {
    return length == 0 ? kPrefix : kPrefixAndTag + length;
}

template <unsigned Length>
std::size_t write_run(std::uint8_t* out, std::uint32_t first, std::size_t count) {
    for (std::size_t i = 0; i < count; i++) {
        write_reply<Length>(out + i * size_with(Length), first + static_cast<std::uint32_t>(i));
    }
    return count * size_with(Length);
}

/// Writes replies whose results have varints of this length.
std::size_t write_run(unsigned length, std::uint8_t* out, std::uint32_t first, std::size_t count) {
    switch (length) {
        case 0: return write_run<0>(out, first, count);
        case 1: return write_run<1>(out, first, count);
        case 2: return write_run<2>(out, first, count);
        case 3: return write_run<3>(out, first, count);
        case 4: return write_run<4>(out, first, count);
        case 5: return write_run<5>(out, first, count);
        default: return write_run<10>(out, first, count);
    }
}

}  // namespace

std::size_t encode_reply(std::uint8_t* out, std::uint32_t result) {
    return write_run(varint_length(result), out, result, 1);
}

std::size_t encode_results(std::uint8_t* out, std::size_t room, const std::uint32_t* results,
                           std::size_t count, std::size_t& taken) {
    std::size_t used = 0;
    for (std::size_t i = 0; i < count; i++) {
        const unsigned length = varint_length(results[i]);
        if (size_with(length) > room - used) {
            break;
        }
        used += write_run(length, out + used, results[i], 1);
        taken++;
    }
    return used;
}

std::size_t encode_run(std::uint8_t* out, std::size_t room, std::uint32_t& next,
                       std::uint32_t& left) {
    std::size_t used = 0;
    while (left > 0) {
        const unsigned length = varint_length(next);
        const std::size_t size = size_with(length);
        const std::uint64_t alike = std::uint64_t{last_of_length(length)} - next + 1;
        const std::uint64_t count = std::min<std::uint64_t>({alike, left, (room - used) / size});
        if (count == 0) {
            break;
        }
        used += write_run(length, out + used, next, count);
        next += static_cast<std::uint32_t>(count);
        left -= static_cast<std::uint32_t>(count);
    }
    return used;
}
