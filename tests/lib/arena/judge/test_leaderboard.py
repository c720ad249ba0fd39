"""The leaderboard, derived from records alone."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from arena.base.model import to_json
from arena.judge.entry import entry_of
from arena.judge.leaderboard import Board, rank, rank_entries
from arena.judge.load_key import generator_warm_up
from arena.judge.row import Result, Row
from arena.record.measurement import BlastPoint, Latency
from arena.record.record import GeneratorInfo, Record
from tests.fakes import FAILED, PASSED, WARNED, a_provenance, a_record, a_run, a_trial, at
from tests.lib.arena.judge.runs import a_second


def only_board(*records: Record) -> Board:
    boards = rank(records).boards
    assert len(boards) == 1
    return boards[0]


def row_of(*records: Record) -> Row:
    return only_board(*records).rows[0]


def result_of(*records: Record) -> Result:
    found = row_of(*records).result
    assert found
    return found


def ranks(board: Board) -> list[tuple[int | None, str]]:
    return [(row.rank, row.framework) for row in board.rows]


def test_the_fastest_comes_first() -> None:
    board = only_board(a_record("slow", 1.0), a_record("fast", 3.0), a_record("middle", 2.0))
    assert ranks(board) == [(1, "fast"), (2, "middle"), (3, "slow")]


def test_equal_values_share_a_rank_and_the_next_one_counts_them() -> None:
    board = only_board(*(a_record(n, v) for n, v in [("b", 2.0), ("a", 2.0), ("c", 1.0)]))
    assert ranks(board) == [(1, "a"), (1, "b"), (3, "c")]


def spread(name: str, *rates: float) -> Record:
    return a_record(name, runs=[a_run(rate) for rate in rates])


def test_who_cannot_be_told_from_the_best_shares_its_rank() -> None:
    board = only_board(spread("a", 9.0, 11.0), spread("b", 10.0, 8.0), spread("c", 8.5, 7.0))
    # b overlaps a; c overlaps b, but not a, so it is lower.
    assert ranks(board) == [(1, "a"), (1, "b"), (3, "c")]
    intervals = [(row.result.low, row.result.high) for row in board.rows if row.result]
    assert intervals == [(9.0, 11.0), (8.0, 10.0), (7.0, 8.5)]


def test_intervals_that_only_touch_overlap() -> None:
    board = only_board(spread("a", 11.0, 9.0), spread("b", 9.0, 7.0), spread("c", 6.99, 5.0))
    assert ranks(board) == [(1, "a"), (1, "b"), (3, "c")]


def test_the_error_bar_of_a_run_is_part_of_the_interval() -> None:
    cut = a_record("cut", runs=[a_run(1e6, cut=1000), a_run(0.9e6)])
    found = result_of(cut)
    assert (found.at_least, found.at_most) == (1e6, 2e6)
    assert (found.low, found.high) == (0.9e6, 2e6)
    board = only_board(cut, a_record("counted", 1.5e6))
    assert ranks(board) == [(1, "counted"), (1, "cut")]


def test_who_has_no_rank_neither_shares_one_nor_moves_those_below() -> None:
    board = only_board(
        a_record("none", runs=[a_run(0.0, ok=0, cut=5000, mean_ns=None)]),
        spread("a", 9.0, 8.0),
        spread("b", 1.0, 2.0),
    )
    assert ranks(board) == [(1, "a"), (2, "b"), (None, "none")]


@pytest.mark.parametrize(
    "unsure",
    [
        # A single run, with an error bar or without one.
        a_record("x", runs=[a_run(5.0)]),
        a_record("x", runs=[a_run(5.0, cut=1)]),
        # An interval of no width.
        a_record("x", 5.0, 5.0, 5.0),
        a_record("x", 4.0, 4.5, 5.0),
    ],
)
def test_who_says_nothing_of_its_scatter_stands_by_its_figure_without_a_rank(
    unsure: Record,
) -> None:
    board = only_board(a_record("a", 9.0), unsure, a_record("b", 1.0), a_record("c", 1.0))
    assert ranks(board) == [(1, "a"), (None, "x"), (2, "b"), (2, "c")]
    assert not entry_of(unsure).is_ranked
    # With it, only one row is left that could have a rank.
    assert ranks(only_board(a_record("a", 9.0), unsure)) == [(None, "a"), (None, "x")]


def test_the_shots_of_a_blast_are_as_good_as_runs() -> None:
    def blast(name: str, rate: float) -> Record:
        point = BlastPoint(
            connections=1, requests=10, repetitions=10, rate=rate, rate_at_least=0.9 * rate,
            rate_at_most=rate, latency_ns=Latency(kind="response", samples=10), ok=10, failed={},
        )  # fmt: skip
        run = a_run(rate).model_copy(update={"points": (point,), "rate_at_least": 0.9 * rate})
        profile = {"kind": "blast", "metric": "requests/s", "messages_per_call": 1, "runs": 1}
        profile |= {"connections": (1,), "connection_count": 1, "sweep": (10,)}
        return a_record(name, runs=[run], profile=profile)

    assert ranks(only_board(blast("a", 2e6), blast("b", 1e6))) == [(1, "a"), (2, "b")]


SCHEDULED = {
    "kind": "scheduled",
    "metric": "p99 latency",
    "messages_per_call": 1,
    "connections": (1,),
    "concurrency": 10,
}


def a_timed_record(name: str, p99_ns: float, sent: int = 200) -> Record:
    run = a_run().model_copy(update={"seconds": (a_second(200, sent),)})
    latencies = (replace(run.latency_ns, p99=each) for each in (p99_ns, p99_ns * 1.001))
    runs = [run.model_copy(update={"latency_ns": each}) for each in latencies]
    return a_record(name, runs=runs, profile=SCHEDULED)


def test_of_a_schedule_the_lowest_p99_comes_first_and_who_missed_it_has_no_rank() -> None:
    board = only_board(
        a_timed_record("slow", 3e6),
        a_timed_record("early", 1e3, sent=100),
        a_timed_record("fast", 1e6),
    )
    assert (board.kind, board.metric) == ("scheduled", "p99 latency")
    assert ranks(board) == [(1, "fast"), (2, "slow"), (None, "early")]
    assert [row.result.value for row in board.rows if row.result] == [1e6, 3e6, 1e3]


def test_the_cost_of_a_blast_is_that_of_all_its_calls() -> None:
    point = BlastPoint(
        connections=1, requests=10, repetitions=1, rate=9e6, rate_at_least=8e6, rate_at_most=9e6,
        latency_ns=Latency(kind="response", samples=10), ok=10, failed={},
    )  # fmt: skip
    run = a_run(9e6, server_cpu_s=4.0).model_copy(
        update={"points": (point,), "messages": 2_000_000}
    )
    blast = {"kind": "blast", "metric": "requests/s", "messages_per_call": 1}
    found = result_of(a_record("a", runs=[run], profile=blast))
    assert found.server_cpu_s_per_million_at_least == 2.0
    assert found.server_cpu_s_per_million_at_most == 2.0
    assert found.points == (point,)


def test_a_board_says_what_is_called_and_how() -> None:
    secure = {"tls": True, "call": "benchmark.BenchmarkService/GetSum", "messages_per_call": 1}
    board = only_board(a_record("a", profile=secure))
    assert (board.call, board.tls) == ("benchmark.BenchmarkService/GetSum", True)


def test_those_that_only_failed_come_last_and_have_no_rank() -> None:
    board = only_board(
        a_record("a", failure="broke"),
        a_record("z", 1.0),
        a_record("y", 2.0),
        a_record("b", failure="wrong"),
    )
    assert ranks(board) == [(1, "y"), (2, "z"), (None, "a"), (None, "b")]
    assert board.rows[2].failure
    assert board.rows[2].failure.reason == "broke"


def test_production_and_tuned_are_ranked_together_and_engines_apart() -> None:
    boards = rank(
        a_record(kind, value, type=kind)
        for kind, value in [("production", 1.0), ("tuned", 2.0), ("engine", 3.0)]
    ).boards
    assert [(each.division, ranks(each)) for each in boards] == [
        ("framework", [(1, "tuned"), (2, "production")]),
        ("engine", [(None, "engine")]),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {"generator": "volley"}),
        ({}, {"connection_count": 128}),
        ({}, {"name": "stream-grpc-tls"}),
    ],
)
def test_what_cannot_be_compared_is_never_on_one_board(
    first: dict[str, object], second: dict[str, object]
) -> None:
    boards = rank([a_record("a", profile=first), a_record("b", profile=second)]).boards
    assert sorted(row.framework for board in boards for row in board.rows) == ["a", "b"]
    assert len(boards) == 2


def test_the_newest_good_value_counts_not_the_best() -> None:
    row = row_of(a_record("a", 9.0, minute=1), a_record("a", 5.0, minute=2))
    assert row.result
    assert (row.result.value, row.result.started_at, row.failure) == (5.0, at(2), None)


def told(*records: Record) -> list[tuple[str, bool, bool, list[float]]]:
    """Return each board's load, whether it is current, and a trial, and its values."""
    return [
        (each.load, each.is_current, each.is_trial, [it.value for it in results_on(each)])
        for each in rank(records).boards
    ]


def results_on(board: Board) -> list[Result]:
    return [row.result for row in board.rows if row.result]


@pytest.mark.parametrize("minute", [1, 3])
def test_a_trial_of_each_size_has_a_board_of_its_own_beside_the_full_one(minute: int) -> None:
    full = a_record("a", 5.0, minute=2)
    trials = [a_trial("a", 9.0, minute=minute), a_trial("a", 8.0, runs=2, minute=minute + 4)]
    assert told(full, *trials) == [
        ("5s-x-3", True, False, [5.0]),
        ("5s-x-2", False, True, [8.0]),
        ("5s-x-1", False, True, [9.0]),
    ]


def test_trials_of_two_sizes_are_not_ranked_against_each_other() -> None:
    boards = rank(
        [
            a_trial("a", 9.0, minute=1),
            a_trial("b", 5.0, runs=2, minute=2),
            a_trial("c", 7.0, runs=2, minute=3),
        ]
    ).boards
    assert [(each.load, each.is_current, ranks(each)) for each in boards] == [
        ("5s-x-2", True, [(1, "c"), (2, "b")]),
        ("5s-x-1", False, [(None, "a")]),
    ]
    assert all(each.is_trial for each in boards)


def test_the_records_from_before_an_edit_of_the_profile_have_a_board_of_their_own() -> None:
    edited = {"warmup_s": 3.0, "title": "Edited"}
    before, old, new = (
        a_record("b", 8.0, minute=1),
        a_record("a", 9.0, minute=2),
        a_record("a", 5.0, minute=3, profile=edited),
    )
    current, older = rank([before, old, new]).boards
    assert (current.load, current.is_current, ranks(current)) == ("5s-x-3", True, [(None, "a")])
    assert older.load == f"5s-x-3-{older.load_digest[:6]}"
    assert (older.is_current, older.is_trial) == (False, False)
    assert ranks(older) == [(1, "a"), (2, "b")]
    differences = [(each.fact, each.here, each.current) for each in older.differences]
    assert differences == [("warmup_s", "2.0", "3.0")]
    assert current.differences == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "Renamed"},
        {"connections": (64, 128)},
        {"request": {"count": 5000, "b": 2, "a": 1}},
    ],
)
def test_what_changes_no_figure_makes_no_other_load(changes: dict[str, Any]) -> None:
    old, new = a_record("a", 9.0), a_record("b", 5.0, minute=1, profile=changes)
    assert ranks(only_board(old, new)) == [(1, "a"), (2, "b")]


@pytest.mark.parametrize(
    "changes",
    [
        {"request": {"a": 1, "b": 3, "count": 5000}},
        {"streams_per_connection": 5},
        {"runs": 4},
        {"metric": "requests/s", "messages_per_call": 1},
        {"expect": ("result = a + b",)},
    ],
)
def test_any_other_fact_of_a_load_makes_another_one(changes: dict[str, Any]) -> None:
    records = a_record("a", 9.0), a_record("b", 5.0, minute=1, profile=changes)
    assert [len(each.rows) for each in rank(records).boards] == [1, 1]


def test_a_load_that_has_only_failed_is_not_current_while_another_full_one_has_not() -> None:
    good = a_record("a", 9.0)
    failed = a_record("a", minute=1, failure="broke", profile={"runs": 4})
    assert told(good, failed, a_trial("a", 5.0, minute=2)) == [
        ("5s-x-3", True, False, [9.0]),
        ("5s-x-4", False, False, []),
        ("5s-x-1", False, True, [5.0]),
    ]


@pytest.mark.parametrize("name", ["SERVER_CPUS", "LOADGEN_CPUS", "GHZ"])
def test_other_overrides_make_no_trial(name: str) -> None:
    found = result_of(
        a_record("a", 5.0, minute=1), a_record("a", 9.0, minute=2, overrides={name: "0"})
    )
    assert (found.value, found.started_at) == (9.0, at(2))


def test_a_row_says_on_what_machine_and_by_what_load_it_was_measured() -> None:
    record = a_record("a", 1.0)
    found = result_of(record)
    assert (found.machine, found.generator) == ("a CPU, 4 CPUs", "ghz v1")
    unknown = record.model_copy(update={"provenance": a_provenance(generator=None)})
    assert result_of(unknown).generator is None


@pytest.mark.parametrize("status", ["failed", "invalid"])
def test_a_newer_failure_is_shown_and_takes_no_value_away(status: str) -> None:
    row, _ = only_board(
        a_record("a", 9.0, minute=1),
        a_record("a", minute=2, failure="broke", status=status),
        a_record("b", 1.0),
    ).rows
    assert row.result
    assert (row.rank, row.result.value, row.result.started_at) == (1, 9.0, at(1))
    assert row.failure
    assert (row.failure.status, row.failure.started_at) == (status, at(2))
    assert row.failure.record == f"stream-grpc/64/a/{at(2)}.json"


def test_an_older_failure_is_over() -> None:
    row = row_of(a_record("a", minute=1, failure="broke"), a_record("a", 9.0, minute=2))
    assert row.failure is None


def test_a_row_says_what_the_framework_is_called_today() -> None:
    old = a_record("a", 9.0, minute=1, display_name="Old", language="C")
    new = a_record("a", minute=2, failure="broke", display_name="New", language="Zig")
    row = row_of(old, new)
    assert (row.display_name, row.language) == ("New", "Zig")
    assert row.result


def test_a_row_holds_the_figures_of_the_run_that_ranks_it() -> None:
    runs = [a_run(1e6), a_run(3e6, server_cpu_s=3.0, cut=1000), a_run(2e6)]
    found = result_of(a_record("a", runs=runs, overrides={"RUNS": "3"}))
    assert (found.value, found.at_least, found.at_most, found.median) == (3e6, 3e6, 4e6, 2e6)
    assert found.rates == (1e6, 3e6, 2e6)
    assert found.cv == pytest.approx(0.5)
    # 3 CPU seconds for five seconds of 3 M messages each, or of 4 M if each cut call was whole.
    assert found.server_cpu_s_per_million_at_least == pytest.approx(0.15)
    assert found.server_cpu_s_per_million_at_most == pytest.approx(0.2)
    # The generator's 3 s are those of the same messages.
    assert found.generator_cpu_s_per_million_at_least == pytest.approx(0.15)
    assert found.generator_cpu_s_per_million_at_most == pytest.approx(0.2)
    assert (found.p50_ns, found.p99_ns, found.latency_kind) == (1.2e9, 2.1e9, "service")
    assert found.p999_ns is None
    assert (found.flags, found.overrides, found.runtime) == (
        ("cut-calls",),
        {"RUNS": "3"},
        "native",
    )


def test_a_row_knows_the_slowest_of_a_thousand_where_the_generator_does() -> None:
    run = a_run()
    latency = replace(run.latency_ns, p999=3e9)
    found = result_of(a_record("a", runs=[run.model_copy(update={"latency_ns": latency})]))
    assert found.p999_ns == 3e9


def test_a_row_says_how_the_server_packs_its_messages_and_what_was_checked() -> None:
    late = WARNED.model_copy(update={"check": PASSED.check})
    again = WARNED.model_copy(update={"detail": "another time"})
    found = result_of(
        a_record(
            "a",
            1.0,
            packed=3.25,
            contract=[PASSED, WARNED, PASSED.model_copy(update={"check": "cancel"})],
            contract_after=[late, again],
        )
    )
    assert found.messages_per_data_frame == 3.25
    # Each check once, as it came out worst: the first one passed, and then warned.
    assert found.checks_warned == (late, WARNED)
    assert found.checks_passed == 1


def test_a_row_of_an_older_record_says_what_that_knows() -> None:
    found = result_of(a_record("a", 1.0, contract=[PASSED]))
    assert (found.messages_per_data_frame, found.checks_passed, found.checks_warned) == (
        None,
        1,
        (),
    )


def test_a_server_that_broke_under_the_load_is_not_ranked_for_it() -> None:
    runs = [a_run(9e6)]
    broke = a_record("a", failure="wrong", status="invalid", runs=runs, contract_after=[FAILED])
    board = only_board(broke, a_record("b", 1.0), a_record("c", 0.5))
    assert ranks(board) == [(1, "b"), (2, "c"), (None, "a")]
    assert board.rows[2].result is None
    assert board.rows[2].failure


def test_where_no_call_finished_there_is_no_rank_and_no_end_to_the_cost_of_a_million() -> None:
    row = row_of(a_record("a", runs=[a_run(0.0, ok=0, cut=5, mean_ns=None)]))
    found = row.result
    assert found
    # 4 CPU seconds for five seconds of at most 5,000 messages each.
    assert found.server_cpu_s_per_million_at_least == pytest.approx(160.0)
    assert found.server_cpu_s_per_million_at_most is None
    assert (found.value, found.high, row.rank) == (0.0, 5000.0, None)


def test_a_row_names_the_overrides_of_the_load_and_no_paths_of_this_host() -> None:
    load = {"RUNS": "1", "DURATION": "1s", "SERVER_CPUS": "0", "LOADGEN_CPUS": "1"}
    others = {"GHZ": "/home/me/ghz", "GHZ_IMAGE": "mine", "LOADGEN_DOCKER": "1", "RUNTIME": "x"}
    found = result_of(a_record("a", 1.0, overrides={**load, **others}))
    assert found.overrides == load
    assert "/home/me" not in to_json(found)


@pytest.mark.parametrize(
    "records",
    [
        [
            a_record("a", 1.0, minute=1),
            a_record("a", 2.0, minute=3),
            a_record("b", minute=3, failure="broke", profile={"title": "Renamed"}),
            a_record("c", 2.0, minute=2, type="engine"),
            a_record("a", 1.0, minute=3, profile={"connection_count": 128}),
        ],
        # Begun in the same microsecond, on two machines.
        [a_record(name, 1.0, profile={"title": name}) for name in ("a", "b", "c")],
    ],
)
def test_the_order_of_the_records_does_not_matter(records: list[Record]) -> None:
    expected = rank(records)
    assert all(rank(each) == expected for each in itertools.permutations(records))


def test_only_the_records_of_rows_are_read_in_full() -> None:
    records = [a_record("a", float(minute), minute=minute) for minute in range(1, 20)]
    records.append(a_record("a", minute=20, failure="broke"))
    by_path = {record.path: record for record in records}
    asked: set[str] = set()

    def read(path: str) -> Record:
        asked.add(path)
        return by_path[path]

    found = rank_entries(map(entry_of, records), read)
    assert found == rank(records)
    assert asked == {records[-1].path, records[-2].path}


def test_without_records_there_are_no_boards() -> None:
    assert rank([]).boards == ()


def warmed(record: Record, *flags: str) -> Record:
    """Return the record as made by a generator with these arguments."""
    maker = GeneratorInfo(name="ghz", version="v1", found="PATH", argv=("ghz", *flags))
    return record.model_copy(update={"provenance": a_provenance(generator=maker)})


def test_runs_with_and_without_the_generators_own_warm_up_share_no_board() -> None:
    old = a_record("a", 1.0), a_record("b", 2.0), a_record("old", 2.0, profile={"warmup_s": 9.0})
    new = warmed(a_record("a", 3.0, minute=1), "--warm-up-time=3s")
    boards = rank([*old, new]).boards
    assert [(each.load, each.generator_warm_up) for each in boards] == [
        ("5s-x-3", "3s"),
        (f"5s-x-3-{boards[1].load_digest[:6]}", ""),
        (f"5s-x-3-{boards[2].load_digest[:6]}", ""),
    ]
    assert [each.is_current for each in boards] == [True, False, False]
    same = next(each for each in boards[1:] if each.load_digest == boards[0].load_digest)
    assert [row.framework for row in same.rows] == ["b", "a"]
    (differs,) = same.differences
    assert (differs.fact, differs.here, differs.current) == ("generator_warm_up", "null", '"3s"')


def test_a_warm_up_that_is_no_time_is_none() -> None:
    assert generator_warm_up(("h2load", "--warm-up-time=6s")) == "6s"
    assert generator_warm_up(("h2load", "--warm-up-time=3s/../..")) == ""


def test_rows_of_one_display_name_are_told_apart_by_their_folders() -> None:
    board = only_board(
        a_record("a", 3.0, display_name="Same"),
        a_record("b", 2.0, display_name="same"),
        a_record("c", 1.0, display_name="Other"),
    )
    assert [row.display_name for row in board.rows] == ["Same (a)", "same (b)", "Other"]
