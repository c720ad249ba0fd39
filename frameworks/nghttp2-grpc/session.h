#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>

#include "call.h"
#include "clock.h"
#include "output.h"

/// The server's side of one HTTP/2 connection and the calls on it, without a socket: bytes in,
/// bytes out.
class Session {
public:
    explicit Session(Clock& clock);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Takes what the client sent; false if nothing more can be made of it.
    bool receive(const std::uint8_t* data, std::size_t size);

    /// Adds what there is to send, until `output` is full; false if the session has failed.
    bool produce(Output& output);

    /// Whether the session is over: all is sent, and nothing more will be read.
    bool over() const;

    /// Whether so much is waiting to be sent that no more should be received.
    bool crowded() const;

    /// Takes no more calls; those that are open may end.
    void drain();

    /// Ends the calls whose deadline has passed; returns whether there is any.
    bool expire();

private:
    struct Stream;
    struct Callbacks;
    friend struct Callbacks;

    void require(int result);
    void begin_stream(std::int32_t id);
    void begin_call(Stream& stream);
    void half_close(Stream& stream);
    void take_body(Stream& stream, const std::uint8_t* data, std::size_t size);
    void close_stream(Stream& stream);
    void answer(Stream& stream);
    void end_early(Stream& stream);
    void stop_requests(Stream& stream);
    ssize_t make_data(Stream& stream, std::size_t room, std::uint32_t& flags);
    void give_back_window(Stream& stream);

    Clock& clock_;
    nghttp2_session* session_ = nullptr;
    Output* output_ = nullptr;   // while producing
    Stream* opening_ = nullptr;  // whose headers are being received
    Stream* streams_ = nullptr;  // all that are open, newest first
    bool draining_ = false;
    bool failed_ = false;
};
