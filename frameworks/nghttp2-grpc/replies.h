#pragma once

#include <cstddef>
#include <cstdint>

/// A SumReply with its length prefix is no longer than this.
constexpr std::size_t kLongestReply = 16;

/// Encoders may write so many bytes beyond what they return.
constexpr std::size_t kOverrun = 8;

/// Encodes one reply; returns its length. `out` has room for kLongestReply + kOverrun.
std::size_t encode_reply(std::uint8_t* out, std::uint32_t result);

/// Encodes replies with these results, as many as fit into `room`, and counts them in `taken`.
/// Returns the length of all.
std::size_t encode_results(std::uint8_t* out, std::size_t room, const std::uint32_t* results,
                           std::size_t count, std::size_t& taken);

/// Encodes replies with the results next, next + 1 and so on, as long as they fit into `room` and
/// there are any left, and counts both on. Returns the length of all.
std::size_t encode_run(std::uint8_t* out, std::size_t room, std::uint32_t& next,
                       std::uint32_t& left);
