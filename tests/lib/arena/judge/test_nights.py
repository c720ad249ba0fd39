"""Nights of blocks: which blocks are whole, which night a board shows, and who is ranked in it."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from arena.judge.leaderboard import Board, rank
from arena.judge.row import Row
from arena.judge.verdicts import BoardNight, OtherNight
from arena.record.record import Record
from tests.fakes import a_record, a_run
from tests.lib.arena.judge.visits import (
    UNARY,
    blocks,
    drifting,
    night,
    paced,
    packing,
    visited,
    without,
)

THREE = {"slow": 1e6, "fast": 3e6, "middle": 2e6}


def only_board(records: list[Record]) -> Board:
    (board,) = rank(records).boards
    return board


def rows_of(records: list[Record]) -> dict[str, Row]:
    return {row.framework: row for row in only_board(records).rows}


def night_of(records: list[Record]) -> BoardNight:
    found = only_board(records).night
    assert found
    return found


def sets(board: Board) -> list[tuple[str, tuple[int, int] | None]]:
    return [(row.framework, row.rank_set) for row in board.rows]


def test_a_board_ranks_by_the_blocks_of_its_night_and_keeps_the_classic_rank() -> None:
    board = only_board(list(blocks(THREE)))
    assert sets(board) == [("fast", (1, 1)), ("middle", (2, 2)), ("slow", (3, 3))]
    assert [row.letters for row in board.rows] == ["a", "b", "c"]
    assert [row.rank for row in board.rows] == [1, 2, 3]
    first = board.rows[0].estimate
    assert first
    assert first.low < 3e6 < first.high
    assert (first.blocks, len(first.rates), len(set(first.records))) == (8, 8, 8)
    found = board.night
    assert found
    assert (found.night, found.planned, found.blocks, found.visits) == (night(), 8, 8, 24)
    assert (found.frameworks, found.is_ranked, found.why_not) == (3, True, "")


def test_rows_are_in_the_order_of_the_estimates_whatever_the_classic_one_is() -> None:
    lucky = visited("slow", 9e6, runs=[a_run(9e6), a_run(8.9e6), a_run(9e6)], minute=900)
    records = list(blocks(THREE))
    # A newer classic record of another night, with one block only.
    board = only_board([*records, lucky.model_copy(update={"visit": None})])
    assert [row.framework for row in board.rows] == ["fast", "middle", "slow"]
    assert [row.rank for row in board.rows] == [2, 3, 1]


def test_who_was_not_in_the_night_has_no_estimate_and_comes_after_those_who_were() -> None:
    board = only_board([*blocks(THREE), a_record("absent", 9e6, minute=1)])
    assert sets(board)[-1] == ("absent", None)
    assert board.rows[-1].rank == 1
    assert board.rows[-1].estimate is None


def test_only_the_first_blocks_whole_visit_is_a_classic_record() -> None:
    records = [*blocks({"a": 1e6, "a~twin": 9e6, "b": 2e6})]
    rows = rows_of(records)
    assert rows.keys() == {"a", "b"}
    result = rows["a"].result
    assert result
    assert len(result.rates) == 3
    assert result.value < 2e6


def test_a_framework_without_a_classic_record_is_a_row_all_the_same() -> None:
    records = list(blocks(THREE))
    rows = rows_of(without(records, 0))
    assert rows["slow"].result is None
    assert rows["slow"].rank is None
    assert rows["slow"].estimate


@pytest.mark.parametrize("gone", [0, 5, -1])
def test_a_block_with_a_visit_missing_does_not_count(gone: int) -> None:
    found = night_of(without(list(blocks(THREE)), gone))
    assert (found.blocks, found.visits, found.planned) == (7, 23, 8)


def test_a_void_visit_is_replaced_by_its_repeat() -> None:
    records = list(blocks(THREE))
    void = visited("fast", 1e3, 3, minute=500, size=3, is_void=True)
    board = only_board([*records, void])
    assert board.night
    assert (board.night.blocks, board.night.voids, board.night.disturbed) == (8, 1, 1)
    first = board.rows[0].estimate
    assert first
    assert first.voids == 1
    assert min(first.rates) > 2e6
    lost = [each for each in records if each.path != first.records[2]]
    assert night_of([*lost, void]).blocks == 7


def test_of_two_attempts_the_newest_whole_one_counts() -> None:
    def attempt(number: int, rate: float, *names: str) -> list[Record]:
        return [
            visited(name, rate, 8, minute=600 + 10 * number + at, size=2, attempt=number)
            for at, name in enumerate(names)
        ]

    seven = list(blocks({"a": 1e6, "b": 2e6}, 7))
    killed = rows_of([*seven, *attempt(1, 5e5, "a", "b"), *attempt(2, 6e5, "a")])
    assert killed["a"].estimate
    assert killed["a"].estimate.rates[-1] == 5e5
    again = [*attempt(1, 5e5, "a"), *attempt(2, 6e5, "b", "a")]
    resumed = rows_of([*seven, *again])
    assert resumed["a"].estimate
    assert resumed["a"].estimate.rates[-1] == 6e5


def test_who_failed_is_out_of_the_night_and_the_others_are_not() -> None:
    records = list(blocks({**THREE, "broken": 4e6}, 2))
    records.append(visited("broken", 0, 3, minute=100, size=4, failure="it fell"))
    later = blocks(THREE)
    for each in later:
        assert each.visit
        if each.visit.block > 2:
            size = 4 if each.visit.block == 3 else 3
            records.append(
                each.model_copy(update={"visit": each.visit.model_copy(update={"size": size})})
            )
    board = only_board(records)
    assert board.night
    assert (board.night.blocks, board.night.frameworks) == (8, 3)
    row = next(row for row in board.rows if row.framework == "broken")
    assert row.failure
    assert (row.failure.reason, row.estimate, row.rank) == ("it fell", None, 1)


def test_who_has_a_twin_that_failed_is_out_like_it() -> None:
    records = [*blocks(THREE)]
    first = [each for each in records if each.visit and each.visit.block == 1]
    more = visited("slow", 0, 1, minute=700, size=4, is_twin=True, failure="it fell")
    bigger = [
        each.model_copy(update={"visit": each.visit.model_copy(update={"size": 4})})
        for each in first
        if each.visit
    ]
    found = night_of([*bigger, more, *(each for each in records if each not in first)])
    assert (found.blocks, found.frameworks, found.twins) == (8, 2, ())


def test_who_is_still_warming_up_has_an_estimate_and_no_rank() -> None:
    def run_of(block: int) -> list[float]:
        return [1.10 + 0.001 * block]

    records = []
    for each in blocks(THREE):
        assert each.visit
        if each.framework.name == "fast":
            (growth,) = run_of(each.visit.block)
            runs = (drifting(each.runs[0].rate, growth), *each.runs[1:])
            records.append(each.model_copy(update={"runs": runs}))
        else:
            records.append(each)
    board = only_board(records)
    # It stands where its figure puts it.
    assert sets(board) == [("fast", None), ("middle", (1, 1)), ("slow", (2, 2))]
    estimate = board.rows[0].estimate
    assert estimate
    assert estimate.still_warming
    assert estimate.drift_low
    assert 0.02 < estimate.drift_low < 0.11
    assert estimate.is_bound
    steady = board.rows[1].estimate
    assert steady
    assert (steady.still_warming, steady.drift_low) == (False, None)


def test_an_interval_of_no_width_has_no_rank() -> None:
    constant = [each for block in range(1, 9) for each in constants(block)]
    board = only_board(constant)
    assert board.night
    assert board.night.why_not.startswith("Ranks need two frameworks at least in the same night, ")
    assert "with blocks that differ" in board.night.why_not
    assert [row.estimate is not None for row in board.rows] == [True] * 3


def constants(block: int) -> list[Record]:
    """Return a block in which two of three frameworks have the rate of all other blocks."""
    rates = {"a": 1e6, "b": 2e6, "c": 3e6 + 1e4 * block}
    return [
        visited(name, rate, block, minute=10 * block + at, size=3)
        for at, (name, rate) in enumerate(rates.items())
    ]


@pytest.mark.parametrize(
    ("records", "why"),
    [
        (list(blocks(THREE, 5)), "Ranks need 6 whole blocks at least; this night has 5."),
        (list(blocks({"a": 1e6, "a~twin": 1e6})), "Ranks need two frameworks at least"),
        (
            [
                *blocks(THREE),
                *(
                    visited("a", 1e6, at, minute=900 + at, size=3, is_void=True)
                    for at in range(2, 5)
                ),
            ],
            "This was a noisy night: 3 of 27 visits are void, more than 10 %",
        ),
    ],
)
def test_a_night_that_ranks_nobody_has_estimates_and_says_why(
    records: list[Record], why: str
) -> None:
    board = only_board(records)
    assert board.night
    assert not board.night.is_ranked
    assert board.night.why_not.startswith(why)
    assert {row.rank_set for row in board.rows} | {row.letters for row in board.rows} == {None}
    assert any(row.estimate for row in board.rows)


def test_without_ranks_the_rows_are_in_the_order_of_the_estimates_too() -> None:
    records = [*blocks({"a": 1e6, "b": 2e6}, 2), a_record("c", 9e6, minute=50)]
    assert [row.framework for row in only_board(records).rows] == ["b", "a", "c"]


def test_the_newest_night_that_can_be_ranked_is_shown_or_the_newest_at_all() -> None:
    old, new = list(blocks(THREE)), list(blocks(THREE, 3, hour=5))
    assert night_of([*old, *new]).night == night()
    assert night_of(list(blocks(THREE, hour=5)) + old).night == night(5)
    few = list(blocks(THREE, 2))
    assert night_of([*few, *new]).night == night(5)


SMALL = {"fast": 3e6, "slow": 1e6}
TEN = {f"f{number}": 1e6 + 1e5 * number for number in range(10)}


def begun(records: Iterable[Record], on: str) -> list[Record]:
    """Return the records of a night that began on another day."""
    found = []
    for each in records:
        assert each.visit
        moved = f"{on}{each.visit.night[10:]}"
        visit = each.visit.model_copy(update={"night": moved})
        time = f"{on}{each.started_at[10:]}"
        found.append(each.model_copy(update={"visit": visit, "started_at": time}))
    return found


def test_a_small_night_takes_no_ranks_away() -> None:
    newest = {"f1": 1e6, "f2": 2e6}
    board = only_board([*blocks(TEN), *blocks(newest, hour=4)])
    assert board.night
    assert (board.night.night, board.night.frameworks) == (night(), 10)
    assert board.night.newer == OtherNight(night=night(4), frameworks=2)
    assert all(row.rank_set for row in board.rows)
    # An equal night is as full, and newer.
    again = only_board([*blocks(TEN), *blocks(TEN, hour=4)]).night
    assert again
    assert (again.night, again.newer, again.fuller) == (night(4), None, None)


def test_a_night_counts_what_it_ranks() -> None:
    noisy = [visited("f1", 1e6, 2, minute=700 + at, size=10, is_void=True) for at in range(12)]
    found = night_of([*blocks(TEN), *noisy, *blocks(THREE, hour=13)])
    assert (found.night, found.is_ranked) == (night(13), True)
    five = night_of([*blocks(TEN, 5), *blocks(SMALL, hour=5)])
    assert five.night == night(5)


@pytest.mark.parametrize(("day", "is_shown"), [("2025-12-05", True), ("2025-11-30", False)])
def test_a_night_of_another_month_is_not_shown_but_named(day: str, is_shown: bool) -> None:
    found = night_of([*begun(blocks(THREE), day), *blocks(SMALL, hour=2)])
    old = f"{day}{night()[10:]}"
    if is_shown:
        assert (found.night, found.newer) == (old, OtherNight(night=night(2), frameworks=2))
    else:
        assert (found.night, found.newer) == (night(2), None)
        assert found.fuller == OtherNight(night=old, frameworks=3)


def test_a_newer_night_without_ranks_is_named() -> None:
    found = night_of([*blocks(THREE), *blocks(THREE, 3, hour=5)])
    assert (found.night, found.newer) == (night(), OtherNight(night=night(5), frameworks=3))


def test_a_board_without_visits_has_no_night() -> None:
    board = only_board([a_record("a")])
    assert (board.night, board.twin_history, board.rows[0].estimate) == (None, None, None)


def test_the_divisions_have_ranks_of_their_own() -> None:
    records = []
    for each in blocks({**THREE, "engine": 9e6}):
        kind = "engine" if each.framework.name == "engine" else "tuned"
        framework = each.framework.model_copy(update={"type": kind})
        records.append(each.model_copy(update={"framework": framework}))
    others, engine = rank(records).boards
    assert sets(others) == [("fast", (1, 1)), ("middle", (2, 2)), ("slow", (3, 3))]
    assert engine.rows[0].estimate
    assert engine.night
    assert engine.night.why_not.startswith("Ranks need two frameworks")


def framed(**packings: float) -> list[Record]:
    return [
        each.model_copy(
            update={"runs": tuple(packing(run, packings[each.framework.name]) for run in each.runs)}
        )
        for each in blocks(THREE)
    ]


def test_a_stream_has_a_second_board_of_those_that_send_one_message_a_frame() -> None:
    every, single = rank(framed(slow=1.0, middle=0.98, fast=30.0)).boards
    assert (every.framing, single.framing) == ("all", "single")
    assert every.key == single.key
    assert [row.framework for row in every.rows] == ["fast", "middle", "slow"]
    assert sets(single) == [("middle", (1, 1)), ("slow", (2, 2))]
    assert [row.rank for row in single.rows] == [1, 2]
    assert single.night
    assert single.night.frameworks == 2


def test_without_a_difference_there_is_no_second_board() -> None:
    for one in (1.0, 30.0):
        (board,) = rank(framed(slow=one, middle=one, fast=one)).boards
        assert board.framing == "all"


def test_without_a_figure_under_load_the_contracts_decides() -> None:
    every, single = rank([a_record("a", 1e6, packed=1.0), a_record("b", 2e6, packed=40.0)]).boards
    assert len(every.rows) == 2
    # It is alone here, so it has no rank, and not that of the other board.
    assert [(row.framework, row.rank) for row in single.rows] == [("a", None)]
    only_board([a_record("a", 1e6, packed=1.0), a_record("b", 2e6)])


def test_what_was_seen_under_load_weighs_more_than_the_contract() -> None:
    records = [a_record("a", packed=1.0, runs=[packing(a_run(), 9.0)]), a_record("b", packed=1.0)]
    every, single = rank(records).boards
    assert [row.framework for row in single.rows] == ["b"]
    found = next(row for row in every.rows if row.framework == "a").result
    assert found
    assert found.messages_per_data_frame_under_load == pytest.approx(9.0, rel=1e-3)


def test_where_a_call_has_one_reply_there_is_nothing_to_pack() -> None:
    only_board([a_record("a", packed=1.0, profile=UNARY), a_record("b", packed=4.0, profile=UNARY)])


def test_the_order_of_the_visits_does_not_matter() -> None:
    records = [*blocks(THREE), *blocks(THREE, 3, hour=5)]
    assert rank(records[::-1]) == rank(records)


def test_the_twin_of_who_failed_is_out_too() -> None:
    early = list(blocks({"a": 1e6, "a~twin": 1e6, "b": 2e6, "c": 3e6}, 3))
    failed = visited("a", 0, 3, minute=900, size=4, failure="it fell")
    late = [
        visited(name, rate, block, minute=500 + 2 * block + place)
        for block in range(4, 9)
        for place, (name, rate) in enumerate({"b": 2e6, "c": 3e6}.items())
    ]
    found = night_of([*without(early, 8), failed, *late])
    assert (found.blocks, found.frameworks, found.twins) == (8, 2, ())


@pytest.mark.parametrize("block", [1, 3, 8])
@pytest.mark.parametrize("is_twin", [False, True])
def test_a_failure_costs_no_block_though_the_other_name_has_no_more_visits(
    block: int, is_twin: bool
) -> None:
    others = {"b": 2e6, "c": 3e6}
    records = list(blocks({"a": 1e6, "a~twin": 1e6, **others}, block - 1))
    records.append(visited("a", 0, block, minute=700, size=4, is_twin=is_twin, failure="it fell"))
    records += [
        visited(name, rate, at, minute=710 + 10 * at + place, size=4 if at == block else 2)
        for at in range(block, 9)
        for place, (name, rate) in enumerate(others.items())
    ]
    found = night_of(records)
    assert (found.blocks, found.frameworks) == (8, 2)
    # Without another visit, the block is not whole all the same.
    gone = [each for each in records if not (each.framework.name == "c" and is_in(each, block))]
    assert night_of(gone).blocks == 7


def is_in(record: Record, block: int) -> bool:
    return record.visit is not None and record.visit.block == block


def test_a_framework_that_the_host_could_not_measure_takes_no_block_from_the_others() -> None:
    found = night_of([*blocks({"a": 1e6, "b": 2e6, "c": 3e6}, 3), *without_a(4)])
    assert (found.blocks, found.frameworks) == (8, 2)


def without_a(first: int) -> list[Record]:
    """Return the blocks from that one to the eighth, in which `a` is no longer visited."""
    return [
        visited(name, rate, block, minute=500 + 10 * block + place, size=2)
        for block in range(first, 9)
        for place, (name, rate) in enumerate({"b": 2e6, "c": 3e6}.items())
    ]


def test_who_was_dropped_late_in_a_night_does_not_cost_the_others_their_ranks() -> None:
    early = list(blocks({"a": 1e6, "b": 2e6, "c": 3e6}, 5))
    late = without_a(6)
    found = night_of([*early, *late])
    assert (found.blocks, found.frameworks, found.is_ranked) == (8, 2, True)
    # Six blocks with all three are enough for ranks of all three.
    more = [visited("a", 1e6, 6, minute=900, size=3)]
    size = {"visit": late[0].visit.model_copy(update={"size": 3})} if late[0].visit else {}
    sixth = [each.model_copy(update=size) if is_in(each, 6) else each for each in late]
    found = night_of([*early, *more, *sixth])
    assert (found.blocks, found.frameworks) == (6, 3)


def test_a_night_that_was_killed_in_its_first_block_after_a_failure_has_no_whole_block() -> None:
    failed = visited("a", 0, 1, minute=700, size=3, failure="it fell")
    board = only_board([failed, visited("b", 2e6, 1, minute=701, size=3)])
    assert board.night is None


def test_trials_with_the_load_of_full_records_are_not_ranked_with_them() -> None:
    trials = [
        each.model_copy(
            update={
                "provenance": each.provenance.model_copy(update={"overrides": {"DURATION": "5s"}})
            }
        )
        for each in blocks(THREE, hour=5)
    ]
    assert all(each.is_trial for each in trials)
    assert night_of([*blocks(THREE), *trials]).night == night(0)
    assert night_of(trials).night == night(5)


def test_at_a_fixed_rate_the_cheapest_call_is_the_best_and_figures_are_times() -> None:
    costs = {"dear": 300.0, "cheap": 80.0, "middle": 150.0}
    board = only_board([
        paced(name, us, block, minute=10 * block + at)
        for block in range(1, 9)
        for at, (name, us) in enumerate(costs.items())
    ])  # fmt: skip
    assert sets(board) == [("cheap", (1, 1)), ("middle", (2, 2)), ("dear", (3, 3))]
    first = board.rows[0].estimate
    assert first
    assert first.low < first.value < first.high
    assert first.value == pytest.approx(80_000, rel=0.01)
    assert first.rates[0] == pytest.approx(80_000, rel=0.01)


def late(record: Record, p99_ns: float) -> Record:
    """Return a visit in which p99 was so much from when requests were written; 1 ms from due."""
    [run] = record.runs
    written = replace(run.latency_ns, p99=p99_ns)
    due = replace(run.latency_ns, kind="response", p99=1e6)
    return record.changed(runs=(run.changed(latency_ns=due, written_ns=written),))


def test_where_the_generator_was_late_p99_lies_between_from_written_and_from_due() -> None:
    board = only_board([
        late(paced(name, 100.0, block, minute=10 * block + at), p99_ns)
        for block in range(1, 9)
        for at, (name, p99_ns) in enumerate({"late": 0.8e6, "punctual": 0.9e6}.items())
    ])  # fmt: skip
    found = {row.framework: board.beside(row)["p99_ns"] for row in board.rows}
    assert (found["late"].at_least, found["late"].at_most) == (0.8e6, 1e6)
    assert (found["punctual"].at_least, found["punctual"].at_most) == (1e6, 1e6)
    assert found["late"].is_between
    assert not found["punctual"].is_between


def test_a_server_whose_calls_get_cheaper_in_its_window_is_still_warming_up() -> None:
    board = only_board([
        paced(name, 100.0, block, minute=10 * block + at, halves=halves)
        for block in range(1, 9)
        for at, (name, halves) in enumerate({"java": (0.30, 0.20), "go": (0.2, 0.2)}.items())
    ])  # fmt: skip
    warming = {row.framework: row.estimate and row.estimate.still_warming for row in board.rows}
    assert warming == {"java": True, "go": False}


def test_who_cannot_keep_the_rate_in_more_than_a_quarter_of_the_visits_is_last() -> None:
    """4,900 of the 10,000 calls that were due are too few."""
    records = [
        paced(name, us, block, minute=10 * block + at, ok=4_900 if block <= slow else 10_000)
        for block in range(1, 9)
        for at, (name, us, slow) in enumerate([("a", 80.0, 3), ("b", 150.0, 2), ("c", 300.0, 0)])
    ]
    board = only_board(records)
    assert sets(board) == [("b", (1, 1)), ("c", (2, 2)), ("a", None)]
    assert [row.estimate and row.estimate.cannot_keep for row in board.rows] == [False, False, True]
