"""The sentinel: what the host did while something was measured, and whether that disturbs it.

It reads what the kernel counts, before and after, and never looks at a rate. `judged` is a pure
function of what was seen and of the host's limits.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from arena.machine.sentinel.calibration import Calibration, calibrate, median_of
from arena.machine.sentinel.limits import Limits
from arena.machine.sentinel.sample import HostFiles, Sample
from arena.machine.sentinel.verdict import judged, words
from arena.machine.sentinel.watch import watch_of
from arena.record.measurement import Watch

__all__ = ["HostFiles", "Limits", "Sample", "Sentinel", "Window", "judged", "watch_of", "words"]

# The time between two samples while a load runs. Each costs the host about 1 ms.
BETWEEN_S = 0.5

# The CPU seconds so far of our programs that are not below this process, such as containers; None
# while they cannot be read.
Away = Callable[[], float | None]


@dataclass
class Sentinel:
    """Watches this host for a night, or for one command; the limits stay the same for as long."""

    limits: Limits
    files: HostFiles = field(default_factory=HostFiles)
    measure: Callable[[], Calibration] | None = None
    _calibrations: list[Calibration] = field(default_factory=list)

    def calibrate(self) -> Calibration:
        """Measure the speed of the CPUs, in about 0.2 s; nothing else of ours may run meanwhile."""
        found = self.measure() if self.measure else calibrate(self.files.cpus)
        self._calibrations.append(found)
        return found

    def usual(self) -> Calibration | None:
        """Return the median of all calibrations so far; None while there are too few."""
        return median_of(self._calibrations)

    def window(self, away: Away) -> "Window":
        """Open a window now."""
        return Window(self, away)


class Window:
    """A time that is watched, from its first sample to its last.

    If all our CPU time can be read at once, these are the samples at its opening and at its
    closing. If not, because a program is in a container that starts and ends with the window, they
    are the first and the last while it ran.
    """

    def __init__(self, sentinel: Sentinel, away: Away) -> None:
        self._sentinel = sentinel
        self._away = away
        self._first = sentinel.files.sample(away())
        self._last: Sample | None = None

    def tick(self) -> None:
        """Call this about ten times a second while the window is open."""
        if self._is_ours(self._first) and self._last is None:
            return
        latest = self._last or self._first
        if time.monotonic() - latest.at >= BETWEEN_S and (away_s := self._away()) is not None:
            sample = self._sentinel.files.sample(away_s)
            if self._is_ours(self._first):
                self._last = sample
            else:
                self._first = self._last = sample

    def close(self) -> None:
        """Take the last sample."""
        sample = self._sentinel.files.sample(self._away())
        if self._last is None or self._is_ours(sample):
            self._last = sample

    def watch(self, before: Calibration, after: Calibration) -> Watch | None:
        """Return what happened, after `close`; None if there were not two samples."""
        if self._last is None or self._last.at <= self._first.at:
            return None
        around = (before, after)
        return watch_of(self._first, self._last, around, self._sentinel.usual())

    @staticmethod
    def _is_ours(sample: Sample) -> bool:
        return "own" in sample.totals
