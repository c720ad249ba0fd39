"""A limit on how often frequent events trigger a piece of work."""

from collections.abc import Callable
from time import monotonic
from typing import Self

Clock = Callable[[], float]


class Throttle:
    """Calls `work` when asked, at most once in `every_s` seconds, and at the end of its block.

    The interval starts when the throttle is made, and again at the end of each call. A postponed
    call is made when the block ends, even after an error, but not after an interrupt.
    """

    def __init__(self, work: Callable[[], None], every_s: float, clock: Clock = monotonic) -> None:
        self._work = work
        self._every_s = every_s
        self._clock = clock
        self._last_s = clock()
        self._is_due = False

    def ask(self) -> None:
        """Call `work` now, or later if the interval has not passed."""
        self._is_due = True
        if self._clock() - self._last_s >= self._every_s:
            self._call()

    def _call(self) -> None:
        self._is_due = False
        self._work()
        self._last_s = self._clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._is_due and (kind is None or issubclass(kind, Exception)):
            self._call()
