#pragma once

#include <grpcpp/grpcpp.h>

#include "benchmark.grpc.pb.h"

/// Serves the calls of one completion queue until the server has shut down and they are over.
void serve(benchmark::BenchmarkService::AsyncService& service, grpc::ServerCompletionQueue& queue);
