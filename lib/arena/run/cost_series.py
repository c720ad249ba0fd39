"""The cost of a server, second by second, under a load that a generator reports by the second."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from arena.record.measurement import Cost, Second, StartedSecond


@dataclass
class CostSeries:
    """The cost of a server at moments of the monotonic clock; `before` is that before the load."""

    before: Cost
    began_s: float = 0.0
    _seen: list[tuple[float, Cost]] = field(default_factory=list)

    def begin(self) -> None:
        """Say that the load begins: its generator is started next."""
        self.began_s = time.monotonic()

    def look(self, cost: Cost, at_s: float | None = None) -> None:
        """Note what the server has used so far; do it several times a second."""
        self._seen.append((time.monotonic() if at_s is None else at_s, cost))

    def seconds(self, told: Sequence[Second]) -> tuple[StartedSecond, ...]:
        """Return the cost of each whole second in which it was noted, with the calls in it.

        `told` are the seconds as the generator counts them: its first one begins some hundredths of
        a second after the program was started.
        """
        seen = [(self.began_s, self.before), *self._seen]
        most = min(int(seen[-1][0] - self.began_s), len(told))
        ends = [_at(seen, self.began_s + second) for second in range(most + 1)]
        return tuple(
            StartedSecond(cpu_s=late - early, calls=calls.ok, peak_bytes=peak_bytes)
            for ((early, _), (late, peak_bytes)), calls in zip(pairwise(ends), told, strict=False)
        )


def _at(seen: Sequence[tuple[float, Cost]], at_s: float) -> tuple[float, int]:
    """Return the CPU seconds at a moment, between those at the two looks around it, and the peak.

    The peak memory is that of the last look until then.
    """
    last_s, last = seen[0]
    for now_s, now in seen:
        if now_s > at_s:
            share = (at_s - last_s) / (now_s - last_s)
            return last.cpu_s + share * (now.cpu_s - last.cpu_s), last.peak_bytes
        last_s, last = now_s, now
    return last.cpu_s, last.peak_bytes
