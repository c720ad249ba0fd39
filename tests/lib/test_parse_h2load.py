"""The front: which input is refused, and the command line."""

import json

import pytest

import parse_h2load
from parse_h2load import ParseError, parse
from tests.lib.parsers.commands import run
from tests.lib.parsers.h2load.reports import FIXTURES


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "empty"),
        (" \n\t\n", "empty"),
        ("hello", "neither"),
        ("{}", "neither"),
        ("null", "neither"),
        ("\x00\x01\x02\xff", "neither"),
        ('{"count": 3, "total": 5}', "neither"),
        ("starting benchmark...\n", "cut short"),
        ("starting benchmark...\nfinished in " * 10_000, "more than one|cut short"),
        ("finished in " + "9" * 100_000, "cut short"),
    ],
    ids=lambda value: ascii(value)[:24],
)
def test_what_is_not_h2load_is_refused_in_one_line(text: str, complaint: str) -> None:
    with pytest.raises(ParseError, match=complaint) as caught:
        parse(text)
    assert "\n" not in str(caught.value)


def test_the_command_prints_the_leaderboard_numbers_as_json() -> None:
    done = run(parse_h2load, "h2load/h2load-152-mixed.txt")

    assert done.returncode == 0
    assert done.stderr == b""
    printed = json.loads(done.stdout)
    reported = printed.pop("reported")
    assert reported["succeeded"] == 700
    assert reported["max_ns"] == 16_530_000
    assert printed.pop("latency_ns")["kind"] == "service"
    assert printed == {
        "schema": 2,
        "form": "text",
        "version": None,
        "elapsed_s": 0.1579,
        "calls": {
            "ok": 600,
            "failed": {"HTTP 3xx": 100, "HTTP 4xx": 100, "HTTP 5xx": 100, "errored": 100},
            "cut": 0,
        },
        "calls_per_s": pytest.approx(3799.873),
        "at_least": pytest.approx(3799.873),
        "at_most": pytest.approx(3799.873),
        "reported_per_s": 5699.81,
    }


def test_the_command_reads_json_from_stdin() -> None:
    done = run(parse_h2load, "-", stdin=(FIXTURES / "h2load-170-unary.json").read_bytes())
    assert done.returncode == 0
    printed = json.loads(done.stdout)
    assert (printed["version"], printed["latency_ns"]["p999"]) == ("1.70.0", 21_658_096)
    assert printed["calls"] == {"ok": 1920, "failed": {}, "cut": 40}


def test_what_an_old_one_does_not_know_is_null() -> None:
    printed = json.loads(run(parse_h2load, "h2load/h2load-152-unary.txt").stdout)
    assert printed["latency_ns"]["mean"] == 20_800_000
    assert (printed["latency_ns"]["p99"], printed["version"]) == (None, None)
