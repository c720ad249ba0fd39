"""Client and bidirectional streaming."""

from arena.contract.client import Client
from arena.contract.expected import int32, require_ok, require_value, sum_request, sums_of
from arena.contract.link import HangError
from arena.contract.messages import WrongError
from arena.contract.scope import Scope
from arena.contract.values import TIMEOUT_S, finish
from arena.contract.wire import Answer
from arena.what.benchmark_pb2 import SumRequest

_REQUESTS = 100
_ROUNDS = 10
_QUIET_S = 0.05  # a reply that comes too early would have arrived by then


def collect_sum(scope: Scope) -> None:
    """Call CollectSum: no reply before the half-close, then one, the sum of all."""
    requests = [sum_request() for _ in range(_REQUESTS)]
    with Client(scope, TIMEOUT_S) as client:
        answer = client.call("CollectSum", *requests[:-1], end=False)
        client.until_quiet(_QUIET_S)
        require_ok(answer)
        if answer.messages or answer.over:
            raise WrongError("the answer comes before the client has ended its requests")
        client.send(answer, requests[-1], end=True)
        finish(client, answer, [int32(sum(each.a + each.b for each in requests))])


def echo_sum(scope: Scope) -> None:
    """Call EchoSum: each request is answered before the next is sent."""
    requests = [sum_request() for _ in range(_ROUNDS)]
    with Client(scope, TIMEOUT_S) as client:
        answer = client.call("EchoSum", end=False)
        for number, request in enumerate(requests):
            client.send(answer, request)
            _await_reply(client, answer, number, request)
        client.send(answer, end=True)
        finish(client, answer, sums_of(*requests))


def half_close(scope: Scope) -> None:
    """Half-close streams with no request, and with many at once: the server ends them too."""
    with Client(scope, TIMEOUT_S) as client:
        if "CollectSum" in scope.calls:
            nothing = client.call("CollectSum", end=False)
            client.until_quiet(_QUIET_S)
            client.send(nothing, end=True)
            finish(client, nothing, [0])
        if "EchoSum" in scope.calls:
            finish(client, client.call("EchoSum"), [])
            requests = [sum_request() for _ in range(_REQUESTS)]
            finish(client, client.call("EchoSum", *requests), sums_of(*requests))


def _await_reply(client: Client, answer: Answer, number: int, request: SumRequest) -> None:
    try:
        client.wait(lambda: answer.over or len(answer.messages) > number)
    except HangError as error:
        error.detail = f"request {number} is not answered before the next: {error.detail}"
        raise
    if len(answer.messages) <= number:
        require_ok(answer)
        raise WrongError(f"the call ends after {number} of {_ROUNDS} requests")
    require_value(answer.messages[number], sums_of(request)[0], number)
