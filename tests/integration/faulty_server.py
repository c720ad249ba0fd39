"""A gRPC server with the one fault that its argument names.

wrong-sum       GetSum is one too high
one-short       StreamSum leaves out the last reply of a long stream
error-at-end    StreamSum sends everything, then ends with an error status
garbage         GetSum's reply is no SumReply
tired           StreamSum ends with an error as soon as there is load, and ever after
worn            GetSum is one too high as soon as there was load
collapsing      the first GetSum after the load has begun ends the server with exit code 7
deaf            no fault, but it does not end on SIGTERM
counts FILE     no fault: writes to FILE how many messages it sent to those who asked StreamSum
                for a=1 and b=2, as the load does, when told to stop

There is load when a request is asked again before its last answer is complete: the contract
asks with other operands each time, and for the profile's own request once.
"""

import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]

from arena.what.benchmark_pb2 import StreamRequest, SumReply, SumRequest

_LONG = 1000


def reply(value: int) -> bytes:
    """Return a SumReply; sums wrap around."""
    return SumReply(result=(value + 2**31) % 2**32 - 2**31).SerializeToString()


class Service:
    """The two calls that are measured and checked."""

    def __init__(self, fault: str) -> None:
        self._fault = fault
        self._lock = threading.Lock()
        self._open: Counter[tuple[int, int, int]] = Counter()
        self._loaded = False
        self.sent = 0

    def get_sum(self, request: SumRequest, _context: Any) -> bytes:
        if self._fault == "garbage":
            return b"\xff"
        if self._fault == "collapsing" and self._loaded:
            os._exit(7)
        wrong = self._fault == "wrong-sum" or (self._fault == "worn" and self._loaded)
        return reply(request.a + request.b + wrong)

    def stream_sum(self, request: StreamRequest, context: Any) -> Iterator[bytes]:
        key = (request.a, request.b, request.count)
        with self._lock:
            self._loaded |= self._open[key] > 0
            self._open[key] += 1
        try:
            if self._fault == "tired" and self._loaded:
                context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "tired")
            for index in self._indexes(request.count):
                if key[:2] == (1, 2):
                    with self._lock:
                        self.sent += 1
                yield reply(request.a + request.b + index)
            if self._fault == "error-at-end":
                context.abort(grpc.StatusCode.INTERNAL, "broken on purpose")
        finally:
            with self._lock:
                self._open[key] -= 1

    def _indexes(self, count: int) -> range:
        short = self._fault == "one-short" and count > _LONG
        return range(max(count, 1) - short)


def main() -> None:
    service = Service(sys.argv[1])
    handlers = {
        "GetSum": grpc.unary_unary_rpc_method_handler(service.get_sum, SumRequest.FromString),
        "StreamSum": grpc.unary_stream_rpc_method_handler(
            service.stream_sum, StreamRequest.FromString
        ),
    }
    # A signal must find its handler, whenever it comes.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    server = grpc.server(ThreadPoolExecutor(16))
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler("benchmark.BenchmarkService", handlers)]
    )
    server.add_insecure_port("[::]:8080")
    server.start()
    signal.sigwait({signal.SIGTERM})
    while sys.argv[1] == "deaf":
        signal.pause()
    server.stop(grace=1).wait()
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(str(service.sent))


if __name__ == "__main__":
    main()
