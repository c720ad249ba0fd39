"""The front: which input is refused, and the command line."""

import gzip
import json
from pathlib import Path

import pytest

import parse_blast
from parse_blast import parse_file
from tests.lib.parsers.blast.sweeps import GHZ, SWEEPS, as_text, small_lines, small_sweep
from tests.lib.parsers.commands import run


def test_the_command_prints_the_pages_numbers(tmp_path: Path) -> None:
    saved = tmp_path / "run-1.json"
    saved.write_text(json.dumps(small_sweep()))
    done = run(parse_blast, str(saved))
    assert (done.returncode, done.stderr) == (0, b"")
    printed = json.loads(done.stdout)
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
    done = run(parse_blast, str(path))
    assert (done.returncode, done.stderr) == (0, b"")
    printed = json.loads(done.stdout)
    assert printed["form"] == ("ghz" if path.parent == GHZ else "volley")
    assert printed["points"]
    assert run(parse_blast, "-", stdin=path.read_bytes()).stdout == done.stdout


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


def test_a_report_of_another_load_is_refused() -> None:
    done = run(parse_blast, "volley/stream.json")
    assert done.returncode == 2
    assert b"neither what `volley blast -O json` prints nor" in done.stderr


def test_bytes_that_are_not_utf8_are_replaced_not_fatal(tmp_path: Path) -> None:
    text = as_text(small_lines()).encode().replace(b"oh no", b"\xff")
    (tmp_path / "run-1").write_bytes(text)
    assert parse_file(tmp_path / "run-1").failed == {"Internal": 1}
