"""The sentinel: what the host did while something was measured, and whether that disturbs it.

It reads what the kernel counts, before and after, and never looks at a rate. `judged` is a pure
function of what was seen and of the host's limits.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from arena.machine.sentinel.limits import (
    Limits,
    busiest,
    judged,
    names,
    seconds_words,
    share_words,
    value_of,
    words,
)
from arena.machine.sentinel.watch import (
    Calibration,
    HostFiles,
    Sample,
    calibrate,
    median_of,
    watch_of,
)  # fmt: skip
from arena.record.measurement import Watch

__all__ = [
    "Away", "Calibration", "HostFiles", "Limits", "Sample", "Sentinel", "Window", "busiest",
    "judged", "names", "seconds_words", "share_words", "value_of", "watch_of", "words",
]  # fmt: skip

# The time between two samples while a load runs. Each costs the host about 1 ms.
BETWEEN_S = 0.5

# After so many waits that ended without quiet, the next ones are short.
MOST_VAIN_WAITS = 3
SHORT_WAIT_S = 10.0

# The CPU seconds so far of our programs that are not below this process, such as containers; None
# while they cannot be read.
Away = Callable[[], float | None]


@dataclass
class Sentinel:
    """Watches this host for a night, or for one command; the limits stay the same for as long.

    `vain_waits` counts the waits for quiet meanwhile that ended without it.
    """

    limits: Limits
    files: HostFiles = field(default_factory=HostFiles)
    measure: Callable[[], Calibration] | None = None
    vain_waits: int = 0
    _calibrations: list[Calibration] = field(default_factory=list)

    def wait_s(self, at_most_s: float) -> float:
        """Return how long the next wait for quiet may be: 10 s once three were in vain."""
        return min(at_most_s, SHORT_WAIT_S) if self.vain_waits >= MOST_VAIN_WAITS else at_most_s

    def calibrate(self) -> Calibration:
        """Measure the speed of the CPUs, in 0.25 s; nothing else of ours may run meanwhile."""
        found = self.measure() if self.measure else calibrate(self.files.cpus)
        self._calibrations.append(found)
        return found

    def latest(self) -> Calibration:
        """Return the latest calibration; make one if there is none."""
        return self._calibrations[-1] if self._calibrations else self.calibrate()

    def usual(self) -> Calibration | None:
        """Return the median of all calibrations so far; None while there are too few."""
        return median_of(self._calibrations)

    def window(
        self,
        away: Away,
        *,
        seconds: float = math.inf,
        is_steady: bool = True,
        by_process: bool = False,
    ) -> "Window":
        """Open a window of `seconds` now; `is_steady` unless `away` comes and goes with it.

        Beside a load by a schedule, the time of the CPUs is to be that of processes: `by_process`.
        """
        return Window(self, away, seconds, is_steady=is_steady, by_process=by_process)


class Window:
    """A time that is watched, from its first sample to its last.

    Where one of our programs is in a container that starts or ends with the window, these are the
    first and the last sample while it ran: its own seconds begin with the first.
    """

    def __init__(
        self,
        sentinel: Sentinel,
        away: Away,
        seconds: float,
        *,
        is_steady: bool,
        by_process: bool,
    ) -> None:
        self._sample = partial(sentinel.files.sample, by_process=by_process)
        self._usual = sentinel.usual
        self._away = away
        self._seconds = seconds
        self._is_steady = is_steady
        self.is_closed = False
        self._first = self._last = self._sample(away())

    def tick(self) -> None:
        """Call this about ten times a second: it closes the window after its seconds."""
        now, has_begun = time.monotonic(), self._is_steady or "own" in self._first.totals
        if has_begun and now - self._first.at >= self._seconds:
            self.close()
        if self.is_closed or self._is_steady or now - self._last.at < BETWEEN_S:
            return
        if (away_s := self._away()) is not None:
            self._last = self._sample(away_s)
            if "own" not in self._first.totals:
                self._first = self._last

    def close(self) -> None:
        """Take the last sample, unless that was done."""
        if self.is_closed:
            return
        self.is_closed = True
        sample = self._sample(self._away())
        if "own" in sample.totals or "own" not in self._last.totals:
            self._last = sample

    def watch(self, *around: Calibration) -> Watch | None:
        """Return what happened, once it is closed; None if there were not two samples.

        `around` are the calibrations before and after it.
        """
        if self._last.at <= self._first.at:
            return None
        return watch_of(self._first, self._last, around, self._usual())
