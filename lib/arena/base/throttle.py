"""Work that follows many events, but not each one at once."""

from collections.abc import Callable
from time import monotonic
from typing import Self

Clock = Callable[[], float]


class Throttle:
    """Calls `work` when asked, at most once in `every_s` seconds, and at the end of its block.

    The time counts from the block's beginning, and from the end of the last call. What was asked
    for and put off is done when the block ends, after an error too. After an interrupt it is not.
    """

    def __init__(self, work: Callable[[], None], every_s: float, clock: Clock = monotonic) -> None:
        self._work = work
        self._every_s = every_s
        self._clock = clock
        self._last_s = clock()
        self._is_due = False

    def ask(self) -> None:
        """Call `work` now, or later."""
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
