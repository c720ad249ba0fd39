"""The front: which input is refused, and the command line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import parse_h2load
from parse_h2load import H2loadParseError, parse, parse_file
from tests.lib.parsers.h2load.reports import FIXTURES

SCRIPT = Path(parse_h2load.__file__)


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
    with pytest.raises(H2loadParseError, match=complaint) as caught:
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


def test_the_command_prints_the_leaderboard_numbers_as_json() -> None:
    done = run("h2load-152-mixed.txt")

    assert done.returncode == 0
    assert done.stderr == b""
    printed = json.loads(done.stdout)
    reported = printed.pop("reported")
    assert reported["succeeded"] == 700
    assert reported["max_ns"] == 16_530_000
    assert printed.pop("latency_ns")["kind"] == "service"
    assert printed == {
        "schema": 1,
        "form": "text",
        "version": None,
        "elapsed_s": 0.1579,
        "calls": {
            "ok": 600,
            "failed": {"HTTP 3xx": 100, "HTTP 4xx": 100, "HTTP 5xx": 100, "errored": 100},
            "cut": 0,
        },
        "calls_per_s": pytest.approx(3799.873),
        "low": pytest.approx(3799.873),
        "high": pytest.approx(3799.873),
        "reported_per_s": 5699.81,
    }


def test_the_command_reads_json_from_stdin() -> None:
    done = run("-", stdin=(FIXTURES / "h2load-170-unary.json").read_bytes())
    assert done.returncode == 0
    printed = json.loads(done.stdout)
    assert (printed["version"], printed["latency_ns"]["p999"]) == ("1.70.0", 21_658_096)
    assert printed["calls"] == {"ok": 1920, "failed": {}, "cut": 40}


def test_what_an_old_one_does_not_know_is_null() -> None:
    printed = json.loads(run("h2load-152-unary.txt").stdout)
    assert printed["latency_ns"]["mean"] == 20_800_000
    assert (printed["latency_ns"]["p99"], printed["version"]) == (None, None)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", b"empty input"),
        (b"\xff\xfe\x00S", b"neither"),
        (b'{"version":"\xed\xa0\x80\\n"}', b"only v1"),
    ],
)
def test_the_command_refuses_bad_input_in_one_line(
    tmp_path: Path, content: bytes, complaint: bytes
) -> None:
    saved = tmp_path / "out.txt"
    saved.write_bytes(content)
    for done in (run(str(saved)), run("-", stdin=content)):
        assert done.returncode == 2
        assert done.stdout == b""
        assert complaint in done.stderr
        assert done.stderr.count(b"\n") == 1


def test_the_command_names_a_file_it_cannot_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.txt", tmp_path, tmp_path / "new\nline"):
        done = run(str(path))
        assert done.returncode == 2
        assert done.stderr.startswith(b"parse_h2load: " + str(tmp_path).encode())
        assert done.stderr.count(b"\n") == 1


def test_the_command_has_help_and_refuses_what_it_does_not_know() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert b"FILE" in done.stdout
    assert run("--yaml", "x").returncode == 2
    assert run().returncode == 2


def test_a_file_beyond_the_size_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse_h2load, "MAX_BYTES", 100)
    with pytest.raises(H2loadParseError, match="larger than 100 bytes"):
        parse_file(FIXTURES / "h2load-152-unary.txt")
