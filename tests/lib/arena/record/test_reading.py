"""Reading records: what they say of themselves, what is wrong with a broken one, older schemas."""

import json
from pathlib import Path
from typing import Any

import pytest

from arena.base.model import to_json
from arena.judge.leaderboard import Leaderboard
from arena.judge.store import Draft
from arena.record import times
from arena.record.reading import parse_record
from arena.record.record import Record
from tests.fakes import FAILED, PASSED, WARNED, a_record, a_run


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
        (spoiled(schema=4), "schema 4 is newer than this runner's 3"),
        (spoiled(schema=0), "schema: "),
        (spoiled(status="fine"), "status: "),
        (spoiled(surprise=1), "surprise: Extra inputs"),
        (spoiled(flags=[]), "flags: Extra inputs"),
        (spoiled(headline=None), "headline: Extra inputs"),
        (spoiled(limits={"most": {"Not a name": 1}}), "limits.most.Not a name"),
        (spoiled(noted={"disturbed": [], "saturated": []}), "noted: it is not of each run"),
        (
            spoiled(limits={"most": {}}, noted={"disturbed": [[]] * 3, "saturated": [[]] * 3}),
            "noted: what the limits tell is not noted",
        ),
        (spoiled(contract=[{"check": "x", "status": "fine"}]), "contract.0.status: "),
        (spoiled(contract_after=[{"check": "x", "status": "?"}]), "contract_after.0.status: "),
        (spoiled(messages_per_data_frame="many"), "messages_per_data_frame: "),
        (spoiled(started_at=None), "started_at: "),
        (spoiled(started_at="yesterday"), "started_at: "),
        (
            spoiled(started_at="2026-13-45T99-99-99.000000Z"),
            "started_at: Value error, month must be in 1..12",
        ),
        (spoiled(runs=[]), "a record that is ok must have a run"),
        (spoiled(status="failed"), "a record that is failed must say why: failure"),
        (spoiled(status="invalid"), "a record that is invalid must say why: failure"),
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
    for number, model, data in (
        (3, Record, json.loads(to_json(a_record()))),
        (2, Leaderboard, json.loads(to_json(Leaderboard(rules=1, boards=())))),
    ):
        schema = model.model_json_schema(mode="serialization")
        assert set(data) == set(schema["properties"])
        assert set(schema["required"]) <= set(data)
        assert schema["additionalProperties"] is False
        assert "schema" in schema["properties"]
        assert data["schema"] == number


def test_moments_sort_as_their_names_do_and_read_back() -> None:
    names = [times.utc_now() for _ in range(3)]
    assert sorted(names) == names
    moment = times.parse_utc(names[0])
    assert moment.utcoffset() is not None
    assert moment.strftime("%Y-%m-%dT%H-%M-%S.%fZ") == names[0]
