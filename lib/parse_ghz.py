"""Read ghz's output, or volley's: `python lib/parse_ghz.py FILE --messages-per-call 5000`.

Reads what `ghz -O json`, `-O pretty` and the default text summary print (seen: v0.93.0 and
v0.121.0) and tells them apart by itself. The text summary has no samples, no clock and two
decimals: prefer JSON wherever there is a choice. In volley's JSON the messages are counted, so
the rate is theirs and has no error bar.

Raises GhzParseError, a ValueError of one line, for anything that is not a complete ghz report.
Standard library only. The rooms behind this front are in the package `ghz`; which calls count as
cut, and why, is told in `parsers/ghz/cut.py`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from parsers import saved
from parsers.ghz.errors import GhzParseError
from parsers.ghz.json_report import parse_json
from parsers.ghz.report import Bucket, Calls, GhzReport, Latency, Rate
from parsers.ghz.text_report import parse_summary

__all__ = [
    "Bucket",
    "Calls",
    "GhzParseError",
    "GhzReport",
    "Latency",
    "Rate",
    "as_dict",
    "main",
    "parse",
    "parse_file",
]

SCHEMA = 1
MAX_BYTES = 512 * 2**20
"""A million details with their errors stay well below this."""


def parse(text: str) -> GhzReport:
    """Read one ghz report, JSON or text summary. Raises GhzParseError."""
    text = text.removeprefix("\ufeff")
    start = text.lstrip()
    if not start:
        raise GhzParseError("empty input: ghz printed no report, its reason is on its stderr")
    if start[0] in "{[":
        return parse_json(start)
    if start.startswith(("Summary:", "volley ")):
        return parse_summary(start.replace("\r\n", "\n"))
    raise GhzParseError(
        "neither a ghz JSON report nor a ghz text summary: "
        "run ghz or volley with `-O json` or no -O"
    )


def parse_file(path: str | Path) -> GhzReport:
    """Read a saved report; `-` is stdin. Raises GhzParseError, also for an unreadable file."""
    try:
        text = saved.read(path, MAX_BYTES, "ghz")
    except ValueError as error:
        raise GhzParseError(str(error)) from None
    try:
        return parse(text)
    except GhzParseError as error:
        raise GhzParseError(f"{saved.shown(path)}: {error}") from None


def as_dict(report: GhzReport, messages_per_call: int) -> dict[str, object]:
    """Give the leaderboard's numbers as plain JSON data."""
    rate = report.rate(messages_per_call)
    counted = {} if report.messages is None else {"messages_counted": report.messages}
    return {
        "schema": SCHEMA,
        "form": report.form,
        "name": report.name,
        "elapsed_s": report.elapsed_s,
        "count": report.count,
        "calls": {
            "ok": report.calls.ok,
            "failed": dict(report.calls.failed),
            "cut": report.calls.cut,
        },
        "calls_per_s": rate.calls_per_s,
        "messages_per_call": rate.messages_per_call,
        **counted,
        "messages_per_s": rate.messages_per_s,
        "low": rate.low,
        "high": rate.high,
        "reported_calls_per_s": report.reported_calls_per_s,
        "latency_ns": report.latency.as_dict(),
    }


def _messages_per_call(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,10}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError("must be a whole number from 1 on")
    return int(text)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 0, 2 (bad input) or 130 (interrupted)."""
    parser = argparse.ArgumentParser(
        description="Print the numbers of a saved report of ghz or volley as JSON.",
        epilog="exit status: 0 done, 2 bad usage or no such report",
    )
    parser.add_argument("file", metavar="FILE", help="what ghz or volley printed; - reads stdin")
    parser.add_argument(
        "--messages-per-call",
        metavar="N",
        type=_messages_per_call,
        default=1,
        help="messages a finished call stands for, where they are not counted (default 1)",
    )
    arguments = parser.parse_args(argv)
    return saved.print_json(
        "parse_ghz",
        lambda: as_dict(parse_file(arguments.file), arguments.messages_per_call),
    )


if __name__ == "__main__":
    sys.exit(main())
