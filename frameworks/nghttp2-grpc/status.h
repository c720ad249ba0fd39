#pragma once

#include <string_view>

/// How a call ends: grpc-status and grpc-message. Those there are live for ever, so that a pointer
/// will do; nullptr is a call that goes on.
struct Status {
    std::string_view code;
    std::string_view message;
};

// The codes are those of gRPC's statuscodes.md, where it says which error has which.
inline constexpr Status kOk{"0", ""};
inline constexpr Status kDeadlineExceeded{"4", "the deadline has passed"};
inline constexpr Status kTooLarge{"8", "a message is larger than 4 MiB"};
inline constexpr Status kUnknownMethod{"12", "there is no such method"};
inline constexpr Status kUnknownCompression{"12", "compression is not supported"};
inline constexpr Status kNotOneRequest{"12", "the method takes exactly one request"};
inline constexpr Status kUndeclaredCompression{"13", "compressed, but without grpc-encoding"};
inline constexpr Status kBadPrefix{"13", "the compressed-flag is neither 0 nor 1"};
inline constexpr Status kBadTimeout{"13", "grpc-timeout is malformed"};
inline constexpr Status kMalformed{"13", "a message is not what the .proto says"};
inline constexpr Status kCutShort{"13", "the requests end in the middle of a message"};
