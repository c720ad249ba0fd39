"""The readers as commands: what they print, which input they refuse, and --help."""

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import parse_blast
import parse_ghz
import parse_h2load
import parse_scenario
from parsers.common.values import ParseError
from tests.lib.parsers.ghz.reports import small_text
from tests.lib.parsers.sweeps import SWEEPS, small_sweep

FIXTURES = Path(__file__).parents[1] / "fixtures"
FRONTS = [parse_ghz, parse_h2load, parse_blast, parse_scenario]


def run(front: ModuleType, *argv: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a reader in the folder of the fixtures, with nothing but the standard library."""
    return subprocess.run(
        [sys.executable, "-E", "-s", "-S", str(front.__file__), *argv],
        input=stdin,
        capture_output=True,
        check=False,
        cwd=FIXTURES,
    )


def printed_by(front: ModuleType, *argv: str, stdin: bytes = b"") -> dict[str, Any]:
    done = run(front, *argv, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b"")
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


@pytest.mark.parametrize(
    ("front", "text", "complaint"),
    [
        (parse_ghz, "", "empty"),
        (parse_ghz, " \n\t\n", "empty"),
        (parse_ghz, "hello", "neither"),
        (parse_ghz, "hello", "run ghz or volley with `-O json`"),
        (parse_ghz, "volley 0.1.0\n", "cut short"),
        (parse_ghz, "volley 0.1.0\nSummary:", "cut short"),
        (parse_ghz, "null", "neither"),
        (parse_ghz, "\x00\x01\x02\xff", "neither"),
        (parse_ghz, "<html><title>ghz</title></html>", "neither"),
        (parse_ghz, (FIXTURES / "ghz" / "ghz-121-unary-ok.csv").read_text(), "neither"),
        (parse_ghz, "[]", "must be a JSON object"),
        (parse_ghz, "{}", "`count` is missing"),
        (parse_ghz, '{"count": NaN}', "NaN"),
        (parse_ghz, '{"count": -Infinity}', "-Infinity"),
        (parse_ghz, "[" * 100_000, "nested too deeply"),
        (parse_ghz, '{"a":' * 100_000, "nested too deeply"),
        (parse_ghz, '{"count": ' + "9" * 5000 + "}", "broken or incomplete JSON"),
        (parse_ghz, '{"count": 1', "broken or incomplete JSON"),
        (parse_ghz, "Summary:\n", "cut short"),
        (parse_ghz, "Summary:" + "\n" * 100_000, "cut short"),
        (parse_ghz, "Summary:\n  Name:\t\t" + "x\n  Count:\t" * 20_000, "cut short"),
        (parse_h2load, "", "empty"),
        (parse_h2load, " \n\t\n", "empty"),
        (parse_h2load, "hello", "neither"),
        (parse_h2load, "{}", "neither"),
        (parse_h2load, "null", "neither"),
        (parse_h2load, "\x00\x01\x02\xff", "neither"),
        (parse_h2load, '{"count": 3, "total": 5}', "neither"),
        (parse_h2load, "starting benchmark...\n", "cut short"),
        (parse_h2load, "starting benchmark...\nfinished in " * 10_000, "more than one|cut short"),
        (parse_h2load, "finished in " + "9" * 100_000, "cut short"),
        (parse_scenario, "", "empty"),
        (parse_scenario, " \n\t\n", "empty"),
        (parse_scenario, "hello", "broken or incomplete JSON"),
        (parse_scenario, "{}", "not what `volley run -O json` prints"),
        (parse_scenario, '{"count": 3, "total": 5}', "not what `volley run -O json` prints"),
        (parse_scenario, "[" * 100_000, "nested too deeply"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, ModuleType) else ascii(value)[:24],
)
def test_what_is_no_report_is_refused_in_one_line(
    front: ModuleType, text: str, complaint: str
) -> None:
    with pytest.raises(ParseError, match=complaint) as caught:
        front.parse(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("front", "content", "complaint"),
    [
        (parse_ghz, b"", b"empty input"),
        (parse_ghz, b"\xff\xfe\x00S", b"neither a ghz JSON report"),
        (parse_ghz, b'{"count": "\xed\xa0\x80"}', b"`count` must be a whole number"),
        (parse_ghz, b'{"count": "\\ud800\\n"}', b"`count` must be a whole number"),
        (parse_h2load, b"", b"empty input"),
        (parse_h2load, b"\xff\xfe\x00S", b"neither"),
        (parse_h2load, b'{"version":"\xed\xa0\x80\\n"}', b"only v1"),
        (parse_scenario, b"", b"empty input"),
        (parse_scenario, b"\xff\xfe\x00S", b"broken or incomplete JSON"),
        (parse_blast, b"", b"empty input"),
        (parse_blast, b" \n", b"empty input"),
        (parse_blast, b"\xff\xfe\x00S", b"broken or incomplete JSON"),
        (parse_blast, b"[1]", b"the report must be a JSON object"),
        (parse_blast, b"{}", b"not what `volley blast -O json` prints"),
        (parse_blast, b'{"blast": NaN}', b"NaN"),
        (parse_blast, b'{"blast": ' + b"9" * 5000 + b"}", b"broken or incomplete JSON"),
        (parse_blast, b'{"blast": 1} {}', b"more text stands behind its end"),
        (parse_blast, b"[" * 100_000, b"nested too deeply"),
        (parse_blast, b'{"report": 1}', b"not what `volley blast -O json` prints"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, ModuleType) else ascii(value)[:24],
)
def test_bad_input_is_refused_in_one_line(
    tmp_path: Path, front: ModuleType, content: bytes, complaint: bytes
) -> None:
    saved = tmp_path / "saved"
    saved.write_bytes(content)
    for where, done in (
        (saved, run(front, str(saved))),
        ("stdin", run(front, "-", stdin=content)),
    ):
        assert (done.returncode, done.stdout) == (2, b"")
        assert complaint in done.stderr
        assert done.stderr.startswith(f"{front.__name__}: {where}: ".encode())
        assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("front", FRONTS)
def test_a_file_that_cannot_be_read_is_named(front: ModuleType, tmp_path: Path) -> None:
    for path in (tmp_path / "missing.json", tmp_path, tmp_path / "new\nline"):
        done = run(front, str(path))
        assert done.returncode == 2
        assert done.stderr.startswith(f"{front.__name__}: {tmp_path}".encode())
        assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("front", "says"),
    [
        (parse_ghz, b"--messages-per-call"),
        (parse_h2load, b"h2load"),
        (parse_blast, b"blast"),
        (parse_scenario, b"volley run"),
    ],
)
def test_there_is_help_and_what_is_unknown_is_refused(front: ModuleType, says: bytes) -> None:
    done = run(front, "--help")
    assert done.returncode == 0
    assert b"FILE" in done.stdout
    assert says in done.stdout
    assert run(front, "--yaml", "x").returncode == 2
    assert run(front).returncode == 2


@pytest.mark.parametrize(
    ("front", "path"),
    [
        (parse_ghz, FIXTURES / "ghz" / "ghz-121-unary-ok.json"),
        (parse_h2load, FIXTURES / "h2load" / "h2load-152-unary.txt"),
        (parse_blast, SWEEPS[0]),
        (parse_scenario, FIXTURES / "volley" / "scenario" / "crud.json"),
    ],
)
def test_a_file_beyond_the_size_limit_is_refused(
    monkeypatch: pytest.MonkeyPatch, front: ModuleType, path: Path
) -> None:
    monkeypatch.setattr(front, "MAX_BYTES", 100)
    with pytest.raises(ParseError, match="larger than 100 bytes"):
        front.parse_file(path)


@pytest.mark.parametrize("front", FRONTS)
def test_a_path_with_a_null_byte_is_refused(front: ModuleType) -> None:
    with pytest.raises(ParseError, match="null byte"):
        front.parse_file("a\0b")


def test_the_numbers_of_ghz_are_printed() -> None:
    printed = printed_by(parse_ghz, "ghz/ghz-121-unary-cut.json", "--messages-per-call", "10")
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


def test_the_messages_that_volley_counted_are_printed() -> None:
    printed = printed_by(parse_ghz, "volley/stream.json", "--messages-per-call", "5000")
    assert printed["messages_counted"] == 1_250_518
    assert printed["messages_per_s"] == printed["at_least"] == printed["at_most"] == 625_259.0
    assert printed["latency_ns"]["mean"] == 614_647_225
    assert printed["latency_ns"]["p999"] == 1_837_670_035


def test_a_call_is_one_message_by_default() -> None:
    saved = (FIXTURES / "ghz" / "ghz-121-wait.txt").read_bytes()
    assert printed_by(parse_ghz, "-", stdin=saved)["messages_per_call"] == 1


@pytest.mark.parametrize("bad", ["0", "-1", "1.5", "many", "9" * 40])
def test_an_impossible_messages_per_call_is_refused(bad: str) -> None:
    done = run(parse_ghz, "-", f"--messages-per-call={bad}")
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_the_numbers_of_h2load_are_printed() -> None:
    printed = printed_by(parse_h2load, "h2load/h2load-152-mixed.txt")
    reported = printed.pop("reported")
    assert reported["succeeded"] == 700
    assert reported["max_ns"] == 16_530_000
    assert printed.pop("latency_ns")["kind"] == "service"
    assert printed == {
        "schema": 2,
        "form": "text",
        "version": None,
        "warm_up_s": 0.0,
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


def test_the_json_of_h2load_is_read_from_stdin() -> None:
    printed = printed_by(
        parse_h2load, "-", stdin=(FIXTURES / "h2load" / "h2load-170-unary.json").read_bytes()
    )
    assert (printed["version"], printed["latency_ns"]["p999"]) == ("1.70.0", 21_658_096)
    assert printed["calls"] == {"ok": 1920, "failed": {}, "cut": 40}


def test_what_an_old_h2load_does_not_know_is_null() -> None:
    printed = printed_by(parse_h2load, "h2load/h2load-152-unary.txt")
    assert printed["latency_ns"]["mean"] == 20_800_000
    assert (printed["latency_ns"]["p99"], printed["version"]) == (None, None)


def test_the_numbers_of_a_sweep_are_printed(tmp_path: Path) -> None:
    saved = tmp_path / "run-1.json"
    saved.write_text(json.dumps(small_sweep()))
    printed = printed_by(parse_blast, str(saved))
    (first, second) = printed.pop("points")
    assert printed == {
        "schema": 2,
        "form": "volley",
        "elapsed_s": 0.5,
        "calls": {"ok": 5, "failed": {"Internal": 1, "Unavailable": 2}},
        "fastest": {"connections": 1, "requests": 2},
    }
    assert first.pop("latency_ns")["samples"] == 4
    assert first == {
        "connections": 1,
        "requests": 2,
        "repetitions": 2,
        "rate": {"median": 1500.0, "at_least": 1000.0, "at_most": 2000.0},
        "ok": 4,
        "failed": {},
    }
    assert second["failed"] == {"Internal": 1, "Unavailable": 2}


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.name)
def test_every_captured_sweep_is_read_from_its_file_and_from_stdin(path: Path) -> None:
    printed = printed_by(parse_blast, str(path))
    assert printed["form"] == "volley"
    assert printed["points"]
    assert printed_by(parse_blast, "-", stdin=path.read_bytes()) == printed


def test_a_sweep_laid_out_or_not_is_the_same() -> None:
    laid_out = json.dumps(small_sweep(), indent=2)
    assert parse_blast.parse(laid_out) == parse_blast.parse(json.dumps(small_sweep()))


def test_a_report_of_another_load_is_no_sweep() -> None:
    done = run(parse_blast, "volley/stream.json")
    assert done.returncode == 2
    assert b"not what `volley blast -O json` prints" in done.stderr


def test_bytes_that_are_not_utf8_are_replaced_not_fatal(tmp_path: Path) -> None:
    text = small_text((1, "rpc error: code = Internal desc = QQ")).encode()
    (tmp_path / "saved").write_bytes(text.replace(b"QQ", b"\xff"))
    errors = parse_ghz.parse_file(tmp_path / "saved").errors
    assert errors == {"rpc error: code = Internal desc = \ufffd": 1}


def test_the_numbers_of_scenarios_are_printed() -> None:
    printed = printed_by(parse_scenario, "volley/scenario/faults.json")
    steps = printed.pop("steps")
    assert printed.pop("latency_ns")["samples"] == 3020
    assert printed == {
        "schema": 1,
        "elapsed_s": 0.343436576,
        "iterations": {"due": 1073, "ok": 989, "failed": 77, "cut": 7, "dropped": 0},
        "calls": {
            "ok": 3020, "failed": {"missing value": 21, "status": 31, "timeout": 25}, "cut": 7,
        },
        "requests_per_s": pytest.approx(8793.4722),
        "reported_calls_per_s": pytest.approx(9017.6767),
    }  # fmt: skip
    assert [(step["name"], step["count"], step["ok"]) for step in steps] == [
        ("create", 1073, 1025), ("change", 1025, 1006), ("remove", 1006, 989),
    ]  # fmt: skip
    assert steps[1]["failed"] == {"status": 13, "timeout": 5}
    assert steps[1]["latency_ns"]["samples"] == 1006
