"""How figures and error bars are said."""

import pytest

from arena.judge.figure_words import (
    bar_of,
    figure_words,
    latency_words,
    rounded_interval,
    rounded_words,
    value_words,
)
from arena.record.measurement import Latency
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
    assert bar_of(Metric.MESSAGES, a_profile().load, 1e6, 2e6) == (
        "the run's error bar 1.00 M to 2.00 M"
    )
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


def test_a_latency_that_is_a_lower_bound_is_said_so() -> None:
    latency = Latency(kind="response", p50=1.2e6, p99=2e9, samples=9, at_least=("p99",))
    words = [latency_words(latency, name) for name in ("p50", "p99", "p999")]
    assert words == ["1.20 ms", "≥ 2.00 s", "–"]
    flags = ["unreached"]
    assert figure_words(Metric.P99, 2e9, 2e9, flags) == "p99 latency ≥ 2.00 s"
    # Rounded up, it would not be a bound.
    assert rounded_words(Metric.P99, 2.34e6, 2.1e6, 2.5e6, flags) == "≥ 2.3 ms"
    assert rounded_words(Metric.P99, 2.38e6, 2.1e6, 2.5e6, flags) == "≥ 2.3 ms"
    # The flag of the one metric says nothing of the other.
    assert figure_words(Metric.P99, 2e9, 2e9, ["client-bound"]) == "p99 latency 2.00 s"
    assert figure_words(Metric.MESSAGES, 2e6, 2e6, flags) == "2.00 M messages/s"


def test_the_interval_of_a_latency_that_is_a_lower_bound_has_no_end() -> None:
    assert rounded_interval(Metric.P99, 2e6, 2e6, 2.5e6) == "2.0 ms to 2.5 ms"
    for high in (2e6, 2.5e6):
        assert rounded_interval(Metric.P99, 2e6, 2e6, high, ["unreached"]) == "2.00 ms or more"
