"""Records of an older schema are read as today's."""

import copy
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from arena.base.model import to_json
from arena.judge.derive import derive
from arena.record.reading import _FLAT, parse_record, upgraded
from arena.what.loads import Blast, Closed, Scheduled
from arena.what.schedule import Schedule
from tests.fakes import a_generator, a_record, a_run
from tests.golden import published

RAW_RECORDS = {path: json.loads(text) for path, text in published.texts().items()}

# What was judged, by the place where it stood; the `disturbed` of a run is noted.
JUDGED = ("headline", "spread", "flags")


def lost(old: Any, new: Any, where: str) -> Iterator[str]:
    """Yield each value of an older record that is not in the upgraded one at the same place."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            yield from lost(value, new.get(key), f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True)):
            yield from lost(*pair, f"{where}.{number}")
    elif old != new and old not in (None, [], {}):
        yield f"{where}: {old!r:.80} → {new!r:.80}"


def facts_of(old: dict[str, Any]) -> dict[str, Any]:
    """Return what an older record has besides what was judged, by the names of today."""
    facts = copy.deepcopy({**old, "schema": 3})
    for name in JUDGED:
        del facts[name]
    if facts.get("visit"):
        del facts["visit"]["is_void"]
    for run in facts["runs"]:
        run.pop("disturbed", None)
    if old["schema"] == 1:
        profile = facts["profile"]
        keys = {"kind", *(key for keys in _FLAT.values() for key in keys)} & profile.keys()
        load = {key: profile.pop(key) for key in keys}
        own = {"kind", *_FLAT[load["kind"]]}
        facts["profile"]["load"] = {key: value for key, value in load.items() if key in own}
        for run in facts["runs"]:
            for figure in (run, *run["points"]):
                figure["rate_at_least"] = figure.pop("rate_low")
                figure["rate_at_most"] = figure.pop("rate_high")
    return facts


def test_no_fact_of_a_published_record_is_lost_by_its_upgrade() -> None:
    schemas = Counter(old["schema"] for old in RAW_RECORDS.values())
    assert min(schemas[1] - 50, schemas[2] - 1400) > 0
    for path, old in RAW_RECORDS.items():
        new = json.loads(to_json(published.records()[path]))
        assert [*lost(facts_of(old), new, path)] == []


def test_what_was_noted_of_disturbances_is_kept_and_nothing_else_that_was_judged() -> None:
    noted = 0
    for path, old in RAW_RECORDS.items():
        record = published.records()[path]
        disturbed = [run.get("disturbed", []) for run in old["runs"]]
        assert record.limits is None
        assert (record.noted is None) == (not any(disturbed))
        if record.noted:
            noted += 1
            assert record.noted.model_dump(mode="json")["disturbed"] == disturbed
        visit = old.get("visit")
        assert derive(record).is_void == bool(visit and visit["is_void"])
        assert not {*JUDGED, "disturbed", "is_void"} & keys_of(json.loads(to_json(record)), "noted")
    assert noted > 100


def keys_of(data: Any, but: str) -> set[str]:
    """Return all keys in a value of JSON, except those below one of them."""
    if isinstance(data, list):
        return {key for each in data for key in keys_of(each, but)}
    if not isinstance(data, dict):
        return set()
    return {*data} | {key for own, each in data.items() if own != but for key in keys_of(each, but)}


def test_an_upgraded_record_is_read_as_it_was_written() -> None:
    for record in published.records().values():
        assert parse_record(to_json(record).encode()) == record


def test_a_generator_host_that_was_saturated_is_noted() -> None:
    hosts = (a_generator(1), a_generator(2), a_generator(3))
    data = json.loads(to_json(a_record(runs=[a_run(), a_run(2e6).changed(generators=hosts)])))
    data |= {"schema": 2, "headline": None, "spread": None, "flags": ["client-bound"]}
    for host in data["runs"][1]["generators"]:
        for name in ("cpus", "elapsed_s", "busiest_thread_s"):
            del host[name]
        host["flags"] = ["saturated"] if host["number"] == 2 else []
    record = parse_record(json.dumps(data).encode())
    assert record.noted
    assert record.noted.saturated == ((), (2,))
    assert "client-bound" in derive(record).flags


@pytest.mark.parametrize("runs", [None, 7, [], ["x"], [{"rate": 1.0}], [{"disturbed": 5}]])
def test_what_is_broken_is_left_for_the_validation_to_report(runs: object) -> None:
    for schema in (1, 2):
        data = {"schema": schema, "headline": {"value": 1.0}, "visit": 7, "runs": runs}
        assert upgraded(copy.deepcopy(data))["schema"] == 3
        with pytest.raises(ValueError, match=r"Field required|should be"):
            parse_record(json.dumps(data).encode())


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
    assert found["schema"] == 3
    assert found["profile"].keys() == {"name", "load"}
    assert type(load).model_validate(found["profile"]["load"]) == load


@pytest.mark.parametrize("profile", [None, 5, [], {"kind": ["closed"]}, {"kind": "unheard-of"}])
def test_what_is_no_profile_is_left_for_the_reader_to_refuse(profile: object) -> None:
    assert upgraded({"schema": 1, "profile": profile})["schema"] == 3
