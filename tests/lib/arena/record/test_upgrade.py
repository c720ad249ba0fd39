"""Records of an older schema are read as today's."""

import json
from typing import Any

import pytest

from arena.record.reading import parse_record
from arena.record.record import Record
from arena.record.upgrade import upgraded
from arena.what.loads import Blast, Closed, Scheduled
from arena.what.schedule import Schedule
from tests.golden import published


def test_a_record_of_schema_1_keeps_its_figures_and_gets_the_interval_that_ranks() -> None:
    every = [json.loads(text) for text in published.texts().values()]
    first = [each for each in every if each["schema"] == 1]
    assert len(first) > 50
    for each in first:
        require_upgraded(each, parse_record(json.dumps(each).encode()))


def require_upgraded(old: dict[str, Any], record: Record) -> None:
    assert record.schema_version == 2
    load = record.profile.load
    assert load.kind == old["profile"]["kind"]
    for key, value in load.model_dump(mode="json", exclude={"kind", "schedule"}).items():
        assert old["profile"][key] == value
    runs = [(run.rate_at_least, run.rate, run.rate_at_most) for run in record.runs]
    assert runs == [(run["rate_low"], run["rate"], run["rate_high"]) for run in old["runs"]]
    for run, was in zip(record.runs, old["runs"], strict=True):
        bars = [(point.rate_at_least, point.rate_at_most) for point in run.points]
        assert bars == [(point["rate_low"], point["rate_high"]) for point in was["points"]]
    headline, was = record.headline, old["headline"]
    if headline is None:
        assert record.status != "ok"
        assert was is None
        return
    assert (headline.at_least, headline.at_most) == (was["low"], was["high"])
    figures = runs
    if headline.metric == "p99 latency":
        figures = [(run.latency_ns.p99 or 0,) * 3 for run in record.runs]
    assert headline.low == min(low for low, _, _ in figures)
    assert headline.high == max(high for _, _, high in figures)


def test_a_record_that_failed_has_no_headline_to_upgrade() -> None:
    assert upgraded({"schema": 1, "headline": None, "runs": []}) == {
        "schema": 2, "headline": None, "runs": [],
    }  # fmt: skip


@pytest.mark.parametrize("runs", [None, 7, [], ["x"], [{"rate": 1.0}]])
def test_what_is_broken_is_left_for_the_validation_to_report(runs: object) -> None:
    found = upgraded({"schema": 1, "headline": {"value": 1.0, "metric": "x"}, "runs": runs})
    assert (found["headline"]["low"], found["headline"]["high"]) == (1.0, 1.0)


# As schema 1 wrote the load of every profile.
FLAT: dict[str, Any] = {
    "streams_per_connection": None, "concurrency": None, "schedule": None, "requests": None,
    "sweep": [], "repetitions": None, "seed": 1, "duration_s": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("profile", "load"),
    [
        (
            {"kind": "closed", "streams_per_connection": 4, "duration_s": 5.0},
            Closed(streams_per_connection=4, duration_s=5.0),
        ),
        ({"concurrency": 7, "duration_s": 5.0}, Closed(concurrency=7, duration_s=5.0)),
        (
            {
                "kind": "scheduled",
                "schedule": {"shape": "const", "rps": 3},
                "requests": 9,
                "concurrency": 2,
            },
            Scheduled(schedule=Schedule(shape="const", rps=3), requests=9, concurrency=2),
        ),
        (
            {"kind": "blast", "sweep": [1, 5], "repetitions": 2, "seed": 3, "duration_s": 60.0},
            Blast(sweep=(1, 5), repetitions=2, seed=3, duration_s=60.0),
        ),
    ],
)
def test_the_keys_of_a_load_are_nested(
    profile: dict[str, Any], load: Closed | Scheduled | Blast
) -> None:
    found = upgraded({"schema": 1, "profile": {"name": "x", **FLAT, **profile}})
    assert found["schema"] == 2
    assert found["profile"].keys() == {"name", "load"}
    assert type(load).model_validate(found["profile"]["load"]) == load


@pytest.mark.parametrize("profile", [None, 5, [], {"kind": ["closed"]}, {"kind": "unheard-of"}])
def test_what_is_no_profile_is_left_for_the_reader_to_refuse(profile: object) -> None:
    assert upgraded({"schema": 1, "profile": profile})["schema"] == 2
