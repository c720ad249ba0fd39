"""Waiting for a quiet host: a warm-up goes on until its last seconds were quiet.

The load itself is the probe: steal shows only while somebody wants the CPU. Quiet is what the
sentinel's limits say it is, over the last five seconds.
"""

import time
from collections import deque
from collections.abc import Callable

from arena.machine.sentinel import (
    BETWEEN_S,
    MOST_VAIN_WAITS,
    SHORT_WAIT_S,
    Away,
    Sample,
    Sentinel,
    busiest,
    judged,
    names,
    watch_of,
    words,
)
from arena.record.measurement import Disturbance

# Steal comes in episodes: each second of these must be without it, since one that has just begun
# hardly shows in a mean. In twelve minutes of steal on a cloud host, 14 % of the windows after such
# a wait had more than 1 % of it, 36 % after a mean below 1 %, and 45 % without a wait.
NEEDED_S = 5.0

# A second, in samples.
_SECOND = round(1 / BETWEEN_S)

# After this many seconds of waiting, what it waits for is said again.
_AGAIN_S = 30.0


class Quiet:
    """The wait of one warm-up, of `at_most_s` (0: it does not wait).

    It `is_away` if some of our programs are in containers. Beside a load by a schedule, the time of
    the CPUs is to be that of processes: `by_process`.

    Each wait that ends without quiet is counted in the sentinel.

    `tick` it about ten times a second while the load runs. When the warm-up's own time is over, ask
    whether it `is_over`: the wait begins with the first question.
    """

    def __init__(
        self,
        sentinel: Sentinel,
        away: Away,
        at_most_s: float,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        *,
        is_away: bool = False,
        by_process: bool = False,
    ) -> None:
        self.at_most_s = at_most_s
        self._is_away = is_away
        self._by_process = by_process
        self._sentinel = sentinel
        self._away = away
        self._say = say
        self._clock = clock
        self._samples: deque[Sample] = deque()
        self._began: float | None = None
        self._said_at = 0.0
        self._over_after_s: float | None = None
        self._strangers = (clock(), sentinel.files.strangers()) if at_most_s else None

    @property
    def waited_s(self) -> float:
        """The seconds from its beginning until it was over, or until now."""
        if self._over_after_s is not None:
            return self._over_after_s
        return 0.0 if self._began is None else self._clock() - self._began

    def tick(self) -> None:
        """Look at the host, at most twice a second."""
        if not self.at_most_s:
            return
        if self._samples and self._clock() - self._samples[-1].at < BETWEEN_S:
            return
        away_s = self._away()
        if away_s is None:
            # A container that starts or ends makes others work for us: that is not foreign.
            self._samples.clear()
            return
        sample = self._sentinel.files.sample
        self._samples.append(sample(away_s, in_full=False, by_process=self._by_process))
        while len(self._samples) > 1 and self._span_s(1) >= NEEDED_S:
            self._samples.popleft()

    def is_over(self) -> bool:
        """Return whether the window may open: the host was quiet, or the time is up."""
        if self._over_after_s is not None:
            return True
        if self._began is None:
            self._began = self._clock()
        waited_s = self.waited_s if self.at_most_s else 0.0
        disturbed = self.disturbed()
        if not self.at_most_s or disturbed == ():
            if self._said_at:
                self._say(f"quiet after {waited_s:.0f} s")
        elif waited_s >= self.at_most_s:
            self._sentinel.vain_waits += 1
            more = ""
            is_shorter = self.at_most_s > SHORT_WAIT_S
            if self._sentinel.vain_waits == MOST_VAIN_WAITS and is_shorter:
                more = (
                    f"; that was in vain {MOST_VAIN_WAITS} times: from now on, {SHORT_WAIT_S:g} s"
                )
            self._say(f"not quiet within {self.at_most_s:g} s: the run begins all the same{more}")
        else:
            self._tell(disturbed, waited_s)
            return False
        self._over_after_s = waited_s
        return True

    def disturbed(self) -> tuple[Disturbance, ...] | None:
        """Return what disturbed the last five seconds; None if fewer were seen."""
        if len(self._samples) < 2 or self._span_s(0) < NEEDED_S:  # noqa: PLR2004 - a pair
            return None
        limits = self._sentinel.limits
        found = judged(watch_of(self._samples[0], self._samples[-1]), limits)
        worst, limit = self._worst_steal(), limits.in_force("steal")
        if limit is None or worst <= limit:
            return found
        others = tuple(each for each in found if each.signal != "steal")
        return (Disturbance(signal="steal", value=worst, limit=limit), *others)

    def _worst_steal(self) -> float:
        """Return the largest steal in any one second of those seen."""
        pairs = zip(self._samples, list(self._samples)[_SECOND:], strict=False)
        return max((watch_of(*pair).steal or 0.0 for pair in pairs), default=0.0)

    def _span_s(self, first: int) -> float:
        return self._samples[-1].at - self._samples[first].at

    def _tell(self, disturbed: tuple[Disturbance, ...] | None, waited_s: float) -> None:
        """Say what it waits for, at first and now and then."""
        if disturbed and (not self._said_at or waited_s - self._said_at >= _AGAIN_S):
            self._said_at = max(waited_s, 1e-9)
            self._say(
                f"waiting for quiet: {words(disturbed)}, "
                f"{waited_s:.0f} s of at most {self.at_most_s:g} s{self._by_whom(disturbed)}"
            )

    def _by_whom(self, disturbed: tuple[Disturbance, ...]) -> str:
        """Return the processes that made foreign CPU since it was last asked, as text.

        With a program of ours in a container, nobody is named: its processes would be, too.
        """
        if self._strangers is None or all(each.signal != "foreign" for each in disturbed):
            return ""
        (at, before), files = self._strangers, self._sentinel.files
        self._strangers = now, after = self._clock(), files.strangers()
        found = () if self._is_away else busiest(before, after, now - at, len(files.cpus))
        return f"; busiest: {names(found)}" if found else ""
