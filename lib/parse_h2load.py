"""Read h2load's output: `python3 lib/parse_h2load.py FILE`.

Reads the text that h2load prints (seen: 1.43, 1.52, 1.64 and 1.70) and the JSON that it writes
with `--output-file` from 1.69 on (seen: 1.70), and detects the form. With
`--output-file=/dev/stdout` both are in one file: then the JSON counts, its times are exact.

The rate is OK calls by actual elapsed seconds, never h2load's own `req/s`.
`parsers/h2load.py` says what an OK call is, what h2load does not know of one, and what its
latencies are worth.

Raises ParseError, a ValueError of one line, for anything that is not a complete report.
Standard library only.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from parsers.common.command import command_line, parse_saved, print_json
from parsers.common.values import ParseError
from parsers.h2load import START, H2loadReport, parse_json, parse_text

__all__ = ["H2loadReport", "ParseError", "as_dict", "main", "parse", "parse_file"]

SCHEMA = 2
MAX_BYTES = 128 * 2**20
"""A million samples stay well below this."""


def parse(text: str) -> H2loadReport:
    """Read one report, JSON or text or both. Raises ParseError."""
    if not text.strip():
        raise ParseError("empty input: h2load printed no report, its reason is on its stderr")
    start = text.find(START)
    if start >= 0:
        return parse_json(text, start)
    if "starting benchmark..." in text or "finished in " in text:
        return parse_text(text.replace("\r\n", "\n"))
    raise ParseError("neither the text that h2load prints nor its JSON")


def parse_file(path: str | Path) -> H2loadReport:
    """Read a saved report; `-` is stdin. Raises ParseError, also for an unreadable file."""
    return parse_saved(path, MAX_BYTES, "h2load", parse)


def as_dict(report: H2loadReport) -> dict[str, object]:
    """Give the leaderboard's numbers as plain JSON data; `reported` holds h2load's own figures."""
    return {
        "schema": SCHEMA,
        "form": report.form,
        "version": report.version,
        "warm_up_s": report.warm_up_s,
        "elapsed_s": report.elapsed_s,
        "calls": asdict(report.calls),
        "calls_per_s": report.calls_per_s,
        "at_least": report.calls_per_s,
        "at_most": report.at_most_per_s,
        "latency_ns": asdict(report.latency),
        "reported_per_s": report.reported_per_s,
        "reported": {**asdict(report.counts), **asdict(report.said)},
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 2 (bad input) or 130 (interrupted)."""
    parser = command_line(
        "Print the numbers of a saved report of h2load as JSON.",
        "what h2load printed, or wrote with --output-file",
    )
    arguments = parser.parse_args(argv)
    return print_json("parse_h2load", lambda: as_dict(parse_file(arguments.file)))


if __name__ == "__main__":
    sys.exit(main())
