"""The four calls of benchmark.BenchmarkService."""

# ruff: noqa: ARG002, N802 -- the names and parameters of a handler are gRPC's

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, TypeAlias

import grpc
from benchmark_pb2 import StreamRequest, SumReply, SumRequest
from benchmark_pb2_grpc import BenchmarkServiceServicer

Context: TypeAlias = grpc.aio.ServicerContext[Any, SumReply]


class BenchmarkService(BenchmarkServiceServicer):
    async def GetSum(self, request: SumRequest, context: Context) -> SumReply:
        return SumReply(result=int32(request.a + request.b))

    async def StreamSum(self, request: StreamRequest, context: Context) -> AsyncIterator[SumReply]:
        first = request.a + request.b
        for i in range(max(request.count, 1)):
            yield SumReply(result=int32(first + i))

    async def CollectSum(
        self, request_iterator: AsyncIterator[SumRequest], context: Context
    ) -> SumReply:
        total = 0
        async for request in request_iterator:
            total += request.a + request.b
        return SumReply(result=int32(total))

    async def EchoSum(
        self, request_iterator: AsyncIterator[SumRequest], context: Context
    ) -> AsyncIterator[SumReply]:
        async for request in request_iterator:
            yield SumReply(result=int32(request.a + request.b))


def int32(value: int) -> int:
    """Wraps `value` around like int32 addition; protobuf refuses what does not fit."""
    return ((value + 0x8000_0000) & 0xFFFF_FFFF) - 0x8000_0000
