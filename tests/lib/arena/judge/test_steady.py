"""When a started server is steady, over the starts of a night, by series whose answer is known."""

import json
import random
from collections.abc import Iterable
from math import exp

import pytest

from arena.judge.entry import entry_from, entry_of
from arena.judge.leaderboard import Board, rank
from arena.judge.steady import Start, StartSecond, SteadyAfter, steady_after
from tests.fakes import a_provenance, a_record, a_visit
from tests.lib.arena.judge.starts import PROFILE, a_cold_run, a_start, cold_night, step


def steady(starts: Iterable[Start]) -> SteadyAfter:
    found = steady_after(tuple(starts))
    assert found
    return found


@pytest.mark.parametrize("until", [0, 1, 12, 30])
def test_a_server_is_steady_from_the_second_on_in_which_its_calls_get_cheap(until: int) -> None:
    it = steady([a_start(step(until))] * 8)
    assert (it.value, it.low, it.high, it.starts) == (until, until, until, 8)
    # 0.5 s before the load, then 0.6 s in each second until then.
    assert it.cpu_s == pytest.approx(0.5 + 0.6 * until)
    assert it.peak_bytes == 100 + until


def test_a_tenth_more_is_near_enough() -> None:
    assert steady([a_start(step(9, 1.099))] * 8).value == 0
    # One dear second of five: the mean of the five counts.
    assert steady([a_start(step(9, 1.2))] * 8).value == 7


def test_what_gets_dear_again_is_not_steady_before() -> None:
    late = a_start(lambda at: 3e-4 if at in {0, 1, 20, 21} else 1e-4)
    assert steady([late] * 8).value == 22


def test_the_median_of_the_starts_counts_and_not_a_few_disturbed_ones() -> None:
    assert steady([a_start(step(3))] * 6 + [a_start(step(25))] * 2).value == 3
    it = steady([a_start(step(3))] * 5 + [a_start(step(10))] * 4)
    assert (it.value, it.low, it.high) == (3, 3, 10)


def test_what_is_not_steady_when_its_plateau_begins_has_no_second() -> None:
    it = steady([a_start(lambda at: exp(-at / 8))] * 8)
    assert (it.value, it.low, it.high, it.cpu_s, it.peak_bytes) == (None,) * 5
    half = steady([a_start(step(2))] * 5 + [a_start(step(33))] * 4)
    assert (half.value, half.low, half.high) == (2, 2, None)


@pytest.mark.parametrize(
    "starts",
    [
        [a_start(step(3))] * 7,
        [*[a_start(step(3))] * 7, a_start(step(3), seconds=39)],
        [],
    ],
)
def test_with_too_few_starts_or_seconds_nothing_is_known(starts: list[Start]) -> None:
    assert steady_after(tuple(starts)) is None


def test_seconds_without_calls_are_not_steady() -> None:
    dead = Start(0.5, 100, (StartSecond(0.1, 0, 100),) * 40)
    assert steady([dead] * 8).value is None
    late = Start(0.5, 100, (*dead.seconds[:10], *a_start(step(0)).seconds[10:]))
    # Its ninth second is in a span with the CPU of five and the calls of four.
    assert steady([late] * 8).value == 10


def test_the_interval_covers_the_truth_and_is_the_same_each_time() -> None:
    """Starts with noise of their own: of 40 nights, at least 34 intervals hold the true second."""
    chance, held = random.Random(1), 0
    for _ in range(40):
        starts = []
        for _ in range(10):
            level, until = chance.gauss(1, 0.05), chance.choice([6, 7, 8, 8, 8, 9, 10])
            noise = [chance.gauss(1, 0.04) for _ in range(40)]
            starts.append(a_start(lambda at: step(until)(at) * level * noise[at]))  # noqa: B023
        it = steady(starts)
        assert it == steady_after.__wrapped__(tuple(starts))
        assert it.low is not None
        assert it.value is not None
        assert it.high is not None
        assert it.low <= it.value <= it.high
        held += it.low <= 8 <= it.high
    assert held >= 34


# ---- on boards


def board_of(starts: dict[str, float], count: int = 8) -> Board:
    (board,) = rank(cold_night(starts, count)).boards
    return board


def test_who_answers_first_is_first_and_is_steady_by_all_starts() -> None:
    board = board_of({"java": 1.2, "go": 0.02})
    assert [(row.framework, row.rank_set) for row in board.rows] == [
        ("go", (1, 1)),
        ("java", (2, 2)),
    ]
    it = board.rows[0].estimate
    assert it
    assert it.value == pytest.approx(2e7, rel=0.01)
    assert it.steady == steady([a_start(step(3))] * 8)
    assert not it.still_warming
    assert it.beside["listens_ns"].at_least == pytest.approx(1e7, rel=0.01)


def test_fewer_than_eight_starts_have_no_second_from_which_they_are_steady() -> None:
    (row, _) = board_of({"java": 1.2, "go": 0.02}, count=7).rows
    assert row.estimate
    assert row.estimate.steady is None
    assert "steady" not in row.estimate.model_dump()


def test_a_start_of_ten_seconds_has_a_flag() -> None:
    for first_s, flags in ((9.9, ()), (10.0, ("slow-start",)), (40.0, ("slow-start",))):
        entry = entry_of(a_record(profile=PROFILE, runs=[a_cold_run(first_s)]))
        assert (entry.value, entry.flags) == (first_s * 1e9, flags)


def test_a_start_is_the_same_after_it_was_kept_as_json() -> None:
    record = a_record(profile=PROFILE, runs=[a_cold_run(1.0)], visit=a_visit())
    entry = entry_of(record)
    kept = entry_from(*json.loads(json.dumps(entry.values())))
    assert entry.turn
    assert kept.turn
    assert entry.turn.start
    assert kept.turn.start
    first, again = (steady_after((each,) * 8) for each in (entry.turn.start, kept.turn.start))
    assert first == again


def test_the_size_of_an_image_is_known_unless_it_is_built_on_a_stand_in() -> None:
    for standin, known in ((None, True), ("debian", False)):
        record = a_record(profile=PROFILE, runs=[a_cold_run(1.0)], visit=a_visit())
        it = a_provenance().runtime
        assert it
        runtime = it.changed(name="docker", standin=standin, image_bytes=9 << 20)
        record = record.changed(provenance=record.provenance.changed(runtime=runtime))
        turn = entry_of(record).turn
        assert turn
        assert ("image_bytes" in [name for name, *_ in turn.beside]) == known
