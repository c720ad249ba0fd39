"""What a record comes to in one line."""

import json
import sys
from dataclasses import replace
from math import log
from typing import Any

import pytest

from arena.judge.entry import Turn, entry_from, entry_of
from arena.record.measurement import Second
from arena.record.record import GeneratorInfo, Git, Record
from tests.fakes import a_provenance, a_record, a_run, a_visit, at
from tests.lib.arena.judge.runs import a_second, a_timed_run
from tests.lib.arena.site.loads import POINTS, SCHEDULED, blast


def test_an_entry_tells_what_a_history_needs() -> None:
    record = a_record("a", runs=[a_run(1e6), a_run(3e6, cut=1000), a_run(2e6)], minute=5)
    maker = GeneratorInfo(name="volley", version="1.2", found="PATH", argv=())
    git = Git(commit="abc", dirty=True)
    record = record.model_copy(update={"provenance": a_provenance(generator=maker, git=git)})
    entry = entry_of(record, "5a")
    assert (entry.path, entry.sha256, entry.started_at) == (record.path, "5a", record.started_at)
    assert (entry.framework, entry.made_by) == ("a", "volley 1.2")
    assert entry.load[:5] == ("stream-grpc", 64, "ghz", "messages/s", "5s-x-3")
    assert (entry.value, entry.low, entry.high) == (3e6, 1e6, 4e6)
    assert (entry.status, entry.failure, entry.commit) == ("ok", None, "abc-dirty")
    assert entry.machine == "a CPU, 4 CPUs"
    assert entry.is_ranked
    assert not entry.is_trial


def test_a_record_that_failed_has_a_reason_and_no_figures() -> None:
    entry = entry_of(a_record("a", failure="broke", status="invalid", runs=[a_run()]))
    assert (entry.status, entry.failure) == ("invalid", "broke")
    assert (entry.value, entry.low, entry.high) == (None, None, None)
    assert not entry.is_ranked


@pytest.mark.parametrize("name", ["RUNS", "DURATION", "REQUESTS"])
def test_another_load_than_the_profiles_is_a_trial(name: str) -> None:
    assert entry_of(a_record("a", overrides={name: "1"})).is_trial
    assert not entry_of(a_record("a", overrides={"SERVER_CPUS": "1"})).is_trial


def test_a_load_that_was_not_the_schedules_is_not_ranked() -> None:
    late = [a_timed_run(1e6, a_second(200, 100)), a_timed_run(2e6, a_second(200, 100))]
    assert not entry_of(a_record("a", runs=late, profile=SCHEDULED)).is_ranked
    assert not entry_of(blast("a", POINTS[:3])).is_ranked
    assert not entry_of(a_record("a", runs=[a_run(0.0, ok=0, mean_ns=None)])).is_ranked


def turn_of(record: Record) -> Turn:
    found = entry_of(record).turn
    assert found
    return found


def test_a_visit_has_its_place_and_the_figure_of_its_first_run() -> None:
    runs = [a_run(2e6, cut=1000), a_run(9e6), a_run(9e6)]
    visit = a_visit(night=at(5), block=1, attempt=2, repeat=1, size=7)
    entry = entry_of(a_record("a", runs=runs, visit=visit))
    found = turn_of(a_record("a", runs=runs, visit=visit))
    assert (found.night, found.block, found.blocks, found.attempt) == (at(5), 1, 8, 2)
    assert (found.repeat, found.size, found.figure) == (1, 7, (2e6, 2e6, 3e6))
    assert (entry.name, entry.is_classic) == ("a", True)
    assert entry_from(*json.loads(json.dumps(entry.values()))) == entry


def test_an_entry_of_no_visit_has_no_turn_and_is_classic() -> None:
    entry = entry_of(a_record("a"))
    assert (entry.turn, entry.is_classic) == (None, True)


@pytest.mark.parametrize(
    ("changes", "runs"),
    [({"block": 2}, 3), ({}, 1), ({"is_twin": True}, 3)],
)
def test_only_a_whole_visit_of_the_first_block_is_classic(
    changes: dict[str, Any], runs: int
) -> None:
    visit = a_visit(**changes)
    made = [a_run()] * runs
    assert not entry_of(a_record("a", runs=made, visit=visit)).is_classic


def test_a_visit_that_is_void_is_not_classic() -> None:
    runs = [a_run(seen={"steal": 0.2}), a_run(), a_run()]
    entry = entry_of(a_record("a", runs=runs, visit=a_visit()))
    assert entry.turn
    assert (entry.is_classic, entry.turn.is_void, entry.turn.disturbed) == (False, True, 1)


def test_a_twin_has_a_name_of_its_own() -> None:
    assert entry_of(a_record("a", visit=a_visit(is_twin=True))).name == "a~twin"


def test_a_visit_that_failed_has_no_figure() -> None:
    found = turn_of(a_record("a", failure="it fell", visit=a_visit()))
    assert (found.figure, found.drift, found.messages_per_data_frame) == (None, None, None)


def test_the_drift_compares_the_halves_of_the_first_run_without_the_middle_and_the_end() -> None:
    def of(*messages: int, last_s: float = 1.0) -> float | None:
        seconds = [Second(ok=1, failed=0, messages=each) for each in messages]
        seconds[-1:] = [replace(each, length_s=last_s) for each in seconds[-1:]]
        run = a_run().model_copy(update={"seconds": tuple(seconds)})
        return turn_of(a_record("a", runs=[run, a_run()], visit=a_visit())).drift

    assert of(10, 10, 999, 11, 11) == pytest.approx(log(1.1))
    assert of(10, 10, 11, 11) == pytest.approx(log(1.1))
    assert of(10, 10, 10, 9, last_s=0.5) == pytest.approx(0.0)
    assert of(10, 10, 9, last_s=0.01) == pytest.approx(0.0)
    assert [of(7), of(), of(0, 5), of(5, 0)] == [None] * 4


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ({}, 5000.0),
        # Each call sends and receives 50 messages: only half of them are in these frames.
        ({"call": "benchmark.BenchmarkService/EchoSum", "requests_per_call": 50,
          "messages_per_call": 100, "request": {"a": 1, "b": 2}}, 2500.0),
        # One reply a call.
        ({"call": "benchmark.BenchmarkService/CollectSum", "requests_per_call": 50,
          "messages_per_call": 50, "request": {"a": 1, "b": 2}}, 100.0),
    ],
)  # fmt: skip
def test_the_messages_of_a_data_frame_are_those_that_the_server_sent(
    profile: dict[str, Any], expected: float
) -> None:
    run = a_run(counted=5_000_000).model_copy(update={"data_frames": 1000})
    record = a_record("a", runs=[run], profile=profile, visit=a_visit())
    assert turn_of(record).messages_per_data_frame == expected


def test_a_hundred_thousand_entries_of_visits_fit_in_memory() -> None:
    entry = entry_of(a_record("a", visit=a_visit()))
    assert not hasattr(entry, "__dict__")
    own = [each for each in entry.values() if not isinstance(each, str)]
    assert sum(map(sys.getsizeof, (entry, *own))) < 1000
