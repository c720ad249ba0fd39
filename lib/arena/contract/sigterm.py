"""Whether a server ends on SIGTERM while clients wait, and do not read what they asked for."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Protocol

from arena.contract import flow_control
from arena.contract.asks import still_right
from arena.contract.client import Client
from arena.contract.idle import Watched, rest
from arena.contract.items import PROBE
from arena.contract.items.http import speaker
from arena.contract.messages import WrongError
from arena.contract.scope import AnyScope, ItemScope
from arena.contract.values import TIMEOUT_S
from arena.record.record import Check

NAME = "sigterm"
_AT_MOST_S = 2.0
_PATIENCE_S = 5.0  # after this long, no more is awaited
_TICK_S = 0.01
_CLEAN = "exit code 0"


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
    return Check(check=NAME, status="warn" if odd else "pass", detail=odd)


def _terminated(server: Endable) -> str:
    """End a server; return what is odd, or nothing."""
    server.terminate()
    began = time.monotonic()
    while (how := server.ended()) is None and time.monotonic() - began < _PATIENCE_S:
        time.sleep(_TICK_S)
    took_s = time.monotonic() - began
    if how is None:
        return f"the server still runs {_PATIENCE_S:g} s after SIGTERM"
    if how != _CLEAN:
        return f"after SIGTERM, the server did not end with {_CLEAN}: {how}"
    return f"the server ends {took_s:.1f} s after SIGTERM" if took_s > _AT_MOST_S else ""


@contextmanager
def _waiting(scope: AnyScope) -> Iterator[None]:
    """Hold a port's connections: with endless streams where it has them, else idle after a call."""
    with ExitStack() as held:
        if isinstance(scope, ItemScope):
            for version in scope.versions:
                held.enter_context(speaker(scope, version, TIMEOUT_S)).send(PROBE)()
        elif "StreamSum" in scope.calls:
            held.enter_context(flow_control.blocked(scope))
            held.enter_context(flow_control.unread(scope))
        else:
            still_right(held.enter_context(Client(scope, TIMEOUT_S)), scope)
        yield
