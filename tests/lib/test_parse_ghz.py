"""The front: which input is refused, and the command line."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import parse_ghz
from parse_ghz import GhzParseError, parse, parse_file
from tests.lib.parsers.ghz.reports import FIXTURES, small_text

SCRIPT = Path(parse_ghz.__file__)


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
    with pytest.raises(GhzParseError, match=complaint) as caught:
        parse(text)
    assert "\n" not in str(caught.value)


def run(*argv: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run the command from another directory, with nothing but the standard library."""
    return subprocess.run(
        [sys.executable, "-E", "-s", "-S", str(SCRIPT), *argv],
        input=stdin,
        capture_output=True,
        check=False,
        cwd=FIXTURES,
    )


def test_the_command_prints_the_leaderboard_numbers() -> None:
    done = run(str(FIXTURES / "ghz-121-unary-cut.json"), "--messages-per-call", "10")

    assert done.returncode == 0
    assert done.stderr == b""
    printed = json.loads(done.stdout)
    latency = printed.pop("latency_ns")
    assert latency["samples"] == 48
    assert printed == {
        "schema": 1,
        "form": "json",
        "name": "",
        "elapsed_s": 0.999936438,
        "count": 64,
        "calls": {"ok": 48, "failed": {}, "cut": 16},
        "calls_per_s": pytest.approx(48.00305),
        "messages_per_call": 10,
        "messages_per_s": pytest.approx(480.0305),
        "low": pytest.approx(480.0305),
        "high": pytest.approx(640.0407),
        "reported_calls_per_s": pytest.approx(64.00407),
    }


def test_the_command_prints_the_messages_that_volley_counted() -> None:
    done = run("../volley/stream.json", "--messages-per-call", "5000")

    assert done.returncode == 0
    printed = json.loads(done.stdout)
    assert printed["messages_counted"] == 1_250_518
    assert printed["messages_per_s"] == printed["low"] == printed["high"] == 625_259.0
    assert printed["latency_ns"]["mean"] == 614_647_225
    assert printed["latency_ns"]["p999"] == 1_837_670_035


def test_the_command_reads_stdin_and_counts_one_message_a_call_unless_told() -> None:
    done = run("-", stdin=(FIXTURES / "ghz-121-wait.txt").read_bytes())

    assert done.returncode == 0
    assert json.loads(done.stdout)["messages_per_call"] == 1


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", b"empty input"),
        (b"\xff\xfe\x00S", b"neither a ghz JSON report"),
        (b'{"count": "\xed\xa0\x80"}', b"`count` must be a whole number"),
        (b'{"count": "\\ud800\\n"}', b"`count` must be a whole number"),
    ],
)
def test_the_command_refuses_bad_input_in_one_line(
    tmp_path: Path, content: bytes, complaint: bytes
) -> None:
    saved = tmp_path / "out.json"
    saved.write_bytes(content)
    for done in (run(str(saved)), run("-", stdin=content)):
        assert done.returncode == 2
        assert done.stdout == b""
        assert complaint in done.stderr
        assert done.stderr.count(b"\n") == 1


def test_the_command_names_a_file_it_cannot_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.json", tmp_path, tmp_path / "new\nline"):
        done = run(str(path))
        assert done.returncode == 2
        assert done.stderr.startswith(b"parse_ghz: " + str(tmp_path).encode())
        assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("bad", ["0", "-1", "1.5", "many", "9" * 40])
def test_the_command_refuses_an_impossible_messages_per_call(bad: str) -> None:
    done = run("-", f"--messages-per-call={bad}")
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_the_command_has_help() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert b"--messages-per-call" in done.stdout


def test_a_file_beyond_the_size_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse_ghz, "MAX_BYTES", 100)
    with pytest.raises(GhzParseError, match="larger than 100 bytes"):
        parse_file(FIXTURES / "ghz-121-unary-ok.json")


def test_a_path_with_a_null_byte_is_refused() -> None:
    with pytest.raises(GhzParseError, match="null byte"):
        parse_file("a\0b")


def test_bytes_that_are_not_utf8_are_replaced_not_fatal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = small_text((1, "rpc error: code = Internal desc = QQ")).encode().replace(b"QQ", b"\xff")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert parse_file("-").errors == {"rpc error: code = Internal desc = \ufffd": 1}
