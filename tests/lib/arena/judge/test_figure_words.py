"""How figures and error bars are said."""

import pytest

from arena.judge.figure_words import bar_of, figure_words, rounded_words, value_words
from arena.what.metrics import Metric
from tests.fakes import a_profile
from tests.lib.arena.judge.runs import BLAST, SCHEDULED


def test_figures_are_said_with_their_metric() -> None:
    assert figure_words(Metric.MESSAGES, 1.02e6, 2e6) == "1.02 M messages/s"
    assert figure_words(Metric.REQUESTS, 1.02e6, 2e6, ["client-bound"]) == "≥ 1.02 M requests/s"
    assert figure_words(Metric.MESSAGES, 0, 256e3) == "< 256 k messages/s"
    assert figure_words(Metric.P99, 1.2e6, 1.2e6) == "p99 latency 1.20 ms"
    assert value_words(Metric.P99, 1.2e6, 1.2e6) == "1.20 ms"


def test_an_error_bar_is_said_as_what_it_is() -> None:
    assert bar_of(Metric.MESSAGES, a_profile().load, 1e6, 2e6) == "1.00 M to 2.00 M"
    assert bar_of(Metric.MESSAGES, a_profile().load, 1e6, 1e6) == "counted"
    assert bar_of(Metric.REQUESTS, BLAST.load, 1e6, 2e6) == "median within 1.00 M to 2.00 M"
    assert bar_of(Metric.REQUESTS, BLAST.load, 1e6, 1e6) == ""
    assert bar_of(Metric.P99, SCHEDULED.load, 1e6, 1e6) == ""


@pytest.mark.parametrize(
    ("value", "low", "high", "flags", "words"),
    [
        (825e3, 825e3, 929e3, [], "0.82 M"),
        (829e3, 829e3, 929e3, ["client-bound"], "≥ 0.82 M"),
        (829e3, 829e3, 929e3, ["unpinned"], "0.83 M"),
        (0.0, 0.0, 256e3, ["none-finished"], "< 256 k"),
        (0.0, 0.0, 0.0, [], "0"),
    ],
)
def test_a_rate_is_said_with_the_digits_of_its_interval(
    value: float, low: float, high: float, flags: list[str], words: str
) -> None:
    assert rounded_words(Metric.MESSAGES, value, low, high, flags) == words


def test_a_latency_is_said_with_the_digits_of_its_interval() -> None:
    assert rounded_words(Metric.P99, 2.34e6, 2.34e6, 2.34e6) == "2.34 ms"
    assert rounded_words(Metric.P99, 2.34e6, 2.1e6, 2.5e6) == "2.3 ms"
