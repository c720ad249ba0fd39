#pragma once

#include "benchmark.grpc.pb.h"

/// benchmark.BenchmarkService on gRPC's callback API: each call is a reactor that the library's
/// threads run; none of them ever waits.
class BenchmarkService final : public benchmark::BenchmarkService::CallbackService {
    grpc::ServerUnaryReactor* GetSum(grpc::CallbackServerContext* context,
                                     const benchmark::SumRequest* request,
                                     benchmark::SumReply* reply) override;

    grpc::ServerWriteReactor<benchmark::SumReply>* StreamSum(
        grpc::CallbackServerContext* context, const benchmark::StreamRequest* request) override;

    grpc::ServerReadReactor<benchmark::SumRequest>* CollectSum(
        grpc::CallbackServerContext* context, benchmark::SumReply* reply) override;

    grpc::ServerBidiReactor<benchmark::SumRequest, benchmark::SumReply>* EchoSum(
        grpc::CallbackServerContext* context) override;
};
