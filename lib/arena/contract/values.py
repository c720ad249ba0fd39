"""Whether the replies are right: their number, order, values and form."""

from collections.abc import Sequence

from arena.contract import asks
from arena.contract.client import Client
from arena.contract.expected import (
    INT32_MAX,
    INT32_MIN,
    int32,
    require,
    stream_request,
    sum_request,
    sums_of,
)
from arena.contract.messages import WrongError, named
from arena.contract.scope import Scope
from arena.contract.wire import Answer
from arena.what.benchmark_pb2 import StreamRequest, SumRequest

TIMEOUT_S = 20.0
_LONGEST_REPLY = 11  # a tag and the longest varint

_EXTREMES = (
    (0, 0), (1, -1), (-1, -1), (INT32_MAX, 0), (INT32_MIN, 0), (INT32_MAX, INT32_MIN),
    (INT32_MIN, INT32_MAX), (INT32_MIN + 1, -1), (INT32_MAX - 1, 1),
)  # fmt: skip
_OVERFLOWS = ((INT32_MAX, 1), (INT32_MAX, INT32_MAX), (INT32_MIN, -1), (INT32_MIN, INT32_MIN))


def finish(client: Client, answer: Answer, expected: Sequence[int]) -> Answer:
    """Wait until a call is over; its answer must match exactly."""
    client.finish(answer)
    require(answer, expected)
    return answer


def get_sum(client: Client, request: SumRequest | None = None) -> Answer:
    """Make one call of GetSum, with random operands by default; the reply must be right."""
    request = request or sum_request()
    return finish(client, client.call("GetSum", request), sums_of(request))


def own_calls(scope: Scope) -> None:
    """Make the call of each profile with a .proto of its own, exactly as its load makes it."""
    for profile in scope.own:
        with named(profile.call), Client(scope, TIMEOUT_S) as client:
            asks.make(client, asks.own(profile))


def unary_sum(scope: Scope) -> None:
    """Call GetSum with random operands, with small and negative ones, and without operands."""
    with Client(scope, TIMEOUT_S) as client:
        some = sum_request()
        for request in (
            *(sum_request() for _ in range(3)),
            SumRequest(a=-3, b=2),
            SumRequest(a=some.a),
            SumRequest(b=some.b),
            SumRequest(),
        ):
            get_sum(client, request)


def unary_extremes(scope: Scope) -> str:
    """Call GetSum at the limits of int32; return what is odd beyond them."""
    with Client(scope, TIMEOUT_S) as client:
        for a, b in _EXTREMES:
            _saying(client, a, b)
        for a, b in _OVERFLOWS:
            try:
                _saying(client, a, b)
            except WrongError as error:
                # Another value, or a refusal, is odd; anything that breaks later calls is wrong.
                get_sum(client)
                return f"sums do not wrap around: {error.detail}"
    return ""


def _saying(client: Client, a: int, b: int) -> None:
    with named(f"{a} + {b} = {int32(a + b)}"):
        get_sum(client, SumRequest(a=a, b=b))


def stream(scope: Scope, request: StreamRequest, window: int | None = None) -> Answer:
    """Call StreamSum: exactly the expected replies, in order, and status OK."""
    with Client(scope, TIMEOUT_S, window=window) as client:
        return finish_stream(client, client.call("StreamSum", request), request)


def finish_stream(client: Client, answer: Answer, request: StreamRequest) -> Answer:
    """Wait for the rest of a stream, or for one reply too many; all of it must be right."""
    most = max(request.count, 1)
    client.wait(lambda: answer.over or len(answer.messages) > most)
    if not answer.over:
        raise WrongError(f"there are more than {most} replies")
    return finish(client, answer, sums_of(request))


def framing(scope: Scope) -> None:
    """Check the form: each reply is one message in DATA; the trailers come last."""
    with Client(scope, TIMEOUT_S) as client:
        is_sum = "GetSum" in scope.calls
        _require_framing(asks.make(client, asks.usual(scope)), is_sum=is_sum)
        if "StreamSum" in scope.calls:
            streamed = client.call("StreamSum", stream_request(10))
            client.finish(streamed)
            _require_framing(streamed, is_sum=True)


def _require_framing(answer: Answer, *, is_sum: bool) -> None:
    headers = answer.headers or {}
    if answer.trailers is None:
        raise WrongError("the answer has no trailers of its own")
    if "grpc-status" in headers:
        raise WrongError("grpc-status is in the headers, before the replies")
    if odd := [name for name in answer.trailers if name.startswith(":")]:
        raise WrongError(f"the trailers have a pseudo-header, {odd[0]:.20}")
    if not is_sum:
        return
    for message in answer.messages:
        if len(message) > _LONGEST_REPLY:
            raise WrongError(f"{len(message)} bytes are too long for a SumReply", message)
