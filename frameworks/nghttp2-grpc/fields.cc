#include "fields.h"

#include <algorithm>

namespace {

constexpr unsigned kLongestVarint = 10;

// As deep as protobuf's own parsers go.
constexpr std::size_t kDeepestGroup = 100;

// What no field of a message can reach, messages being 4 MiB at most.
constexpr std::uint64_t kTooLong = std::uint64_t{1} << 32;

enum WireType { kVarint, kFixed64, kLength, kGroupStart, kGroupEnd, kFixed32 };

}  // namespace

bool FieldParser::take(const std::uint8_t* at, std::size_t size) {
    const std::uint8_t* const end = at + size;
    while (at != end) {
        if (skip_ > 0) {
            const auto skipped = std::min<std::uint64_t>(skip_, static_cast<std::size_t>(end - at));
            at += skipped;
            skip_ -= skipped;
            continue;
        }
        const std::uint8_t byte = *at++;
        varint_ |= static_cast<std::uint64_t>(byte & 0x7f) << shift_;
        shift_ += 7;
        if (byte >= 0x80) {
            if (shift_ == 7 * kLongestVarint) {
                return false;
            }
            continue;
        }
        const std::uint64_t value = varint_;
        varint_ = 0;
        shift_ = 0;
        if (!take_varint(value)) {
            return false;
        }
    }
    return true;
}

bool FieldParser::complete() const {
    return skip_ == 0 && shift_ == 0 && expected_ == Varint::tag && groups_.empty();
}

bool FieldParser::take_varint(std::uint64_t value) {
    switch (expected_) {
        case Varint::tag:
            return begin_field(value);
        case Varint::length:
            expected_ = Varint::tag;
            skip_ = value;
            return value < kTooLong;
        case Varint::value:
            expected_ = Varint::tag;
            if (groups_.empty()) {
                // A negative int32 has ten bytes, being an int64 on the wire; the upper ones go.
                const auto number = static_cast<std::uint32_t>(value);
                switch (field_) {
                    case 1: request_.a = number; break;
                    case 2: request_.b = number; break;
                    case 3: request_.count = number; break;
                }
            }
            return true;
    }
    return false;
}

bool FieldParser::begin_field(std::uint64_t tag) {
    if (tag >= kTooLong || tag >> 3 == 0) {
        return false;
    }
    field_ = static_cast<std::uint32_t>(tag >> 3);
    switch (tag & 7) {
        case kVarint:
            expected_ = Varint::value;
            return true;
        case kFixed64:
            skip_ = 8;
            return true;
        case kLength:
            expected_ = Varint::length;
            return true;
        case kGroupStart:
            groups_.push_back(field_);
            return groups_.size() <= kDeepestGroup;
        case kGroupEnd:
            if (groups_.empty() || groups_.back() != field_) {
                return false;
            }
            groups_.pop_back();
            return true;
        case kFixed32:
            skip_ = 4;
            return true;
        default:
            return false;
    }
}
