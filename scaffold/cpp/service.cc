// The four calls, left to fill in: the base class answers that they are not implemented.
// requests/benchmark.proto says what each returns. Sums wrap around: add as std::uint32_t, for
// overflow of a signed integer is undefined.

#include "service.h"

using benchmark::StreamRequest;
using benchmark::SumReply;
using benchmark::SumRequest;
using grpc::CallbackServerContext;
using NotImplemented = benchmark::BenchmarkService::CallbackService;

// TODO: set the reply's result to a + b, and finish the context's DefaultReactor().
grpc::ServerUnaryReactor* BenchmarkService::GetSum(CallbackServerContext* context,
                                                   const SumRequest* request, SumReply* reply) {
    return NotImplemented::GetSum(context, request, reply);
}

// TODO: a reactor that writes count replies, but at least one; the i-th, from 0, is a + b + i.
// Start each write when the one before is done: that is held back while the client's window is
// closed.
grpc::ServerWriteReactor<SumReply>* BenchmarkService::StreamSum(CallbackServerContext* context,
                                                                const StreamRequest* request) {
    return NotImplemented::StreamSum(context, request);
}

// TODO: a reactor that reads to the end, and sets the reply's result to the sum of every a and b.
grpc::ServerReadReactor<SumRequest>* BenchmarkService::CollectSum(CallbackServerContext* context,
                                                                  SumReply* reply) {
    return NotImplemented::CollectSum(context, reply);
}

// TODO: a reactor that writes the a + b of each request before it reads the next.
grpc::ServerBidiReactor<SumRequest, SumReply>* BenchmarkService::EchoSum(
    CallbackServerContext* context) {
    return NotImplemented::EchoSum(context);
}
