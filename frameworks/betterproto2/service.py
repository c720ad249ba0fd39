"""The four methods of benchmark.BenchmarkService."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator

from gen.benchmark import BenchmarkServiceBase, StreamRequest, SumReply, SumRequest

# Messages of a stream until others have their turn.
MESSAGES_A_TURN = 32


class BenchmarkService(BenchmarkServiceBase):
    async def get_sum(self, message: SumRequest) -> SumReply:
        return SumReply(result=int32(message.a + message.b))

    async def stream_sum(self, message: StreamRequest) -> AsyncIterator[SumReply]:
        first = message.a + message.b
        for i in range(max(message.count, 1)):
            yield SumReply(result=int32(first + i))
            await end_turn_after(i)

    async def collect_sum(self, messages: AsyncIterator[SumRequest]) -> SumReply:
        total = 0
        numbers = itertools.count()
        async for message in messages:
            total += message.a + message.b
            await end_turn_after(next(numbers))
        return SumReply(result=int32(total))

    async def echo_sum(self, messages: AsyncIterator[SumRequest]) -> AsyncIterator[SumReply]:
        numbers = itertools.count()
        async for message in messages:
            yield SumReply(result=int32(message.a + message.b))
            await end_turn_after(next(numbers))


async def end_turn_after(number: int) -> None:
    """Lets others run after every so many messages of a stream, which are numbered from 0.

    grpclib waits only when a window or a socket is full, or nothing has come. Until then nobody
    else would run, not even what notices that the call was cancelled.
    """
    if number % MESSAGES_A_TURN == MESSAGES_A_TURN - 1:
        await asyncio.sleep(0)


def int32(value: int) -> int:
    """Wraps `value` around like int32 addition."""
    return ((value + 0x8000_0000) & 0xFFFF_FFFF) - 0x8000_0000
