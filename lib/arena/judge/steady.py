"""After how many seconds of load a started server is steady, over the starts of a night."""

import math
import random
from collections.abc import Sequence
from functools import cache
from statistics import median
from typing import NamedTuple

from arena.base.model import Frozen, Number
from arena.judge.flags import has_unknown_cost
from arena.record.measurement import Run
from parsers.common.figures import Whole

# Fewer starts say too little.
LEAST_STARTS = 8
# A server is steady from the first second on from which the next so many cost at most this factor
# more than those of its plateau, which begins and ends with these seconds.
NEXT_S = 5
MOST = 1.1
PLATEAU_S = (30, 40)

# The interval is that of so many resamples of the starts, with a fixed seed.
RESAMPLES = 2_000
_SEED = 57
_TAIL = 0.025


class StartSecond(NamedTuple):
    """A second of the load after a start: the server's CPU, the calls, and its peak memory."""

    cpu_s: float
    calls: int
    peak_bytes: int


class Start(NamedTuple):
    """What a start cost until the load began, and each second of the load."""

    cpu_s: float
    peak_bytes: int
    seconds: tuple[StartSecond, ...]


class SteadyAfter(Frozen):
    """The seconds of load after which a framework is steady, from `low` to `high` with 95 %.

    None: it is not steady when its plateau begins, after 30 s. Until then, a start costs `cpu_s` of
    CPU and has a peak of `peak_bytes`, from the program's start on; both are medians of `starts`.
    """

    value: Whole | None
    low: Whole | None
    high: Whole | None
    cpu_s: Number | None
    peak_bytes: Number | None
    starts: Whole


def start_of(run: Run) -> Start | None:
    """Return what is needed of the start before a run; None if there is none, or no known cost."""
    if (it := run.started) is None or has_unknown_cost(run):
        return None
    seconds = (StartSecond(each.cpu_s, each.calls, each.peak_bytes) for each in it.seconds)
    return Start(it.cpu_s, it.peak_bytes, tuple(seconds))


@cache
def steady_after(starts: tuple[Start, ...]) -> SteadyAfter | None:
    """Return when a framework is steady; None with too few starts, or if a load was too short."""
    starts = tuple(map(_made, starts))
    if len(starts) < LEAST_STARTS or any(len(it.seconds) < PLATEAU_S[1] for it in starts):
        return None
    costs = [_costs(start.seconds) for start in starts]
    value = _steady_at(costs)
    chance = random.Random(_SEED)  # noqa: S311 - not a secret
    found = sorted(
        _NEVER if (at := _steady_at(chance.choices(costs, k=len(costs)))) is None else at
        for _ in range(RESAMPLES)
    )
    tail = int(_TAIL * RESAMPLES)
    low, high = (None if at == _NEVER else at for at in (found[tail], found[-1 - tail]))
    cpu_s = peak_bytes = None
    if value is not None:
        cpu_s = median(it.cpu_s + sum(each.cpu_s for each in it.seconds[:value]) for it in starts)
        peak_bytes = median(
            it.seconds[value - 1].peak_bytes if value else it.peak_bytes for it in starts
        )
    return SteadyAfter(
        value=value, low=low, high=high, cpu_s=cpu_s, peak_bytes=peak_bytes, starts=len(starts)
    )


_NEVER = PLATEAU_S[0] + 1


def _made(start: Start) -> Start:
    """Return a start that may have come from JSON, and so be of plain tuples."""
    cpu_s, peak_bytes, seconds = start
    return Start(cpu_s, peak_bytes, tuple(StartSecond(*each) for each in seconds))


def _costs(seconds: Sequence[StartSecond]) -> list[float]:
    """Return the CPU a call of the 5 s from each second on, and last that of the plateau."""
    first, end = PLATEAU_S
    spans = [(at, at + NEXT_S) for at in range(first + 1)] + [(first, end)]
    return [_cost(seconds[begin:end]) for begin, end in spans]


def _cost(seconds: Sequence[StartSecond]) -> float:
    calls = sum(each.calls for each in seconds)
    return sum(each.cpu_s for each in seconds) / calls if calls else math.inf


def _steady_at(costs: Sequence[Sequence[float]]) -> int | None:
    """Return the first second from which the median cost stays near that of the plateau."""
    *spans, plateau = map(median, zip(*costs, strict=True))
    steady = None
    for at in reversed(range(len(spans))):
        if not spans[at] <= MOST * plateau < math.inf:
            break
        steady = at
    return steady
