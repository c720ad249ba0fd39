"""Client and bidirectional streaming."""

from arena.measure.contract.link import HangError, Link
from arena.measure.contract.messages import WrongError
from arena.measure.contract.replies import (
    int32,
    require,
    require_ok,
    require_value,
    sum_of,
    sum_request,
)
from arena.measure.contract.scope import Scope
from arena.measure.contract.values import TIMEOUT_S
from arena.measure.contract.wire import Answer
from arena.what.benchmark_pb2 import SumRequest

_REQUESTS = 100
_ROUNDS = 10

# A reply that must not come yet would have come by then.
_QUIET_S = 0.05


def collect_sum(scope: Scope) -> None:
    """Call CollectSum: nothing before the half-close, then one reply, the sum of all."""
    requests = [sum_request() for _ in range(_REQUESTS)]
    with Link(scope, TIMEOUT_S) as link:
        answer = link.call("CollectSum", *requests[:-1], end=False)
        link.until_quiet(_QUIET_S)
        require_ok(answer)
        if answer.messages or answer.over:
            raise WrongError("the answer comes before the client has ended its requests")
        link.send(answer, requests[-1], end=True)
        link.finish(answer)
        require(answer, [int32(sum(each.a + each.b for each in requests))])


def echo_sum(scope: Scope) -> None:
    """Call EchoSum: each request is answered before the next is sent."""
    requests = [sum_request() for _ in range(_ROUNDS)]
    with Link(scope, TIMEOUT_S) as link:
        answer = link.call("EchoSum", end=False)
        for number, request in enumerate(requests):
            link.send(answer, request)
            _await_reply(link, answer, number, request)
        link.send(answer, end=True)
        link.finish(answer)
        require(answer, [sum_of(each) for each in requests])


def half_close(scope: Scope) -> None:
    """End streams without a request, and after many at once: the server ends them as well."""
    with Link(scope, TIMEOUT_S) as link:
        if "CollectSum" in scope.calls:
            nothing = link.call("CollectSum", end=False)
            link.until_quiet(_QUIET_S)
            link.send(nothing, end=True)
            link.finish(nothing)
            require(nothing, [0])
        if "EchoSum" in scope.calls:
            silent = link.call("EchoSum")
            link.finish(silent)
            require(silent, [])
            requests = [sum_request() for _ in range(_REQUESTS)]
            answer = link.call("EchoSum", *requests)
            link.finish(answer)
            require(answer, [sum_of(each) for each in requests])


def _await_reply(link: Link, answer: Answer, number: int, request: SumRequest) -> None:
    try:
        link.wait(lambda: answer.over or len(answer.messages) > number)
    except HangError as error:
        error.detail = f"request {number} is not answered before the next: {error.detail}"
        raise
    if len(answer.messages) <= number:
        require_ok(answer)
        raise WrongError(f"the call ends after {number} of {_ROUNDS} requests")
    require_value(answer.messages[number], sum_of(request), number)
