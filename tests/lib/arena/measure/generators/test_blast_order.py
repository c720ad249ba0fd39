"""The order of a sweep: it comes from the seed, and is the one that volley has."""

import json
from itertools import islice

import pytest

from arena.measure.generators.ghz_blast import shuffled, split_mix, starts
from tests.lib.parsers.blast.sweeps import VOLLEY

from .blasts import a_blast


def test_the_numbers_are_splitmix64s() -> None:
    """The first numbers that the authors' own program gives for the seed 1234567."""
    assert list(islice(split_mix(1_234_567), 3)) == [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 39])
def test_every_place_comes_once(count: int) -> None:
    assert sorted(shuffled(count, split_mix(7))) == list(range(count))


def test_each_repetition_has_all_points_in_another_order() -> None:
    found = list(starts(a_blast(sweep=(1, 2, 5, 10, 20))))
    points = [(ways, calls) for ways in (1, 2) for calls in (1, 2, 5, 10, 20)]
    assert [repetition for repetition, _, _ in found] == [1] * 10 + [2] * 10
    orders = [[(ways, calls) for _, ways, calls in half] for half in (found[:10], found[10:])]
    assert sorted(orders[0]) == sorted(orders[1]) == points
    assert orders[0] != orders[1] != points != orders[0]


def test_the_seed_says_in_which() -> None:
    assert list(starts(a_blast(seed=3))) == list(starts(a_blast(seed=3)))
    assert list(starts(a_blast(seed=3))) != list(starts(a_blast(seed=4)))


def test_it_is_the_order_of_a_real_volley_with_that_seed() -> None:
    sweep = json.loads((VOLLEY / "grpc-go.json").read_bytes())
    fired = {
        shot["order"]: (point["connections"], point["requests"])
        for point in sweep["points"]
        for shot in point["shots"]
    }
    profile = a_blast(
        connections=tuple(sweep["options"]["connections"]),
        sweep=tuple(sweep["options"]["requests"]),
        repetitions=sweep["repetitions"],
        seed=sweep["seed"],
    )
    assert [(ways, calls) for _, ways, calls in starts(profile)] == [
        fired[order] for order in range(390)
    ]
