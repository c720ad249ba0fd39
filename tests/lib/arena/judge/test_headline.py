"""From runs to the headline, its interval and the spread."""

import pytest

from arena.judge.headline import headline_of, spread_of
from arena.record.measurement import interval_of
from arena.what.metrics import Metric
from tests.fakes import a_profile, a_run
from tests.lib.arena.judge.runs import (
    BLAST,
    KEPT,
    POINTS,
    SCHEDULED,
    a_point,
    a_second,
    a_timed_run,
    swept,
)


@pytest.mark.parametrize(
    ("rates", "value", "run", "rule"),
    [
        ([5.0], 5.0, 1, "one run"),
        ([5.0, 7.0], 7.0, 2, "best of 2 runs"),
        ([5.0, 7.0, 6.0], 7.0, 2, "best of 3 runs"),
        ([5.0, 7.0, 6.0, 9.0], 7.0, 2, "best of the first 3 of 4 runs"),
        ([5.0, 6.0, 7.0, 9.0, 9.0, 9.0, 9.0, 9.0], 7.0, 3, "best of the first 3 of 8 runs"),
        ([7.0, 7.0, 7.0], 7.0, 1, "best of 3 runs"),
    ],
)
def test_the_headline_is_the_best_of_the_first_three(
    rates: list[float], value: float, run: int, rule: str
) -> None:
    headline = headline_of(a_profile(), [a_run(rate, cut=2) for rate in rates])
    assert headline
    assert (headline.value, headline.run, headline.rule) == (value, run, rule)
    assert (headline.at_least, headline.at_most) == (value, value + 2000)
    assert headline.metric == "messages/s"


def test_the_spread_is_that_of_all_runs() -> None:
    spread = spread_of(Metric.MESSAGES, [a_run(rate) for rate in (1.0, 2.0, 3.0, 10.0)])
    assert spread
    assert (spread.median, spread.min, spread.max) == (2.5, 1.0, 10.0)
    assert spread.cv == pytest.approx(4.0824829 / 4)


@pytest.mark.parametrize("rates", [[4.0], [0.0, 0.0]])
def test_where_there_is_no_spread_to_tell_none_is_told(rates: list[float]) -> None:
    spread = spread_of(Metric.MESSAGES, [a_run(rate) for rate in rates])
    assert spread
    assert spread.cv is None


def test_a_latency_is_best_when_it_is_lowest() -> None:
    runs = [a_timed_run(each, KEPT) for each in (3e6, 1e6, 2e6, 0.5e6)]
    headline = headline_of(SCHEDULED, runs)
    assert headline
    assert (headline.metric, headline.value, headline.run) == ("p99 latency", 1e6, 2)
    assert headline.at_least == headline.at_most == headline.value
    assert (headline.low, headline.high) == (1e6, 3e6)
    spread = spread_of(Metric.P99, runs)
    assert spread
    assert (spread.min, spread.median, spread.max) == (0.5e6, 1.5e6, 3e6)


def test_a_latency_that_is_known_is_better_than_a_lower_bound_of_one() -> None:
    stalled, known = a_timed_run(1e6, KEPT, is_bound=True), a_timed_run(2e6, KEPT)
    late = a_timed_run(0.5e6, a_second(200, 100))
    headlines = [headline_of(SCHEDULED, runs) for runs in ((stalled, known), (stalled, late))]
    assert [each and (each.value, each.run) for each in headlines] == [(2e6, 2), (1e6, 1)]


def test_the_interval_of_a_latency_is_that_of_the_runs_that_have_one() -> None:
    runs = [a_timed_run(9e6, KEPT), a_timed_run(0, KEPT), a_timed_run(8e6, KEPT)]
    assert interval_of(Metric.P99, runs) == (8e6, 9e6)
    assert interval_of(Metric.P99, runs[1:2]) == (0, 0)
    assert interval_of(Metric.MESSAGES, [a_run(0.0, ok=0, mean_ns=None), a_run(2.0)])[0] == 0


def test_a_blast_is_known_by_its_fastest_point() -> None:
    headline = headline_of(BLAST, [swept(*POINTS)])
    assert headline
    assert headline.rule == "20 calls at once over 8 connections, the fastest point of one run"
    several = headline_of(BLAST, [swept(*POINTS)] * 2)
    assert several
    assert several.rule.endswith(", the fastest point of the best of 2 runs")
    alone = headline_of(BLAST, [swept(a_point(8, 1, 90.0), *POINTS)])
    assert alone
    assert alone.rule == "1 call at once over 1 connection, the fastest point of one run"
