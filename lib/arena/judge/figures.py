"""The figures beside the headline that are ranked over the blocks of a night, too.

Counts, lateness, failures, the CPU time of generators and p99.9 are shown and not ranked.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from arena.judge.beside import CONNECTION, CPU, IDLE, LATENCIES, MEMORIES, MEMORY, STREAM, Bounds
from arena.judge.ranking import Figure
from parsers.common.figures import LEAST, MOST

# Beyond all figures: the upper end of one of which only the lower bound is known.
FAR = MOST

# p99.9 is shown if the blocks together have so many calls beyond it.
_LEAST_BEYOND = 20
_BEYOND = 0.001


@dataclass(frozen=True)
class RankedFigure:
    """A figure that is ranked: its name and unit, and whether the lowest is the best.

    A value below the `floor` counts as the floor: smaller differences are of the clock, or of
    chance.
    """

    name: str
    unit: str
    floor: float
    lower_is_better: bool = True

    def of(self, bounds: Bounds) -> Figure:
        """Return a run's figure with its error bar, as a rate: higher is better."""
        _, least, most = bounds
        low = max(least, self.floor)
        high = FAR if most is None else max(most, self.floor)
        figure = Figure(low, low if most is None else (low + high) / 2, high)
        return figure.inverted if self.lower_is_better else figure


RANKED = {
    each.name: each
    for each in (
        RankedFigure(LATENCIES["p50"], "ns", 1e3),
        RankedFigure(LATENCIES["p99"], "ns", 1e3),
        RankedFigure(CPU, "s", 1e-5),
        RankedFigure(IDLE, "s", 1e-5),
        *(RankedFigure(name, "bytes", 4096.0) for name in (MEMORY, *MEMORIES)),
        RankedFigure(CONNECTION, "bytes", 64.0),
        RankedFigure(STREAM, "bytes", 64.0),
    )
}

# The p99 of each step of a scenario, which has the step's name.
STEP = RankedFigure("p99 of a step", "ns", 1e3)


def step_key(step: str) -> str:
    """Return the name of a step's figure, which differs from all others."""
    return f"{LATENCIES['p99']}/{step}"


def knows_p999(calls: Iterable[int]) -> bool:
    """Return whether blocks with so many timed calls each have enough of them beyond p99.9."""
    return sum(calls) * _BEYOND >= _LEAST_BEYOND


def pooled_p999(calls: int, tails: Sequence[Sequence[tuple[float, int]]]) -> float | None:
    """Return the p99.9 of all `calls` of the blocks together, whose longest are in `tails`.

    A tail has (ns, count), the longest first. None if a block has none, or one that is too short.
    """
    left = calls * _BEYOND
    for ns, count in sorted(chain(*tails), reverse=True):
        left -= count
        if left < 0:
            return ns if all(tail and tail[-1][0] <= ns for tail in tails) else None
    return None


def sampled(
    figure: RankedFigure, name: str, blocks: Sequence[Sequence[Bounds]]
) -> Sequence[Figure] | None:
    """Return the figures of one name in all blocks, as rates; None if a block does not have it."""
    found = [figure.of(each) for block in blocks for each in block if each[0] == name]
    return found if len(found) == len(blocks) else None


def bounded(value: float) -> float:
    """Return a positive figure as a file may have it: an end that is beyond all is 0, or `FAR`."""
    return min(value, FAR) if value >= LEAST else 0.0
