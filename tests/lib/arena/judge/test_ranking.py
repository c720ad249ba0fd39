"""Ranks from blocks: what is told apart, how ranks and letters say so, and what intervals hold."""

import random
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import exp, inf, log

import pytest
from scipy import stats

from arena.judge.ranking import (
    Figure,
    Interval,
    compare_pair,
    drift_of,
    letters_of,
    rank_blocks,
)

Block = dict[str, Figure]


def counted(rate: float) -> Figure:
    """Return a figure without an error bar."""
    return Figure(rate, rate, rate)


def blocks(
    rates: Mapping[str, float], count: int = 8, noise: float = 0.02, seed: int = 1
) -> list[Block]:
    """Return blocks of counted rates with normal noise and a level of their own."""
    lot = random.Random(f"{seed}")
    made = []
    for _ in range(count):
        level = lot.uniform(-0.3, 0.3)
        made.append(
            {name: counted(rate * exp(lot.gauss(level, noise))) for name, rate in rates.items()}
        )
    return made


SAME = dict.fromkeys("abcdef", 1e6)


def test_a_clear_winner_and_a_clear_loser_have_ranks_of_their_own() -> None:
    ranking = rank_blocks(blocks(SAME | {"a": 2e6, "f": 5e5}))
    assert ranking.rank_sets == {"a": (1, 1), **dict.fromkeys("bcde", (2, 5)), "f": (6, 6)}
    assert ranking.letters == {"a": "a", **dict.fromkeys("bcde", "b"), "f": "c"}
    assert ranking.distinct("a", "b")
    assert not ranking.distinct("b", "c")
    assert not ranking.distinct("a", "a")


def test_a_slow_block_that_all_share_changes_nothing() -> None:
    made = blocks(SAME | {"a": 1.2e6})
    slow = [
        {name: Figure(one / 3, two / 3, three / 3) for name, (one, two, three) in made[0].items()}
    ]
    assert rank_blocks(slow + made[1:]).rank_sets == rank_blocks(made).rank_sets


def test_one_ruined_run_in_eight_does_not_hide_a_difference() -> None:
    made = blocks(SAME | {"a": 1.2e6})
    made[3]["a"] = counted(4e5)
    assert rank_blocks(made).rank_sets == rank_blocks(blocks(SAME | {"a": 1.2e6})).rank_sets


def test_estimates_are_on_the_metrics_scale_and_inside_their_intervals() -> None:
    ranking = rank_blocks(blocks({"a": 3e6, "b": 2e6, "c": 1e6}, noise=0.01))
    for name, rate in {"a": 3e6, "b": 2e6, "c": 1e6}.items():
        estimate = ranking.estimates[name]
        assert estimate.low < estimate.value < estimate.high
        assert estimate.blocks == 8
        # The level of the blocks wanders by a third, and is no one's own.
        assert estimate.value / ranking.estimates["c"].value == pytest.approx(rate / 1e6, rel=0.03)
        assert 0.6 * rate < estimate.value < 1.4 * rate


def test_below_six_blocks_or_alone_there_are_intervals_and_no_ranks() -> None:
    for ranking in (
        rank_blocks(blocks(SAME, 5), {"f": "a"}),
        rank_blocks(blocks({"a": 1e6, "b": 9e6}), {"b": "a"}),
    ):
        assert ranking.rank_sets is None
        assert ranking.letters is None
        assert ranking.detectable is None
        assert ranking.twins_tied == {}
        assert not ranking.distinct("a", "b")
        assert ranking.estimates["b"].low < ranking.estimates["b"].high


def test_one_block_gives_the_error_bar_of_its_run() -> None:
    estimate = rank_blocks([{"a": Figure(1.0, 2.0, 4.0), "b": counted(3.0)}]).estimates["a"]
    assert (estimate.low, estimate.value, estimate.high) == pytest.approx((1, 2, 4), rel=0.5)
    assert estimate.low < estimate.value < estimate.high


def test_a_twin_has_an_estimate_but_changes_nothing_for_the_others() -> None:
    with_twin = blocks(SAME | {"a": 1.2e6, "twin": 1.2e6})
    without = [
        {name: figure for name, figure in block.items() if name != "twin"} for block in with_twin
    ]
    ranking, plain = rank_blocks(with_twin, {"twin": "a"}), rank_blocks(without)
    assert ranking.rank_sets == plain.rank_sets
    assert ranking.letters == plain.letters
    assert ranking.detectable == plain.detectable
    assert {name: ranking.estimates[name] for name in SAME} == plain.estimates
    assert ranking.twins_tied == {"twin": True}
    assert ranking.distinct("twin", "b")


def test_a_twin_that_differs_from_its_original_is_not_tied() -> None:
    ranking = rank_blocks(blocks(SAME | {"twin": 1.3e6}), {"twin": "a"})
    assert ranking.twins_tied == {"twin": False}


def widened(made: Sequence[Block], low: float, high: float) -> list[Block]:
    """Return the blocks with the figures of `a` between two bounds."""
    return [
        {
            name: Figure(value * low, value, value * high) if name == "a" else counted(value)
            for name, (_, value, _) in block.items()
        }
        for block in made
    ]


def test_where_calls_were_counted_both_bounds_must_agree() -> None:
    made = blocks(SAME | {"a": 1.2e6})
    assert rank_blocks(widened(made, 1, 1.1)).distinct("a", "b")
    # At least as fast as the others, at most clearly faster.
    assert not rank_blocks(widened(made, 0.83, 1)).distinct("a", "b")
    # Clearly slower at least, clearly faster at most.
    assert not rank_blocks(widened(made, 0.5, 1)).distinct("a", "b")


def test_the_interval_of_counted_calls_spans_both_bounds() -> None:
    made = blocks(SAME | {"a": 1.2e6})
    narrow = rank_blocks(made).estimates["a"]
    wide = rank_blocks(widened(made, 0.9, 1.1)).estimates["a"]
    assert wide.value == pytest.approx(narrow.value)
    assert wide.low == pytest.approx(narrow.low * 0.9)
    assert wide.high == pytest.approx(narrow.high * 1.1)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_small_boards_of_identical_servers_are_rarely_told_apart(count: int) -> None:
    names = "abcde"[:count]
    nights = 300
    wrong = sum(
        any(ranking.distinct(one, other) for one, other in combinations(names, 2))
        for seed in range(nights)
        for ranking in [rank_blocks(blocks(dict.fromkeys(names, 1.0), seed=seed))]
    )
    # Were it 5 %, more than 24 nights of 300 would be a matter of 1 in 100.
    assert wrong <= 24


def test_two_frameworks_that_differ_enough_are_told_apart() -> None:
    found = sum(
        rank_blocks(blocks({"a": 1.0, "b": 0.95}, seed=seed)).distinct("a", "b")
        for seed in range(50)
    )
    assert found >= 40


def test_what_is_called_detectable_is_usually_found() -> None:
    nights = 60
    found = 0
    for seed in range(nights):
        rates = dict.fromkeys("abcdefgh", 1.0)
        size = rank_blocks(blocks(rates, noise=0.03, seed=seed)).detectable or 0.0
        slower = rates | {"a": 1 - size}
        found += rank_blocks(blocks(slower, noise=0.03, seed=seed + nights)).distinct("a", "b")
    assert 0.6 * nights <= found <= 0.95 * nights


def test_identical_figures_tie_without_an_error() -> None:
    block: Block = {"a": counted(1.0), "b": counted(1.0), "c": counted(2.0)}
    ranking = rank_blocks([block] * 8)
    assert ranking.rank_sets == {"a": (2, 3), "b": (2, 3), "c": (1, 1)}


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        [{}],
        [{"a": (1.0,) * 3}, {"b": (1.0,) * 3}],
        [{"a": counted(1.0), "b": Figure(0.0, 1.0, 1.0)}],
        [{"a": counted(1.0), "b": Figure(1.0, 1.0, float("nan"))}],
    ],
)
def test_blocks_that_cannot_be_ranked_are_refused(wrong: list[Block]) -> None:
    with pytest.raises(ValueError, match="block"):
        rank_blocks(wrong)


@pytest.mark.parametrize("seed", range(20))
def test_two_names_share_a_letter_if_and_only_if_they_tie(seed: int) -> None:
    lot = random.Random(seed)
    names = [f"server-{number}" for number in range(12)]
    odds = lot.random()
    ties = {pair for pair in combinations(names, 2) if lot.random() < odds}
    letters = letters_of(names, ties)
    assert all(letters.values())
    for pair in combinations(names, 2):
        assert bool(set(letters[pair[0]]) & set(letters[pair[1]])) == (pair in ties)


def test_letters_are_the_same_in_the_order_of_the_names() -> None:
    assert letters_of("abc", [("a", "b"), ("b", "c")]) == {"a": "a", "b": "ab", "c": "b"}
    assert letters_of("abc", []) == {"a": "a", "b": "b", "c": "c"}


def pairs(ratio: float, count: int, seed: int = 1) -> list[tuple[Figure, Figure]]:
    return [(block["a"], block["b"]) for block in blocks({"a": ratio, "b": 1.0}, count, seed=seed)]


def test_a_pair_is_faster_slower_or_not_different() -> None:
    for ratio, verdict in {1.2: "faster", 0.8: "slower", 1.0: "not told apart"}.items():
        compared = compare_pair(pairs(ratio, 8))
        assert compared.verdict == verdict
        assert compared.blocks == 8
        assert compared.low is not None
        assert compared.high is not None
        assert compared.low < ratio < compared.high


def test_a_pair_needs_three_blocks() -> None:
    compared = compare_pair(pairs(2, 2))
    assert compared.verdict == "not comparable"
    assert (compared.ratio, compared.low, compared.high) == (None, None, None)
    assert compare_pair(pairs(2, 3)).verdict == "faster"


def test_the_interval_of_a_few_untrimmed_blocks_is_students() -> None:
    made = pairs(1.1, 5)
    expected = stats.ttest_1samp([log(a[0] / b[0]) for a, b in made], 0).confidence_interval()
    compared = compare_pair(made)
    assert (compared.low, compared.high) == pytest.approx((exp(expected.low), exp(expected.high)))


def test_the_bounds_of_counted_calls_must_agree_on_a_pair() -> None:
    wide = [(a._replace(at_least=a.at_least / 2), b) for a, b in pairs(1.2, 8)]
    compared = compare_pair(wide)
    assert compared.verdict == "not told apart"
    assert compared.ratio == pytest.approx(1.2, rel=0.03)


def test_identical_servers_are_seldom_compared_wrongly() -> None:
    wrong = sum(compare_pair(pairs(1, 8, seed)).verdict != "not told apart" for seed in range(400))
    # 5 % are expected; more than 32 of 400 would be a matter of 1 in 200.
    assert 5 <= wrong <= 32


def test_drift_is_a_mean_with_students_interval() -> None:
    drifts = [0.02, 0.05, 0.03, 0.04]
    expected = stats.ttest_1samp(drifts, 0).confidence_interval()
    drift = drift_of(drifts)
    assert isinstance(drift, Interval)
    assert (drift.value, drift.low, drift.high) == pytest.approx((0.035, *expected))
    assert drift_of(drifts[:1]) is None


def test_figures_of_nonsense_have_wide_intervals_and_break_nothing() -> None:
    for count in (2, 8):
        wild = [(1e-300, 1e17)[at % 2] for at in range(count)]
        blocks = [{f"f{n}": counted(rate) for n in range(20)} for rate in wild]
        for at, block in enumerate(blocks):
            block["f0"] = counted(wild[at - 1])
        found = rank_blocks(blocks).estimates["f0"]
        assert 0 <= found.low <= found.value <= found.high < inf
    pair = compare_pair([(counted(rate), counted(1.0)) for rate in (1e-300, 1e17, 1e-300)])
    assert pair.high
    assert pair.high < inf
