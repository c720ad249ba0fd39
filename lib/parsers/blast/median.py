"""The median of a few repetitions, and how sure it is."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb


@dataclass(frozen=True)
class Interval:
    """A median, and the two values of its sample that it lies between."""

    median: float
    at_least: float
    at_most: float


def interval(sample: Sequence[float]) -> Interval:
    """Return the median of a sample that is not empty, and its interval.

    The interval ends at two values of the sample that hold the median with a confidence of at
    least 95 %, whatever its distribution: those of the sign test (Conover, Practical
    Nonparametric Statistics, 3.2); of 10 values the 2nd and the 9th. Fewer than 6 values cannot
    be that sure: there it is the least and the greatest.
    """
    ordered = sorted(sample)
    rank = _rank(len(ordered))
    return Interval(statistics.median(ordered), ordered[rank - 1], ordered[-rank])


def _rank(n: int) -> int:
    """Return the greatest k with P(the median is below the k-th value) <= 2.5 %, at least 1.

    That is P(B < k), B being binomial with n and 1/2: sum of C(n, i) / 2^n over i < k.
    """
    tail, rank = 0, 0
    while 40 * (tail := tail + comb(n, rank)) <= 1 << n:
        rank += 1
    return max(rank, 1)
