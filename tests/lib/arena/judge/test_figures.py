"""Every figure of a board has an estimate, an interval and a rank set, by the headline's rules."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from arena.judge.beside import (
    CONNECTION,
    CPU,
    GENERATOR_CPU,
    IDLE,
    MEMORIES,
    MEMORY,
    STREAM,
    Beside,
    FigureEstimate,
)
from arena.judge.entry import TWIN, entry_of
from arena.judge.figures import RANKED, STEP, knows_p999, pooled_p999
from arena.judge.leaderboard import Board, rank, rank_entries
from arena.judge.ranking import Figure
from arena.judge.rounds import Round
from arena.judge.twins import TwinBook, TwinHistory, load_name
from arena.record.measurement import Cost, Run, Step
from arena.record.record import Record
from tests.fakes import a_record, a_run
from tests.lib.arena.judge.visits import blocks, night, visited

MIB = float(1 << 20)


def measuring(p99_ns: float = 1e6, memory: float = 50 * MIB, **latency: Any) -> Run:
    """Return a run with so much of what is ranked beside its rate."""
    run = a_run()
    latency_ns = replace(
        run.latency_ns, p50=1e5, p99=p99_ns, p999=9e6, **{"samples": 10_000} | latency
    )
    cost = Cost(cpu_s=5.0, peak_bytes=round(memory), source="process-tree")
    return run.model_copy(update={"latency_ns": latency_ns, "server": cost})


def with_runs(records: Iterable[Record], of: Callable[[str, int], dict[str, Any]]) -> list[Record]:
    """Return records whose runs have what `of` says of a name and a block, at the records' rates.

    Each figure wobbles a little from block to block.
    """
    found = []
    for record in records:
        if record.visit is None or not record.runs:
            found.append(record)
            continue
        name = record.framework.name + TWIN * record.visit.is_twin
        run = measuring(**of(name, record.visit.block))
        wobble = random.Random(f"{name} {record.path}").gauss(1, 0.003)
        cost = run.server.model_copy(
            update={"peak_bytes": round(run.server.peak_bytes * wobble), "cpu_s": 5.0 * wobble}
        )
        latency = replace(run.latency_ns, p99=(run.latency_ns.p99 or 0) * wobble)
        changes = {"server": cost, "latency_ns": latency}
        runs = tuple(each.model_copy(update=changes) for each in record.runs)
        found.append(record.model_copy(update={"runs": runs}))
    return found


RATES = {"a": 1e6, "b": 2e6, "c": 3e6}
# The order by p99 is not that of the rates.
P99 = {"a": 1e6, "b": 3e6, "c": 2e6}


def by_p99(name: str, _: int = 0) -> dict[str, Any]:
    return {"p99_ns": P99[name.removesuffix(TWIN)]}


def board_of(records: Iterable[Record], book: TwinBook = TwinBook()) -> Board:  # noqa: B008
    by_path = {each.path: each for each in records}
    (board,) = rank_entries(map(entry_of, by_path.values()), by_path.__getitem__, book).boards
    return board


def figures(board: Board, figure: str) -> dict[str, FigureEstimate]:
    """Return the estimates of a figure by framework."""
    found = {row.framework: board.beside(row).get(figure) for row in board.rows}
    return {name: it.estimate for name, it in found.items() if it and it.estimate}


def rank_sets(board: Board, figure: str = "p99_ns") -> dict[str, tuple[int, int] | None]:
    return {name: it.rank_set for name, it in figures(board, figure).items()}


def test_each_figure_ranks_by_itself_the_lowest_first() -> None:
    board = board_of(with_runs(blocks(RATES), by_p99))
    assert {row.framework: row.rank_set for row in board.rows} == {
        "c": (1, 1),
        "b": (2, 2),
        "a": (3, 3),
    }
    assert rank_sets(board) == {"a": (1, 1), "c": (2, 2), "b": (3, 3)}
    assert {name: it.letters for name, it in figures(board, "p99_ns").items()} == {
        "a": "a",
        "c": "b",
        "b": "c",
    }
    # Memory is the same for all: nothing tells them apart.
    assert set(rank_sets(board, MEMORY).values()) == {(1, 3)}
    for name, it in figures(board, "p99_ns").items():
        assert it.high is not None
        assert it.low < 1.01 * P99[name]
        assert it.high > 0.99 * P99[name]
        assert it.value == pytest.approx(P99[name], rel=0.01)


def test_a_value_below_its_floor_counts_as_the_floor() -> None:
    floors = {name: it.floor for name, it in RANKED.items()}
    memories = dict.fromkeys((MEMORY, *MEMORIES), 4096) | {CONNECTION: 64, STREAM: 64}
    assert floors == {"p50_ns": 1e3, "p99_ns": 1e3, CPU: 1e-5, IDLE: 1e-5, **memories}
    assert RANKED["p99_ns"].of(("p99_ns", 10.0, 10.0)) == Figure(1e-3, 1e-3, 1e-3)
    assert RANKED["p99_ns"].of(("p99_ns", 10.0, 2e3)) == Figure(5e-4, 1 / 1.5e3, 1e-3)
    assert STEP.of(("create", 0.0, 0.0)).value == 1e-3
    # 10 and 900 ns are both the floor; 2 µs is not.
    low = {"a": 10.0, "b": 900.0, "c": 2000.0}
    found = rank_sets(board_of(with_runs(blocks(RATES), lambda name, _: {"p99_ns": low[name]})))
    assert found["c"] is None or found["c"][1] == 3
    assert found["a"] == found["b"]


def test_counts_generators_and_p999_are_not_ranked() -> None:
    board = board_of(with_runs(blocks(RATES), by_p99))
    for figure in (GENERATOR_CPU, "p999_ns"):
        assert figure in board.beside(board.rows[0])
        assert figures(board, figure) == {}


def test_p999_is_shown_from_twenty_calls_beyond_it() -> None:
    assert not knows_p999([2499] * 8)
    assert knows_p999([2500] * 8)
    for samples, is_shown in ((2499, False), (2500, True)):
        records = with_runs(blocks(RATES), lambda *_, of=samples: {"samples": of})
        board = board_of(records)
        assert ("p999_ns" in board.beside(board.rows[0])) == is_shown


def test_p999_is_that_of_all_calls_of_the_blocks() -> None:
    # Of 20,000 calls, 20 may be slower: all of them are in the second block.
    fast, slow = ((2e6, 60), (1e6, 40)), ((9e6, 15), (8e6, 6), (7e6, 79))
    assert pooled_p999(20_000, [fast, slow]) == 8e6
    assert pooled_p999(20_000, [fast, fast]) == 2e6
    # Some of what is not in a tail may be among the slowest 20.
    assert pooled_p999(20_000, [((9e6, 15),), ((9.5e6, 1),)]) is None
    assert pooled_p999(20_000, [fast, ((9e6, 30),)]) == 9e6
    assert pooled_p999(20_000, [fast, ((9e6, 10),)]) is None
    assert pooled_p999(20_000, [fast, ()]) is None


def test_a_board_shows_the_p999_of_the_blocks_together() -> None:
    def tails(name: str, block: int) -> dict[str, Any]:
        ns = 5e6 if (name, block) == ("a", 3) else 3e6
        return {"tail": ((ns, 100), (1e6, 100))}

    records = with_runs(blocks(RATES), lambda *_: {"samples": 10_000})
    found = board_of(
        each.model_copy(
            update={
                "runs": tuple(
                    run.model_copy(update=tails(each.framework.name, each.visit.block))
                    for run in each.runs
                )
            }
        )
        if each.visit
        else each
        for each in records
    )
    shown = {row.framework: found.beside(row)["p999_ns"].at_least for row in found.rows}
    assert shown == {"a": 5e6, "b": 3e6, "c": 3e6}


def bounded(name: str, block: int, *, open_in: Sequence[int] = range(1, 9)) -> dict[str, Any]:
    return by_p99(name) | ({"at_least": ("p99",)} if name == "a" and block in open_in else {})


def test_a_lower_bound_is_certainly_better_than_nobody() -> None:
    every = figures(board_of(with_runs(blocks(RATES), bounded)), "p99_ns")
    assert every["a"].high is None
    assert {name: it.rank_set for name, it in every.items()} == {
        "a": (1, 3),
        "c": (1, 2),
        "b": (2, 3),
    }
    # The largest lower bound is certainly the worst.
    worst = with_runs(
        blocks(RATES),
        lambda name, at: bounded(name, at) | {"p99_ns": 9e6 if name == "a" else P99[name]},
    )
    assert rank_sets(board_of(worst)) == {"c": (1, 1), "b": (2, 2), "a": (3, 3)}


def test_one_open_block_of_eight_is_left_out_as_any_that_is_far_off() -> None:
    found = figures(
        board_of(with_runs(blocks(RATES), lambda *of: bounded(*of, open_in=[3]))), "p99_ns"
    )
    assert found["a"].high is not None
    assert found["a"].rank_set == (1, 1)


def test_only_who_has_a_figure_in_all_blocks_has_an_estimate_of_it() -> None:
    records = with_runs(blocks(RATES), by_p99)
    gone = next(
        at
        for at, it in enumerate(records)
        if it.framework.name == "b" and it.visit and it.visit.block == 4
    )
    run = records[gone].runs[0]
    without = run.model_copy(update={"latency_ns": replace(run.latency_ns, p99=None)})
    records[gone] = records[gone].model_copy(update={"runs": (without,)})
    board = board_of(records)
    assert rank_sets(board) == {"a": (1, 1), "c": (2, 2)}
    assert set(figures(board, "p50_ns")) <= {"a", "b", "c"}


JUMPS = {2, 5, 7}


def jumping(name: str, block: int) -> dict[str, Any]:
    usual = {"a": 160, "b": 300, "c": 110}[name]
    return {"memory": (4400 if name == "a" and block in JUMPS else usual) * MIB}


def test_blocks_on_two_levels_have_both_and_a_rank_set_over_both() -> None:
    board = board_of(with_runs(blocks(RATES), jumping))
    found = figures(board, MEMORY)
    low, high = found["a"].levels
    assert (low.blocks, high.blocks) == (5, 3)
    assert low.value == pytest.approx(160 * MIB, rel=0.01)
    assert high.value == pytest.approx(4400 * MIB, rel=0.01)
    assert found["b"].levels == found["c"].levels == ()
    # Even the lower level is certainly above 110 MiB, though the blocks scatter 27 times.
    assert rank_sets(board, MEMORY) == {"c": (1, 1), "a": (2, 3), "b": (2, 3)}


def test_the_headline_may_be_on_two_levels_too() -> None:
    def jumped(record: Record) -> Record:
        if record.framework.name != "a" or not record.visit or record.visit.block not in JUMPS:
            return record
        fast = a_run(4e6 + 1e3 * record.visit.block)
        return record.model_copy(update={"runs": (fast,) * len(record.runs)})

    board = board_of(map(jumped, blocks(RATES | {"d": 8e5})))
    rows = {row.framework: row for row in board.rows}
    assert rows["a"].estimate
    low, high = rows["a"].estimate.levels
    assert (low.blocks, high.blocks) == (5, 3)
    assert (low.value, high.value) == pytest.approx((1e6, 4e6), rel=0.01)
    assert {name: row.rank_set for name, row in rows.items()} == {
        "a": (1, 3),
        "c": (1, 2),
        "b": (2, 3),
        "d": (4, 4),
    }
    assert [it.levels for it in (each.estimate for each in board.rows) if it].count(()) == 3


def test_a_noisy_night_and_one_of_few_blocks_rank_by_no_figure() -> None:
    few = board_of(with_runs(blocks(RATES, 5), by_p99))
    assert rank_sets(few) == dict.fromkeys("abc")
    assert all(it.low < it.value for it in figures(few, "p99_ns").values())
    void = [
        visited("a", 1e6, block, minute=50 + block, size=3, repeat=2, is_void=True)
        for block in range(1, 5)
    ]
    records = [*with_runs(blocks(RATES), by_p99), *void]
    noisy = board_of(records)
    assert noisy.night
    assert "noisy" in noisy.night.why_not
    assert rank_sets(noisy) == dict.fromkeys("abc")


def test_a_figure_without_any_scatter_has_no_rank() -> None:
    records = with_runs(blocks(RATES), by_p99)
    flat = [
        each.model_copy(
            update={
                "runs": tuple(
                    run.model_copy(update={"server": Cost(cpu_s=5.0, peak_bytes=4096 * at)})
                    for run in each.runs
                )
            }
        )
        for each in records
        for at in [1 + "abc".index(each.framework.name)]
    ]
    assert rank_sets(board_of(flat), MEMORY) == dict.fromkeys("abc")


def test_the_p99_of_each_step_is_ranked() -> None:
    def stepping(record: Record) -> Record:
        steps = tuple(
            Step(name=name, count=1, ok=1, failed={}, latency_ns=record.runs[0].latency_ns)
            for name in ("create", "p99_ns")
        )
        runs = tuple(run.model_copy(update={"steps": steps}) for run in record.runs)
        return record.model_copy(update={"runs": runs})

    board = board_of(map(stepping, with_runs(blocks(RATES), by_p99)))
    for step in ("create", "p99_ns"):
        found = {row.framework: board.steps(row)[step].estimate for row in board.rows}
        assert {name: it and it.rank_set for name, it in found.items()} == {
            "a": (1, 1),
            "c": (2, 2),
            "b": (3, 3),
        }


# ---- twins

TWINS = {"a": 1e6, "a~twin": 1.001e6, "b": 2e6, "c": 3e6}


def nights(*worse: float, rates: Mapping[str, float] = TWINS) -> list[Record]:
    """Return a night for each factor: the twin's p99 is so much worse than that of its original."""

    def of(factor: float, name: str, _: int) -> dict[str, Any]:
        return {"p99_ns": P99[name.removesuffix(TWIN)] * (factor if name.endswith(TWIN) else 1)}

    return [
        record
        for hour, factor in enumerate(worse)
        for record in with_runs(blocks(rates, hour=hour), partial(of, factor))
    ]


def test_twins_that_differ_in_two_nights_in_a_row_suspend_their_figure_alone() -> None:
    board = board_of(nights(1.2, 1.2))
    assert board.night
    assert board.night.is_ranked
    assert board.night.suspended == ("p99_ns",)
    assert rank_sets(board) == dict.fromkeys("abc")
    assert set(rank_sets(board, MEMORY).values()) == {(1, 3)}
    for others in ((1.2, 1.0), (1.2, 1.0, 1.2)):
        assert rank_sets(board_of(nights(*others)))["a"] == (1, 1)


def test_a_suspended_headline_leaves_the_other_figures_their_ranks() -> None:
    board = board_of(nights(1.0, 1.0, rates=TWINS | {"a~twin": 1.3e6}))
    assert board.night
    assert not board.night.is_ranked
    assert {row.rank_set for row in board.rows} == {None}
    assert rank_sets(board) == {"a": (1, 1), "c": (2, 2), "b": (3, 3)}


def test_the_history_counts_pairs_by_their_own_test_figure_by_figure() -> None:
    # 0.6 % is too little for the rank rule, and enough for the pair's own test.
    board = board_of(nights(1.006, 1.006, 1.0))
    history = board.twin_history
    assert history
    assert history.by_pair
    assert (history.tied, history.of) == (3, 3)
    own = history.figures["p99_ns"]
    assert (own.tied, own.of, own.is_suspended) == (1, 3, False)
    assert own.low < 1 / 3 < own.high
    assert board.night
    twins = {it.figure: it for it in board.night.figure_twins}
    assert twins["p99_ns"].is_tied
    assert rank_sets(board)["a"] == (1, 1)


def test_a_night_whose_records_have_none_of_the_figures_is_ranked_by_its_headline() -> None:
    def bare(record: Record) -> Record:
        runs = tuple(
            run.model_copy(
                update={
                    "latency_ns": replace(run.latency_ns, p50=None, p99=None, p999=None),
                    "server": Cost(cpu_s=0.0, peak_bytes=1 << 20),
                }
            )
            for run in record.runs
        )
        return record.model_copy(update={"runs": runs})

    (board,) = rank(map(bare, blocks(RATES))).boards
    assert {row.rank_set for row in board.rows} == {(1, 1), (2, 2), (3, 3)}
    found: list[Beside] = [it for row in board.rows for it in board.beside(row).values()]
    assert [it for it in found if it.estimate] == []


def test_a_classic_board_has_no_estimates() -> None:
    (board,) = rank([a_record("a"), a_record("b", 2e6)]).boards
    assert all(it.estimate is None for row in board.rows for it in board.beside(row).values())
    assert board.night is None


def test_a_round_keeps_the_history_of_each_figure_and_older_ones_have_the_headline_s() -> None:
    board = board_of(nights(1.2, 1.2))
    assert board.twin_history
    twins = {load_name(board.key): board.twin_history}
    it = Round(name="x", frozen_at=night(), records={}, bundles={}, twins=twins)
    again = Round.model_validate_json(it.text)
    assert again.twins == twins
    # Of the two nights, a round has the one that its board shows.
    shown = board_of(nights(1.2), again.twin_book)
    assert shown.night
    assert shown.night.suspended == ("p99_ns",)
    old = TwinHistory(tied=1, of=2, low=0.1, high=0.9)
    assert set(old.model_dump()) == {"tied", "of", "low", "high", "is_suspended"}
    assert not old.suspends("p99_ns")
