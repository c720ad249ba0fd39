"""A stub with the signatures of the real thing, which replaces it: naive intervals of 2 %."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean, stdev
from types import MappingProxyType

Figure = tuple[float, float, float]

RANKED_BLOCKS = 6
COMPARED_BLOCKS = 3


@dataclass(frozen=True)
class Interval:
    """A mean and its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Estimate(Interval):
    """A framework's rate over the blocks."""

    blocks: int


@dataclass(frozen=True)
class PairVerdict:
    """How A compares to B."""

    verdict: str
    ratio: float | None
    low: float | None
    high: float | None
    blocks: int


@dataclass(frozen=True)
class Ranking:
    """What the blocks say of the frameworks, by name."""

    estimates: Mapping[str, Estimate]
    rank_sets: Mapping[str, tuple[int, int]] | None
    twins_tied: Mapping[str, bool]
    detectable: float | None
    letters: Mapping[str, str] | None


def rank_blocks(
    blocks: Sequence[Mapping[str, Figure]], twins: Mapping[str, str] = MappingProxyType({})
) -> Ranking:
    """Rank the frameworks of a night's blocks under one load."""
    found = {}
    for name in blocks[0]:
        value = fmean(block[name][1] for block in blocks)
        found[name] = Estimate(value, value * 0.98, value * 1.02, len(blocks))
    own = {name: it for name, it in found.items() if name not in twins}
    if len(blocks) < RANKED_BLOCKS or len(own) < 2:  # noqa: PLR2004
        return Ranking(found, None, {}, None, None)
    sets = {
        name: (
            1 + sum(other.low > it.high for other in own.values()),
            len(own) - sum(other.high < it.low for other in own.values()),
        )
        for name, it in own.items()
    }
    tied = {
        twin: found[twin].low <= found[name].high and found[name].low <= found[twin].high
        for twin, name in twins.items()
    }
    letters = {name: chr(ord("a") + best - 1) for name, (best, _) in sets.items()}
    return Ranking(found, sets, tied, 0.04, letters)


def compare_pair(pairs: Sequence[tuple[Figure, Figure]]) -> PairVerdict:
    """Compare A to B."""
    count = len(pairs)
    if count < COMPARED_BLOCKS:
        return PairVerdict("not comparable", None, None, None, count)
    mean, half = _mean([log(one[1] / other[1]) for one, other in pairs])
    verdict = "faster" if mean > half else "slower" if mean < -half else "no difference"
    return PairVerdict(verdict, exp(mean), exp(mean - half), exp(mean + half), count)


def drift_of(drifts: Sequence[float]) -> Interval | None:
    """Return the mean drift of several runs."""
    mean, half = _mean(drifts)
    return Interval(mean, mean - half, mean + half)


def share_interval(part: int, whole: int) -> tuple[float, float]:
    """Return an interval of a share."""
    return max(0.0, part / whole - 0.2), min(1.0, part / whole + 0.2)


def _mean(values: Sequence[float]) -> tuple[float, float]:
    half = 2 * stdev(values) / len(values) ** 0.5 if len(values) > 1 else 1.0
    return fmean(values), half
