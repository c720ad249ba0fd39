"""The four calls of benchmark.BenchmarkService, each on a thread of the pool."""

# ruff: noqa: ARG002, N802 -- the names and parameters of a handler are gRPC's

from __future__ import annotations

from collections.abc import Iterator

import grpc
from benchmark_pb2 import StreamRequest, SumReply, SumRequest
from benchmark_pb2_grpc import BenchmarkServiceServicer


class BenchmarkService(BenchmarkServiceServicer):
    def GetSum(self, request: SumRequest, context: grpc.ServicerContext) -> SumReply:
        return SumReply(result=int32(request.a + request.b))

    def StreamSum(
        self, request: StreamRequest, context: grpc.ServicerContext
    ) -> Iterator[SumReply]:
        first = request.a + request.b
        for i in range(max(request.count, 1)):
            yield SumReply(result=int32(first + i))

    def CollectSum(
        self, request_iterator: Iterator[SumRequest], context: grpc.ServicerContext
    ) -> SumReply:
        total = sum(request.a + request.b for request in request_iterator)
        return SumReply(result=int32(total))

    def EchoSum(
        self, request_iterator: Iterator[SumRequest], context: grpc.ServicerContext
    ) -> Iterator[SumReply]:
        for request in request_iterator:
            yield SumReply(result=int32(request.a + request.b))


def int32(value: int) -> int:
    """Wraps `value` around like int32 addition; protobuf refuses what does not fit."""
    return ((value + 0x8000_0000) & 0xFFFF_FFFF) - 0x8000_0000
