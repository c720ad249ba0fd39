"""A warm-up is learned only from enough starts of enough nights, and only if it is long enough."""

import random
from collections.abc import Sequence
from itertools import cycle

import pytest

from arena.judge.warm_up import Start, learned_warm_up


def starts(
    warm_at: float, count: int = 24, nights: int = 3, seconds: int = 30, noise: float = 0.02
) -> list[Start]:
    """Return starts whose rate rises evenly until they are warm, each with a level of its own."""
    lot = random.Random("starts")
    made = []
    for _, night in zip(range(count), cycle(range(nights)), strict=False):
        level = lot.uniform(1e5, 1e6)
        rates = [
            level * min(1, (second + 0.5) / warm_at if warm_at else 1) * lot.gauss(1, noise)
            for second in range(seconds)
        ]
        made.append(Start(f"night {night}", rates))
    return made


@pytest.mark.parametrize(
    ("warm_at", "learned"), [(0, 2), (2, 2), (3, 3), (4.5, 5), (7.5, 8), (12, 15)]
)
def test_the_shortest_warm_up_that_is_long_enough_is_learned(warm_at: float, learned: int) -> None:
    assert learned_warm_up(starts(warm_at)) == learned


def test_a_start_that_never_gets_warm_teaches_nothing() -> None:
    assert learned_warm_up(starts(200, seconds=60)) is None


@pytest.mark.parametrize(
    "few", [starts(0, count=11), starts(0, nights=2), starts(0, seconds=6), []]
)
def test_few_or_short_starts_teach_nothing(few: Sequence[Start]) -> None:
    assert learned_warm_up(few) is None


def test_starts_that_scatter_need_more_of_them() -> None:
    assert learned_warm_up(starts(0, count=12, seconds=15, noise=0.3)) != 2
    assert learned_warm_up(starts(0, count=600, seconds=15, noise=0.3)) == 2


def test_a_false_plateau_is_not_taken_for_warm() -> None:
    rates = [310.0] * 6 + [1000.0] * 24
    assert learned_warm_up([Start(f"night {number % 3}", rates) for number in range(12)]) == 8


def test_one_disturbed_start_changes_nothing() -> None:
    disturbed = Start("night 0", [1e5] * 5 + [2e4] * 5 + [1e5] * 20)
    assert learned_warm_up([*starts(3), disturbed]) == 3


def test_a_start_that_ends_with_nothing_is_not_warm() -> None:
    stopped = [Start(f"night {number % 3}", [1.0] * 10 + [0.0] * 20) for number in range(12)]
    assert learned_warm_up(stopped) is None
