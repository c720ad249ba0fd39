"""The median and its interval."""

import random

import pytest

from parsers.blast.median import Interval, interval


@pytest.mark.parametrize(
    ("n", "rank"),
    # Tables of the sign test, 95 % two-sided: Conover, Practical Nonparametric Statistics, A3.
    [(1, 1), (5, 1), (6, 1), (8, 1), (9, 2), (10, 2), (11, 2), (12, 3), (20, 6), (25, 8)],
)
def test_the_interval_ends_at_the_values_of_the_sign_test(n: int, rank: int) -> None:
    sample = [float(value) for value in range(1, n + 1)]
    random.Random(1).shuffle(sample)
    assert interval(sample) == Interval((n + 1) / 2, float(rank), float(n + 1 - rank))


def test_a_thousand_values_are_as_quick_and_as_sure() -> None:
    found = interval([float(value) for value in range(1000)])
    # The normal approximation: 500 - 1.96 * sqrt(1000) / 2.
    assert (found.at_least, found.at_most) == (468.0, 531.0)


def test_one_value_is_all_there_is() -> None:
    assert interval([3.0]) == Interval(3.0, 3.0, 3.0)
