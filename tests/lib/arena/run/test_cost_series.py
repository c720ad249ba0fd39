"""The cost of a server by the second, between the looks at it."""

import pytest

from arena.record.measurement import Cost, Second
from arena.run.cost_series import CostSeries


def told(*ok: int) -> list[Second]:
    return [Second(ok=each, failed=0, messages=each) for each in ok]


def a_series(*looks: tuple[float, float, int]) -> CostSeries:
    series = CostSeries(Cost(cpu_s=1.0, peak_bytes=10), began_s=100.0)
    for at_s, cpu_s, peak_bytes in looks:
        series.look(Cost(cpu_s=cpu_s, peak_bytes=peak_bytes), at_s)
    return series


def test_the_cost_of_a_second_is_that_between_the_looks_around_its_ends() -> None:
    series = a_series((100.5, 1.5, 20), (101.5, 2.5, 30), (102.0, 2.6, 40))
    first, second = series.seconds(told(7, 9))
    assert first.cpu_s == pytest.approx(1.0)
    assert second.cpu_s == pytest.approx(0.6)
    assert (first.calls, second.calls) == (7, 9)
    assert (first.peak_bytes, second.peak_bytes) == (20, 40)


def test_a_second_without_a_look_at_its_end_or_without_calls_told_is_left_out() -> None:
    looks = [(100.0 + 0.1 * each, 1.0 + 0.01 * each, 10) for each in range(1, 26)]
    assert len(a_series(*looks).seconds(told(5, 5, 5))) == 2
    assert len(a_series(*looks).seconds(told(5))) == 1
    assert a_series().seconds(told(5)) == ()


def test_the_sum_of_all_seconds_is_what_was_used() -> None:
    looks = [(100.0 + 0.13 * each, 1.0 + 0.02 * each**1.5, 10) for each in range(1, 90)]
    used_s = sum(each.cpu_s for each in a_series(*looks).seconds(told(*[1] * 11)))
    assert used_s == pytest.approx(0.02 * (11 / 0.13) ** 1.5, rel=0.01)
