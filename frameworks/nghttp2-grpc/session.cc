#include "session.h"

#include <array>
#include <iterator>
#include <new>
#include <string_view>

namespace {

using std::string_view;

// What a client may send before it hears from us, on a stream and on the connection. Requests that
// were taken are given back at once, those of EchoSum when their replies have left: so a client
// that does not read its replies makes us hold four bytes for each request of such a window.
constexpr std::int32_t kStreamWindow = 256 << 10;
constexpr std::int32_t kConnectionWindow = 4 << 20;

constexpr std::uint32_t kMostStreams = 1024;

// So many frames other than DATA may wait for a client that does not read.
constexpr std::size_t kCrowd = 1000;

// nghttp2 would end a connection on which many calls are cancelled. Here they cost next to nothing.
constexpr std::uint64_t kResetBurst = 1'000'000;
constexpr std::uint64_t kResetRate = 1'000'000;

constexpr std::size_t kFrameHead = 9;

nghttp2_nv field(string_view name, string_view value) {
    // All of them are constants, in lower case: nothing has to be copied.
    constexpr std::uint8_t kFlags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
    return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
            reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(),
            value.size(), kFlags};
}

/// How many trailers there are at most.
constexpr std::size_t kTrailers = 2;

/// Writes the trailers that tell of a status; returns how many there are.
std::size_t put_trailers(const Status& status, nghttp2_nv* trailers) {
    trailers[0] = field("grpc-status", status.code);
    if (status.message.empty()) {
        return 1;
    }
    trailers[1] = field("grpc-message", status.message);
    return 2;
}

/// Throws if nghttp2 could not do what can only fail for want of memory.
void check(int result) {
    if (result != 0) {
        throw std::bad_alloc();
    }
}

}  // namespace

struct Session::Stream {
    Call call;
    std::int32_t id = 0;
    bool answered = false;  // the response's headers are submitted
    bool finished = false;  // and so are the trailers
    bool deferred = false;  // nghttp2 waits to be told of more replies
    std::int64_t deadline_ns = 0;
    std::size_t held_window = 0;  // bytes received whose window is not given back yet
    Stream* newer = nullptr;
    Stream* older = nullptr;
};

/// What nghttp2 calls.
struct Session::Callbacks {
    static Session& of(void* user_data) { return *static_cast<Session*>(user_data); }

    static Stream* stream_at(nghttp2_session* session, std::int32_t id) {
        return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session, id));
    }

    static int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
        if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
            of(user_data).begin_stream(frame->hd.stream_id);
        }
        return 0;
    }

    static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                         std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                         std::uint8_t, void* user_data) {
        if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
            of(user_data).opening_->call.take_header(
                {reinterpret_cast<const char*>(name), name_size},
                {reinterpret_cast<const char*>(value), value_size});
        }
        return 0;
    }

    static int on_frame(nghttp2_session* raw, const nghttp2_frame* frame, void* user_data) {
        Session& session = of(user_data);
        if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) {
            return 0;
        }
        const bool begins =
            frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
        const bool ends = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
        if (begins) {
            session.begin_call(*session.opening_);
        }
        if (ends) {
            if (Stream* stream = stream_at(raw, frame->hd.stream_id)) {
                session.half_close(*stream);
            }
        }
        return 0;
    }

    static int on_data(nghttp2_session* raw, std::uint8_t, std::int32_t id,
                       const std::uint8_t* data, std::size_t size, void* user_data) {
        if (Stream* stream = stream_at(raw, id)) {
            of(user_data).take_body(*stream, data, size);
        }
        return 0;
    }

    static int on_stream_close(nghttp2_session* raw, std::int32_t id, std::uint32_t,
                               void* user_data) {
        if (Stream* stream = stream_at(raw, id)) {
            of(user_data).close_stream(*stream);
        }
        return 0;
    }

    static int on_frame_sent(nghttp2_session* raw, const nghttp2_frame* frame, void* user_data) {
        if (frame->hd.type == NGHTTP2_HEADERS && frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
            if (Stream* stream = stream_at(raw, frame->hd.stream_id)) {
                of(user_data).stop_requests(*stream);
            }
        }
        return 0;
    }

    static ssize_t read_data(nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t room,
                             std::uint32_t* flags, nghttp2_data_source* source, void* user_data) {
        return of(user_data).make_data(*static_cast<Stream*>(source->ptr), room, *flags);
    }

    /// Completes the frame whose payload make_data has written to the output.
    static int send_data(nghttp2_session*, nghttp2_frame*, const std::uint8_t* head,
                         std::size_t size, nghttp2_data_source*, void* user_data) {
        Output& output = *of(user_data).output_;
        std::memcpy(output.room_for(kFrameHead), head, kFrameHead);
        output.wrote(kFrameHead + size);
        return output.full() ? NGHTTP2_ERR_PAUSE : 0;
    }

    static const nghttp2_session_callbacks* all() {
        static const nghttp2_session_callbacks* const made = [] {
            nghttp2_session_callbacks* callbacks = nullptr;
            check(nghttp2_session_callbacks_new(&callbacks));
            nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
            nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
            nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
            nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
            nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
            nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_sent);
            nghttp2_session_callbacks_set_send_data_callback(callbacks, send_data);
            return callbacks;
        }();
        return made;
    }

    static const nghttp2_option* options() {
        static const nghttp2_option* const made = [] {
            nghttp2_option* option = nullptr;
            check(nghttp2_option_new(&option));
            nghttp2_option_set_no_auto_window_update(option, 1);
            nghttp2_option_set_no_closed_streams(option, 1);
            nghttp2_option_set_stream_reset_rate_limit(option, kResetBurst, kResetRate);
            return option;
        }();
        return made;
    }
};

Session::Session(Clock& clock) : clock_(clock) {
    check(nghttp2_session_server_new2(&session_, Callbacks::all(), this, Callbacks::options()));
    constexpr std::array<nghttp2_settings_entry, 3> kSettings{{
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMostStreams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    }};
    check(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, kSettings.data(), kSettings.size()));
    check(nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow));
}

Session::~Session() {
    nghttp2_session_del(session_);  // which does not tell of the streams it closes
    while (streams_ != nullptr) {
        Stream* const next = streams_->older;
        clock_.deadlines -= streams_->deadline_ns > 0;
        delete streams_;
        streams_ = next;
    }
}

bool Session::receive(const std::uint8_t* data, std::size_t size) {
    return nghttp2_session_mem_recv(session_, data, size) >= 0 && !failed_;
}

bool Session::produce(Output& output) {
    output_ = &output;
    while (!output.full()) {
        const std::uint8_t* frames = nullptr;
        const ssize_t size = nghttp2_session_mem_send(session_, &frames);
        if (size < 0) {
            return false;
        }
        if (size == 0) {
            break;
        }
        output.append(frames, static_cast<std::size_t>(size));
    }
    return !failed_;
}

bool Session::over() const {
    return (draining_ && streams_ == nullptr) ||
           (!nghttp2_session_want_read(session_) && !nghttp2_session_want_write(session_));
}

bool Session::crowded() const {
    return nghttp2_session_get_outbound_queue_size(session_) > kCrowd;
}

void Session::drain() {
    draining_ = true;
    const std::int32_t last = nghttp2_session_get_last_proc_stream_id(session_);
    require(nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, nullptr, 0));
}

bool Session::expire() {
    bool any = false;
    for (Stream* stream = streams_; stream != nullptr; stream = stream->older) {
        if (stream->deadline_ns > 0 && stream->deadline_ns <= clock_.now_ns && !stream->finished) {
            end_early(*stream);
            any = true;
        }
    }
    return any;
}

/// Notes that nghttp2 could not do something. Nothing may be thrown through its functions, from
/// where most of this is called: the connection ends when they have returned.
void Session::require(int result) {
    failed_ = failed_ || result != 0;
}

void Session::begin_stream(std::int32_t id) {
    auto* const stream = new Stream;
    stream->id = id;
    stream->older = streams_;
    if (streams_ != nullptr) {
        streams_->newer = stream;
    }
    streams_ = stream;
    opening_ = stream;
    require(nghttp2_session_set_stream_user_data(session_, id, stream));
    // Streams take turns; by default the first would have all of the connection (RFC 9218, 10).
    constexpr nghttp2_extpri kTurns{NGHTTP2_EXTPRI_DEFAULT_URGENCY, 1};
    require(nghttp2_session_change_extpri_stream_priority(session_, id, &kTurns, 1));
}

void Session::begin_call(Stream& stream) {
    const string_view http_status = stream.call.begin();
    if (http_status != "200") {
        const nghttp2_nv headers[]{field(":status", http_status)};
        require(nghttp2_submit_response(session_, stream.id, headers, std::size(headers), nullptr));
        stream.finished = true;
        return;
    }
    if (stream.call.timeout_ns() != Call::kNoTimeout) {
        stream.deadline_ns = clock_.now_ns + stream.call.timeout_ns();
        clock_.deadlines++;
    }
    answer(stream);
}

void Session::half_close(Stream& stream) {
    stream.call.half_close();
    answer(stream);
}

void Session::take_body(Stream& stream, const std::uint8_t* data, std::size_t size) {
    stream.call.take_body(data, size);
    stream.held_window += size;
    if (!stream.call.has_replies()) {
        give_back_window(stream);
    }
    answer(stream);
}

void Session::close_stream(Stream& stream) {
    require(nghttp2_session_consume_connection(session_, stream.held_window));
    clock_.deadlines -= stream.deadline_ns > 0;
    (stream.newer != nullptr ? stream.newer->older : streams_) = stream.older;
    if (stream.older != nullptr) {
        stream.older->newer = stream.newer;
    }
    delete &stream;
}

/// Lets nghttp2 know what there is to be sent now and was not before.
void Session::answer(Stream& stream) {
    const Status* const status = stream.call.status();
    if (stream.finished || (status == nullptr && !stream.call.has_replies())) {
        return;
    }
    if (stream.answered) {
        if (stream.deferred) {
            stream.deferred = false;
            require(nghttp2_session_resume_data(session_, stream.id));
        }
        return;
    }
    constexpr std::size_t kOwn = 2;
    nghttp2_nv headers[kOwn + kTrailers]{field(":status", "200"),
                                         field("content-type", "application/grpc")};
    if (status != nullptr && status != &kOk && !stream.call.has_replies()) {
        const std::size_t count = kOwn + put_trailers(*status, headers + kOwn);
        require(nghttp2_submit_response(session_, stream.id, headers, count, nullptr));
        stream.finished = true;
        return;
    }
    nghttp2_data_provider replies{{}, Callbacks::read_data};
    replies.source.ptr = &stream;
    require(nghttp2_submit_response(session_, stream.id, headers, kOwn, &replies));
    stream.answered = true;
}

ssize_t Session::make_data(Stream& stream, std::size_t room, std::uint32_t& flags) {
    flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    std::uint8_t* const payload = output_->room_for(kFrameHead + room + kOverrun) + kFrameHead;
    const std::size_t size = stream.call.make_replies(payload, room);
    if (stream.call.has_replies()) {
        return static_cast<ssize_t>(size);
    }
    give_back_window(stream);
    if (const Status* status = stream.call.status()) {
        nghttp2_nv trailers[kTrailers];
        const std::size_t count = put_trailers(*status, trailers);
        require(nghttp2_submit_trailer(session_, stream.id, trailers, count));
        stream.finished = true;
        flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    } else if (size == 0) {
        stream.deferred = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(size);
}

void Session::give_back_window(Stream& stream) {
    if (stream.held_window > 0) {
        require(nghttp2_session_consume(session_, stream.id, stream.held_window));
        stream.held_window = 0;
    }
}

/// Our side of the stream has ended. If the client's has not, it need not go on (RFC 9113, 8.1).
void Session::stop_requests(Stream& stream) {
    if (!stream.call.half_closed()) {
        constexpr auto kReason = NGHTTP2_NO_ERROR;
        require(nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, kReason));
    }
}

void Session::end_early(Stream& stream) {
    if (!stream.answered) {
        stream.call.fail(kDeadlineExceeded);
        answer(stream);
        return;
    }
    // Its replies may be held up by the client's window, and the trailers behind them.
    stream.finished = true;
    require(nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_CANCEL));
}
