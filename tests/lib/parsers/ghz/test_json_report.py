"""The JSON form: every absurd value is named."""

import copy
import json
from typing import Any

import pytest

from parse_ghz import ParseError, parse
from tests.lib.parsers.changes import put

from .reports import CLOSING, small_json


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("count",), "10", "`count` must be a whole number"),
        (("count",), True, "`count` must be a whole number"),
        (("count",), 1.0, "`count` must be a whole number"),
        (("count",), -1, "`count` is out of range"),
        (("count",), 2**64, "`count` is out of range"),
        (("count",), 3, "add up to 2 calls, the count is 3"),
        (("total",), 0, "0 ns"),
        (("total",), -5, "`total` is out of range"),
        (("total",), 2**63, "`total` is out of range"),
        (("total",), 1000, "longer than the run"),
        (("rps",), "12", "`rps` must be a number"),
        (("rps",), -1.0, "`rps` is out of range"),
        (("rps",), 1e308, "`rps` is out of range"),
        (("average",), [], "`average` must be a whole number"),
        (("name",), 5, "`name` must be a string"),
        (("options",), [], "`options` must be a JSON object"),
        (("options", "concurrency"), "4", "`options.concurrency` must be a whole number"),
        (("statusCodeDistribution",), [], "`statusCodeDistribution` must be a JSON object"),
        (("statusCodeDistribution", "OK"), -1, "out of range"),
        (("statusCodeDistribution",), {"OK": 2}, "disagree"),
        (("errorDistribution",), "x", "`errorDistribution` must be a JSON object"),
        (("histogram",), {}, "`histogram` must be a list"),
        (("latencyDistribution",), [1], r"`latencyDistribution\[0\]` must be a JSON object"),
        (("latencyDistribution",), [{"percentage": 101, "latency": 1}], "out of range"),
        (("details",), {}, "`details` must be a list"),
        (("details", 0), "x", r"`details\[0\]` must be a JSON object"),
        (("details", 0, "latency"), -1, r"`details\[0\].latency` is out of range"),
        (("details", 0, "latency"), "5", r"`details\[0\].latency` must be a whole number"),
        (("details", 0, "status"), [], r"`details\[0\].status` must be a string"),
        (("details", 0, "timestamp"), "soon", r"`details\[0\].timestamp` is not an RFC 3339"),
        (("details", 0, "timestamp"), "2026-01-02T03:04:05", "not an RFC 3339"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_an_absurd_value_is_named(
    path: tuple[str | int, ...], value: object, complaint: str
) -> None:
    raw: Any = small_json((9.0, 1.0, ""), (9.9, 1.0, CLOSING))
    assert parse(json.dumps(raw)).count == 2
    put(raw, path, value)
    with pytest.raises(ParseError, match=complaint):
        parse(json.dumps(raw))


KEYS = "count total average fastest slowest rps errorDistribution statusCodeDistribution"


@pytest.mark.parametrize("key", KEYS.split())
def test_a_missing_key_is_named(key: str) -> None:
    raw = small_json((9.0, 1.0, ""))
    del raw[key]
    with pytest.raises(ParseError, match=f"`{key}` is missing"):
        parse(json.dumps(raw))


def test_a_detail_too_few_is_noticed() -> None:
    raw = small_json((9.0, 1.0, ""), (9.0, 1.0, ""))
    raw["details"] = raw["details"][:1]
    with pytest.raises(ParseError, match="`details` holds 1 calls, `count` says 2"):
        parse(json.dumps(raw))


def test_json_cut_short_anywhere_is_refused() -> None:
    whole = json.dumps(small_json((9.0, 1.0, ""), (9.9, 1.0, CLOSING)))
    for length in range(len(whole)):
        with pytest.raises(ParseError):
            parse(whole[:length])


def test_a_report_is_not_changed_by_being_read_twice() -> None:
    raw = small_json((9.0, 1.0, ""), (9.9, 1.0, CLOSING))
    assert parse(json.dumps(raw)) == parse(json.dumps(copy.deepcopy(raw)))
