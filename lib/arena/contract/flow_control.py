"""Whether a server stops when it must.

A stream stops at a closed window, resumes when that opens, and ends when it is cancelled; then the
server rests, by its CPU and memory as they are seen from the outside. On SIGTERM it ends.
"""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Protocol

from arena.contract import asks
from arena.contract.client import Client, HangError
from arena.contract.items import PROBE
from arena.contract.items.http import speaker
from arena.contract.messages import WrongError
from arena.contract.scope import DEFAULT_WINDOW, AnyScope, ItemScope, Scope
from arena.contract.values import TIMEOUT_S
from arena.contract.wire import LARGEST_WINDOW, Answer
from arena.record.measurement import Cost
from arena.record.record import Check
from arena.what.benchmark_pb2 import StreamRequest

LONG = 100_000

# More than any window or buffer holds. A server that produces all of it before sending any
# still does not use up the host's memory.
ENDLESS = 20_000_000

_LONG_TIMEOUT_S = 60.0  # the slowest servers send about 10,000 replies per second
_QUIET_S = 0.15  # after this long without a byte, nothing is in flight on this host
_SILENT_S = 0.5  # after a cancel, bytes in flight may still arrive for this long
_FLOW_PATIENCE_S = 10.0  # runtimes compile and collect garbage after work; a busy host is slow
_BEFORE_CANCEL = 2000  # replies that are read before a stream is cancelled
_RUNAWAY_BYTES = 64 << 20  # growth allowed to a blocked server, which may still have garbage
_SMALL_BUFFER = 128 << 10  # a large one holds millions of replies to read after a cancel

PATIENCE_S = 2.0  # a server may still be busy for a moment after its start

# A server is idle if it uses less than this share of one CPU over a slice. CPU time is counted
# in steps of 10 ms.
_IDLE_SHARE = 0.3
_SLICE_S = 0.1

SIGTERM = "sigterm"
_ENDS_S = 2.0
_END_PATIENCE_S = 5.0  # after this long, no more is awaited
_TICK_S = 0.01
_CLEAN = "exit code 0"


class Watched(Protocol):
    """The outside view of a running server."""

    def ended(self) -> str | None:
        """Return how the server ended, as text; None while it runs."""

    def cost(self) -> Cost:
        """Return its use since it started; OSError if it has ended."""


@dataclass(frozen=True)
class Rest:
    """Whether a server became idle, after how long, and its use until then."""

    idle: bool
    passed_s: float
    cpu_s: float
    grown_bytes: int


def rest(
    server: Watched, most_grown_bytes: float = math.inf, patience_s: float = PATIENCE_S
) -> Rest:
    """Wait until the server is idle, at most `patience_s`; OSError if it has ended.

    The wait also ends once the server's memory has grown by more than `most_grown_bytes`.
    """
    began, first = time.monotonic(), server.cost()
    before = first
    while True:
        slice_began = time.monotonic()
        time.sleep(_SLICE_S)
        if how := server.ended():
            raise ProcessLookupError(how)
        now = server.cost()
        share = (now.cpu_s - before.cpu_s) / (time.monotonic() - slice_began)
        grown = now.peak_bytes - first.peak_bytes
        idle = share < _IDLE_SHARE
        passed = time.monotonic() - began
        if idle or grown > most_grown_bytes or passed >= patience_s:
            return Rest(idle, passed, now.cpu_s - first.cpu_s, grown)
        before = now


def long_stream(scope: Scope, server: Watched | None = None) -> None:
    """Ask for 100,000 replies through a window of 64 KB, which is reopened once it is full."""
    ask = asks.sum_of("StreamSum", asks.stream_request(LONG))
    with Client(scope, _LONG_TIMEOUT_S, window=DEFAULT_WINDOW, held=True) as client:
        answer = client.ask(ask.path, ask.body)
        _until_closed(client, answer, server)
        if answer.ended:
            raise _ended_early(answer, f", not {LONG}")
        client.wire.open_window(answer, LARGEST_WINDOW - DEFAULT_WINDOW)
        asks.complete(client, ask, answer)


def backpressure(scope: Scope, server: Watched | None, *, judged: bool) -> None:
    """Request an endless stream through a window of 64 KB: the server fills it, then rests.

    Its rest is `judged` only if the server also rests when it has no calls.
    """
    with blocked(scope, server) as (client, request, answer):
        if answer.over:
            raise _ended_early(answer)
        for number, message in enumerate(answer.messages):
            asks.require_value(message, request.a + request.b + number, number)
        _require_rest(server, "with the window closed", judged=judged)
        client.wire.cancel(answer)
        client.wire.open_connection(LARGEST_WINDOW - DEFAULT_WINDOW)
        asks.still_right(client, scope)


def cancel(scope: Scope, server: Watched | None, *, judged: bool) -> None:
    """Reset an endless stream: the server stops sending, and the connection stays open."""
    with unread(scope, _BEFORE_CANCEL) as (client, answer):
        if answer.over:
            raise _ended_early(answer)
        client.wire.cancel(answer)
        try:
            client.until_quiet(_SILENT_S)
        except HangError as error:
            raise WrongError(f"the server still sends {TIMEOUT_S:g} s after RST_STREAM") from error
        asks.still_right(client, scope)
        _require_rest(server, "after its stream was cancelled", judged=judged)


@contextmanager
def blocked(
    scope: Scope, server: Watched | None = None
) -> Iterator[tuple[Client, StreamRequest, Answer]]:
    """Hold an endless stream whose window is closed: HTTP/2 stops the server."""
    request = asks.stream_request(ENDLESS)
    # Here the connection's window closes; in the long stream it was the stream's window.
    with Client(scope, TIMEOUT_S, held=True, tight=True) as client:
        answer = client.call("StreamSum", request)
        _until_closed(client, answer, server)
        yield client, request, answer


@contextmanager
def unread(scope: Scope, after: int = 1) -> Iterator[tuple[Client, Answer]]:
    """Hold an endless stream with an open window; after `after` replies nobody reads it.

    TCP stops the server.
    """
    with Client(
        scope, TIMEOUT_S, window=LARGEST_WINDOW, held=True, receive_buffer=_SMALL_BUFFER
    ) as client:
        answer = client.call("StreamSum", asks.stream_request(asks.INT32_MAX))
        client.wait(lambda: answer.over or len(answer.messages) >= after)
        yield client, answer


def _until_closed(client: Client, answer: Answer, server: Watched | None = None) -> None:
    """Read until the closed window has stopped the server, and at least one reply has come."""
    before = _peak(server)

    def require_flat() -> None:
        if (grown := _peak(server) - before) > _RUNAWAY_BYTES:
            mib = f"{grown / 2**20:.0f} MiB"
            raise WrongError(f"no first reply while its memory grows by {mib}: all is made before")

    try:
        client.wait(lambda: answer.over or answer.messages, require_flat)
    except HangError as error:
        error.detail = f"no first reply: {error.detail}; is all of it made before any is sent?"
        raise
    client.until_quiet(_QUIET_S)


def _peak(server: Watched | None) -> int:
    try:
        return server.cost().peak_bytes if server else 0
    except OSError as error:
        raise WrongError("the server ended before its first reply") from error


def _ended_early(answer: Answer, more: str = "") -> WrongError:
    """Return what is wrong with a stream that has ended; includes its status if it is not OK."""
    asks.require_ok(answer)
    return WrongError(f"the stream ended after {len(answer.messages)} replies{more}")


def _require_rest(server: Watched | None, when: str, *, judged: bool) -> None:
    """Raise WrongError if a server grows or keeps working; a server that never rests may work."""
    if server is None:
        return
    try:
        found = rest(server, _RUNAWAY_BYTES, _FLOW_PATIENCE_S)
    except OSError as error:
        raise WrongError(f"the server ended {when}") from error
    grown = f"{found.grown_bytes / 2**20:.0f} MiB"
    if found.grown_bytes > _RUNAWAY_BYTES:
        raise WrongError(f"its memory grows {when}: by {grown}, replies that nobody takes")
    if judged and not found.idle:
        raise WrongError(
            f"the server goes on making replies {when}: it uses {found.cpu_s:.1f} s of CPU "
            f"and {grown} more memory in {found.passed_s:.1f} s"
        )


class Endable(Watched, Protocol):
    """A running server that can be asked to end."""

    def terminate(self) -> None:
        """Send SIGTERM; without effect if it has ended."""


def ending(scopes: Sequence[AnyScope], server: Endable) -> Check:
    """Send SIGTERM to a server amid streams on each port that nobody reads: it ends in two seconds.

    It ends the server, if that ends by itself. Nothing that is measured depends on how a server
    ends, so what is wrong is a warning.
    """
    try:
        with ExitStack() as waiting:
            for scope in scopes:
                waiting.enter_context(_waiting(scope))
            rest(server)  # what the clients do not read has filled every buffer
            odd = _terminated(server)
    except (WrongError, OSError) as error:
        is_gone = server.ended() is not None
        why = error.detail if isinstance(error, WrongError) else error
        odd = f"{'the server ended before SIGTERM' if is_gone else 'SIGTERM was not sent'}: {why}"
    return Check(check=SIGTERM, status="warn" if odd else "pass", detail=odd)


def _terminated(server: Endable) -> str:
    """End a server; return what is odd, or nothing."""
    server.terminate()
    began = time.monotonic()
    while (how := server.ended()) is None and time.monotonic() - began < _END_PATIENCE_S:
        time.sleep(_TICK_S)
    took_s = time.monotonic() - began
    if how is None:
        return f"the server still runs {_END_PATIENCE_S:g} s after SIGTERM"
    if how != _CLEAN:
        return f"after SIGTERM, the server did not end with {_CLEAN}: {how}"
    return f"the server ends {took_s:.1f} s after SIGTERM" if took_s > _ENDS_S else ""


@contextmanager
def _waiting(scope: AnyScope) -> Iterator[None]:
    """Hold a port's connections: with endless streams where it has them, else idle after a call."""
    with ExitStack() as held:
        if isinstance(scope, ItemScope):
            for version in scope.versions:
                held.enter_context(speaker(scope, version, TIMEOUT_S)).send(PROBE)()
        elif "StreamSum" in scope.calls:
            held.enter_context(blocked(scope))
            held.enter_context(unread(scope))
        else:
            asks.still_right(held.enter_context(Client(scope, TIMEOUT_S)), scope)
        yield
