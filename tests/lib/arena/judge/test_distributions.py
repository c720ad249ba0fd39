"""The distributions agree with scipy's, and refuse what is out of range."""

from collections.abc import Callable
from math import inf

import pytest
from scipy import stats

from arena.judge.distributions import (
    range_cdf,
    range_quantile,
    share_interval,
    t_quantile,
)


@pytest.mark.parametrize("df", [1, 2.5, 7, 40, 10_000])
def test_students_t_agrees_with_scipy(df: float) -> None:
    for p in (0.001, 0.3, 0.5, 0.8, 0.975, 0.9987):
        assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 20, 150])
def test_the_studentized_range_agrees_with_scipy(k: int) -> None:
    for df in (1, 7.7, 500):
        assert range_quantile(0.95, k, df) == pytest.approx(
            stats.studentized_range.ppf(0.95, k, df), rel=1e-4
        )
    for q in (0.5, 4, 30):
        assert range_cdf(q, k, 4.5) == pytest.approx(
            stats.studentized_range.cdf(q, k, 4.5), abs=1e-5
        )


def test_quantiles_with_endless_degrees_of_freedom_are_those_of_normal_means() -> None:
    # The range of two normal means is √2 times the size of one.
    assert range_quantile(0.95, 2, inf) == pytest.approx(2**0.5 * 1.959964, rel=1e-5)
    assert range_quantile(0.99, 10, inf) == pytest.approx(5.157, abs=5e-4)  # printed tables


def test_a_range_has_no_chance_to_be_negative() -> None:
    assert range_cdf(0, 5, 5) == 0
    assert range_cdf(1e6, 5, 5) == pytest.approx(1)


@pytest.mark.parametrize(("count", "total"), [(0, 12), (1, 12), (38, 1000), (12, 12)])
def test_the_interval_of_a_share_is_that_of_clopper_and_pearson(count: int, total: int) -> None:
    expected = stats.binomtest(count, total).proportion_ci(method="exact")
    assert share_interval(count, total) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_without_a_case_a_share_may_be_anything() -> None:
    assert share_interval(0, 0) == (0, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: t_quantile(1, 5),
        lambda: t_quantile(0.9, 0.5),
        lambda: range_quantile(0.95, 1, 5),
        lambda: range_quantile(0, 3, 5),
        lambda: range_cdf(3, 3, 0),
        lambda: share_interval(3, 2),
    ],
)
def test_what_is_out_of_range_is_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(ValueError):
        wrong()
