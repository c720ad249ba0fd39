"""Read h2load's output: `python3 lib/parse_h2load.py FILE [--json]`.

Reads the text that h2load prints (seen: 1.43, 1.52, 1.64 and 1.70) and the JSON that it writes
with `--output-file` from 1.69 on (seen: 1.70), and tells them apart by itself. With
`--output-file=/dev/stdout` both are in one file: then the JSON counts, its times are exact.

The rate is OK calls by actual elapsed seconds, never h2load's own `req/s`. What an OK call is,
and what h2load does not know of one: see `parsers/h2load/counts.py`. What its latencies are
worth: see `parsers/h2load/latency.py`.

Raises H2loadParseError, a ValueError of one line, for anything that is not a complete report.
Standard library only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from parsers import saved
from parsers.ghz.report import Latency
from parsers.h2load.counts import Calls, Counts
from parsers.h2load.errors import H2loadParseError
from parsers.h2load.json_report import START, parse_json
from parsers.h2load.latency import Figures
from parsers.h2load.report import H2loadReport
from parsers.h2load.text_report import parse_text

__all__ = [
    "Calls",
    "Counts",
    "Figures",
    "H2loadParseError",
    "H2loadReport",
    "Latency",
    "as_dict",
    "main",
    "parse",
    "parse_file",
]

SCHEMA = 1
MAX_BYTES = 128 * 2**20
"""A million samples stay well below this."""


def parse(text: str) -> H2loadReport:
    """Read one report, JSON or text or both. Raises H2loadParseError."""
    if not text.strip():
        raise H2loadParseError("empty input: h2load printed no report, its reason is on its stderr")
    start = text.find(START)
    if start >= 0:
        return parse_json(text, start)
    if "starting benchmark..." in text or "finished in " in text:
        return parse_text(text.replace("\r\n", "\n"))
    raise H2loadParseError("neither the text that h2load prints nor its JSON")


def parse_file(path: str | Path) -> H2loadReport:
    """Read a saved report; `-` is stdin. Raises H2loadParseError, also for an unreadable file."""
    try:
        text = saved.read(path, MAX_BYTES, "h2load")
    except ValueError as error:
        raise H2loadParseError(str(error)) from None
    try:
        return parse(text)
    except H2loadParseError as error:
        raise H2loadParseError(f"{saved.shown(path)}: {error}") from None


def as_dict(report: H2loadReport) -> dict[str, object]:
    """Give the leaderboard's numbers as plain JSON data; `reported` is what h2load says itself."""
    return {
        "schema": SCHEMA,
        "form": report.form,
        "version": report.version,
        "elapsed_s": report.elapsed_s,
        "calls": asdict(report.calls),
        "calls_per_s": report.calls_per_s,
        "low": report.calls_per_s,
        "high": report.high_per_s,
        "latency_ns": report.latency.as_dict(),
        "reported_per_s": report.reported_per_s,
        "reported": {**asdict(report.counts), **asdict(report.said)},
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 2 (bad input) or 130 (interrupted)."""
    parser = argparse.ArgumentParser(
        description="Print the numbers of a saved report of h2load as JSON.",
        epilog="exit status: 0 done, 2 bad usage or no such report",
    )
    parser.add_argument("file", metavar="FILE", help="what h2load printed; - reads stdin")
    arguments = parser.parse_args(argv)
    return saved.print_json("parse_h2load", lambda: as_dict(parse_file(arguments.file)))


if __name__ == "__main__":
    sys.exit(main())
