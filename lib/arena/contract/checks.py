"""The contract: the checks with their order and names, and the report of the results."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Literal

from arena.base.errors import FrameworkError
from arena.contract import connections, flow_control, garbage, items, values
from arena.contract.asks import stream_request, usual
from arena.contract.client import Client, HangError
from arena.contract.flow_control import Watched, rest
from arena.contract.messages import WrongError
from arena.contract.scope import AnyScope, ItemScope, Scope
from arena.record.record import Check
from arena.what.benchmark_pb2 import StreamRequest

_POLL_S = 0.05
_PROBE_TIMEOUT_S = 5.0
_LAST_BREATH_S = 0.5  # a crash shows up a moment after the connection breaks

# How a server packs messages is measured with one window, whatever the generator's is.
_MEASURED = "stream-5000"
_OPEN_WINDOW = 1 << 20

# A profile's own call with more replies than this is not made on many connections at once.
_MANY_REPLIES = 1000

# Returns what is odd, or nothing; raises WrongError if something is wrong.
_Run = Callable[[], str | None]


@dataclass(frozen=True)
class Report:
    """All checks that ran, in order.

    `messages_per_data_frame` is from StreamSum(5000) with an open window; None if that did not run.
    """

    checks: tuple[Check, ...]
    messages_per_data_frame: float | None = None

    @property
    def verdict(self) -> Literal["pass", "warn", "fail"]:
        """The worst status of all checks."""
        found = {check.status for check in self.checks}
        return "fail" if "fail" in found else "warn" if "warn" in found else "pass"

    @property
    def first_failure(self) -> Check | None:
        """The first failed check; None if all passed."""
        return next((check for check in self.checks if check.status == "fail"), None)


def wait_ready(scope: AnyScope, timeout_s: float, ended: Callable[[], str | None]) -> None:
    """Make the usual call every 50 ms until it is answered; FrameworkError if it never is.

    Any answer of gRPC counts, and of items any answer: the contract checks later whether it is
    right.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        if how := ended():
            raise FrameworkError("start", f"the server ended before it was ready ({how})")
        began = time.monotonic()
        problem = _probe(scope)
        if problem is None:
            return
        if time.monotonic() >= deadline:
            raise FrameworkError(
                "start",
                f"the server was not ready on port {scope.port} within {timeout_s:g} s ({problem})",
            )
        time.sleep(max(0.0, _POLL_S - (time.monotonic() - began)))


def check(
    scope: AnyScope, server: Watched | None, tell: Callable[[Check], None] = lambda _: None
) -> Report:
    """Run every check of a scope.

    With `server`, its CPU and memory are checked too. `tell` is called with each check as it
    ends. No check runs after the server has stopped answering.
    """
    done: list[Check] = []
    measured: list[float] = []
    for name, run in _checks(scope, server, measured):
        if name == "cancel" and done[-1].status == "fail":
            continue  # Do not open a second endless stream if the server buffers the first.
        gone = ""
        try:
            odd = run()
            found = Check(check=name, status="warn" if odd else "pass", detail=odd or "")
        except WrongError as error:
            gone = _gone(scope, server)
            detail = f"{error.detail}; {gone}" if gone else error.detail
            found = Check(check=name, status="fail", detail=detail, wire=error.wire)
        done.append(found)
        tell(found)
        if gone:
            break
    return Report(tuple(done), measured[0] if measured else None)


def _checks(
    scope: AnyScope, server: Watched | None, measured: list[float]
) -> Iterator[tuple[str, _Run]]:
    """Yield the checks of a scope in their order."""
    if isinstance(scope, ItemScope):
        yield from items.checks(scope) if scope.is_known else ()
        return
    streams_long = "StreamSum" in scope.calls and not scope.light
    judged = streams_long and server is not None and _rests(server)
    yield from _checks_of_values(scope, measured)
    yield "framing", partial(values.framing, scope)
    if not scope.light:
        if streams_long:
            yield f"stream-{flow_control.LONG}", partial(flow_control.long_stream, scope, server)
            yield "backpressure", partial(flow_control.backpressure, scope, server, judged=judged)
            yield "cancel", partial(flow_control.cancel, scope, server, judged=judged)
        yield from _checks_of_any_call(scope)
    if "CollectSum" in scope.calls:
        yield "collect-sum", partial(values.collect_sum, scope)
    if "EchoSum" in scope.calls:
        yield "echo-sum", partial(values.echo_sum, scope)
    if scope.calls & {"CollectSum", "EchoSum"}:
        yield "half-close", partial(values.half_close, scope)
    if scope.tls:
        yield "tls-alpn", partial(connections.alpn, scope)
        yield "tls-version", partial(connections.version, scope)
        yield "tls-downgrade", partial(connections.downgrade, scope)


def _checks_of_values(scope: Scope, measured: list[float]) -> Iterator[tuple[str, _Run]]:
    """Yield the checks of replies' values, except those of streams of requests."""
    if "GetSum" in scope.calls:
        yield "unary-sum", partial(values.unary_sum, scope)
        yield "unary-extremes", partial(values.unary_extremes, scope)
    if "StreamSum" in scope.calls:
        for name, requests in _stream_requests(scope):
            yield name, partial(_streams, scope, requests, measured if name == _MEASURED else None)
    if scope.own:
        yield "profile-call", partial(values.own_calls, scope)


def _checks_of_any_call(scope: Scope) -> Iterator[tuple[str, _Run]]:
    """Yield the checks that are made with the usual call."""
    if usual(scope).replies <= _MANY_REPLIES:
        yield "four-streams", partial(connections.streams, scope)
        yield f"connections-{connections.CONNECTIONS}", partial(connections.connections, scope)
    yield "unknown-method", partial(garbage.unknown_method, scope)
    yield "malformed-message", partial(garbage.malformed_message, scope)
    yield "truncated-message", partial(garbage.truncated_message, scope)
    yield "oversized-prefix", partial(garbage.oversized_prefix, scope)
    yield "content-type", partial(garbage.content_type, scope)


def _stream_requests(scope: Scope) -> Iterator[tuple[str, list[StreamRequest]]]:
    """Yield the StreamSum requests to check, except the long stream."""
    yield "stream-10", [stream_request(10)]
    yield _MEASURED, [stream_request(5000)]
    if scope.requests:  # exactly the requests of the load
        yield "stream-profile", [StreamRequest(**each) for each in scope.requests]
    yield "stream-zero", [stream_request(0)]
    yield "stream-negative", [stream_request(-3)]


def _streams(scope: Scope, requests: Sequence[StreamRequest], measured: list[float] | None) -> None:
    for request in requests:
        answer = values.stream(scope, request, None if measured is None else _OPEN_WINDOW)
        if measured is not None:
            measured.append(len(answer.messages) / answer.data_frames)


def _rests(server: Watched) -> bool:
    """Return whether a server is idle without calls; a server that polls its sockets is not."""
    with suppress(OSError):
        return rest(server).idle
    return False


def _gone(scope: AnyScope, server: Watched | None) -> str:
    """Return how a server stopped answering, as text; empty if it still answers."""
    problem = _probe(scope)
    if problem is None:
        return ""
    deadline = time.monotonic() + _LAST_BREATH_S
    while server is not None and time.monotonic() < deadline:
        if how := server.ended():
            return f"then the server ended ({how})"
        time.sleep(0.01)
    asked = items.PROBE if isinstance(scope, ItemScope) else usual(scope).method
    return f"then {asked} is not answered ({problem})"


def _probe(scope: AnyScope) -> str | None:
    """Return why the usual call is not answered; None if any answer comes, right or wrong."""
    if isinstance(scope, ItemScope):
        return items.probe(scope, _PROBE_TIMEOUT_S)
    answer, ask = None, usual(scope)
    try:
        with Client(scope, _PROBE_TIMEOUT_S) as client:
            answer = client.ask(ask.path, ask.body)
            client.finish(answer)
    except HangError as error:
        return error.detail
    except WrongError as error:
        # A check reports a wrong answer, with its bytes.
        return None if answer is not None and answer.messages_began else error.detail
    return None if answer.status is not None else "the answer has no grpc-status"
