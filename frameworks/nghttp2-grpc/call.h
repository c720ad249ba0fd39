#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "replies.h"
#include "requests.h"
#include "status.h"

/// One call of benchmark.BenchmarkService, without HTTP/2: headers and request bytes in, reply
/// bytes and a status out. Replies are made when there is room for them, not before.
class Call {
public:
    /// Takes one header of the request.
    void take_header(std::string_view name, std::string_view value);

    /// Ends the headers. Returns the HTTP status of what is no gRPC call at all, else "200".
    std::string_view begin();

    void take_body(const std::uint8_t* data, std::size_t size);

    /// The client has sent all of its requests.
    void half_close();

    /// Ends the call early, with replies not yet made dropped.
    void fail(const Status& status);

    /// Makes replies for `room` bytes; at most kOverrun bytes beyond are overwritten. Returns their
    /// length, 0 only if there are none now or there is no room.
    std::size_t make_replies(std::uint8_t* out, std::size_t room);

    bool has_replies() const {
        return run_left_ > 0 || sums_sent_ < sums_.size() || cut_sent_ < cut_size_;
    }

    /// What the call ends with once its replies are sent; nullptr as long as more may come.
    const Status* status() const { return status_; }

    bool half_closed() const { return half_closed_; }

    /// After how long the client gives up, in nanoseconds; kNoTimeout if it does not say.
    std::int64_t timeout_ns() const { return timeout_ns_; }

    static constexpr std::int64_t kNoTimeout = -1;

private:
    enum class Method : std::uint8_t { unknown, get_sum, stream_sum, collect_sum, echo_sum };

    static Method method_at(std::string_view path);

    void take_request(const Request& request);
    std::size_t put_cut(std::uint8_t* out, std::size_t room);
    std::size_t put_sums(std::uint8_t* out, std::size_t room);
    void cut_next();

    RequestReader requests_;
    Method method_ = Method::unknown;
    bool is_post_ = false;
    bool is_grpc_ = false;
    bool bad_timeout_ = false;
    bool half_closed_ = false;
    bool received_ = false;  // a request, by a method that takes one
    std::int64_t timeout_ns_ = kNoTimeout;
    const Status* status_ = nullptr;

    // GetSum's and CollectSum's reply is a run of one.
    std::uint32_t run_next_ = 0;
    std::uint32_t run_left_ = 0;
    std::uint32_t run_length_ = 1;

    // EchoSum's results that are not sent yet.
    std::vector<std::uint32_t> sums_;
    std::size_t sums_sent_ = 0;

    // A reply that the window cuts in two.
    std::uint8_t cut_[kLongestReply + kOverrun];
    std::uint8_t cut_size_ = 0;
    std::uint8_t cut_sent_ = 0;
};
