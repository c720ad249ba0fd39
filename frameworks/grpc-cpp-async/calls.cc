#include "calls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

using benchmark::StreamRequest;
using benchmark::SumReply;
using benchmark::SumRequest;
using grpc::Status;

namespace {

/// What the calls of one queue share. Only its thread touches it, so there is no lock.
struct Lane {
    benchmark::BenchmarkService::AsyncService& service;
    grpc::ServerCompletionQueue* queue;
    std::size_t calls = 0;
};

/// One call, from the wait for it to its status. It is the tag of its only pending operation, and
/// deletes itself when none follows.
class Call {
public:
    explicit Call(Lane& lane) : lane_(lane) { lane_.calls++; }
    virtual ~Call() { lane_.calls--; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    /// Takes the result of the pending operation, as the queue has it, and starts the next one.
    void proceed(bool ok) {
        if (state_ == State::open) {
            go_on(ok);
        } else if (state_ == State::waiting && ok) {
            state_ = State::open;
            wait_for_another();
            begin();
        } else {
            delete this;  // it is done, or the server shuts down and no call will come
        }
    }

protected:
    /// Waits for another call of the same method.
    virtual void wait_for_another() = 0;

    /// Starts the first operation, now that the call has come.
    virtual void begin() = 0;

    /// Starts the next operation. A call whose first operation is its last has none.
    virtual void go_on(bool /*ok*/) {}

    /// Returns the tag of the operation after which there is nothing left to do.
    void* last() {
        state_ = State::ending;
        return this;
    }

    Lane& lane_;
    grpc::ServerContext context_;

private:
    enum class State { waiting, open, ending };

    State state_ = State::waiting;
};

/// Adds like int32 does in the .proto: wrapping around, which is undefined for C++'s int.
std::int32_t wrapping_sum(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

std::int32_t sum_of(const SumRequest& request) {
    return wrapping_sum(request.a(), request.b());
}

class GetSumCall final : public Call {
public:
    explicit GetSumCall(Lane& lane) : Call(lane) {
        lane.service.RequestGetSum(&context_, &request_, &responder_, lane.queue, lane.queue, this);
    }

private:
    void wait_for_another() override { new GetSumCall(lane_); }

    void begin() override {
        SumReply reply;
        reply.set_result(sum_of(request_));
        responder_.Finish(reply, Status::OK, last());
    }

    SumRequest request_;
    grpc::ServerAsyncResponseWriter<SumReply> responder_{&context_};
};

/// The next reply is written when the one before has left for the transport, which holds it back
/// while the client's window is closed.
class StreamSumCall final : public Call {
public:
    explicit StreamSumCall(Lane& lane) : Call(lane) {
        lane.service.RequestStreamSum(&context_, &request_, &writer_, lane.queue, lane.queue, this);
    }

private:
    void wait_for_another() override { new StreamSumCall(lane_); }

    void begin() override {
        first_ = wrapping_sum(request_.a(), request_.b());
        count_ = std::max(request_.count(), 1);
        write_next();
    }

    void go_on(bool ok) override {
        if (ok) {
            write_next();
        } else {
            writer_.Finish(Status::CANCELLED, last());
        }
    }

    void write_next() {
        const std::int32_t i = written_++;
        SumReply reply;
        reply.set_result(wrapping_sum(first_, i));
        // The headers leave with the first reply; those after it need not leave one by one.
        grpc::WriteOptions options;
        if (written_ == count_) {
            writer_.WriteAndFinish(reply, options, Status::OK, last());
        } else {
            writer_.Write(reply, i == 0 ? options : options.set_buffer_hint(), this);
        }
    }

    StreamRequest request_;
    grpc::ServerAsyncWriter<SumReply> writer_{&context_};
    std::int32_t first_ = 0;
    std::int32_t count_ = 0;
    std::int32_t written_ = 0;
};

class CollectSumCall final : public Call {
public:
    explicit CollectSumCall(Lane& lane) : Call(lane) {
        lane.service.RequestCollectSum(&context_, &reader_, lane.queue, lane.queue, this);
    }

private:
    void wait_for_another() override { new CollectSumCall(lane_); }

    void begin() override { reader_.Read(&request_, this); }

    void go_on(bool ok) override {
        if (!ok) {
            reader_.Finish(reply_, Status::OK, last());
            return;
        }
        reply_.set_result(wrapping_sum(reply_.result(), sum_of(request_)));
        reader_.Read(&request_, this);
    }

    SumRequest request_;
    SumReply reply_;
    grpc::ServerAsyncReader<SumReply, SumRequest> reader_{&context_};
};

/// Reads the next request only when the reply to the one before is written.
class EchoSumCall final : public Call {
public:
    explicit EchoSumCall(Lane& lane) : Call(lane) {
        lane.service.RequestEchoSum(&context_, &stream_, lane.queue, lane.queue, this);
    }

private:
    void wait_for_another() override { new EchoSumCall(lane_); }

    void begin() override { stream_.Read(&request_, this); }

    void go_on(bool ok) override {
        if (!ok) {
            // A read fails where the requests end, a write where the client has gone.
            stream_.Finish(reading_ ? Status::OK : Status::CANCELLED, last());
        } else if (reading_) {
            reading_ = false;
            SumReply reply;
            reply.set_result(sum_of(request_));
            stream_.Write(reply, this);
        } else {
            reading_ = true;
            stream_.Read(&request_, this);
        }
    }

    SumRequest request_;
    grpc::ServerAsyncReaderWriter<SumReply, SumRequest> stream_{&context_};
    bool reading_ = true;
};

}  // namespace

void serve(benchmark::BenchmarkService::AsyncService& service, grpc::ServerCompletionQueue& queue) {
    Lane lane{service, &queue};
    new GetSumCall(lane);
    new StreamSumCall(lane);
    new CollectSumCall(lane);
    new EchoSumCall(lane);
    void* tag = nullptr;
    bool ok = false;
    while (lane.calls > 0 && queue.Next(&tag, &ok)) {
        static_cast<Call*>(tag)->proceed(ok);
    }
    queue.Shutdown();
    while (queue.Next(&tag, &ok)) {
    }
}
