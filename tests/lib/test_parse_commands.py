"""What the three readers have in common as commands: bad input, unreadable files, --help."""

import gzip
from pathlib import Path
from types import ModuleType

import pytest

import parse_blast
import parse_ghz
import parse_h2load
from parsers.common.errors import ParseError
from tests.lib.parsers.blast.sweeps import GHZ, as_text, small_lines
from tests.lib.parsers.commands import FIXTURES, run

FRONTS = [parse_ghz, parse_h2load, parse_blast]
LINES = as_text(small_lines()).encode()
WHOLE = gzip.compress(LINES, mtime=0)


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
        (parse_blast, b"", b"empty input"),
        (parse_blast, b" \n", b"empty input"),
        (parse_blast, gzip.compress(b"", mtime=0), b"empty input"),
        (parse_blast, b"\xff\xfe\x00S", b"broken or incomplete JSON"),
        (parse_blast, b"[1]", b"the report must be a JSON object"),
        (parse_blast, b"{}", b"neither what `volley blast -O json` prints nor"),
        (parse_blast, b'{"blast": NaN}', b"NaN"),
        (parse_blast, b'{"blast": ' + b"9" * 5000 + b"}", b"broken or incomplete JSON"),
        (parse_blast, b'{"blast": 1} {}', b"more text stands behind its end"),
        (parse_blast, b"[" * 100_000, b"nested too deeply"),
        (parse_blast, b'{"report": 1}', b"line 1: key `order` is missing"),
        (parse_blast, LINES[:-9], b"line 3: broken or incomplete JSON"),
        (parse_blast, LINES + b"\n", b"line 4: broken or incomplete JSON"),
        (parse_blast, WHOLE[:-9], b"broken or incomplete gzip"),
        (parse_blast, WHOLE[:40] + b"\0" * 40 + WHOLE[80:], b"broken or incomplete gzip"),
        (parse_blast, WHOLE + b"more", b"broken or incomplete gzip"),
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
    [(parse_ghz, b"--messages-per-call"), (parse_h2load, b"h2load"), (parse_blast, b"blast")],
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
        (parse_blast, GHZ / "ghz-121-blast.jsonl.gz"),
    ],
)
def test_a_file_beyond_the_size_limit_is_refused(
    monkeypatch: pytest.MonkeyPatch, front: ModuleType, path: Path
) -> None:
    monkeypatch.setattr(front, "MAX_BYTES", 100)
    with pytest.raises(ParseError, match=r"(larg|long)er than 100 bytes"):
        front.parse_file(path)


@pytest.mark.parametrize("front", FRONTS)
def test_a_path_with_a_null_byte_is_refused(front: ModuleType) -> None:
    with pytest.raises(ParseError, match="null byte"):
        front.parse_file("a\0b")
