"""The bars: met up to the limit, missed beyond it."""

import pytest

from tests.tools.bench.shots import a_round, a_shot
from tools.bench.bars import Bar, bars
from tools.bench.turns import medians
from tools.bench.workloads import STREAM, UNARY


def missed(found: list[Bar]) -> list[str]:
    return [each.what for each in found if not each.met]


def test_close_to_the_limit_every_bar_is_met() -> None:
    found = bars(a_round())
    assert missed(found) == []
    assert [(each.reached, each.asked) for each in found] == [
        ("1/70.0 of ghz's", "at most 1/70"),
        ("1/25.0 of ghz's", "at most 1/25"),
        ("2.20 x ghz's", "at least 2.2 x"),
        ("1/5.0 of h2load's", "at most 1/5"),
        ("1/1.0 of h2load's", "at most 1/1"),
        ("1.50 x a plain one's", "at most 1.5 x"),
        ("100 µs", "at most 100 µs"),
        ("64.0 MB", "at most 64 MB"),
        ("256.0 MB", "at most 256 MB"),
        ("0", "0"),
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # Dearer by the call is also dearer than h2load; cheaper misses nothing.
        (
            {"cpu_ns": 1001.0},
            ["CPU per message, stream", "CPU per message, stream-tls", "CPU per call, unary"],
        ),
        ({"cpu_ns": 30.1}, ["CPU per message, stream"]),
        ({"cpu_ns": 1.0}, []),
        ({"rate": 2.19e6}, ["messages/s, stream"]),
        ({"delay_ns": 100_001.0}, ["p99 of sent - due, paced"]),
        ({"peak_bytes": 64_000_001}, ["memory at 64 x 4"]),
        ({"peak_bytes": 256_000_001}, ["memory at 64 x 4", "memory at 1,024 x 100"]),
        ({"off": 1}, ["counted - server's own, every run"]),
        ({"off": -1}, ["counted - server's own, every run"]),
    ],
)
def test_beyond_its_limit_a_bar_is_missed(changes: dict[str, float], expected: list[str]) -> None:
    assert missed(bars(a_round(**changes))) == expected


def test_templates_may_cost_half_as_much_again_as_the_call() -> None:
    cheap = a_shot(UNARY, rate=9e4, cpu_ns=900.0)
    shots = [each for each in a_round() if (each.workload, each.generator) != (UNARY, "volley")]
    assert missed(bars([*shots, cheap])) == ["CPU per call, unary-template"]


def test_a_count_must_be_right_in_every_round_not_only_in_the_median() -> None:
    shots = [*a_round(), *a_round(off=-7), *a_round()]
    assert bars(shots)[-1].reached == "-7"
    assert missed(bars(shots)) == ["counted - server's own, every run"]


@pytest.mark.parametrize(
    ("rates", "median"), [([3.0], 3.0), ([1.0, 9.0], 1.0), ([9.0, 1.0, 5.0], 5.0)]
)
def test_the_median_is_one_of_the_shots(rates: list[float], median: float) -> None:
    shots = [a_shot(rate=rate) for rate in rates]
    (found,) = medians(shots)
    assert found in shots
    assert found.rate == median


def test_generators_and_workloads_are_never_mixed() -> None:
    shots = [shot for _ in range(3) for shot in a_round()]
    assert medians(shots) == a_round()
    assert [each.workload.name for each in medians(shots)].count(STREAM.name) == 2


@pytest.mark.parametrize(("absent", "left"), [("ghz", 7), ("h2load", 8), ("volley", 0)])
def test_without_a_generator_its_bars_are_left_out(absent: str, left: int) -> None:
    shots = [shot for shot in a_round() if shot.generator != absent]
    assert len(bars(shots)) == left
