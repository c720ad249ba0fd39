"""Figures beside the rate: over blocks they are medians, as sure as the blocks are."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from arena.judge.beside import (
    CPU,
    LOST_STREAMS,
    MEMORIES,
    MEMORY,
    STREAM,
    Beside,
    Bounds,
    of_run,
    over_blocks,
)
from arena.judge.entry import Entry, entry_from, entry_of
from arena.judge.leaderboard import Board, rank
from arena.record.measurement import Cost, Memory, Run, Step, Streams
from arena.record.record import Record
from tests.fakes import a_profile, a_record, a_run
from tests.lib.arena.judge.visits import blocks


def figures(*values: float | None, unknown: Sequence[float] = ()) -> list[list[Bounds]]:
    """Return a block for each value; those that are also `unknown` are only lower bounds."""
    return [[] if it is None else [("x", it, None if it in unknown else it)] for it in values]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (figures(160, 4401, 167, 173, 4268), (173, 173, 160, 4401)),
        (figures(1, 2, 3, 10), (2.5, 2.5, 1, 10)),
        (figures(7), (7, 7, 7, 7)),
        # A bound above the middle does not touch it; one below may lie anywhere above.
        (figures(1, 2, 3, unknown=[3]), (2, 2, 1, None)),
        (figures(1, 2, 3, unknown=[1]), (2, 3, 1, None)),
        (figures(1, 2, 3, unknown=[1, 3]), (2, None, 1, None)),
        (figures(1, 2, unknown=[2]), (1.5, None, 1, None)),
    ],
)
def test_the_median_of_blocks_has_the_bounds_that_they_allow(
    given: list[list[Bounds]], found: tuple[float | None, ...]
) -> None:
    it = over_blocks(given)["x"]
    assert (it.at_least, it.at_most, it.low, it.high) == found


def test_a_figure_that_a_block_does_not_have_is_not_known() -> None:
    assert over_blocks(figures(1, None, 3)) == {}


def costly(run: Run, peak_bytes: int, cpu_s: float, p99: float) -> Run:
    return run.model_copy(
        update={
            "server": Cost(cpu_s=cpu_s, peak_bytes=peak_bytes),
            "latency_ns": replace(run.latency_ns, p99=p99),
        }
    )


def changed(records: Iterable[Record], *costs: tuple[int, float, float]) -> list[Record]:
    """Return records of blocks; in the first run of each block, the server costs so much."""
    found = []
    for record in records:
        block = record.visit.block if record.visit else 1
        first, *others = record.runs
        runs = (costly(first, *costs[block - 1]), *others)
        found.append(record.model_copy(update={"runs": runs}))
    return found


def medians(it: Beside) -> tuple[float | None, ...]:
    return it.at_least, it.at_most, it.low, it.high


# In the first block, whose visit is the classic record, everything costs far more.
COSTS = [(4400, 40.0, 9e6), *((160 + at, 5.0 + at, 1e6 + at) for at in range(7))]


def test_a_board_of_blocks_has_the_costs_of_its_blocks() -> None:
    (board,) = rank(changed(blocks({"a": 1e6, "b": 2e6}), *COSTS)).boards
    row = next(row for row in board.rows if row.framework == "a")
    found = board.beside(row)
    assert medians(found[MEMORY]) == (163.5, 163.5, 160, 4400)
    assert medians(found["p99_ns"]) == (1e6 + 3.5, 1e6 + 3.5, 1e6, 9e6)
    assert found[CPU].at_least == pytest.approx(8.5 / 5, rel=0.02)
    assert found[CPU].low == pytest.approx(1.0, rel=0.02)
    assert found[CPU].high == pytest.approx(8.0, rel=0.02)


def test_a_record_with_anonymous_memory_shows_no_peak() -> None:
    held = Memory(anonymous_bytes=5, highest_bytes=7, kernel_bytes=0, idle_bytes=3)
    run = a_run()
    new = run.changed(server=run.server.changed(memory=held))
    figures = {name: least for name, least, _ in of_run(a_profile(), new)}
    assert [figures[name] for name in MEMORIES] == [5, 7, 3, 0]
    assert MEMORY not in figures
    older = {name for name, *_ in of_run(a_profile(), run)}
    assert MEMORY in older
    assert older.isdisjoint(MEMORIES)
    assert "memory" not in run.server.model_dump()
    name = "server_anonymous_bytes_per_connection"
    many = a_record("a", runs=(new,), profile={"connections": [1000], "connection_count": 1000})
    for record, found in ((many, 2 / 1000), (a_record("a", runs=(new,)), None)):
        (board,) = rank([record]).boards
        each = board.beside(board.rows[0]).get(name)
        assert (each and each.at_least) == found
    (board,) = rank([a_record("a", runs=(new,))]).boards
    assert board.beside(board.rows[0])["server_highest_anonymous_bytes"].at_least == 7
    assert MEMORY not in board.beside(board.rows[0])


def test_only_blocks_that_count_count() -> None:
    records = changed(blocks({"a": 1e6, "b": 2e6}), *COSTS)
    # The first block is not whole.
    (board,) = rank(each for each in records if each != records[1]).boards
    row = next(row for row in board.rows if row.framework == "a")
    assert board.beside(row)[MEMORY].high == 166


def test_who_is_not_in_the_night_has_no_costs_there_and_those_of_its_record_elsewhere() -> None:
    late = a_record("late", 3e6, minute=600)
    (board,) = rank([*blocks({"a": 1e6, "b": 2e6}), late]).boards
    row = next(row for row in board.rows if row.framework == "late")
    assert board.beside(row) == {}
    (classic,) = rank([late]).boards
    assert classic.beside(classic.rows[0])[MEMORY].at_least == 50 << 20


def test_costs_of_processes_that_nobody_knows_are_not_shown() -> None:
    def hidden(record: Record) -> Record:
        runs = tuple(
            run.model_copy(update={"server": Cost(cpu_s=0.0, peak_bytes=1 << 20)})
            for run in record.runs
        )
        return record.model_copy(update={"runs": runs})

    records = [*blocks({"a": 1e6, "b": 2e6})]
    for each in ([*map(hidden, records)], [hidden(a_record("a", 1e6))]):
        (board,) = rank(each).boards
        found = board.beside(board.rows[0])
        assert {"p99_ns"} <= set(found)
        assert not {CPU, MEMORY} & set(found)


def of_steps(board: Board) -> dict[str, Beside]:
    return dict(board.steps(next(row for row in board.rows if row.framework == "a")))


def test_the_steps_of_a_scenario_are_medians_too() -> None:
    def with_step(record: Record) -> Record:
        block = record.visit.block if record.visit else 1
        latency = replace(a_run().latency_ns, p99=100.0 * block)
        step = Step(name="create", count=1, ok=1, failed={}, latency_ns=latency)
        runs = tuple(run.model_copy(update={"steps": (step,)}) for run in record.runs)
        return record.model_copy(update={"runs": runs})

    (board,) = rank(map(with_step, blocks({"a": 1e6, "b": 2e6}))).boards
    assert {name: medians(it) for name, it in of_steps(board).items()} == {
        "create": (450, 450, 100, 800)
    }


def test_an_entry_from_the_cache_has_the_same_figures() -> None:
    entry = entry_of(next(blocks({"a": 1e6, "b": 2e6})))
    again = entry_from(*json.loads(json.dumps(entry.values(), default=Entry.values)))
    assert again == entry
    assert again.turn
    assert again.turn.beside


def test_an_open_stream_holds_what_is_more_than_the_idle_server_has() -> None:
    held = Memory(anonymous_bytes=50_000, highest_bytes=60_000, kernel_bytes=0, idle_bytes=10_000)
    streams = Streams(
        connections=2, wanted=9, open_first=9, open_last=8, broken=1, refused=2, due=90, sent=90,
        late=0, answered=90, unanswered=0,
    )  # fmt: skip
    run = a_run()
    run = run.changed(streams=streams, server=run.server.changed(memory=held))
    found = {name: least for name, least, _ in of_run(a_profile(), run)}
    assert (found[STREAM], found[LOST_STREAMS]) == (5000.0, 4.0)
    assert STREAM not in {name for name, *_ in of_run(a_profile(), a_run())}
