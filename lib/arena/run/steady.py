"""Waiting until a server's CPU time is steady under a load at a fixed rate.

Compilers work on long after a server has answered its first calls. At a fixed rate, the CPU time of
equal spans compares at once: no call has to be counted.
"""

from collections import deque
from typing import ClassVar

from arena.load.generators import WarmUp
from arena.what.loads import LoadShape


def told_warm_up(load: LoadShape, seconds: float, wait_s: float) -> WarmUp:
    """Return the warm-up of a program that waits for its window, also until a server is steady."""
    return WarmUp(seconds, wait_s + (Steady.AT_MOST_S if load.steadies else 0.0))


class Steady:
    """The wait of one warm-up at a fixed rate; ask it about ten times a second.

    It is over when the CPU time of the last two spans of 5 s differs by less than 10 %, or after
    40 s.
    """

    AT_MOST_S: ClassVar[float] = 40.0
    SPAN_S: ClassVar[float] = 5.0
    _MOST: ClassVar[float] = 0.10

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()

    def is_over(self, at_s: float, cpu_s: float) -> bool:
        """Return whether it is over `at_s` seconds after the load began, by the CPU used so far."""
        seen = self._seen
        seen.append((at_s, cpu_s))
        while len(seen) > 1 and at_s - seen[1][0] >= 2 * self.SPAN_S:
            seen.popleft()
        if at_s >= self.AT_MOST_S:
            return True
        if at_s - seen[0][0] < 2 * self.SPAN_S:
            return False
        middle_s = min(seen, key=lambda each: abs(each[0] - at_s + self.SPAN_S))[1]
        early, late = middle_s - seen[0][1], cpu_s - middle_s
        return abs(late - early) <= self._MOST * max(late, early)
