"""Ranks with a known error rate, from blocks in which every framework was measured once.

docs/measuring.md explains the method, and tools/simulate_ranking.py measures its error rates.
Everything here is a pure function. Rates are positive, in any unit; higher is better.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import exp, log, sqrt
from statistics import NormalDist, fmean, median
from types import MappingProxyType
from typing import NamedTuple

from arena.judge.distributions import range_quantile, t_quantile


class Figure(NamedTuple):
    """The figure of one run with its error bar; all are equal if messages were counted."""

    at_least: float
    value: float
    at_most: float

    @property
    def inverted(self) -> "Figure":
        """A time as a rate, of which higher is better: 1 / figure."""
        return Figure(*(1 / bound if bound else 0.0 for bound in reversed(self)))


CONFIDENCE = 0.95
# Ranks need this many blocks, and the verdict on a pair this many.
RANKED_BLOCKS = 6
COMPARED_BLOCKS = 3
# The degrees of freedom that the board's median variance is worth beside a framework's own.
_PRIOR_DF = 4
# The same for intervals, the factor on a framework's own variance, and the degrees of freedom that
# the board adds at most. Simulated: with them, intervals hold in 94 % to 97 % of nights.
_INTERVAL_PRIOR_DF = 2
_INTERVAL_FACTOR = 1.3
_INTERVAL_DF = 5
# An end of an interval that is farther away than any rate.
_FAR = 1e300
# How often a difference of the size `detectable` is found.
_POWER = 0.8


@dataclass(frozen=True)
class Interval:
    """A mean and its 95 % confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Estimate(Interval):
    """A framework's rate over the blocks; low to high is the simultaneous 95 % interval.

    In 95 % of nights, all intervals of the board contain the truth at once. They say where a
    framework stands on this board; what all frameworks had in common, such as a slow night, is not
    in them. With a single block, low to high is only the error bar of its run.
    """

    blocks: int


@dataclass(frozen=True)
class PairVerdict:
    """How A compares to B: the ratio of their rates, and its 95 % interval.

    `verdict` is "faster", "slower", "not told apart" or "not comparable". Then there were too few
    blocks, and there is no ratio.
    """

    verdict: str
    ratio: float | None
    low: float | None
    high: float | None
    blocks: int

    @property
    def inverted(self) -> "PairVerdict":
        """The same of figures of which lower is better."""
        ratio, low, high = (each and 1 / each for each in (self.ratio, self.high, self.low))
        return PairVerdict(self.verdict, ratio, low, high, self.blocks)


@dataclass(frozen=True)
class _Mean:
    """The trimmed mean of logarithms, its variance, and the variance's degrees of freedom."""

    value: float
    variance: float
    df: int


@dataclass(frozen=True)
class _Side:
    """One bound of all figures: logarithms by name, over the median of the ranked in each block.

    `level` is the logarithm of the board's typical rate, which belongs to the position `middle`.
    `typical` is the median variance of the ranked frameworks.
    """

    logs: Mapping[str, Sequence[float]]
    means: Mapping[str, _Mean]
    level: float
    middle: float
    typical: float

    def variance(self, name: str, prior_df: float) -> float:
        """Return a framework's variance, shrunk towards the board's; never below its own."""
        mean = self.means[name]
        shrunk = (mean.df * mean.variance + prior_df * self.typical) / (mean.df + prior_df)
        return max(mean.variance, shrunk)


@dataclass(frozen=True)
class Ranking:
    """What the blocks say of each framework, by name.

    A rank set is every rank that the framework may have: from 1 + the number of frameworks that are
    certainly better to n minus the number that are certainly worse. Two frameworks share a letter
    if and only if they are not distinct; the best one has an `a`. With fewer than 6 blocks or 2
    frameworks nothing is distinct: rank sets, letters and `detectable` are None, and `twins_tied`
    is empty. `detectable` is the smallest true difference between two typical frameworks of this
    board, as a share of the faster one's rate, that would be found in 80 % of nights.
    """

    estimates: Mapping[str, Estimate]
    twins: Mapping[str, str]
    blocks: int
    _bounds: tuple[_Side, ...]

    def distinct(self, one: str, other: str) -> bool:
        """Tell whether two frameworks certainly differ; either may be a twin."""
        return self._order(one, other) != 0

    @cached_property
    def rank_sets(self) -> Mapping[str, tuple[int, int]] | None:
        """The best and the worst rank that each framework may have."""
        if not self._is_ranked:
            return None
        orders = {
            name: [self._order(name, other) for other in self._ranked] for name in self._ranked
        }
        return {
            name: (1 + order.count(-1), len(order) - order.count(1))
            for name, order in orders.items()
        }

    @cached_property
    def letters(self) -> Mapping[str, str] | None:
        """The compact letter display."""
        if not self._is_ranked:
            return None
        names = sorted(self._ranked, key=lambda name: -self.estimates[name].value)
        ties = {pair for pair in combinations(names, 2) if not self.distinct(*pair)}
        return letters_of(names, ties)

    @cached_property
    def twins_tied(self) -> Mapping[str, bool]:
        """Whether each twin is not distinct from its original."""
        if not self._is_ranked:
            return {}
        return {twin: not self.distinct(twin, name) for twin, name in self.twins.items()}

    @cached_property
    def detectable(self) -> float | None:
        """The smallest true difference that this board usually finds."""
        if not self._is_ranked:
            return None
        side = max(self._bounds, key=lambda each: each.typical)
        pairs = combinations(self._ranked, 2)
        needed = median(max(_thresholds(side, *pair, len(self._ranked))) for pair in pairs)
        # On another night, chance makes the difference smaller, or what is needed larger.
        df = min(mean.df for mean in side.means.values())
        margin = NormalDist().inv_cdf(_POWER) * sqrt(2 * side.typical + needed**2 / df)
        return 1 - exp(-needed - margin)

    @cached_property
    def _ranked(self) -> Sequence[str]:
        return [name for name in self.estimates if name not in self.twins]

    @cached_property
    def _is_ranked(self) -> bool:
        return self.blocks >= RANKED_BLOCKS and len(self._ranked) > 1

    def _order(self, one: str, other: str) -> int:
        """Return 1 if one is certainly better, -1 if it is certainly worse, else 0."""
        if one == other or not self._is_ranked:
            return 0
        if (one, other) not in self._orders:
            count = len(self._ranked)
            first, *others = (_sign(side, one, other, count) for side in self._bounds)
            order = first if all(each == first for each in others) else 0
            self._orders[one, other], self._orders[other, one] = order, -order
        return self._orders[one, other]

    @cached_property
    def _orders(self) -> dict[tuple[str, str], int]:
        return {}


def rank_blocks(
    blocks: Sequence[Mapping[str, Figure]], twins: Mapping[str, str] = MappingProxyType({})
) -> Ranking:
    """Rank the frameworks of one night's whole blocks of one load.

    Every block has the same names. `twins` maps the name of a twin to that of its original: a twin
    has an estimate, but no rank and no letter, and it changes nothing for the others. ValueError:
    no block, a block with other names, no framework but twins, or a figure that is not positive.
    """
    names = sorted(blocks[0]) if blocks else []
    ranked = [name for name in names if name not in twins]
    if not ranked or any(sorted(block) != names for block in blocks):
        raise ValueError("every block needs the same frameworks, and one at least")
    if any(not bound > 0 for block in blocks for figure in block.values() for bound in figure):
        raise ValueError("a figure of a block is not positive")
    value = _side(blocks, 1, names, ranked)
    is_counted = all(least == most for block in blocks for least, _, most in block.values())
    bounds = (value,) if is_counted else tuple(_side(blocks, at, names, ranked) for at in (0, 2))
    estimates = {
        name: Estimate(
            value=_position(value, name, 0),
            low=_position(bounds[0], name, -_half_width(bounds[0], name, len(ranked))),
            high=_position(bounds[-1], name, _half_width(bounds[-1], name, len(ranked))),
            blocks=len(blocks),
        )
        for name in names
    }
    return Ranking(estimates, twins, len(blocks), bounds)


def _side(
    blocks: Sequence[Mapping[str, Figure]], at: int, names: Sequence[str], ranked: Sequence[str]
) -> _Side:
    raw = {name: [log(block[name][at]) for block in blocks] for name in names}
    # Alone, a framework has no one to be compared to: its own scatter is all there is.
    if len(ranked) > 1:
        centres = [median(rates) for rates in zip(*(raw[name] for name in ranked), strict=True)]
    else:
        centres = [0.0] * len(blocks)
    logs = {
        name: [rate - centre for rate, centre in zip(rates, centres, strict=True)]
        for name, rates in raw.items()
    }
    means = {name: _trimmed(each) for name, each in logs.items()}
    return _Side(
        logs=logs,
        means=means,
        level=median(_trimmed(raw[name]).value for name in ranked),
        middle=median(means[name].value for name in ranked),
        typical=median(means[name].variance for name in ranked),
    )


def _exp(value: float) -> float:
    """Return e to a power; `_FAR`, or 1 / `_FAR`, for what is farther beyond all rates."""
    most = log(_FAR)
    return min(exp(max(min(value, most), -most)), _FAR)


def _trimmed(values: Sequence[float]) -> _Mean:
    """Return the trimmed mean and its variance from winsorised values (Yuen 1974).

    A sixth of the values, rounded down, is trimmed off each end.
    """
    count = len(values)
    ordered = sorted(values)
    cut = _cut(count)
    kept = ordered[cut : count - cut]
    if len(kept) == 1:
        return _Mean(kept[0], 0.0, 1)
    winsorised = [kept[0]] * cut + kept + [kept[-1]] * cut
    mean = sum(winsorised) / count
    squares = sum((each - mean) ** 2 for each in winsorised)
    df = len(kept) - 1
    return _Mean(sum(kept) / len(kept), squares / (df * (df + 1)), df)


def _cut(count: int) -> int:
    return count // 6


def _pair_df(df: float, count: int, blocks: int) -> float:
    """Return the degrees of freedom of the variance of a pair's own differences.

    `df` are those of both frameworks together. Two frameworks that are centred by their median are
    each other's mirror, so half of them are left; of many frameworks, nearly all. Trimming costs
    half a degree for each value cut off an end: with it, Yuen's interval of 6 to 16 normal values
    holds in 95 % of cases, without it in 94 %.
    """
    return max(df * (count - 1) / count - _cut(blocks) / 2, 1.0)


def _sign(side: _Side, one: str, other: str, count: int) -> int:
    """Return the sign of a difference that is beyond chance, otherwise 0."""
    difference = side.means[one].value - side.means[other].value
    if any(abs(difference) <= least for least in _thresholds(side, one, other, count)):
        return 0
    return 1 if difference > 0 else -1


def _thresholds(side: _Side, one: str, other: str, count: int) -> Iterator[float]:
    """Yield the two sizes that a difference must exceed, by the test of Games and Howell (1976).

    The sum of the two variances overlooks that the frameworks of a small board share their median,
    so the variance of the pair's own differences must agree.
    """
    first, second = side.variance(one, _PRIOR_DF), side.variance(other, _PRIOR_DF)
    variance = first + second
    # The equation of Welch and Satterthwaite.
    df = float(side.means[one].df)
    if variance:
        df = variance**2 / (first**2 / df + second**2 / side.means[other].df)
    yield _range_of(count, df) * sqrt(variance)
    own = [a - b for a, b in zip(side.logs[one], side.logs[other], strict=True)]
    yield _range_of(count, _pair_df(df, count, len(own))) * sqrt(_trimmed(own).variance)


def _range_of(count: int, df: float) -> float:
    """Return the critical value of a difference, in its standard errors."""
    return range_quantile(CONFIDENCE, count, df) / sqrt(2)


def _position(side: _Side, name: str, shift: float) -> float:
    """Return a place on the metric's scale: a shift from a framework's own, as a logarithm."""
    return _exp(side.level + side.means[name].value - side.middle + shift)


def _half_width(side: _Side, name: str, count: int) -> float:
    """Return half the simultaneous interval's width: Student's t at the level of Šidák."""
    mean = side.means[name]
    level = (1 + CONFIDENCE ** (1 / count)) / 2
    variance = max(side.variance(name, _INTERVAL_PRIOR_DF), _INTERVAL_FACTOR * mean.variance)
    return t_quantile(level, mean.df + min(1.5 * (mean.df - 1), _INTERVAL_DF)) * sqrt(variance)


def letters_of(names: Sequence[str], ties: Collection[tuple[str, str]]) -> Mapping[str, str]:
    """Return the letters of each name, such that two names share one if and only if they tie.

    `ties` has each tied pair once, in the order of `names`. A letter is a group of names that all
    tie; groups are grown in the order of the names until every tie is in one.
    """
    tied = {frozenset(pair) for pair in ties}
    groups: list[list[str]] = []
    for one, other in combinations(names, 2):
        if frozenset((one, other)) not in tied:
            continue
        if any(one in group and other in group for group in groups):
            continue
        group = [one, other]
        for name in names:
            if all(frozenset((name, each)) in tied for each in group):
                group.append(name)
        groups.append(sorted(group, key=names.index))
    covered = {name for group in groups for name in group}
    groups += [[name] for name in names if name not in covered]
    groups.sort(key=lambda group: [names.index(name) for name in group])
    return {
        name: "".join(_letter(at) for at, group in enumerate(groups) if name in group)
        for name in names
    }


def _letter(number: int) -> str:
    """Return a to z, A to Z, and then the letters that follow in Unicode."""
    plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return plain[number] if number < len(plain) else chr(0x100 + number - len(plain))


def compare_pair(pairs: Sequence[tuple[Figure, Figure]]) -> PairVerdict:
    """Compare two frameworks chosen beforehand, A and B, by their figures in the same blocks.

    The trimmed mean of log(A ÷ B) decides, by Student's t. It needs 3 blocks. Where the true rates
    lie between bounds, the verdict holds for both bounds. ValueError: a figure is not positive.
    """
    if any(not bound > 0 for pair in pairs for figure in pair for bound in figure):
        raise ValueError("a figure of a block is not positive")
    blocks = len(pairs)
    if blocks < COMPARED_BLOCKS:
        return PairVerdict("not comparable", None, None, None, blocks)
    means = [_trimmed([log(a[at]) - log(b[at]) for a, b in pairs]) for at in range(3)]
    t = t_quantile((1 + CONFIDENCE) / 2, _pair_df(2 * means[1].df, 2, blocks))
    low = _exp(min(mean.value - t * sqrt(mean.variance) for mean in means))
    high = _exp(max(mean.value + t * sqrt(mean.variance) for mean in means))
    verdict = "faster" if low > 1 else "slower" if high < 1 else "not told apart"
    return PairVerdict(verdict, _exp(means[1].value), low, high, blocks)


def drift_of(drifts: Sequence[float]) -> Interval | None:
    """Return the mean drift of a framework's runs and its 95 % interval, by Student's t.

    `drifts` has log(rate of the second half ÷ rate of the first half) of one run of each block.
    None for fewer than two.
    """
    if len(drifts) < 2:  # noqa: PLR2004
        return None
    mean, df = fmean(drifts), len(drifts) - 1
    # Its square root takes a tenth of the time of `stdev`; there are thousands of nights.
    variance = sum((each - mean) ** 2 for each in drifts) / df
    half = t_quantile((1 + CONFIDENCE) / 2, df) * sqrt(variance / len(drifts))
    return Interval(mean, mean - half, mean + half)
