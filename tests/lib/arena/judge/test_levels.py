"""Blocks on two levels: when they are, and what ranks make of them."""

import random

import pytest

from arena.judge.levels import Level, levels_of, over_levels
from arena.judge.ranking import Figure, Ranking, rank_blocks


def exact(*values: float) -> list[Figure]:
    return [Figure(value, value, value) for value in values]


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ((160, 4401, 167, 173, 4268), ((167, 3), (4334.5, 2))),
        ((1, 2, 1, 2), ((1, 2), (2, 2))),
        # The widest gap that has two blocks on either side.
        ((1, 1, 3, 3, 30, 30, 90), ((2, 4), (30, 3))),
    ],
)
def test_blocks_with_a_gap_of_twice_or_more_are_on_two_levels(
    values: tuple[float, ...], levels: tuple[tuple[float, int], ...]
) -> None:
    found = levels_of(values)
    assert tuple((it.value, it.blocks) for it in found) == levels


@pytest.mark.parametrize(
    "values",
    [
        (1, 1, 1.99, 1.99),
        (1, 1, 1, 1, 1, 1, 1, 9),
        (1, 9, 9, 9, 9, 9),
        (1, 1, 9),
        (1, 9),
        (5,),
        (),
        # Each step is small.
        (1, 1.9, 3.5, 6.5, 12, 22),
    ],
)
def test_other_blocks_are_on_one(values: tuple[float, ...]) -> None:
    assert levels_of(values) == ()
    assert over_levels(exact(*values)) == exact(*values)


def test_each_block_then_reaches_from_one_level_to_the_other() -> None:
    found = over_levels([Figure(0.9, 1, 1.1), Figure(4, 4, 4), Figure(1, 1, 1), Figure(4, 4, 5)])
    assert found == [
        Figure(0.9, 1, 4.4),
        Figure(1, 4, 4),
        Figure(1, 1, 4),
        Figure(1, 4, 5),
    ]
    assert levels_of([1, 4, 1, 4]) == (Level(value=1, blocks=2), Level(value=4, blocks=2))


def ranked(*jumping: float) -> Ranking:
    """Rank a framework that jumps between levels with others at 1, 2, 3 and 4; higher is better."""
    lot = random.Random("levels")
    rates = {"1": [1.0] * 8, "2": [2.0] * 8, "3": [3.0] * 8, "4": [4.0] * 8, "x": [*jumping]}
    scattered = {
        name: over_levels(exact(*(rate * lot.gauss(1, 0.01) for rate in own)))
        for name, own in rates.items()
    }
    return rank_blocks([{name: own[at] for name, own in scattered.items()} for at in range(8)])


def test_the_rank_set_of_two_levels_reaches_over_both_and_the_others_keep_theirs() -> None:
    found = ranked(1.5, 1.5, 1.5, 3.5, 1.5, 3.5, 1.5, 1.5).rank_sets
    assert found == {"4": (1, 1), "x": (2, 4), "3": (2, 3), "2": (3, 4), "1": (5, 5)}
    # One block that jumps is no level, and is trimmed.
    one = ranked(1.5, 1.5, 1.5, 3.5, 1.5, 1.5, 1.5, 1.5).rank_sets
    assert one
    assert one["x"] == (4, 4)


def test_the_interval_holds_both_levels() -> None:
    it = ranked(1.5, 1.5, 1.5, 3.5, 1.5, 3.5, 1.5, 1.5).estimates["x"]
    assert 1.4 < it.low < 1.5
    assert 3.5 < it.high < 3.7
