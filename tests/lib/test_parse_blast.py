"""The front: which input is refused, and the command line."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

import parse_blast
from parse_blast import GhzParseError, parse_file
from tests.lib.parsers.blast.sweeps import GHZ, SWEEPS, VOLLEY, as_text, small_lines, small_sweep

SCRIPT = Path(parse_blast.__file__)


def run(*argv: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run the command from another directory, with nothing but the standard library."""
    return subprocess.run(
        [sys.executable, "-E", "-s", "-S", str(SCRIPT), *argv],
        input=stdin,
        capture_output=True,
        check=False,
        cwd=VOLLEY,
    )


def test_the_command_prints_the_pages_numbers(tmp_path: Path) -> None:
    saved = tmp_path / "run-1.json"
    saved.write_text(json.dumps(small_sweep()))
    done = run(str(saved))
    assert (done.returncode, done.stderr) == (0, b"")
    printed = json.loads(done.stdout)
    (first, second) = printed.pop("points")
    assert printed == {
        "schema": 1,
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
        "rate": {"median": 1500.0, "low": 1000.0, "high": 2000.0},
        "ok": 4,
        "failed": {},
    }
    assert second["failed"] == {"Internal": 1, "Unavailable": 2}


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.name)
def test_every_captured_sweep_is_read_from_its_file_and_from_stdin(path: Path) -> None:
    done = run(str(path))
    assert (done.returncode, done.stderr) == (0, b"")
    printed = json.loads(done.stdout)
    assert printed["form"] == ("ghz" if path.parent == GHZ else "volley")
    assert printed["points"]
    assert run("-", stdin=path.read_bytes()).stdout == done.stdout


def test_zipped_or_not_laid_out_or_not_it_is_the_same(tmp_path: Path) -> None:
    plain, zipped, laid_out = (tmp_path / name for name in ("plain", "zipped", "laid-out"))
    plain.write_text(json.dumps(small_sweep()))
    zipped.write_bytes(gzip.compress(plain.read_bytes()))
    laid_out.write_text(json.dumps(small_sweep(), indent=2))
    assert parse_file(plain) == parse_file(zipped) == parse_file(laid_out)
    text = as_text(small_lines())
    plain.write_text(text)
    zipped.write_bytes(gzip.compress(text.encode()))
    assert parse_file(plain) == parse_file(zipped)


WHOLE = gzip.compress(as_text(small_lines()).encode(), mtime=0)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", b"empty input"),
        (b" \n", b"empty input"),
        (gzip.compress(b"", mtime=0), b"empty input"),
        (b"\xff\xfe\x00S", b"broken or incomplete JSON"),
        (b"[1]", b"the report must be a JSON object"),
        (b"{}", b"neither what `volley blast -O json` prints nor"),
        (b'{"blast": NaN}', b"NaN"),
        (b'{"blast": ' + b"9" * 5000 + b"}", b"broken or incomplete JSON"),
        (b"[" * 100_000, b"nested too deeply"),
        (b'{"report": 1}', b"line 1: key `order` is missing"),
        (as_text(small_lines()).encode()[:-9], b"line 3: broken or incomplete JSON"),
        (as_text(small_lines()).encode() + b"\n", b"line 4: broken or incomplete JSON"),
        (WHOLE[:-9], b"broken or incomplete gzip"),
        (WHOLE[:40] + b"\0" * 40 + WHOLE[80:], b"broken or incomplete gzip"),
        (WHOLE + b"more", b"broken or incomplete gzip"),
    ],
    ids=lambda value: ascii(value)[:24],
)
def test_the_command_refuses_bad_input_in_one_line(
    tmp_path: Path, content: bytes, complaint: bytes
) -> None:
    saved = tmp_path / "run-1"
    saved.write_bytes(content)
    for done in (run(str(saved)), run("-", stdin=content)):
        assert (done.returncode, done.stdout) == (2, b"")
        assert complaint in done.stderr
        assert done.stderr.startswith(b"parse_blast: ")
        assert done.stderr.count(b"\n") == 1


def test_a_report_of_another_load_is_refused() -> None:
    done = run("../stream.json")
    assert done.returncode == 2
    assert b"neither what `volley blast -O json` prints nor" in done.stderr


def test_the_command_names_a_file_it_cannot_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.json", tmp_path, tmp_path / "new\nline"):
        done = run(str(path))
        assert done.returncode == 2
        assert done.stderr.startswith(b"parse_blast: " + str(tmp_path).encode())
        assert done.stderr.count(b"\n") == 1


def test_the_command_has_help() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert b"volley blast" in done.stdout


def test_a_line_beyond_the_size_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse_blast, "MAX_BYTES", 100)
    with pytest.raises(GhzParseError, match="longer than 100 bytes"):
        parse_file(GHZ / "ghz-121-blast.jsonl.gz")


def test_a_path_with_a_null_byte_is_refused() -> None:
    with pytest.raises(GhzParseError, match="null byte"):
        parse_file("a\0b")


def test_bytes_that_are_not_utf8_are_replaced_not_fatal(tmp_path: Path) -> None:
    text = as_text(small_lines()).encode().replace(b"oh no", b"\xff")
    (tmp_path / "run-1").write_bytes(text)
    assert parse_file(tmp_path / "run-1").failed == {"Internal": 1}
