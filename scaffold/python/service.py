"""The four calls of benchmark.BenchmarkService, left to fill in.

requests/benchmark.proto says what each returns. int32() makes a sum wrap around as it asks.
"""

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
        # TODO: one reply, a + b.
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "GetSum is left to fill in")

    async def StreamSum(self, request: StreamRequest, context: Context) -> AsyncIterator[SumReply]:
        # TODO: count replies, but at least one; the i-th, from 0, is a + b + i.
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "StreamSum is left to fill in")
        yield SumReply()

    async def CollectSum(
        self, request_iterator: AsyncIterator[SumRequest], context: Context
    ) -> SumReply:
        # TODO: one reply when the requests have ended: the sum of every a and b.
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "CollectSum is left to fill in")

    async def EchoSum(
        self, request_iterator: AsyncIterator[SumRequest], context: Context
    ) -> AsyncIterator[SumReply]:
        # TODO: answer each request with its a + b before the next is awaited.
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "EchoSum is left to fill in")
        yield SumReply()


def int32(value: int) -> int:
    """Wraps `value` around like int32 addition; protobuf refuses what does not fit."""
    return ((value + 0x8000_0000) & 0xFFFF_FFFF) - 0x8000_0000
