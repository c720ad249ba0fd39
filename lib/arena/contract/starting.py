"""The start of a server, seen from outside: when it listens, and when its first reply is right."""

import threading
import time
from collections.abc import Callable
from typing import Self

from arena.base.errors import FrameworkError
from arena.contract import asks
from arena.contract.client import Client, connected
from arena.contract.messages import WrongError
from arena.contract.scope import Scope

# What passes between two tries; later, it is this share of the time since the first one.
_BETWEEN_S = 0.001
_SHARE = 0.005

# A call that is not answered by then is made again: a server may lose one while it starts.
_ANSWERS_WITHIN_S = 5.0

_LOOK_S = 0.01


class Lookout:
    """Tries to connect until something listens, then to get a right reply, in a thread of its own.

    It begins before the server does, when its port is free, and lasts for a `with` block. Moments
    are those of the monotonic clock.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._listens_s: float | None = None
        self._replies_s: float | None = None
        self._why = "nothing listens there"
        self._problem: BaseException | None = None
        self._is_left = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lookout", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_left.set()
        self._thread.join()

    def wait(self, timeout_s: float, ended: Callable[[], str | None]) -> tuple[float, float]:
        """Return when the server listened, and when its first right reply had come.

        FrameworkError if it ends before, or is late.
        """
        deadline = time.monotonic() + timeout_s
        while self._thread.is_alive():
            if how := ended():
                raise FrameworkError("start", f"the server ended before it was ready ({how})")
            if time.monotonic() >= deadline:
                raise FrameworkError(
                    "start",
                    f"the server was not ready on port {self._scope.port} within {timeout_s:g} s "
                    f"({self._why})",
                )
            self._thread.join(_LOOK_S)
        if self._listens_s is None or self._replies_s is None:
            raise self._problem or RuntimeError("nobody looks out")
        return self._listens_s, self._replies_s

    def _run(self) -> None:
        began = time.monotonic()
        try:
            while not (self._is_left.is_set() or self._is_answered()):
                self._is_left.wait(max(_BETWEEN_S, _SHARE * (time.monotonic() - began)))
        except BaseException as problem:  # noqa: BLE001 - `wait` raises it
            self._problem = problem

    def _is_answered(self) -> bool:
        if self._listens_s is None:
            try:
                connected(self._scope.port, _ANSWERS_WITHIN_S).close()
            except OSError:
                return False
            self._listens_s = time.monotonic()
        try:
            with Client(self._scope, _ANSWERS_WITHIN_S) as client:
                asks.make(client, asks.usual(self._scope))
        except WrongError as error:
            self._why = error.detail
            return False
        self._replies_s = time.monotonic()
        return True
