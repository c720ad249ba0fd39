"""The four methods of benchmark.BenchmarkService."""

# ruff: noqa: N802 -- the names of the methods are gRPC's

from __future__ import annotations

import asyncio
import itertools
from typing import TypeVar

from benchmark_grpc import BenchmarkServiceBase
from benchmark_pb2 import StreamRequest, SumReply, SumRequest
from grpclib import GRPCError, Status
from grpclib.server import Stream

# Messages of a stream until others have their turn.
MESSAGES_A_TURN = 32

Request = TypeVar("Request", SumRequest, StreamRequest)


class BenchmarkService(BenchmarkServiceBase):
    async def GetSum(self, stream: Stream[SumRequest, SumReply]) -> None:
        request = await only_request(stream)
        await stream.send_message(sum_of(request))

    async def StreamSum(self, stream: Stream[StreamRequest, SumReply]) -> None:
        request = await only_request(stream)
        first = request.a + request.b
        for i in range(max(request.count, 1)):
            await stream.send_message(SumReply(result=int32(first + i)))
            await end_turn_after(i)

    async def CollectSum(self, stream: Stream[SumRequest, SumReply]) -> None:
        total = 0
        numbers = itertools.count()
        async for request in stream:
            total += request.a + request.b
            await end_turn_after(next(numbers))
        await stream.send_message(SumReply(result=int32(total)))

    async def EchoSum(self, stream: Stream[SumRequest, SumReply]) -> None:
        numbers = itertools.count()
        async for request in stream:
            await stream.send_message(sum_of(request))
            await end_turn_after(next(numbers))


async def end_turn_after(number: int) -> None:
    """Lets others run after every so many messages of a stream, which are numbered from 0.

    grpclib waits only when a window or a socket is full, or nothing has come. Until then nobody
    else would run, not even what notices that the call was cancelled.
    """
    if number % MESSAGES_A_TURN == MESSAGES_A_TURN - 1:
        await asyncio.sleep(0)


async def only_request(stream: Stream[Request, SumReply]) -> Request:
    request = await stream.recv_message()
    if request is None:
        raise GRPCError(Status.INVALID_ARGUMENT, "the request is missing")
    return request


def sum_of(request: SumRequest) -> SumReply:
    return SumReply(result=int32(request.a + request.b))


def int32(value: int) -> int:
    """Wraps `value` around like int32 addition; protobuf refuses what does not fit."""
    return ((value + 0x8000_0000) & 0xFFFF_FFFF) - 0x8000_0000
