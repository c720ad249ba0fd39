"""Reading records: what they say of themselves, what is wrong with a broken one, older schemas."""

import json
from pathlib import Path
from typing import Any

import pytest

from arena.base.model import to_json
from arena.judge.leaderboard import Leaderboard
from arena.judge.store import Draft
from arena.record import times
from arena.record.reading import parse_record, upgraded
from arena.record.record import Record
from arena.what.loads import Blast, Closed, Scheduled
from arena.what.schedule import Schedule
from tests.fakes import FAILED, PASSED, WARNED, a_record, a_run
from tests.golden import published


def test_what_the_contract_found_reads_back_with_its_bytes(tmp_path: Path) -> None:
    record = a_record(
        failure="wrong",
        runs=[a_run()],
        contract=[PASSED, WARNED],
        contract_after=[FAILED],
        packed=2.5,
    )
    with Draft(tmp_path) as draft:
        path = draft.save(record)
    data = json.loads(path.read_bytes())
    assert data["contract_after"] == [
        {"check": "stream-10", "status": "fail", "detail": "9 replies, not 10", "wire": "00 00"}
    ]
    assert data["messages_per_data_frame"] == 2.5
    assert parse_record(path.read_bytes()) == record


def test_a_record_from_before_the_second_validation_is_read() -> None:
    data = json.loads(to_json(a_record(contract=[PASSED])))
    for key in ("contract_after", "messages_per_data_frame"):
        del data[key]
    del data["contract"][0]["wire"]
    record = parse_record(json.dumps(data).encode())
    assert record.contract == (PASSED,)
    assert (record.contract_after, record.messages_per_data_frame) == ((), None)


def spoiled(**changes: Any) -> str:
    data = json.loads(to_json(a_record()))
    return json.dumps({**data, **changes})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Expecting value"),
        ("{", "Expecting property name"),
        ("[]", "has no `schema`"),
        ("{}", "has no `schema`"),
        ("null", "has no `schema`"),
        ('{"schema": "1"}', "has no `schema`"),
        ('{"schema": 1}', "Field required"),
        ("[" * 500_000, "recursion"),
        (spoiled(schema=3), "schema 3 is newer than this runner's 2"),
        (spoiled(schema=0), "schema: "),
        (spoiled(status="fine"), "status: "),
        (spoiled(surprise=1), "surprise: Extra inputs"),
        (spoiled(flags=["Not a name"]), "flags.0: "),
        (spoiled(contract=[{"check": "x", "status": "fine"}]), "contract.0.status: "),
        (spoiled(contract_after=[{"check": "x", "status": "?"}]), "contract_after.0.status: "),
        (spoiled(messages_per_data_frame="many"), "messages_per_data_frame: "),
        (spoiled(started_at=None), "started_at: "),
        (spoiled(started_at="yesterday"), "started_at: "),
        (
            spoiled(started_at="2026-13-45T99-99-99.000000Z"),
            "started_at: Value error, month must be in 1..12",
        ),
        (spoiled(headline=None), "must have a headline"),
        (spoiled(spread=None), "must have a headline and a spread"),
        (spoiled(status="failed"), "a record that is failed must say why: failure"),
        (spoiled(status="invalid"), "a record that is invalid must say why: failure"),
        (spoiled().replace('"run": 1', '"run": 9'), "headline: there is no run 9"),
        (spoiled().replace('"run": 1', '"run": 0'), "headline.run: Input should be greater"),
        (spoiled().replace('"name": "grpc-go"', '"name": "a/b"'), "framework.name: "),
        (spoiled().replace('"name": "grpc-go"', '"name": "../a"'), "framework.name: "),
        (spoiled().replace('"rate": 1000000.0', '"rate": NaN'), "rate: Input should be a finite"),
        (spoiled().replace('"rate": 1000000.0', '"rate": 1e308'), "rate: Input should be less"),
        (spoiled().replace('"p99": 2100000000.0', '"p99": 1e308'), "p99: Input should be less"),
        (spoiled().replace('"p99": 2100000000.0', '"p99": -1'), "p99: Input should be greater"),
        (spoiled().replace('"ok": 1000', '"ok": -1'), "calls.ok: Input should be greater"),
        (spoiled().replace('"ok": 1000', '"ok": 1' + "0" * 50), "calls.ok: "),
        (spoiled().replace('"elapsed_s": 5.0', '"elapsed_s": 0'), "elapsed_s: Input should be gr"),
    ],
)
def test_a_broken_record_is_told_in_a_line(text: str, said: str) -> None:
    with pytest.raises(ValueError, match="(?i)" + said.replace(".", r"\.")) as caught:
        parse_record(text.encode())
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_a_broken_record() -> None:
    with pytest.raises(ValueError):
        parse_record(b"\xff\xfe{\x00\xd8")


def test_the_schema_that_is_published_is_that_of_the_files() -> None:
    for model, data in (
        (Record, json.loads(to_json(a_record()))),
        (Leaderboard, json.loads(to_json(Leaderboard(rules=1, boards=())))),
    ):
        schema = model.model_json_schema(mode="serialization")
        assert set(data) == set(schema["properties"])
        assert set(schema["required"]) <= set(data)
        assert schema["additionalProperties"] is False
        assert "schema" in schema["properties"]
        assert data["schema"] == 2


def test_moments_sort_as_their_names_do_and_read_back() -> None:
    names = [times.utc_now() for _ in range(3)]
    assert sorted(names) == names
    moment = times.parse_utc(names[0])
    assert moment.utcoffset() is not None
    assert moment.strftime("%Y-%m-%dT%H-%M-%S.%fZ") == names[0]


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
