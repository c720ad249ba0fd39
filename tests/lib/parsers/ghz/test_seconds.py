"""What each second of a run was like, from ghz's single calls and from volley's intervals."""

import json
from pathlib import Path
from typing import Any

import pytest

import parse_ghz
from parsers.common.figures import Second

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"


def seconds(report: dict[str, Any]) -> tuple[Second, ...]:
    return parse_ghz.parse(json.dumps(report)).seconds


def loaded(name: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((FIXTURES / name).read_text())
    return report


@pytest.mark.parametrize(
    ("name", "sent"),
    [("ghz/ghz-121-line.json", [19, 40, 60, 31]), ("volley/line.json", [20, 40, 60, 30])],
)
def test_a_real_schedule_is_told_second_by_second(name: str, sent: list[int]) -> None:
    found = parse_ghz.parse_file(FIXTURES / name).seconds
    assert [each.sent for each in found] == sent
    assert sum(each.ok for each in found) == 150
    assert [each.failed for each in found] == [0, 0, 0, 0]
    for each in found:
        assert each.p50_ns
        assert each.p99_ns
        assert each.max_ns
        assert 0 < each.p50_ns <= each.p99_ns <= each.max_ns


def test_where_messages_are_not_counted_an_ok_call_is_one() -> None:
    ghz = parse_ghz.parse_file(FIXTURES / "ghz/ghz-121-line.json").seconds
    volley = parse_ghz.parse_file(FIXTURES / "volley/line.json").seconds
    assert [each.messages for each in ghz] == [each.ok for each in ghz]
    assert [each.messages for each in volley] == [20, 40, 60, 30]


def test_a_call_is_sent_in_one_second_and_ends_in_another() -> None:
    report = loaded("ghz/ghz-121-line.json")
    # The last call to end says when the run ended; this one began two seconds before it.
    last = max(report["details"], key=lambda each: each["timestamp"])
    before = [each.sent or 0 for each in seconds(report)]
    last["latency"] = 2_000_000_000
    found = seconds(report)
    assert [each.sent for each in found] == [before[0], before[1] + 1, before[2], before[3] - 1]
    assert found[-1].max_ns == 2_000_000_000


def test_a_call_that_failed_has_no_latency_here() -> None:
    report = loaded("ghz/ghz-121-line.json")
    report["details"][0]["status"] = "Internal"
    report["statusCodeDistribution"] = {"OK": 149, "Internal": 1}
    found = seconds(report)
    assert (found[0].failed, sum(each.failed for each in found)) == (1, 1)
    assert sum(each.ok for each in found) == 149


def test_a_call_that_was_cut_was_sent_and_did_not_fail() -> None:
    report = parse_ghz.parse_file(FIXTURES / "ghz/ghz-121-unary-cut.json")
    assert report.calls.cut
    assert sum(each.sent or 0 for each in report.seconds) == report.count
    assert sum(each.ok for each in report.seconds) == report.calls.ok
    assert sum(each.failed for each in report.seconds) == sum(report.calls.failed.values())


def test_where_not_every_call_was_written_down_there_are_no_seconds() -> None:
    assert parse_ghz.parse_file(FIXTURES / "ghz/ghz-121-unary-ok.txt").seconds == ()
    report = loaded("ghz/ghz-121-line.json")
    report["details"] = []
    assert seconds(report) == ()


@pytest.mark.parametrize("member", ["series", "seconds"])
def test_without_its_intervals_volley_tells_none(member: str) -> None:
    report = loaded("volley/line.json")
    del report["volley"][member]
    assert seconds(report) == ()


def test_intervals_that_do_not_divide_a_second_tell_none() -> None:
    report = loaded("volley/line.json")
    report["volley"]["series"]["interval_ms"] = 800
    assert seconds(report) == ()


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("messages", [1], "the lists of `volley.series` are not of one length"),
        ("ok", 5, "`volley.series.ok` must be a list, is 5"),
        ("sent", [-1] * 35, r"`volley.series.sent\[0\]` is not a number in its range"),
        ("failed", ["x"], r"`volley.series.failed\[0\]` is not a number in its range"),
        ("interval_ms", 0.5, "`volley.series.interval_ms` must be a whole number"),
    ],
)
def test_broken_intervals_are_refused(key: str, value: object, said: str) -> None:
    report = loaded("volley/line.json")
    report["volley"]["series"][key] = value
    with pytest.raises(parse_ghz.ParseError, match=said):
        seconds(report)


def test_a_second_of_silence_has_no_latency() -> None:
    report = loaded("volley/line.json")
    report["volley"]["seconds"][1] = {"p50": None, "p99": None, "max": None, "samples": 0}
    found = seconds(report)
    assert (found[1].p50_ns, found[1].p99_ns, found[1].max_ns) == (None, None, None)
    assert found[2].p50_ns


def test_replies_are_checked_only_if_there_was_a_rule() -> None:
    report = loaded("volley/line.json")
    assert parse_ghz.parse(json.dumps(report)).replies_checked == 150
    report["volley"]["checks"]["compared"] = False
    assert parse_ghz.parse(json.dumps(report)).replies_checked is None
    assert parse_ghz.parse_file(FIXTURES / "ghz/ghz-121-line.json").replies_checked is None
