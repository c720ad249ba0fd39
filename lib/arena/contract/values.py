"""Whether the replies are right: their number, order, values and form, and their time."""

from collections.abc import Sequence

from arena.contract import asks
from arena.contract.client import Client, HangError
from arena.contract.messages import WrongError, named
from arena.contract.scope import Scope
from arena.contract.wire import Answer
from arena.what.benchmark_pb2 import StreamRequest, SumRequest

TIMEOUT_S = 20.0
_LONGEST_REPLY = 11  # a tag and the longest varint
_REQUESTS = 100
_ROUNDS = 10
_QUIET_S = 0.05  # a reply that comes too early would have arrived by then

_LEAST, _MOST = asks.INT32_MIN, asks.INT32_MAX
_EXTREMES = (
    (0, 0), (1, -1), (-1, -1), (_MOST, 0), (_LEAST, 0), (_MOST, _LEAST), (_LEAST, _MOST),
    (_LEAST + 1, -1), (_MOST - 1, 1),
)  # fmt: skip
_OVERFLOWS = ((_MOST, 1), (_MOST, _MOST), (_LEAST, -1), (_LEAST, _LEAST))


def own_calls(scope: Scope) -> None:
    """Make the call of each profile with a .proto of its own, exactly as its load makes it."""
    for profile in scope.own:
        with named(profile.call), Client(scope, TIMEOUT_S) as client:
            asks.make(client, asks.own(profile))


def unary_sum(scope: Scope) -> None:
    """Call GetSum with random operands, with small and negative ones, and without operands."""
    with Client(scope, TIMEOUT_S) as client:
        some = asks.sum_request()
        for request in (
            *(asks.sum_request() for _ in range(3)),
            SumRequest(a=-3, b=2),
            SumRequest(a=some.a),
            SumRequest(b=some.b),
            SumRequest(),
        ):
            _get_sum(client, request)


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
                _get_sum(client, asks.sum_request())
                return f"sums do not wrap around: {error.detail}"
    return ""


def _saying(client: Client, a: int, b: int) -> None:
    with named(f"{a} + {b} = {asks.int32(a + b)}"):
        _get_sum(client, SumRequest(a=a, b=b))


def _get_sum(client: Client, request: SumRequest) -> None:
    """Make one call of GetSum; the reply must be right."""
    _finish(client, client.call("GetSum", request), asks.sums_of(request))


def stream(scope: Scope, request: StreamRequest, window: int | None = None) -> Answer:
    """Call StreamSum: exactly the expected replies, in order, and status OK."""
    with Client(scope, TIMEOUT_S, window=window) as client:
        return asks.make(client, asks.sum_of("StreamSum", request))


def framing(scope: Scope) -> None:
    """Check the form: each reply is one message in DATA; the trailers come last."""
    with Client(scope, TIMEOUT_S) as client:
        is_sum = "GetSum" in scope.calls
        _require_framing(asks.make(client, asks.usual(scope)), is_sum=is_sum)
        if "StreamSum" in scope.calls:
            streamed = client.call("StreamSum", asks.stream_request(10))
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


def collect_sum(scope: Scope) -> None:
    """Call CollectSum: no reply before the half-close, then one, the sum of all."""
    requests = [asks.sum_request() for _ in range(_REQUESTS)]
    with Client(scope, TIMEOUT_S) as client:
        answer = client.call("CollectSum", *requests[:-1], end=False)
        client.until_quiet(_QUIET_S)
        asks.require_ok(answer)
        if answer.messages or answer.over:
            raise WrongError("the answer comes before the client has ended its requests")
        client.send(answer, requests[-1], end=True)
        _finish(client, answer, [asks.int32(sum(each.a + each.b for each in requests))])


def echo_sum(scope: Scope) -> None:
    """Call EchoSum: each request is answered before the next is sent."""
    requests = [asks.sum_request() for _ in range(_ROUNDS)]
    with Client(scope, TIMEOUT_S) as client:
        answer = client.call("EchoSum", end=False)
        for number, request in enumerate(requests):
            client.send(answer, request)
            _await_reply(client, answer, number, request)
        client.send(answer, end=True)
        _finish(client, answer, asks.sums_of(*requests))


def half_close(scope: Scope) -> None:
    """Half-close streams with no request, and with many at once: the server ends them too."""
    with Client(scope, TIMEOUT_S) as client:
        if "CollectSum" in scope.calls:
            nothing = client.call("CollectSum", end=False)
            client.until_quiet(_QUIET_S)
            client.send(nothing, end=True)
            _finish(client, nothing, [0])
        if "EchoSum" in scope.calls:
            _finish(client, client.call("EchoSum"), [])
            requests = [asks.sum_request() for _ in range(_REQUESTS)]
            _finish(client, client.call("EchoSum", *requests), asks.sums_of(*requests))


def _await_reply(client: Client, answer: Answer, number: int, request: SumRequest) -> None:
    try:
        client.wait(lambda: answer.over or len(answer.messages) > number)
    except HangError as error:
        error.detail = f"request {number} is not answered before the next: {error.detail}"
        raise
    if len(answer.messages) <= number:
        asks.require_ok(answer)
        raise WrongError(f"the call ends after {number} of {_ROUNDS} requests")
    asks.require_value(answer.messages[number], asks.sums_of(request)[0], number)


def _finish(client: Client, answer: Answer, expected: Sequence[int]) -> None:
    """Wait until a call is over; its answer must match exactly."""
    client.finish(answer)
    asks.require(answer, expected)
