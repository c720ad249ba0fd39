#include "service.h"

#include <algorithm>
#include <cstdint>

using benchmark::StreamRequest;
using benchmark::SumReply;
using benchmark::SumRequest;
using grpc::CallbackServerContext;
using grpc::Status;

namespace {

/// Adds like int32 does in the .proto: wrapping around, which is undefined for C++'s int.
std::int32_t wrapping_sum(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

std::int32_t sum_of(const SumRequest& request) {
    return wrapping_sum(request.a(), request.b());
}

/// The next reply is written when the one before has left for the transport, which holds it back
/// while the client's window is closed.
class StreamSumReactor final : public grpc::ServerWriteReactor<SumReply> {
public:
    explicit StreamSumReactor(const StreamRequest& request)
        : first_(wrapping_sum(request.a(), request.b())), count_(std::max(request.count(), 1)) {
        write_next();
    }

    void OnWriteDone(bool ok) override {
        if (ok) {
            write_next();
        } else {
            Finish(Status::CANCELLED);
        }
    }

    void OnDone() override { delete this; }

private:
    void write_next() {
        const std::int32_t i = written_++;
        reply_.set_result(wrapping_sum(first_, i));
        if (written_ < count_) {
            // The headers leave with the first reply; those after it need not leave one by one.
            grpc::WriteOptions options;
            StartWrite(&reply_, i == 0 ? options : options.set_buffer_hint());
        } else {
            StartWriteAndFinish(&reply_, {}, Status::OK);
        }
    }

    const std::int32_t first_;
    const std::int32_t count_;
    std::int32_t written_ = 0;
    SumReply reply_;
};

class CollectSumReactor final : public grpc::ServerReadReactor<SumRequest> {
public:
    explicit CollectSumReactor(SumReply& reply) : reply_(reply) { StartRead(&request_); }

    void OnReadDone(bool ok) override {
        if (!ok) {
            Finish(Status::OK);
            return;
        }
        reply_.set_result(wrapping_sum(reply_.result(), sum_of(request_)));
        StartRead(&request_);
    }

    void OnDone() override { delete this; }

private:
    SumReply& reply_;
    SumRequest request_;
};

/// Reads the next request only when the reply to the one before is written.
class EchoSumReactor final : public grpc::ServerBidiReactor<SumRequest, SumReply> {
public:
    EchoSumReactor() { StartRead(&request_); }

    void OnReadDone(bool ok) override {
        if (!ok) {
            Finish(Status::OK);
            return;
        }
        reply_.set_result(sum_of(request_));
        StartWrite(&reply_);
    }

    void OnWriteDone(bool ok) override {
        if (ok) {
            StartRead(&request_);
        } else {
            Finish(Status::CANCELLED);
        }
    }

    void OnDone() override { delete this; }

private:
    SumRequest request_;
    SumReply reply_;
};

}  // namespace

grpc::ServerUnaryReactor* BenchmarkService::GetSum(CallbackServerContext* context,
                                                   const SumRequest* request, SumReply* reply) {
    reply->set_result(sum_of(*request));
    auto* reactor = context->DefaultReactor();
    reactor->Finish(Status::OK);
    return reactor;
}

grpc::ServerWriteReactor<SumReply>* BenchmarkService::StreamSum(CallbackServerContext*,
                                                                const StreamRequest* request) {
    return new StreamSumReactor(*request);
}

grpc::ServerReadReactor<SumRequest>* BenchmarkService::CollectSum(CallbackServerContext*,
                                                                  SumReply* reply) {
    return new CollectSumReactor(*reply);
}

grpc::ServerBidiReactor<SumRequest, SumReply>* BenchmarkService::EchoSum(CallbackServerContext*) {
    return new EchoSumReactor;
}
