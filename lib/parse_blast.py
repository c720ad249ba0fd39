"""Read a sweep of blasts: `python3 lib/parse_blast.py FILE`.

Reads what `volley blast -O json` prints. Every figure is computed from the single shots, by the
functions of `parsers/blast.py`.

Raises ParseError, a ValueError of one line, for anything that is not a complete sweep.
Standard library only.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from parsers.blast import BlastReport, Point, parse_sweep
from parsers.common.command import command_line, parse_saved, print_json
from parsers.common.values import ParseError

__all__ = ["BlastReport", "ParseError", "Point", "as_dict", "main", "parse", "parse_file"]

SCHEMA = 2
MAX_BYTES = 512 * 2**20
"""The report of a million calls stays well below this."""


def parse(text: str) -> BlastReport:
    """Read one sweep. Raises ParseError."""
    if not text.strip():
        raise ParseError("empty input: there is no sweep in it")
    return parse_sweep(text)


def parse_file(path: str | Path) -> BlastReport:
    """Read a saved sweep; `-` is stdin. Raises ParseError, also for an unreadable file."""
    return parse_saved(path, MAX_BYTES, "volley", parse)


def as_dict(report: BlastReport) -> dict[str, object]:
    """Give the page's numbers as plain JSON data."""
    fastest = report.fastest
    return {
        "schema": SCHEMA,
        "form": "volley",
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
        "what `volley blast -O json` printed",
    )
    arguments = parser.parse_args(argv)
    return print_json("parse_blast", lambda: as_dict(parse_file(arguments.file)))


if __name__ == "__main__":
    sys.exit(main())
