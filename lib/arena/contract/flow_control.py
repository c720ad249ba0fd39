"""Whether a stream stops at a closed window, resumes when it opens, and ends when cancelled."""

from collections.abc import Iterator
from contextlib import contextmanager

from arena.contract.asks import still_right
from arena.contract.client import Client
from arena.contract.disguise import DEFAULT_WINDOW
from arena.contract.expected import INT32_MAX, require_ok, require_value, stream_request
from arena.contract.idle import Watched, rest
from arena.contract.link import HangError
from arena.contract.messages import WrongError
from arena.contract.scope import Scope
from arena.contract.values import TIMEOUT_S, finish_stream
from arena.contract.wire import LARGEST_WINDOW, Answer
from arena.what.benchmark_pb2 import StreamRequest

LONG = 100_000

# More than any window or buffer holds. A server that produces all of it before sending any
# still does not use up the host's memory.
ENDLESS = 20_000_000

_LONG_TIMEOUT_S = 60.0  # the slowest servers send about 10,000 replies per second
_QUIET_S = 0.15  # after this long without a byte, nothing is in flight on this host
_SILENT_S = 0.5  # after a cancel, bytes in flight may still arrive for this long
_PATIENCE_S = 10.0  # runtimes compile and collect garbage after work; a busy host is slow
_BEFORE_CANCEL = 2000  # replies that are read before a stream is cancelled
_RUNAWAY_BYTES = 64 << 20  # growth allowed to a blocked server, which may still have garbage
_SMALL_BUFFER = 128 << 10  # a large one holds millions of replies to read after a cancel


def long_stream(scope: Scope, server: Watched | None = None) -> None:
    """Ask for 100,000 replies through a window of 64 KB, which is reopened once it is full."""
    request = stream_request(LONG)
    with Client(scope, _LONG_TIMEOUT_S, window=DEFAULT_WINDOW, held=True) as client:
        answer = client.call("StreamSum", request)
        _until_closed(client, answer, server)
        if answer.ended:
            raise _ended_early(answer, f", not {LONG}")
        client.wire.open_window(answer, LARGEST_WINDOW - DEFAULT_WINDOW)
        finish_stream(client, answer, request)


def backpressure(scope: Scope, server: Watched | None, *, judged: bool) -> None:
    """Request an endless stream through a window of 64 KB: the server fills it, then rests.

    Its rest is `judged` only if the server also rests when it has no calls.
    """
    with blocked(scope, server) as (client, request, answer):
        if answer.over:
            raise _ended_early(answer)
        for number, message in enumerate(answer.messages):
            require_value(message, request.a + request.b + number, number)
        _require_rest(server, "with the window closed", judged=judged)
        client.wire.cancel(answer)
        client.wire.open_connection(LARGEST_WINDOW - DEFAULT_WINDOW)
        still_right(client, scope)


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
        still_right(client, scope)
        _require_rest(server, "after its stream was cancelled", judged=judged)


@contextmanager
def blocked(
    scope: Scope, server: Watched | None = None
) -> Iterator[tuple[Client, StreamRequest, Answer]]:
    """Hold an endless stream whose window is closed: HTTP/2 stops the server."""
    request = stream_request(ENDLESS)
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
        answer = client.call("StreamSum", stream_request(INT32_MAX))
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
    require_ok(answer)
    return WrongError(f"the stream ended after {len(answer.messages)} replies{more}")


def _require_rest(server: Watched | None, when: str, *, judged: bool) -> None:
    """Raise WrongError if a server grows or keeps working; a server that never rests may work."""
    if server is None:
        return
    try:
        found = rest(server, _RUNAWAY_BYTES, _PATIENCE_S)
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
