"""The front: which input is refused, and the command line."""

import json
from pathlib import Path

import pytest

import parse_ghz
from parse_ghz import ParseError, parse, parse_file
from tests.lib.parsers.commands import run
from tests.lib.parsers.ghz.reports import FIXTURES, small_text


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "empty"),
        (" \n\t\n", "empty"),
        ("hello", "neither"),
        ("hello", "run ghz or volley with `-O json`"),
        ("volley 0.1.0\n", "cut short"),
        ("volley 0.1.0\nSummary:", "cut short"),
        ("null", "neither"),
        ("\x00\x01\x02\xff", "neither"),
        ("<html><title>ghz</title></html>", "neither"),
        ((FIXTURES / "ghz-121-unary-ok.csv").read_text(), "neither"),
        ("[]", "must be a JSON object"),
        ("{}", "`count` is missing"),
        ('{"count": NaN}', "NaN"),
        ('{"count": -Infinity}', "-Infinity"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"count": ' + "9" * 5000 + "}", "broken or incomplete JSON"),
        ('{"count": 1', "broken or incomplete JSON"),
        ("Summary:\n", "cut short"),
        ("Summary:" + "\n" * 100_000, "cut short"),
        ("Summary:\n  Name:\t\t" + "x\n  Count:\t" * 20_000, "cut short"),
    ],
    ids=lambda value: ascii(value)[:24],
)
def test_what_is_not_ghz_is_refused_in_one_line(text: str, complaint: str) -> None:
    with pytest.raises(ParseError, match=complaint) as caught:
        parse(text)
    assert "\n" not in str(caught.value)


def test_the_command_prints_the_leaderboard_numbers() -> None:
    done = run(parse_ghz, str(FIXTURES / "ghz-121-unary-cut.json"), "--messages-per-call", "10")

    assert done.returncode == 0
    assert done.stderr == b""
    printed = json.loads(done.stdout)
    latency = printed.pop("latency_ns")
    assert latency["samples"] == 48
    assert printed == {
        "schema": 2,
        "form": "json",
        "name": "",
        "elapsed_s": 0.999936438,
        "count": 64,
        "calls": {"ok": 48, "failed": {}, "cut": 16},
        "calls_per_s": pytest.approx(48.00305),
        "messages_per_call": 10,
        "messages_per_s": pytest.approx(480.0305),
        "at_least": pytest.approx(480.0305),
        "at_most": pytest.approx(640.0407),
        "reported_calls_per_s": pytest.approx(64.00407),
    }


def test_the_command_prints_the_messages_that_volley_counted() -> None:
    done = run(parse_ghz, "volley/stream.json", "--messages-per-call", "5000")

    assert done.returncode == 0
    printed = json.loads(done.stdout)
    assert printed["messages_counted"] == 1_250_518
    assert printed["messages_per_s"] == printed["at_least"] == printed["at_most"] == 625_259.0
    assert printed["latency_ns"]["mean"] == 614_647_225
    assert printed["latency_ns"]["p999"] == 1_837_670_035


def test_the_command_reads_stdin_and_counts_one_message_a_call_unless_told() -> None:
    done = run(parse_ghz, "-", stdin=(FIXTURES / "ghz-121-wait.txt").read_bytes())

    assert done.returncode == 0
    assert json.loads(done.stdout)["messages_per_call"] == 1


@pytest.mark.parametrize("bad", ["0", "-1", "1.5", "many", "9" * 40])
def test_the_command_refuses_an_impossible_messages_per_call(bad: str) -> None:
    done = run(parse_ghz, "-", f"--messages-per-call={bad}")
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_bytes_that_are_not_utf8_are_replaced_not_fatal(tmp_path: Path) -> None:
    text = small_text((1, "rpc error: code = Internal desc = QQ")).encode().replace(b"QQ", b"\xff")
    (tmp_path / "saved").write_bytes(text)
    errors = parse_file(tmp_path / "saved").errors
    assert errors == {"rpc error: code = Internal desc = \ufffd": 1}
