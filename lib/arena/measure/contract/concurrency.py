"""Whether it answers many calls at once."""

from contextlib import ExitStack

from arena.measure.contract.client import Client
from arena.measure.contract.expected import require, stream_request, sum_of, sum_request, sums_of
from arena.measure.contract.messages import named
from arena.measure.contract.scope import Scope
from arena.measure.contract.values import TIMEOUT_S
from arena.measure.contract.wire import Answer
from arena.what.benchmark_pb2 import StreamRequest, SumRequest

_STREAMS = 4
_REPLIES = 1000
CONNECTIONS = 64
_FEW_REPLIES = 50

_Asked = tuple[SumRequest | StreamRequest, Answer]


def streams(scope: Scope) -> str:
    """Make four calls at a time on one connection; return what is odd if that is too many."""
    with Client(scope, TIMEOUT_S) as client:
        client.wait(lambda: client.wire.greeted)
        most = client.wire.most_streams
        if most is not None and most < _STREAMS:
            return f"no more than {most} of {_STREAMS} calls are allowed at a time on a connection"
        asked = [_ask(scope, client, _REPLIES) for _ in range(_STREAMS)]
        client.finish(*(answer for _, answer in asked))
        for number, each in enumerate(asked, 1):
            with named(f"stream {number} of {_STREAMS}"):
                _require_right(each)
    return ""


def connections(scope: Scope) -> None:
    """Make a call on each of 64 connections, all open before the first answer is read."""
    with ExitStack() as stack:
        clients = [stack.enter_context(Client(scope, TIMEOUT_S)) for _ in range(CONNECTIONS)]
        asked = []
        for client in clients:
            asked.append(_ask(scope, client, _FEW_REPLIES))
            client.flush()
        for number, (client, each) in enumerate(zip(clients, asked, strict=True), 1):
            with named(f"connection {number} of {CONNECTIONS}"):
                client.finish(each[1])
                _require_right(each)


def _ask(scope: Scope, client: Client, replies: int) -> _Asked:
    if "StreamSum" in scope.calls:
        many = stream_request(replies)
        return many, client.call("StreamSum", many)
    one = sum_request()
    return one, client.call("GetSum", one)


def _require_right(asked: _Asked) -> None:
    request, answer = asked
    expected = sums_of(request) if isinstance(request, StreamRequest) else [sum_of(request)]
    require(answer, expected)
