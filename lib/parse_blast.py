"""Read a sweep of blasts: `python lib/parse_blast.py FILE`.

Reads what `volley blast -O json` prints, and the file that is made of ghz's reports, a line for
each of its starts; either may be gzipped, and they are told apart by themselves. Every figure is
computed from the single shots: see `parsers/blast/report.py` and `parsers/blast/median.py`.

Raises GhzParseError, a ValueError of one line, for anything that is not a complete sweep.
Standard library only. The rooms behind this front are in the package `blast`.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import zlib
from collections.abc import Iterator, Sequence
from io import BufferedIOBase
from itertools import chain
from pathlib import Path

from parsers import saved
from parsers.blast.ghz_lines import read_ghz
from parsers.blast.report import BlastReport, Point, Shot
from parsers.blast.volley_json import read_volley
from parsers.ghz.errors import GhzParseError
from parsers.ghz.json_report import load

__all__ = [
    "BlastReport",
    "GhzParseError",
    "Point",
    "Shot",
    "as_dict",
    "main",
    "parse_file",
]

SCHEMA = 1
MAX_BYTES = 512 * 2**20
"""The report of a million calls, which is one line, stays well below this."""

_GZIP = b"\x1f\x8b"


def parse_file(path: str | Path) -> BlastReport:
    """Read a saved sweep; `-` is stdin. Raises GhzParseError, also for an unreadable file."""
    where = saved.shown(path)
    try:
        # Of stdin's descriptor, which stays open.
        source = sys.stdin.fileno() if where == "stdin" else path
        with open(source, "rb", closefd=where != "stdin") as file:
            zipped = file.peek().startswith(_GZIP)
            return _parse(_lines(gzip.GzipFile(fileobj=file) if zipped else file))
    except GhzParseError as error:
        raise GhzParseError(f"{where}: {error}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise GhzParseError(f"{where}: broken or incomplete gzip: {error}") from None
    except OSError as error:
        raise GhzParseError(f"{where}: {error.strerror or error}") from None
    except ValueError as error:
        raise GhzParseError(f"{where!r}: {error}") from None


def _lines(file: BufferedIOBase) -> Iterator[str]:
    """Yield one line after another: together they may be larger than the memory."""
    while line := file.readline(MAX_BYTES + 1):
        if len(line) > MAX_BYTES:
            raise GhzParseError(f"a line is longer than {MAX_BYTES} bytes")
        # An error message is the server's bytes, which need not be UTF-8.
        yield line.decode("utf-8", errors="replace")


def _parse(lines: Iterator[str]) -> BlastReport:
    """Read the lines in their form; volley's one line may have been laid out as many."""
    first = next(lines, "")
    if not first.strip():
        raise GhzParseError("empty input: there is no sweep in it")
    if _is_line_of_ghz(first):
        return read_ghz(chain([first], lines))
    text = first
    for line in lines:
        text += line
        if len(text) > MAX_BYTES:
            raise GhzParseError(f"longer than {MAX_BYTES} bytes, no sweep of volley's is")
    return read_volley(text)


def _is_line_of_ghz(line: str) -> bool:
    try:
        return "report" in load(line).members
    except GhzParseError:
        return False


def as_dict(report: BlastReport) -> dict[str, object]:
    """Give the page's numbers as plain JSON data."""
    fastest = report.fastest
    return {
        "schema": SCHEMA,
        "form": report.form,
        "elapsed_s": report.elapsed_s,
        "calls": {"ok": report.ok, "failed": report.failed},
        "fastest": fastest and {name: vars(fastest)[name] for name in ("connections", "requests")},
        "points": [
            {
                "connections": point.connections,
                "requests": point.requests,
                "repetitions": len(point.shots),
                "rate": vars(point.rate),
                "ok": point.ok,
                "failed": point.failed,
                "latency_ns": point.latency.as_dict(),
            }
            for point in report.points
        ],
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 2 (bad input) or 130 (interrupted)."""
    parser = argparse.ArgumentParser(
        description="Print the numbers of a saved sweep of blasts as JSON.",
        epilog="exit status: 0 done, 2 bad usage or no such sweep",
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        help="what `volley blast -O json` printed, or the reports of ghz; - reads stdin",
    )
    arguments = parser.parse_args(argv)
    return saved.print_json("parse_blast", lambda: as_dict(parse_file(arguments.file)))


if __name__ == "__main__":
    sys.exit(main())
