#include "call.h"

#include <algorithm>
#include <cstring>

namespace {

using std::string_view;

constexpr string_view kService = "/benchmark.BenchmarkService/";

// No client waits for a year; what is longer need not fit into an int64.
constexpr std::int64_t kLongestTimeout_ns = std::int64_t{365} * 86'400 * 1'000'000'000;

// Results that an idle EchoSum may keep room for.
constexpr std::size_t kKeptSums = 1024;

bool starts_with(string_view text, string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

/// Whether it is application/grpc, or that with "+proto" or a parameter; not application/grpc-web.
bool is_grpc(string_view content_type) {
    constexpr string_view kGrpc = "application/grpc";
    if (!starts_with(content_type, kGrpc)) {
        return false;
    }
    return content_type.size() == kGrpc.size() || content_type[kGrpc.size()] == '+' ||
           content_type[kGrpc.size()] == ';';
}

std::int64_t unit_ns(char unit) {
    switch (unit) {
        case 'n': return 1;
        case 'u': return 1'000;
        case 'm': return 1'000'000;
        case 'S': return 1'000'000'000;
        case 'M': return std::int64_t{60} * 1'000'000'000;
        case 'H': return std::int64_t{3600} * 1'000'000'000;
        default: return 0;
    }
}

/// Reads a grpc-timeout: up to eight digits and a unit. Returns -1 if it is none.
std::int64_t parse_timeout_ns(string_view text) {
    if (text.size() < 2 || text.size() > 9 || unit_ns(text.back()) == 0) {
        return -1;
    }
    std::int64_t number = 0;
    for (const char digit : text.substr(0, text.size() - 1)) {
        if (digit < '0' || digit > '9') {
            return -1;
        }
        number = 10 * number + (digit - '0');
    }
    return std::min(number, kLongestTimeout_ns / unit_ns(text.back())) * unit_ns(text.back());
}

}  // namespace

void Call::take_header(string_view name, string_view value) {
    if (name == ":path") {
        method_ = method_at(value);
    } else if (name == ":method") {
        is_post_ = value == "POST";
    } else if (name == "content-type") {
        is_grpc_ = is_grpc(value);
    } else if (name == "grpc-timeout") {
        timeout_ns_ = parse_timeout_ns(value);
        bad_timeout_ = timeout_ns_ < 0;
    } else if (name == "grpc-encoding" && value != "identity") {
        requests_.expect_compression();
    }
}

string_view Call::begin() {
    if (!is_post_ || !is_grpc_) {
        fail(kUnknownMethod);  // nobody will hear of it
        return is_post_ ? "415" : "405";
    }
    if (method_ == Method::unknown) {
        fail(kUnknownMethod);
    } else if (bad_timeout_) {
        fail(kBadTimeout);
    }
    return "200";
}

void Call::take_body(const std::uint8_t* data, std::size_t size) {
    if (status_ != nullptr) {
        return;
    }
    const Status* wrong =
        requests_.take(data, size, [this](const Request& request) { take_request(request); });
    if (wrong != nullptr && status_ == nullptr) {
        status_ = wrong;
    }
}

void Call::take_request(const Request& request) {
    const std::uint32_t sum = request.a + request.b;
    switch (method_) {
        case Method::echo_sum:
            sums_.push_back(sum);
            return;
        case Method::collect_sum:
            run_next_ += sum;
            return;
        case Method::stream_sum:
            run_length_ = static_cast<std::uint32_t>(
                std::max(static_cast<std::int32_t>(request.count), 1));
            [[fallthrough]];
        case Method::get_sum:
            run_next_ = sum;
            if (received_ > 0) {
                fail(kNotOneRequest);
            }
            received_ = true;
            return;
        case Method::unknown:
            return;
    }
}

void Call::half_close() {
    half_closed_ = true;
    if (status_ != nullptr) {
        return;
    }
    const bool takes_one = method_ == Method::get_sum || method_ == Method::stream_sum;
    if (!requests_.between_messages()) {
        status_ = &kCutShort;
    } else if (takes_one && !received_) {
        status_ = &kNotOneRequest;
    } else {
        status_ = &kOk;
        run_left_ = method_ == Method::echo_sum ? 0 : run_length_;
    }
}

void Call::fail(const Status& status) {
    status_ = &status;
    run_left_ = 0;
    sums_.clear();
    sums_sent_ = 0;
}

std::size_t Call::make_replies(std::uint8_t* out, std::size_t room) {
    std::size_t made = put_cut(out, room);
    if (cut_sent_ < cut_size_) {
        return made;
    }
    if (run_left_ > 0) {
        made += encode_run(out + made, room - made, run_next_, run_left_);
    } else {
        made += put_sums(out + made, room - made);
    }
    // A reply is cut only where nothing whole fits: frames then begin and end with one.
    if (made == 0 && room > 0 && has_replies()) {
        cut_next();
        made = put_cut(out, room);
    }
    return made;
}

std::size_t Call::put_cut(std::uint8_t* out, std::size_t room) {
    const std::size_t size = std::min<std::size_t>(room, cut_size_ - cut_sent_);
    std::memcpy(out, cut_ + cut_sent_, size);
    cut_sent_ += static_cast<std::uint8_t>(size);
    return size;
}

std::size_t Call::put_sums(std::uint8_t* out, std::size_t room) {
    const std::size_t used = encode_results(out, room, sums_.data() + sums_sent_,
                                            sums_.size() - sums_sent_, sums_sent_);
    if (sums_sent_ < sums_.size()) {
        return used;
    }
    sums_.clear();
    sums_sent_ = 0;
    if (sums_.capacity() > kKeptSums) {
        sums_.shrink_to_fit();
    }
    return used;
}

void Call::cut_next() {
    if (run_left_ > 0) {
        cut_size_ = static_cast<std::uint8_t>(encode_reply(cut_, run_next_));
        run_next_++;
        run_left_--;
    } else {
        cut_size_ = static_cast<std::uint8_t>(encode_reply(cut_, sums_[sums_sent_]));
        sums_sent_++;
    }
    cut_sent_ = 0;
}

Call::Method Call::method_at(string_view path) {
    if (!starts_with(path, kService)) {
        return Method::unknown;
    }
    const string_view name = path.substr(kService.size());
    if (name == "GetSum") {
        return Method::get_sum;
    }
    if (name == "StreamSum") {
        return Method::stream_sum;
    }
    if (name == "CollectSum") {
        return Method::collect_sum;
    }
    return name == "EchoSum" ? Method::echo_sum : Method::unknown;
}
