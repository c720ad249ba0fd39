"""Read a sweep of blasts: `python3 lib/parse_blast.py FILE`.

Reads what `volley blast -O json` prints, and the file that the runner makes of ghz's reports, one
line for each start of ghz. Either may be gzipped. The form is detected. Every figure is computed
from the single shots: see `parsers/blast/report.py` and `parsers/blast/median.py`.

Raises ParseError, a ValueError of one line, for anything that is not a complete sweep.
Standard library only. The readers are in the package `parsers.blast`.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from io import BufferedIOBase
from itertools import chain
from pathlib import Path

from parsers.blast.ghz_lines import read_ghz
from parsers.blast.report import BlastReport, Point
from parsers.blast.volley_json import read_volley
from parsers.common.command import command_line, opened, print_json, text_of
from parsers.common.errors import ParseError
from parsers.common.json_values import load

__all__ = ["BlastReport", "ParseError", "Point", "as_dict", "main", "parse_file"]

SCHEMA = 2
MAX_BYTES = 512 * 2**20
"""The report of a million calls, which is one line, stays well below this."""

_GZIP = b"\x1f\x8b"


def parse_file(path: str | Path) -> BlastReport:
    """Read a saved sweep; `-` is stdin. Raises ParseError, also for an unreadable file."""
    with opened(path) as file:
        zipped = file.peek().startswith(_GZIP)
        try:
            return _parse(_lines(gzip.GzipFile(fileobj=file) if zipped else file))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ParseError(f"broken or incomplete gzip: {error}") from None


def _lines(file: BufferedIOBase) -> Iterator[str]:
    """Yield one line after another: together they may be larger than the memory."""
    while line := file.readline(MAX_BYTES + 1):
        if len(line) > MAX_BYTES:
            raise ParseError(f"a line is longer than {MAX_BYTES} bytes")
        yield text_of(line)


def _parse(lines: Iterator[str]) -> BlastReport:
    """Read the lines in their form; volley's one line may have been laid out as many."""
    first = next(lines, "")
    if not first.strip():
        raise ParseError("empty input: there is no sweep in it")
    if _is_line_of_ghz(first):
        return read_ghz(chain([first], lines))
    text = first
    for line in lines:
        text += line
        if len(text) > MAX_BYTES:
            raise ParseError(f"longer than {MAX_BYTES} bytes: no sweep of volley is that long")
    return read_volley(text)


def _is_line_of_ghz(line: str) -> bool:
    try:
        return "report" in load(line).members
    except ParseError:
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
                "latency_ns": asdict(point.latency),
            }
            for point in report.points
        ],
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 2 (bad input) or 130 (interrupted)."""
    parser = command_line(
        "Print the numbers of a saved sweep of blasts as JSON.",
        "what `volley blast -O json` printed, or the reports of ghz, one per line",
    )
    arguments = parser.parse_args(argv)
    return print_json("parse_blast", lambda: as_dict(parse_file(arguments.file)))


if __name__ == "__main__":
    sys.exit(main())
