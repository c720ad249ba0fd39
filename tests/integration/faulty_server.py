"""A gRPC server with the one fault that its argument names.

wrong-sum       GetSum is one too high
wrong-order     StreamSum sends its replies backwards
one-short       StreamSum leaves out the last reply of a long stream
none-for-zero   StreamSum answers a count of zero with nothing
error-at-end    StreamSum sends everything, then ends with an error status
garbage         GetSum's reply is no SumReply
tired           StreamSum is right as often as the contract asks, then an error
counts FILE     no fault: writes to FILE how many messages StreamSum sent when told to stop
"""

import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]

from arena.benchmark_pb2 import StreamRequest, SumReply, SumRequest
from arena.contract import STREAM_COUNTS

_LONG = 1000

# The contract's own counts, and the profile's request.
_CONTRACT_STREAMS = len(STREAM_COUNTS) + 1


class Service:
    """The two calls that are measured and checked."""

    def __init__(self, fault: str) -> None:
        self._fault = fault
        self._lock = threading.Lock()
        self._calls = 0
        self.sent = 0

    def get_sum(self, request: SumRequest, _context: Any) -> bytes:
        if self._fault == "garbage":
            return b"\xff"
        wrong = 1 if self._fault == "wrong-sum" else 0
        return SumReply(result=request.a + request.b + wrong).SerializeToString()

    def stream_sum(self, request: StreamRequest, context: Any) -> Iterator[bytes]:
        with self._lock:
            self._calls += 1
        if self._fault == "tired" and self._calls > _CONTRACT_STREAMS:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "tired")
        for index in self._indexes(request.count):
            with self._lock:
                self.sent += 1
            yield SumReply(result=request.a + request.b + index).SerializeToString()
        if self._fault == "error-at-end":
            context.abort(grpc.StatusCode.INTERNAL, "broken on purpose")

    def _indexes(self, count: int) -> list[int]:
        if self._fault == "none-for-zero" and count < 1:
            return []
        indexes = list(range(max(count, 1)))
        if self._fault == "wrong-order":
            indexes.reverse()
        if self._fault == "one-short" and count > _LONG:
            indexes.pop()
        return indexes


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
    server.stop(grace=1).wait()
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(str(service.sent))


if __name__ == "__main__":
    main()
