"""The four methods of benchmark.BenchmarkService."""

# ruff: noqa: N802 -- the names of the methods are gRPC's

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator

import anyio.lowlevel
from benchmark_grpc import BenchmarkServiceServicer
from benchmark_pb2 import StreamRequest, SumReply, SumRequest

# Messages of a stream until others have their turn.
MESSAGES_A_TURN = 32


class BenchmarkService(BenchmarkServiceServicer):
    async def GetSum(self, input_message: SumRequest) -> SumReply:
        return SumReply(result=int32(input_message.a + input_message.b))

    async def StreamSum(self, input_message: StreamRequest) -> AsyncIterator[SumReply]:
        first = input_message.a + input_message.b
        for i in range(max(input_message.count, 1)):
            yield SumReply(result=int32(first + i))
            await end_turn_after(i)

    async def CollectSum(self, input_messages: AsyncIterator[SumRequest]) -> SumReply:
        total = 0
        numbers = itertools.count()
        async for message in input_messages:
            total += message.a + message.b
            await end_turn_after(next(numbers))
        return SumReply(result=int32(total))

    async def EchoSum(self, input_messages: AsyncIterator[SumRequest]) -> AsyncIterator[SumReply]:
        numbers = itertools.count()
        async for message in input_messages:
            yield SumReply(result=int32(message.a + message.b))
            await end_turn_after(next(numbers))


async def end_turn_after(number: int) -> None:
    """Lets others run after every so many messages of a stream, which are numbered from 0.

    purerpc waits only when a window is full, or nothing has come. Until then nobody else would
    run, not even what writes to the socket.
    """
    if number % MESSAGES_A_TURN == MESSAGES_A_TURN - 1:
        await anyio.lowlevel.checkpoint()


def int32(value: int) -> int:
    """Wraps `value` around like int32 addition; protobuf refuses what does not fit."""
    return ((value + 0x8000_0000) & 0xFFFF_FFFF) - 0x8000_0000
